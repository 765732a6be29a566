//! Live traces, which are still being written: the scene grows with the file.

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant, SystemTime},
};

use traceloom_core::{Result, Source};
use traceloom_mapping::{Growing, Trace};
use traceloom_model::{Filter, TableSource};

use crate::{
    load::Loader,
    scene::{Builder, LoadState, Scene, TraceInfo},
};

/// How often a growing file is checked.
const POLL: Duration = Duration::from_millis(100);
/// Reading a file from its start again takes at most one in this many parts of the time.
const READING_SHARE: u32 = 5;
/// Max number of quarters that are dropped at once; about a hundredth of the time is left then.
const MAX_STEPS: usize = 16;

/// How much of a live trace stays in memory; the file has the rest.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Keep {
    /// Spans that ended longer ago are dropped.
    pub age_ns: i64,
    /// Approximate bytes of spans.
    pub bytes: u64,
}

impl Default for Keep {
    fn default() -> Self {
        Self { age_ns: 600_000_000_000, bytes: 1 << 30 }
    }
}

/// A handle to a live trace, to report facts that are not in its file.
#[derive(Clone, Debug)]
pub struct Watching {
    told: Arc<Told>,
    loader: Arc<Loader>,
    number: u32,
}

#[derive(Debug, Default)]
struct Told {
    dropped: AtomicU64,
    /// Why no data arrives.
    reason: Mutex<Option<String>>,
    has_ended: AtomicBool,
    is_past: AtomicBool,
}

impl Watching {
    /// Reports the number of records that are missing in the file.
    pub fn dropped(&self, records: u64) {
        self.told.dropped.store(records, Ordering::Relaxed);
    }

    /// Reports why no data arrives for now; `None` means that it arrives again.
    pub fn paused(&self, reason: Option<&str>) {
        *self.told.reason.lock().unwrap_or_else(PoisonError::into_inner) = reason.map(str::to_owned);
    }

    /// Reports why no more data arrives.
    pub fn ended(&self, reason: &str) {
        self.paused(Some(reason));
        self.told.has_ended.store(true, Ordering::Release);
    }

    /// Another trace continues where this one ended, and reports its state.
    pub fn passed(&self) {
        self.told.is_past.store(true, Ordering::Relaxed);
        self.loader.update(self.number, |info| {
            info.live.as_mut().is_some_and(|live| !std::mem::replace(&mut live.is_past, true))
        });
    }
}

impl Told {
    fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    fn live(&self) -> Live {
        let end = self.reason.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Live { dropped: self.dropped.load(Ordering::Relaxed), end, is_past: self.is_past.load(Ordering::Relaxed) }
    }
}

/// The state of a live trace on the page.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Live {
    pub(crate) dropped: u64,
    pub(crate) end: Option<String>,
    /// Whether another trace continues where this one ended.
    pub(crate) is_past: bool,
}

impl Loader {
    /// Shows a growing file.
    pub(crate) fn watch(self: &Arc<Self>, path: PathBuf, from: Option<String>, keep: Keep) -> Watching {
        let number = self.announce(&path);
        self.update(number, |info| {
            (info.state, info.live) = (LoadState::Live, Some(Live::default()));
            true
        });
        let told = Arc::<Told>::default();
        let watching = Watching { told: Arc::clone(&told), loader: Arc::clone(self), number };
        let follower = Follower { loader: Arc::clone(self), number, path, from, keep, told };
        self.spawn(Box::new(move || {
            let outcome = catch_unwind(AssertUnwindSafe(|| follower.run()));
            let error = match outcome {
                Ok(outcome) => outcome.err().map(|error| error.to_string()),
                Err(_) => Some("reading stopped because of a bug in Traceloom; please report it".to_owned()),
            };
            follower.loader.done(number, error);
        }));
        watching
    }
}

struct Follower {
    loader: Arc<Loader>,
    number: u32,
    path: PathBuf,
    from: Option<String>,
    keep: Keep,
    told: Arc<Told>,
}

impl Follower {
    fn run(&self) -> Result<()> {
        let Some(mut trace) = self.open()? else { return Ok(()) };
        self.loader.welcome(self.number, &trace)?;
        let mut builder = Builder::new(Arc::clone(self.loader.scene()), self.number);
        let mut growing = Growing::new(&trace)?;
        let mut seen = None;
        let mut pause = Duration::ZERO;
        while !self.is_closed() {
            // Data that arrived before the end was reported is in the file.
            let has_ended = self.told.has_ended();
            let found = Written::of(&self.path).or(seen);
            if found != seen {
                seen = found;
                let started = Instant::now();
                match &mut growing {
                    Some(growing) => growing.advance(&mut builder)?,
                    None => {
                        // It may be another file with the same name.
                        trace = self.open()?.unwrap_or(trace);
                        self.loader.welcome(self.number, &trace)?;
                        self.read_again(&trace, &mut builder)?;
                        pause = started.elapsed() * READING_SHARE;
                    }
                }
                self.forget();
            }
            self.tell(seen.map_or(0, |seen| seen.bytes));
            if has_ended {
                break;
            }
            thread::sleep(POLL.max(pause));
        }
        if let Some(growing) = growing {
            growing.finish(&mut builder)?;
        }
        builder.finish();
        Ok(())
    }

    /// The trace, as soon as there is enough of it to detect its format; `None` if it is closed before.
    fn open(&self) -> Result<Option<Trace>> {
        while !self.is_closed() {
            let has_ended = self.told.has_ended();
            let options = self.loader.options();
            let source = Source::open(&self.path, &options.read.limits);
            match source.and_then(|source| Trace::new(&self.path, source, self.from.as_deref(), options)) {
                Ok(trace) => return Ok(Some(trace)),
                Err(error) if has_ended => return Err(error),
                Err(_) => thread::sleep(POLL),
            }
        }
        Ok(None)
    }

    fn is_closed(&self) -> bool {
        self.loader.scene().read().is_ok_and(|scene| scene.is_closed(self.number))
    }

    /// For a format that can only be read as a whole.
    fn read_again(&self, trace: &Trace, builder: &mut Builder) -> Result<()> {
        if let Ok(mut scene) = self.loader.scene().write() {
            scene.close(self.number);
        }
        self.loader.update(self.number, |info| {
            info.state = LoadState::Live;
            true
        });
        builder.restart();
        // A file that is still being written may end in the middle of a record.
        let _ = trace.pour(&Filter::default(), builder);
        builder.arrange();
        Ok(())
    }

    /// Drops data that is too old or too much, in large steps, because the rest has to be rearranged.
    fn forget(&self) {
        let mut gone = Vec::new();
        if let Ok(mut scene) = self.loader.scene().write() {
            let Some(own) = scene.traces.get(self.number as usize).filter(|own| own.first_ns <= own.last_ns) else {
                return;
            };
            let (first_ns, last_ns, offset_ns) = (own.first_ns, own.last_ns, own.offset_ns);
            let oldest_ns = last_ns.saturating_sub(self.keep.age_ns);
            let is_past = |info: &TraceInfo| {
                info.state == LoadState::Ready && info.live.as_ref().is_some_and(|live| live.is_past)
            };
            let mut past: Vec<(u32, i64)> = (0..)
                .zip(&scene.traces)
                .filter(|(_, info)| is_past(info))
                .map(|(number, info)| (number, info.last_ns.saturating_add(info.offset_ns).saturating_sub(offset_ns)))
                .collect();
            let is_too_much = self.is_too_much(&scene);
            if is_too_much && !past.is_empty() {
                // The next update checks again.
                gone.push(past.remove(0).0);
            }
            gone.extend(past.iter().filter(|(_, end_ns)| *end_ns < oldest_ns).map(|(number, _)| *number));
            if last_ns.saturating_sub(first_ns) > self.keep.age_ns.saturating_add(self.keep.age_ns / 4) {
                scene.forget_before(self.number, oldest_ns);
            } else if is_too_much && gone.is_empty() {
                self.make_room(&mut scene, first_ns, last_ns);
            }
        }
        for number in gone {
            self.loader.close(number);
        }
    }

    fn is_too_much(&self, scene: &Scene) -> bool {
        scene.resident_bytes() as u64 > self.keep.bytes
    }

    /// Drops a quarter of the time, and more if most data is recent.
    fn make_room(&self, scene: &mut Scene, mut first_ns: i64, last_ns: i64) {
        for _ in 0..MAX_STEPS {
            first_ns = first_ns.saturating_add(last_ns.saturating_sub(first_ns) / 4);
            scene.forget_before(self.number, first_ns);
            if !self.is_too_much(scene) {
                return;
            }
        }
    }

    fn tell(&self, bytes: u64) {
        self.loader.update(self.number, |info| {
            let live = self.told.live();
            let is_news = info.bytes != bytes || info.live.as_ref() != Some(&live);
            (info.bytes, info.live) = (bytes, Some(live));
            is_news
        });
    }
}

/// Metadata of a file, which changes when it is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Written {
    bytes: u64,
    at: Option<SystemTime>,
}

impl Written {
    fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        Some(Self { bytes: found.len(), at: found.modified().ok() })
    }
}

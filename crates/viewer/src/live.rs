//! Traces that are still written: the scene grows with the file.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use traceloom_core::{Result, Source};
use traceloom_mapping::{Growing, Trace};
use traceloom_model::{Filter, TableSource};

use crate::{
    load::Loader,
    scene::{Builder, LoadState},
};

/// How often a growing file is looked at.
const POLL: Duration = Duration::from_millis(100);
/// A file that has to be read from its start again gets this part of the time.
const READING_SHARE: u32 = 5;

/// How much of a growing trace stays in memory; the file has the rest.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Keep {
    /// Spans that ended longer ago are forgotten.
    pub age_ns: i64,
    /// Bytes of spans, about.
    pub bytes: u64,
}

impl Default for Keep {
    fn default() -> Self {
        Self { age_ns: 600_000_000_000, bytes: 1 << 30 }
    }
}

/// A trace that is watched, for those who know more of it than the file says.
#[derive(Clone, Debug, Default)]
pub struct Watching(Arc<Told>);

#[derive(Debug, Default)]
struct Told {
    dropped: AtomicU64,
    /// Why nothing more comes, once nothing does.
    end: Mutex<Option<String>>,
}

impl Watching {
    /// So many records are missing in the file.
    pub fn dropped(&self, records: u64) {
        self.0.dropped.store(records, Ordering::Relaxed);
    }

    /// Nothing more comes, for this reason.
    pub fn ended(&self, reason: &str) {
        *self.0.end.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason.to_owned());
    }

    fn end(&self) -> Option<String> {
        self.0.end.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What the page shows of a trace that is watched.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Live {
    pub(crate) dropped: u64,
    pub(crate) end: Option<String>,
}

impl Loader {
    /// Shows a file that grows.
    pub(crate) fn watch(self: &Arc<Self>, path: PathBuf, from: Option<String>, keep: Keep) -> Watching {
        let number = self.announce(&path);
        self.update(number, |info| {
            (info.state, info.live) = (LoadState::Live, Some(Live::default()));
            true
        });
        let watching = Watching::default();
        let follower = Follower { loader: Arc::clone(self), number, path, from, keep, watching: watching.clone() };
        self.spawn(Box::new(move || {
            let outcome = catch_unwind(AssertUnwindSafe(|| follower.run()));
            let error = match outcome {
                Ok(outcome) => outcome.err().map(|error| error.to_string()),
                Err(_) => Some("reading stopped because of a fault in Traceloom; please report it".to_owned()),
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
    watching: Watching,
}

impl Follower {
    fn run(&self) -> Result<()> {
        let Some(trace) = self.open()? else { return Ok(()) };
        self.loader.welcome(self.number, &trace)?;
        let mut builder = Builder::new(Arc::clone(self.loader.scene()), self.number);
        let mut growing = Growing::new(&trace)?;
        let mut seen_bytes = 0;
        let mut pause = Duration::ZERO;
        while !self.is_closed() {
            // What came before the end was told is in the file.
            let end = self.watching.end();
            let bytes = trace.opened.source.len()?;
            if bytes != seen_bytes {
                seen_bytes = bytes;
                let started = Instant::now();
                match &mut growing {
                    Some(growing) => growing.advance(&mut builder)?,
                    None => {
                        self.read_again(&trace, &mut builder)?;
                        pause = started.elapsed() * READING_SHARE;
                    }
                }
                self.forget();
            }
            self.tell(bytes, end.clone());
            if end.is_some() {
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

    /// The trace, as soon as there is enough of it to be one; none if it is closed before.
    fn open(&self) -> Result<Option<Trace>> {
        while !self.is_closed() {
            let has_ended = self.watching.end().is_some();
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

    /// A format that can only be read as a whole.
    fn read_again(&self, trace: &Trace, builder: &mut Builder) -> Result<()> {
        if let Ok(mut scene) = self.loader.scene().write() {
            scene.close(self.number);
        }
        self.loader.update(self.number, |info| {
            info.state = LoadState::Live;
            true
        });
        builder.restart();
        // A file that is still written ends in the middle of something.
        let _ = trace.pour(&Filter::default(), builder);
        builder.arrange();
        Ok(())
    }

    fn forget(&self) {
        let Ok(mut scene) = self.loader.scene().write() else { return };
        let Some(info) = scene.traces.get(self.number as usize) else { return };
        let reach = info.last_ns.saturating_sub(info.first_ns);
        let (first_ns, last_ns) = (info.first_ns, info.last_ns);
        // In large steps, because what is left is arranged again.
        if reach > self.keep.age_ns.saturating_add(self.keep.age_ns / 4) {
            scene.forget_before(self.number, last_ns.saturating_sub(self.keep.age_ns));
        } else if scene.lanes.resident_bytes() as u64 > self.keep.bytes {
            scene.forget_before(self.number, first_ns.saturating_add(reach / 4));
        }
    }

    fn tell(&self, bytes: u64, end: Option<String>) {
        let live = Live { dropped: self.watching.0.dropped.load(Ordering::Relaxed), end };
        self.loader.update(self.number, |info| {
            let is_news = info.bytes != bytes || info.live.as_ref() != Some(&live);
            (info.bytes, info.live) = (bytes, Some(live));
            is_news
        });
    }
}

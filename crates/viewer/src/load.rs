//! Loads traces in the background.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};

use traceloom_core::{Limits, Result, Source};
use traceloom_mapping::{Options, Trace};
use traceloom_model::{Batches, Filter, Table, TableSource, Wanted, select};
use traceloom_passes::TraceFacts;

use crate::scene::{Arrows, Builder, LoadState, Scene, TraceInfo};

/// Runs the loading of a trace: on a thread if the platform has threads, else immediately.
pub type Spawn = fn(Box<dyn FnOnce() + Send>);

/// The loaded traces, and the progress of loading.
#[derive(Debug)]
pub(crate) struct Loader {
    scene: Arc<RwLock<Scene>>,
    pub(crate) options: Options,
    pub(crate) spawn: Spawn,
    read: Arc<AtomicU64>,
    total: AtomicU64,
    turns: Turns,
    /// Traces that are ready, by their number in the scene, for queries that need the tables again.
    ready: Mutex<Vec<(u32, Arc<Trace>)>>,
    /// Traces that are local files, not copies of files that the page sent.
    files: Mutex<Vec<(u32, PathBuf)>>,
}

impl Loader {
    pub(crate) fn new(scene: Arc<RwLock<Scene>>, options: Options, spawn: Spawn) -> Self {
        let (read, total) = (Arc::default(), AtomicU64::new(0));
        let (turns, ready, files) = (Turns::default(), Mutex::default(), Mutex::default());
        Self { scene, options, spawn, read, total, turns, ready, files }
    }

    /// Bytes read and bytes to read.
    pub(crate) fn progress(&self) -> (u64, u64) {
        let total = self.total.load(Ordering::Relaxed);
        (self.read.load(Ordering::Relaxed).min(total), total)
    }

    /// The traces that are ready.
    pub(crate) fn traces(&self) -> Vec<(u32, Arc<Trace>)> {
        self.ready.lock().map(|ready| ready.clone()).unwrap_or_default()
    }

    /// A trace that is ready.
    pub(crate) fn trace(&self, number: u32) -> Option<Arc<Trace>> {
        self.traces().into_iter().find(|(of, _)| *of == number).map(|(_, trace)| trace)
    }

    /// Opens a file and loads it.
    pub(crate) fn load(self: &Arc<Self>, path: PathBuf, from: Option<String>) {
        let (file, options) = (path.clone(), self.options.clone());
        let number = self.start(&path, move || {
            let source = Source::open(&file, &options.read.limits)?;
            Trace::new(&file, source, from.as_deref(), &options)
        });
        self.files.lock().unwrap_or_else(PoisonError::into_inner).push((number, path));
    }

    /// The traces that are local files.
    pub(crate) fn files(&self) -> Vec<(u32, PathBuf)> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Recognizes a file that the page sent.
    pub(crate) fn recognize(&self, name: &str, source: Source) -> Result<Trace> {
        Trace::new(Path::new(name), source, None, &self.options)
    }

    /// Loads a trace that is already open.
    pub(crate) fn load_trace(self: &Arc<Self>, trace: Trace) {
        let path = trace.path.clone();
        let _number = self.start(&path, move || Ok(trace));
    }

    /// Closes a trace; returns whether it exists.
    pub(crate) fn close(&self, number: u32) -> bool {
        let Ok(mut scene) = self.scene.write() else { return false };
        if scene.traces.get(number as usize).is_none() || scene.is_closed(number) {
            return false;
        }
        scene.close(number);
        self.ready.lock().unwrap_or_else(PoisonError::into_inner).retain(|(of, _)| *of != number);
        true
    }

    fn start(self: &Arc<Self>, path: &Path, open: impl FnOnce() -> Result<Trace> + Send + 'static) -> u32 {
        let number = self.announce(path);
        let loader = Arc::clone(self);
        (self.spawn)(Box::new(move || {
            let work = || {
                let _turn = loader.turns.take();
                open().and_then(|trace| loader.fill(number, trace))
            };
            let result = catch_unwind(AssertUnwindSafe(work));
            // Everything before the failed batch is complete.
            loader.scene.clear_poison();
            let error = match result {
                Ok(result) => result.err().map(|error| error.to_string()),
                Err(_) => Some("reading stopped because of a bug in Traceloom; please report it".to_owned()),
            };
            loader.done(number, error);
        }));
        number
    }

    pub(crate) fn scene(&self) -> &Arc<RwLock<Scene>> {
        &self.scene
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn spawn(&self, work: Box<dyn FnOnce() + Send>) {
        (self.spawn)(work);
    }

    /// Changes the facts about a trace; `change` returns whether to notify the page.
    pub(crate) fn update(&self, number: u32, change: impl FnOnce(&mut TraceInfo) -> bool) {
        let Ok(mut scene) = self.scene.write() else { return };
        let is_news = scene.traces.get_mut(number as usize).is_some_and(change);
        scene.revision += u64::from(is_news);
    }

    /// Makes a trace available to queries while it grows.
    pub(crate) fn welcome(&self, number: u32, trace: &Trace) -> Result<()> {
        self.describe(number, trace, About::of(trace)?);
        if let Ok(mut scene) = self.scene.write() {
            scene.align();
        }
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        ready.retain(|(of, _)| *of != number);
        ready.push((number, Arc::new(trace.clone())));
        Ok(())
    }

    pub(crate) fn announce(&self, path: &Path) -> u32 {
        let Ok(mut scene) = self.scene.write() else { return u32::MAX };
        scene.traces.push(TraceInfo::loading(path));
        scene.revision += 1;
        scene.traces.len() as u32 - 1
    }

    fn fill(&self, number: u32, mut trace: Trace) -> Result<()> {
        let plain = trace.opened.source.clone();
        self.total.fetch_add(plain.len()?, Ordering::Relaxed);
        trace.opened.source = plain.counted(&self.read);
        self.describe(number, &trace, About::default());
        let mut builder = Builder::new(Arc::clone(&self.scene), number);
        let poured = trace.pour(&Filter::default(), &mut builder);
        builder.finish();
        trace.opened.source = plain;
        let described = About::of(&trace).map(|about| self.describe(number, &trace, about));
        // Held so that nobody closes the trace before it is in the list.
        let scene = self.scene.read();
        if scene.as_ref().is_ok_and(|scene| scene.is_closed(number)) {
            return Ok(());
        }
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        // Sorted by number, because answers would otherwise differ from run to run.
        let place = ready.partition_point(|(other, _)| *other < number);
        ready.insert(place, (number, Arc::new(trace)));
        poured.and(described)
    }

    fn describe(&self, number: u32, trace: &Trace, about: About) {
        let Ok(mut scene) = self.scene.write() else { return };
        let Some(info) = scene.traces.get_mut(number as usize) else { return };
        info.format = trace.format();
        info.trace_id = trace.id;
        info.bytes = trace.opened.source.len().unwrap_or(0);
        info.version = about.version;
        info.clock = about.clock;
        info.facts = TraceFacts { user_offset_ns: info.facts.user_offset_ns, ..about.facts };
        scene.revision += 1;
    }

    pub(crate) fn done(&self, number: u32, error: Option<String>) {
        // Searched while others may still draw; only the loader adds links, and each trace searches again at its end.
        let arrows = self.scene.read().ok().filter(|scene| !scene.links.is_empty()).map(|scene| Arrows::of(&scene));
        let Ok(mut scene) = self.scene.write() else { return };
        if let Some(arrows) = arrows {
            scene.arrows = arrows;
        }
        if let Some(info) = scene.traces.get_mut(number as usize).filter(|info| info.state.is_unfinished()) {
            info.state = error.map_or(LoadState::Ready, LoadState::Failed);
        }
        scene.align();
        scene.revision += 1;
    }
}

select! {
    /// The columns that need no walk through the file.
    struct TraceRow of traces { version, clock }
}

/// Facts from the row of a trace.
#[derive(Debug, Default)]
struct About {
    version: String,
    clock: String,
    facts: TraceFacts,
}

impl About {
    fn of(trace: &Trace) -> Result<Self> {
        let mut batches = Batches::of(Wanted::nothing().and(Table::Traces, TraceRow::COLUMNS));
        trace.pour(&Filter::default(), &mut batches)?;
        let facts = TraceFacts::read(trace)?.first().copied().unwrap_or_default();
        let Some(row) = batches.table(Table::Traces).next().map(TraceRow::of).transpose()?.filter(|row| row.rows > 0)
        else {
            return Ok(Self { facts, ..Self::default() });
        };
        Ok(Self { version: row.version.get(0).to_owned(), clock: row.clock.get(0).to_owned(), facts })
    }
}

/// Limits the number of files that load at once to the number of processors.
#[derive(Debug)]
struct Turns {
    free: Mutex<usize>,
    freed: Condvar,
}

impl Default for Turns {
    fn default() -> Self {
        let processors = Limits::default().threads;
        Self { free: Mutex::new(processors), freed: Condvar::new() }
    }
}

impl Turns {
    fn take(&self) -> Turn<'_> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = self.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Turn(self)
    }
}

struct Turn<'t>(&'t Turns);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        thread,
        time::{Duration, Instant},
    };

    use super::*;

    #[test]
    fn a_fault_in_a_reader_is_told_and_the_rest_goes_on() {
        let scene: Arc<RwLock<Scene>> = Arc::default();
        let loader = Arc::new(Loader::new(Arc::clone(&scene), Options::default(), |work| drop(thread::spawn(work))));
        let held = Arc::clone(&scene);
        loader.start("broken.prof".as_ref(), move || {
            let _guard = held.write();
            panic!("a fault, for the test")
        });
        let end = Instant::now() + Duration::from_secs(20);
        while !scene.read().is_ok_and(|scene| scene.traces[0].state != LoadState::Loading) {
            assert!(Instant::now() < end, "still loading");
            thread::sleep(Duration::from_millis(5));
        }
        let state = scene.read().expect("it can be read").traces[0].state.clone();
        assert!(matches!(state, LoadState::Failed(error) if error.contains("bug")));
        loader.load("/no/such/file".into(), None);
        while scene.read().expect("it can be read").traces[1].state == LoadState::Loading {
            assert!(Instant::now() < end, "still loading");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

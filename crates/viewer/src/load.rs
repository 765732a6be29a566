//! Loads traces in the background.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use traceloom_bytes::{ReadAt, Result, Source};
use traceloom_ingest::{Options, Trace};
use traceloom_model::{Batches, Filter, Table, TableSource, Wanted, traces};

use crate::scene::{Builder, LoadState, Scene, TraceInfo};

/// What is loaded, and how far it is.
#[derive(Debug)]
pub(crate) struct Loader {
    scene: Arc<RwLock<Scene>>,
    options: Options,
    read: Arc<AtomicU64>,
    total: AtomicU64,
    /// Traces that are ready, by their number in the scene: for questions that need the tables again.
    ready: Mutex<Vec<(u32, Arc<Trace>)>>,
}

impl Loader {
    pub(crate) fn new(scene: Arc<RwLock<Scene>>, options: Options) -> Self {
        let (read, total) = (Arc::default(), AtomicU64::new(0));
        Self { scene, options, read, total, ready: Mutex::default() }
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

    /// Opens a file and loads it.
    pub(crate) fn load(self: &Arc<Self>, path: PathBuf, from: Option<String>) {
        let number = self.announce(&path);
        let loader = Arc::clone(self);
        thread::spawn(move || {
            let opened = Source::open(&path, &loader.options.read.limits);
            let result = opened.and_then(|source| loader.fill(number, &path, source, from.as_deref()));
            loader.done(number, result);
        });
    }

    /// Loads bytes that the page sent.
    pub(crate) fn load_bytes(self: &Arc<Self>, name: String, bytes: Vec<u8>) {
        let path = PathBuf::from(name);
        let number = self.announce(&path);
        let loader = Arc::clone(self);
        thread::spawn(move || {
            let result = loader.fill(number, &path, Source::bytes(bytes), None);
            loader.done(number, result);
        });
    }

    fn announce(&self, path: &Path) -> u32 {
        let Ok(mut scene) = self.scene.write() else { return 0 };
        scene.traces.push(TraceInfo {
            path: path.to_owned(),
            format: "",
            version: String::new(),
            trace_id: 0,
            bytes: 0,
            clock: String::new(),
            unix_origin_ns: None,
            first_ns: i64::MAX,
            last_ns: i64::MIN,
            offset_ns: 0,
            findings: 0,
            memory: None,
            state: LoadState::Loading,
        });
        scene.revision += 1;
        scene.traces.len() as u32 - 1
    }

    fn fill(&self, number: u32, path: &Path, source: Source, from: Option<&str>) -> Result<()> {
        let mut trace = Trace::new(path, source, from, &self.options)?;
        let plain = trace.opened.source.clone();
        self.total.fetch_add(plain.len()?, Ordering::Relaxed);
        trace.opened.source = Source::custom(Counted { source: plain.clone(), read: Arc::clone(&self.read) });
        self.describe(number, &trace, None);
        let mut builder = Builder::new(Arc::clone(&self.scene), number);
        let poured = trace.pour(&Filter::default(), &mut builder);
        builder.finish();
        trace.opened.source = plain;
        let mut batches = Batches::of(Wanted::nothing().and(Table::Traces, traces_columns()));
        trace.pour(&Filter::default(), &mut batches)?;
        self.describe(number, &trace, batches.table(Table::Traces).next().map(traces::View::of).as_ref());
        if let Ok(mut ready) = self.ready.lock() {
            ready.push((number, Arc::new(trace)));
        }
        poured
    }

    fn describe(&self, number: u32, trace: &Trace, row: Option<&traces::View<'_>>) {
        let Ok(mut scene) = self.scene.write() else { return };
        let Some(info) = scene.traces.get_mut(number as usize) else { return };
        info.format = trace.format();
        info.trace_id = trace.id;
        info.bytes = trace.opened.source.len().unwrap_or(0);
        if let Some(row) = row.filter(|row| row.rows > 0) {
            info.version = row.version.get(0).to_owned();
            info.clock = row.clock.get(0).to_owned();
            info.unix_origin_ns = row.unix_origin_ns.get(0);
        }
        scene.revision += 1;
    }

    fn done(&self, number: u32, result: Result<()>) {
        let Ok(mut scene) = self.scene.write() else { return };
        Builder::resolve_links(&mut scene);
        if let Some(info) = scene.traces.get_mut(number as usize) {
            info.state = match result {
                Ok(()) => LoadState::Ready,
                Err(error) => LoadState::Failed(error.to_string()),
            };
        }
        scene.revision += 1;
    }
}

/// The columns that need no walk through the file.
fn traces_columns() -> traceloom_model::Columns {
    traceloom_model::Columns::named(Table::Traces, &["version", "clock", "unix_origin_ns"])
}

/// Counts what is read.
struct Counted {
    source: Source,
    read: Arc<AtomicU64>,
}

impl ReadAt for Counted {
    fn len(&self) -> io::Result<u64> {
        self.source.len().map_err(io::Error::other)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read_at(offset, buffer).map_err(io::Error::other)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

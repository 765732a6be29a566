//! Options for opening a trace.

use std::{fmt, path::Path, sync::Arc};

use traceloom_core::{Limits, Mode, Options, Result, Source};

use crate::Trace;

/// Options for opening a trace; [`Trace::open`] uses the defaults.
///
/// ```no_run
/// use traceloom::OpenOptions;
///
/// let trace = OpenOptions::new().format("nytprof").strict(true).open("profile.out")?;
/// # Ok::<(), traceloom::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    pub(crate) format: Option<String>,
    pub(crate) read: Options,
    pub(crate) progress: Option<Progress>,
    #[cfg(feature = "tables")]
    pub(crate) on_findings: Option<fn(&Path, &traceloom_core::Findings)>,
}

impl OpenOptions {
    /// The defaults: detect the format, and read as much as possible within the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the id of the format, which is then not detected.
    #[must_use]
    pub fn format(mut self, id: impl Into<String>) -> Self {
        self.format = Some(id.into());
        self
    }

    /// Whether to reject every file that the format's own tool rejects, instead of reading as much as possible.
    #[must_use]
    pub fn strict(mut self, is_strict: bool) -> Self {
        self.read.mode = if is_strict { Mode::Strict } else { Mode::Lenient };
        self
    }

    /// Sets limits for memory and threads.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.read.limits = limits;
        self
    }

    /// Sets a callback for progress, which gets the path, the offset, and the length of the trace.
    ///
    /// It is called once per window; another pass over the file starts again at low offsets.
    #[must_use]
    pub fn on_progress(mut self, seen: impl Fn(&Path, u64, u64) + Send + Sync + 'static) -> Self {
        self.progress = Some(Progress(Arc::new(seen)));
        self
    }

    /// Sets a callback for the problems of a trace each time its tables are read, because tables cannot return them
    /// otherwise.
    #[cfg(feature = "tables")]
    #[must_use]
    pub fn on_findings(mut self, report: fn(&Path, &traceloom_core::Findings)) -> Self {
        self.on_findings = Some(report);
        self
    }

    /// Opens a file; `-` is standard input. With the feature `remote`, also a URL such as `s3://bucket/game.prof`.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Trace> {
        let path = path.as_ref();
        #[cfg(feature = "sql")]
        return Trace::at(path, self);
        #[cfg(not(feature = "sql"))]
        return self.open_source(path, Source::open(path, &self.read.limits)?);
    }

    /// The same options for tables.
    #[cfg(feature = "tables")]
    pub(crate) fn tables(&self) -> traceloom_mapping::Options {
        let (read, told) = (self.read.clone(), self.on_findings.map(traceloom_mapping::Told::new));
        traceloom_mapping::Options { read, told, ..Default::default() }
    }

    /// Opens bytes from another source; `name` is used in messages, and its extension decides if two formats match the
    /// bytes.
    pub fn open_source(&self, name: impl AsRef<Path>, source: Source) -> Result<Trace> {
        Trace::new(name.as_ref(), source, self)
    }
}

/// Gets the path of a trace, the offset up to which it was read, and its length.
type Watcher = dyn Fn(&Path, u64, u64) + Send + Sync;

/// Gets the progress of reading.
#[derive(Clone)]
pub(crate) struct Progress(Arc<Watcher>);

impl Progress {
    /// The same bytes, with progress reports.
    pub(crate) fn watch(&self, source: &Source, path: &Path) -> Result<Source> {
        let (Self(seen), path, bytes) = (self.clone(), path.to_owned(), source.len()?);
        Ok(source.watched(move |offset| seen(&path, offset, bytes)))
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").finish_non_exhaustive()
    }
}

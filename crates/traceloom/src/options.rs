//! How a trace is opened.

use std::{fmt, path::Path, sync::Arc};

use traceloom_core::{Limits, Mode, Options, Result, Source};

use crate::Trace;

/// Says how to open a trace; [`Trace::open`] takes the defaults.
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
    /// The defaults: detect the format, read whatever can be read, within the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// The id of the format, which is then not detected.
    #[must_use]
    pub fn format(mut self, id: impl Into<String>) -> Self {
        self.format = Some(id.into());
        self
    }

    /// Whether to refuse every file that the tool of its format refuses, instead of reading what can be read.
    #[must_use]
    pub fn strict(mut self, is_strict: bool) -> Self {
        self.read.mode = if is_strict { Mode::Strict } else { Mode::Lenient };
        self
    }

    /// How much of the machine the trace may use.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.read.limits = limits;
        self
    }

    /// Receives how far a trace was read: its path, the offset, and the number of its bytes.
    ///
    /// There is one call per window; another pass over the file starts again at low offsets.
    #[must_use]
    pub fn on_progress(mut self, seen: impl Fn(&Path, u64, u64) + Send + Sync + 'static) -> Self {
        self.progress = Some(Progress(Arc::new(seen)));
        self
    }

    /// Receives the problems of a trace each time that its tables are read, because tables have no other way to return them.
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
        let source = traceloom_query::source(path, &self.read.limits)?;
        #[cfg(not(feature = "sql"))]
        let source = Source::open(path, &self.read.limits)?;
        self.open_source(path, source)
    }

    /// Opens bytes that come from elsewhere; `name` is used in messages and, if two formats claim the bytes, its
    /// extension decides.
    pub fn open_source(&self, name: impl AsRef<Path>, source: Source) -> Result<Trace> {
        Trace::new(name.as_ref(), source, self)
    }
}

/// Is given the path of a trace, how far it was read, and its length.
type Watcher = dyn Fn(&Path, u64, u64) + Send + Sync;

/// Receives how far traces were read.
#[derive(Clone)]
pub(crate) struct Progress(Arc<Watcher>);

impl Progress {
    /// The same bytes; reading them is reported.
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

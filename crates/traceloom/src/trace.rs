//! One trace.

#[cfg(not(feature = "tables"))]
use std::path::PathBuf;
use std::{io::Write, ops::ControlFlow, path::Path};

use traceloom_core::{Codec, Compression, Descriptor, Edited, Error, Findings, Options, Result, Slice, Source};
#[cfg(not(feature = "tables"))]
use traceloom_open::Opened;
use traceloom_open::{FORMATS, Format, by_id};

use crate::{IntoFlow, OpenOptions, Record, output::Output};

/// An open trace: its format is known and its bytes are decompressed.
///
/// The file is not kept in memory; every method reads it again, through a window of bounded size. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Trace {
    inner: Inner,
}

#[cfg(feature = "tables")]
type Inner = traceloom_mapping::Trace;

/// The part of a trace that needs no tables.
#[cfg(not(feature = "tables"))]
#[derive(Clone, Debug)]
struct Inner {
    path: PathBuf,
    opened: Opened,
    read: Options,
}

/// Every format that this build can open.
pub fn formats() -> impl Iterator<Item = &'static Descriptor> {
    FORMATS.iter().map(|format| format.descriptor())
}

impl Trace {
    /// Opens a file and detects its format and compression; `-` is standard input.
    ///
    /// [`OpenOptions`] offers more control.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        OpenOptions::new().open(path)
    }

    /// A small sample trace of a format, created with its writer.
    pub fn sample(format: &str) -> Result<Self> {
        let sample = by_id(format)?.sample()?;
        OpenOptions::new().format(format).open_source(sample.file_name, Source::bytes(sample.bytes))
    }

    #[cfg(feature = "tables")]
    pub(crate) fn new(path: &Path, source: Source, options: &OpenOptions) -> Result<Self> {
        Self::watched(path, Inner::new(path, source, options.format.as_deref(), &options.tables())?, options)
    }

    /// Opens a path or a URL.
    #[cfg(feature = "sql")]
    pub(crate) fn at(path: &Path, options: &OpenOptions) -> Result<Self> {
        Self::watched(path, traceloom_query::trace(path, options.format.as_deref(), &options.tables())?, options)
    }

    #[cfg(feature = "tables")]
    fn watched(path: &Path, mut inner: Inner, options: &OpenOptions) -> Result<Self> {
        if let Some(progress) = &options.progress {
            inner.opened.source = progress.watch(&inner.opened.source, path)?;
        }
        Ok(Self { inner })
    }

    #[cfg(not(feature = "tables"))]
    pub(crate) fn new(path: &Path, source: Source, options: &OpenOptions) -> Result<Self> {
        let mut opened = traceloom_open::open(source, path, options.format.as_deref(), &options.read)?;
        if let Some(progress) = &options.progress {
            opened.source = progress.watch(&opened.source, path)?;
        }
        Ok(Self { inner: Inner { path: path.to_owned(), opened, read: options.read.clone() } })
    }

    /// The path with which the trace was opened.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// The `trace_id` of its tables, derived from the contents, so that a copy has the same id.
    #[cfg(feature = "tables")]
    pub fn id(&self) -> u64 {
        self.inner.id
    }

    /// The format as data: its id, name, extensions, variants.
    pub fn format(&self) -> &'static Descriptor {
        self.erased().descriptor()
    }

    /// Whether the trace has this format.
    pub fn is<C: Codec>(&self) -> bool {
        self.format().id == C::FORMAT.id
    }

    /// The reader of the format, which lends one typed record after the other.
    ///
    /// The type parameter is in the module of the format, for example `traceloom::easyprofiler::EasyProfiler`.
    pub fn reader<C: Codec>(&self) -> Result<C::Reader> {
        if !self.is::<C>() {
            let message = format!("is {}, not {}", self.format().name, C::FORMAT.name);
            return Err(Error::usage(message).in_file(self.path()));
        }
        self.located(C::open(self.source().clone(), self.options()))
    }

    /// The decompressed bytes.
    pub fn source(&self) -> &Source {
        &self.inner.opened.source
    }

    /// The same trace; after every read of its bytes, `seen` gets the end offset of the read, and may stop reading with
    /// an error.
    #[must_use]
    pub fn guarded(&self, seen: impl Fn(u64) -> std::io::Result<()> + Send + Sync + 'static) -> Self {
        let mut trace = self.clone();
        trace.inner.opened.source = trace.source().guarded(seen);
        trace
    }

    /// The compressions around the trace, outermost first.
    pub fn layers(&self) -> &[Compression] {
        &self.inner.opened.layers
    }

    /// Damage in the compressed data; the methods that return findings include it.
    pub fn layer_findings(&self) -> &Findings {
        &self.inner.opened.findings
    }

    /// The options for reading the file.
    pub fn options(&self) -> &Options {
        #[cfg(feature = "tables")]
        return &self.inner.options.read;
        #[cfg(not(feature = "tables"))]
        return &self.inner.read;
    }

    /// Summarizes the trace: format, duration, contents, problems.
    pub fn info(&self) -> Result<Info> {
        let (contents, found) = self.located(self.erased().info(self.source(), self.options()))?;
        Ok(Info {
            format: self.format(),
            bytes: self.source().len()?,
            layers: self.layers().to_vec(),
            contents,
            findings: self.with_layers(found),
        })
    }

    /// Lists every problem of the trace; if it was opened strictly, the first severe one is an error.
    pub fn check(&self) -> Result<Findings> {
        let found = self.located(self.erased().check(self.source(), self.options()))?;
        Ok(self.with_layers(found))
    }

    /// Passes the header and every record to `visit`, which may stop early by returning [`ControlFlow::Break`].
    pub fn records<F: IntoFlow>(&self, mut visit: impl FnMut(&Record<'_>) -> F) -> Result<Findings> {
        let found = self.erased().dump(self.source(), self.options(), &mut |offset, len, contents| {
            let flow = visit(&Record::new(offset, len, contents)).into_flow()?;
            Ok(flow == ControlFlow::Continue(()))
        });
        Ok(self.with_layers(self.located(found)?))
    }

    /// Writes the same bytes again, via the records.
    pub fn rewrite(&self, out: &mut dyn Write) -> Result<Findings> {
        let found = self.write(out, |out| self.erased().rewrite(self.source(), out, self.options()))?;
        Ok(self.with_layers(found))
    }

    /// Writes the same contents in the canonical layout: correct counts, no surplus bytes.
    ///
    /// `variant` is one of [`Descriptor::variants`], such as an older version; `None` means the default variant.
    pub fn canonical(&self, variant: Option<&str>, out: &mut dyn Write) -> Result<Edited> {
        self.edit(out, |out| self.erased().canonical(self.source(), out, variant, self.options()))
    }

    /// Repairs the trace so that the format's own tool loads it, and returns the losses.
    pub fn repair(&self, out: &mut dyn Write) -> Result<Edited> {
        self.edit(out, |out| self.erased().repair(self.source(), out, self.options()))
    }

    /// Writes a time range or some threads as a trace of the same format.
    pub fn slice(&self, slice: &Slice, out: &mut dyn Write) -> Result<Edited> {
        self.edit(out, |out| self.erased().slice(self.source(), out, slice, self.options()))
    }

    /// Runs an edit; its findings include the damage in the compressed data.
    pub(crate) fn edit(
        &self,
        out: &mut dyn Write,
        work: impl FnOnce(&mut dyn Write) -> Result<Edited>,
    ) -> Result<Edited> {
        let Edited { findings, loss } = self.write(out, work)?;
        Ok(Edited { findings: self.with_layers(findings), loss })
    }

    /// Runs work that reads the trace and writes; an error names the trace unless writing failed.
    fn write<T>(&self, out: &mut dyn Write, work: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
        let mut out = Output::new(out);
        let outcome = work(&mut out);
        if out.has_failed { outcome } else { self.located(outcome) }
    }

    pub(crate) fn erased(&self) -> &'static dyn Format {
        self.inner.opened.format
    }

    #[cfg(feature = "tables")]
    pub(crate) fn inner(&self) -> &traceloom_mapping::Trace {
        &self.inner
    }

    /// Adds the path to an error.
    fn located<T>(&self, outcome: Result<T>) -> Result<T> {
        outcome.map_err(|error| error.in_file(self.path()))
    }

    /// The damage in the compressed data, then the problems of the trace.
    fn with_layers(&self, found: Findings) -> Findings {
        let mut findings = self.layer_findings().clone();
        findings.absorb(found);
        findings
    }
}

/// The summary of a trace.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Info {
    /// The format.
    pub format: &'static Descriptor,
    /// Number of decompressed bytes.
    pub bytes: u64,
    /// The compressions around the trace, outermost first.
    pub layers: Vec<Compression>,
    /// Version, facts and lists of the format.
    pub contents: traceloom_core::Info,
    /// All problems.
    pub findings: Findings,
}

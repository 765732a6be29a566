//! Conversion to other formats, versions and tools.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    io::Write,
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};
use traceloom_core::{Descriptor, Edited, Error, Findings, Loss, Mode, Result, Sibling, Slice, TimeRange};
use traceloom_export::{Note, Noted, NotedSet, Options, Target, by_path};
use traceloom_model::TableSource;
use traceloom_open::by_id;

use crate::{Trace, Traces};

/// Options of a conversion.
///
/// ```
/// use traceloom::Conversion;
///
/// let conversion = Conversion::to("perfetto")?.range("1.5s..1.7s".parse()?);
/// # Ok::<(), traceloom::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Conversion {
    /// The target, given explicitly or by the extension of the output.
    target: Option<&'static Target>,
    /// Whether the target was given explicitly: the trace is then written from scratch even if the format stays the
    /// same.
    is_named: bool,
    is_canonical: bool,
    /// The path of the output, if its name matters.
    path: PathBuf,
    /// Notes, by the path of their trace.
    notes: BTreeMap<PathBuf, Vec<Note>>,
    options: Options,
}

impl Conversion {
    /// Converts to a format or tool by its id, such as `perfetto`, or with a variant, such as `easyprofiler:1.3.0`.
    ///
    /// [`export::targets`](crate::export::targets) lists them.
    pub fn to(target: &str) -> Result<Self> {
        let (id, variant) = target.split_once(':').map_or((target, None), |(id, variant)| (id, Some(variant)));
        let target = traceloom_export::by_id(id)?;
        let variant = variant.map(|variant| target.variant(Some(variant))).transpose()?;
        let options = Options { variant: variant.map(str::to_owned), ..Options::default() };
        Ok(Self { target: Some(target), is_named: true, options, ..Self::default() })
    }

    /// Converts to the format or tool that has the extension of the output, compressed if `.gz` follows it.
    ///
    /// An extension of the trace's format, the extension of its file, or no extension means a copy of the bytes. Any
    /// other extension is an error.
    pub fn for_path(path: impl Into<PathBuf>) -> Self {
        Self::default().named(path)
    }

    /// Adapts to the name of the output: `.gz` compresses, and some tools expect a variant with a certain extension.
    #[must_use]
    pub fn named(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = path.into();
        self.options.gzip = self.path.extension().is_some_and(|extension| extension == "gz");
        if !self.is_named
            && let Some((target, gzip)) = by_path(&self.path)
        {
            (self.target, self.options.gzip) = (Some(target), gzip);
        }
        if self.options.variant.is_none() {
            let variant = self.target.and_then(|target| target.variant_of(&self.path));
            self.options.variant = variant.map(str::to_owned);
        }
        self
    }

    /// Writes only a time range; spans that overlap it are written whole.
    #[must_use]
    pub fn range(mut self, range: TimeRange) -> Self {
        self.options.slice.range = range;
        self
    }

    /// Writes only this thread, by number or name; may be called for several threads.
    #[must_use]
    pub fn thread(mut self, thread: impl Into<String>) -> Self {
        self.options.slice.threads.push(thread.into());
        self
    }

    /// Adds notes on the trace with this path. They are written as bookmarks, marks or events, and reported as lost if
    /// the output has none of these or is a copy of the trace.
    #[must_use]
    pub fn notes(mut self, trace: impl Into<PathBuf>, notes: Vec<Note>) -> Self {
        self.notes.insert(trace.into(), notes);
        self
    }

    /// Compresses the output with gzip.
    #[must_use]
    pub fn gzip(mut self, is_compressed: bool) -> Self {
        self.options.gzip = is_compressed;
        self
    }

    /// Writes the canonical layout even if the format stays the same: correct counts, no surplus bytes.
    #[must_use]
    pub fn canonical(mut self, is_canonical: bool) -> Self {
        self.is_canonical = is_canonical;
        self
    }

    /// Whether the output is text, which may be written to a terminal.
    pub fn is_text(&self) -> bool {
        self.target.is_some_and(|target| target.is_text && !self.options.gzip)
    }

    /// Writes tables from any source, such as a store; returns the losses.
    pub fn write(&self, tables: &dyn TableSource, out: &mut dyn Write) -> Result<Loss> {
        let target = self.target.ok_or_else(|| self.unknown(""))?;
        traceloom_export::write(target, tables, &self.options, out)
    }

    /// The notes on a trace.
    fn notes_on(&self, trace: &Path) -> &[Note] {
        self.notes.get(trace).map_or(&[], Vec::as_slice)
    }

    /// Counts the selected notes on a trace as lost.
    fn lose_notes(&self, trace: &Path, loss: &mut Loss) {
        let mut lost = self.notes_on(trace).iter().filter(|note| self.options.slice.range.contains(note.ts_ns));
        let Some(first) = lost.next() else { return };
        loss.lose_many("notes", 1 + lost.count() as u64, || first.text.clone());
    }

    /// Whether the output can hold notes.
    fn holds_notes(&self) -> bool {
        self.target.is_some_and(Note::fits)
    }

    fn unknown(&self, hint: &str) -> Error {
        let name = self.path.display();
        Error::usage(format!(
            "cannot tell the output format from {name}; specify it (`--to` on the command line){hint}"
        ))
    }

    /// How to write this trace.
    fn route(&self, trace: &Trace) -> Result<Route> {
        let own = trace.format();
        let has_own_extension = own.extensions.iter().any(|own| self.extension() == Some(OsStr::new(own)));
        let is_own = match self.target.map(|target| target.id) {
            Some(id) => id == own.id || has_own_extension && !self.is_named,
            None if has_own_extension || self.extension().is_none_or(|it| Some(it) == trace.path().extension()) => true,
            None => {
                let own = own.extensions.first().map(|own| format!(", or use .{own} for a copy")).unwrap_or_default();
                return Err(self.unknown(&own));
            }
        };
        let sibling = self.target.map(|target| target.id).filter(|id| own.siblings.contains(id));
        Ok(if self.options.slice != Slice::default() {
            Route::Tables
        } else if is_own && !self.is_named && !self.is_canonical && self.keeps_variant(trace) {
            Route::Copy
        } else if is_own {
            Route::Canonical
        } else if let Some(id) = sibling {
            Route::Sibling(by_id(id)?.descriptor())
        } else {
            Route::Tables
        })
    }

    /// The extension of the output, without the extension of the compression.
    fn extension(&self) -> Option<&OsStr> {
        let name = if self.options.gzip { Path::new(self.path.file_stem()?) } else { &self.path };
        name.extension()
    }

    /// Whether the bytes of a trace fit the name of the output, whose extension may require another variant.
    fn keeps_variant(&self, trace: &Trace) -> bool {
        let (from, to) = (trace.path(), &self.path);
        self.options.variant.is_none() || from == Path::new("-") || from.extension() == to.extension()
    }

    /// Runs work with an output that compresses if requested.
    fn compress<T>(&self, out: &mut dyn Write, work: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
        if !self.options.gzip {
            return work(out);
        }
        let mut encoder = GzEncoder::new(out, Compression::new(6));
        let outcome = work(&mut encoder)?;
        encoder.finish()?;
        Ok(outcome)
    }
}

/// How a trace is converted.
enum Route {
    /// Copy of the bytes, via the records.
    Copy,
    /// The same format, written from scratch.
    Canonical,
    /// A related format, record by record.
    Sibling(&'static Descriptor),
    /// Anything else.
    Tables,
}

impl std::fmt::Debug for Conversion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let id = self.target.map(|target| target.id);
        f.debug_struct("Conversion").field("target", &id).field("options", &self.options).finish_non_exhaustive()
    }
}

impl Trace {
    /// Converts the trace to another tool or format, such as `perfetto` or `easyprofiler:1.3.0`.
    pub fn write_as(&self, target: &str, out: &mut dyn Write) -> Result<Edited> {
        self.convert(&Conversion::to(target)?, out)
    }

    /// Converts the trace, and returns the losses.
    ///
    /// The same format, or a related one, is converted record by record, which keeps everything that the output can
    /// hold; any other conversion goes through the tables.
    pub fn convert(&self, conversion: &Conversion, out: &mut dyn Write) -> Result<Edited> {
        let variant = conversion.options.variant.as_deref();
        let mut edited = match conversion.route(self)? {
            Route::Copy => {
                let findings = conversion.compress(out, |out| self.rewrite(out))?;
                Edited { findings, loss: Loss::default() }
            }
            Route::Canonical => conversion.compress(out, |out| self.canonical(variant, out))?,
            Route::Sibling(format) => conversion.compress(out, |out| {
                let to = Sibling { format, variant };
                self.edit(out, |out| self.erased().convert_to(self.source(), out, &to, self.options()))
            })?,
            Route::Tables if conversion.holds_notes() => {
                let noted = Noted { trace: self.inner(), notes: conversion.notes_on(self.path()) };
                return Ok(written(conversion.write(&noted, out)?));
            }
            Route::Tables => written(conversion.write(self, out)?),
        };
        conversion.lose_notes(self.path(), &mut edited.loss);
        Ok(edited)
    }
}

impl Traces {
    /// Converts all traces, on one time axis, to another tool or to one trace of another format.
    pub fn write_as(&self, target: &str, out: &mut dyn Write) -> Result<Edited> {
        self.convert(&Conversion::to(target)?, out)
    }

    /// Converts all traces, and returns the losses.
    pub fn convert(&self, conversion: &Conversion, out: &mut dyn Write) -> Result<Edited> {
        match &**self {
            [only] if self.offsets.is_empty() => only.convert(conversion, out),
            _ if conversion.holds_notes() => {
                let set = self.set()?;
                let notes = set.traces().iter().map(|trace| conversion.notes_on(&trace.path)).collect();
                Ok(written(conversion.write(&NotedSet { set: &set, notes }, out)?))
            }
            all => {
                let mut edited = written(conversion.write(&self.set()?, out)?);
                all.iter().for_each(|trace| conversion.lose_notes(trace.path(), &mut edited.loss));
                Ok(edited)
            }
        }
    }
}

/// The outcome of a conversion through the tables, which report their findings themselves.
fn written(loss: Loss) -> Edited {
    Edited { findings: Findings::new(Mode::Lenient, &traceloom_core::Limits::default()), loss }
}

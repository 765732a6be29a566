//! Conversion to other formats, versions and tools.

use std::{io::Write, path::Path};

use traceloom_core::{Edited, Error, Findings, Result, Slice, TimeRange};
use traceloom_export::{Options, Target, by_path};
use traceloom_model::TableSource;
use traceloom_open::by_id;

use crate::{Trace, Traces};

/// Says what to write.
///
/// ```
/// use traceloom::Conversion;
///
/// let conversion = Conversion::to("perfetto")?.range("1.5s..1.7s".parse()?);
/// # Ok::<(), traceloom::Error>(())
/// ```
#[derive(Clone)]
pub struct Conversion {
    target: &'static dyn Target,
    options: Options,
}

impl Conversion {
    /// To a format or tool by its id, such as `perfetto`, or `easyprofiler:1.3.0` with a variant.
    ///
    /// `traceloom convert --list` shows the ids, and so does [`targets`](traceloom_export::targets).
    pub fn to(target: &str) -> Result<Self> {
        let (id, variant) = target.split_once(':').map_or((target, None), |(id, variant)| (id, Some(variant)));
        let options = Options { variant: variant.map(str::to_owned), ..Options::default() };
        Ok(Self { target: traceloom_export::by_id(id)?, options })
    }

    /// To the format or tool that has the extension of a path; compressed if `.gz` follows it.
    pub fn for_path(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let unknown = || Error::usage("has no extension of a format or tool; name the format").in_file(path);
        let (target, gzip) = by_path(path).ok_or_else(unknown)?;
        Ok(Self { target, options: Options { gzip, ..Options::default() } })
    }

    /// Writes only a range of time; spans that overlap it are written whole.
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

    /// Compresses the output with gzip.
    #[must_use]
    pub fn gzip(mut self, is_compressed: bool) -> Self {
        self.options.gzip = is_compressed;
        self
    }

    /// Whether all of the trace is to be written, and as it is: records can then become records.
    fn is_whole(&self) -> bool {
        self.options.slice == Slice::default() && !self.options.gzip
    }

    fn through_tables(&self, source: &dyn TableSource, out: &mut dyn Write) -> Result<Edited> {
        let loss = traceloom_export::write(self.target, source, &self.options, out)?;
        // Reading the tables reports its findings by itself.
        Ok(Edited { findings: Findings::new(Default::default(), &self.options.limits), loss })
    }
}

impl std::fmt::Debug for Conversion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let id = self.target.descriptor().id;
        f.debug_struct("Conversion").field("target", &id).field("options", &self.options).finish()
    }
}

impl Trace {
    /// Writes the trace for another tool or as another format, such as `perfetto` or `easyprofiler:1.3.0`.
    pub fn write_as(&self, target: &str, out: &mut dyn Write) -> Result<Edited> {
        self.convert(&Conversion::to(target)?, out)
    }

    /// Writes the trace as a conversion says, and reports what the output does not hold.
    ///
    /// The same format in and out, or a sibling of it, goes record to record; anything else goes through the tables.
    pub fn convert(&self, conversion: &Conversion, out: &mut dyn Write) -> Result<Edited> {
        let (own, target) = (self.format(), conversion.target.descriptor());
        let variant = conversion.options.variant.as_deref();
        if conversion.is_whole() && target.id == own.id {
            return self.canonical(variant, out);
        }
        if conversion.is_whole() && own.siblings.contains(&target.id) {
            let to = by_id(target.id)?.descriptor();
            return self.edit(out, |out| self.erased().convert_to(self.source(), out, to, variant, self.options()));
        }
        conversion.through_tables(self, out)
    }
}

impl Traces {
    /// Writes all traces, on one time axis, for another tool or as one trace of another format.
    pub fn write_as(&self, target: &str, out: &mut dyn Write) -> Result<Edited> {
        self.convert(&Conversion::to(target)?, out)
    }

    /// Writes all traces as a conversion says, and reports what the output does not hold.
    pub fn convert(&self, conversion: &Conversion, out: &mut dyn Write) -> Result<Edited> {
        match &**self {
            [only] => only.convert(conversion, out),
            _ => conversion.through_tables(self, out),
        }
    }
}

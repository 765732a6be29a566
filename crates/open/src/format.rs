//! What a format can do, whatever it is.

use std::io::Write;

use traceloom_core::{Describe, Descriptor, Edited, Findings, Options, Result, Rule, Slice, Sniff, Source};

use crate::Info;

/// Receives the header and every record of a file: offset, length, contents. `false` stops the walk.
pub type Dump<'d> = dyn FnMut(u64, u64, &dyn Describe) -> Result<bool> + 'd;

/// A format, erased: one virtual call per file, never per record of a hot loop.
pub trait Format: Sync {
    /// The format as data.
    fn descriptor(&self) -> &'static Descriptor;

    /// Every rule that its reader knows.
    fn rules(&self) -> &'static [&'static Rule];

    /// Whether these first bytes look like it.
    fn sniff(&self, prefix: &[u8]) -> Sniff;

    /// Looks at the whole of a file that [`Format::sniff`] claims; gives the id of a sibling dialect where
    /// the file turns out to be of that.
    fn settle(&self, _source: &Source, _options: &Options) -> Result<Option<&'static str>> {
        Ok(None)
    }

    /// What the file is, how long, how much of what.
    fn info(&self, source: &Source, options: &Options) -> Result<(Info, Findings)>;

    /// Everything that is wrong; in strict mode the first error ends it.
    fn check(&self, source: &Source, options: &Options) -> Result<Findings>;

    /// Hands over the header and every record.
    fn dump(&self, source: &Source, options: &Options, visit: &mut Dump<'_>) -> Result<Findings>;

    /// Writes the same bytes, by way of the records.
    fn rewrite(&self, source: &Source, out: &mut dyn Write, options: &Options) -> Result<Findings>;

    /// Writes the same contents as a clean writer lays them out, in the variant named.
    fn canonical(
        &self,
        source: &Source,
        out: &mut dyn Write,
        variant: Option<&str>,
        options: &Options,
    ) -> Result<Edited>;

    /// Writes the contents in a sibling dialect that has an id of its own.
    fn convert_to(
        &self,
        _source: &Source,
        _out: &mut dyn Write,
        to: &'static Descriptor,
        _variant: Option<&str>,
        _options: &Options,
    ) -> Result<Edited> {
        crate::formats::unrelated(self.descriptor(), to)
    }

    /// Writes a file that the original tool loads.
    fn repair(&self, source: &Source, out: &mut dyn Write, options: &Options) -> Result<Edited>;

    /// Writes a part of the file.
    fn slice(&self, source: &Source, out: &mut dyn Write, slice: &Slice, options: &Options) -> Result<Edited>;

    /// Writes several files as one.
    fn merge(&self, sources: &[Source], out: &mut dyn Write, options: &Options) -> Result<Edited>;

    /// A small trace to try things on.
    fn sample(&self) -> Result<Sample>;
}

/// A small trace, made with the format's own writer.
#[derive(Clone, Debug)]
pub struct Sample {
    /// What to call the file.
    pub file_name: &'static str,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What it shows, in one line.
    pub about: &'static str,
    /// Verbs worth trying on it besides those that every format has; `{file}` stands for its name.
    pub tries: &'static [&'static str],
}

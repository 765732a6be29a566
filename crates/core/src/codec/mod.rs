//! A format as a type: what every format crate provides, under the same names.

mod checked;
mod describe;
mod edit;
mod format;
mod forward;
mod info;

use std::io::Write;

pub use self::{
    checked::{Copied, checked},
    describe::{Describe, FieldValue, Fields, Text},
    edit::{Edited, Loss, Slice},
    format::{Access, Checks, Clock, Descriptor, Mode, Options, Order, Sibling, Sniff, Variant},
    info::{Amount, Fact, Info, Listing, Sample},
};
use crate::{Error, Findings, Located, Result, Rule, Source};

/// Reads, writes, edits and describes the files of one format.
///
/// ```text
/// sniff* settle? open ( next* | walk )           reading
/// create write* finish                           writing
/// canonical | convert_to | repair | slice | merge | info | sample
/// ```
///
/// Sealed: only Traceloom's crates implement this trait, so methods can be added to it.
pub trait Codec: sealed::Sealed + Sized + Sync + 'static {
    /// The format's descriptor.
    const FORMAT: &'static Descriptor;
    /// Every rule that the reader checks.
    const RULES: &'static [&'static Rule];

    /// The header at the start of a file.
    type Header: Describe + Clone;
    /// One record, borrowed from the reader.
    type Record<'a>: Describe + Copy;
    /// Reads records.
    type Reader: Records<Codec = Self>;
    /// Writes records.
    type Writer<W: Write>: RecordWriter<Self, W>;

    /// Whether these first bytes look like this format.
    fn sniff(prefix: &[u8]) -> Sniff;

    /// Suffix that turns the name of a file into the name of a second file that its reader may need; see
    /// [`Source::companion`].
    const COMPANION: Option<&'static str> = None;

    /// Examines a whole file that [`Codec::sniff`] claims; returns the id of a sibling dialect if the file turns out to
    /// be in that dialect.
    fn settle(_source: &Source, _options: &Options) -> Result<Option<&'static str>> {
        Ok(None)
    }

    /// Opens a file for reading.
    fn open(source: Source, options: &Options) -> Result<Self::Reader>;

    /// Starts a file with this header.
    fn create<W: Write>(out: W, header: &Self::Header) -> Result<Self::Writer<W>>;

    /// Size of the header in the file, and so the offset of the first record.
    fn header_bytes(header: &Self::Header) -> u64;

    /// Summarizes a file.
    fn info(source: &Source, options: &Options) -> Result<(Info, Findings)>;

    /// Writes the same contents as a clean writer lays them out, in the given variant.
    fn canonical<W: Write>(source: &Source, out: W, variant: Option<&str>, options: &Options) -> Result<Edited>;

    /// Writes the contents in a sibling dialect, one of [`Descriptor::siblings`].
    fn convert_to<W: Write>(_source: &Source, _out: W, to: &Sibling<'_>, _options: &Options) -> Result<Edited> {
        Err(to.refused_by(Self::FORMAT))
    }

    /// Writes a file that the format's tool loads.
    fn repair<W: Write>(source: &Source, out: W, options: &Options) -> Result<Edited>;

    /// Writes a range of the file.
    fn slice<W: Write>(source: &Source, out: W, slice: &Slice, options: &Options) -> Result<Edited>;

    /// Writes several files as one.
    fn merge<W: Write>(sources: &[Source], out: W, options: &Options) -> Result<Edited>;

    /// A small trace to try things on, made with the format's writer.
    fn sample() -> Result<Sample>;

    /// Writes the same bytes by decoding and encoding every record.
    fn rewrite<W: Write>(source: &Source, out: W, options: &Options) -> Result<Findings> {
        let mut reader = Self::open(source.clone(), options)?;
        let mut writer = Self::create(out, reader.header())?;
        reader.walk(|located| writer.write(&located.record))?;
        writer.finish()?;
        Ok(reader.into_findings())
    }

    /// Reads to the end and returns only the findings.
    fn check(source: &Source, options: &Options) -> Result<Findings> {
        let mut reader = Self::open(source.clone(), &options.clone().thorough())?;
        reader.walk(|_| Ok::<_, Error>(()))?;
        Ok(reader.into_findings())
    }
}

/// A record of a reader.
pub type RecordOf<'a, R> = <<R as Records>::Codec as Codec>::Record<'a>;
/// The header of a reader.
pub type HeaderOf<R> = <<R as Records>::Codec as Codec>::Header;

/// Reads the records of a file, front to back.
///
/// Call order: `next* (None | Err)`; both are final. Findings may be read whenever no record is borrowed.
pub trait Records: Sized {
    /// The format.
    type Codec: Codec<Reader = Self>;

    /// The header, as stored.
    fn header(&self) -> &HeaderOf<Self>;

    /// The next record with its position, borrowed until the next call.
    fn next(&mut self) -> Result<Option<Located<RecordOf<'_, Self>>>>;

    /// Passes all remaining records to `visit`: the same as calling [`Records::next`], but faster because it is one
    /// loop.
    ///
    /// Stops at the first error, including one returned by the visitor; an error is final.
    #[inline]
    fn walk<E: From<Error>>(
        &mut self,
        mut visit: impl FnMut(Located<RecordOf<'_, Self>>) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(located) = self.next()? {
            visit(located)?;
        }
        Ok(())
    }

    /// The findings so far.
    fn findings(&self) -> &Findings;

    /// The findings, once reading is over.
    fn into_findings(self) -> Findings;
}

/// Writes the records of a file, front to back. Call order: `write* finish`.
pub trait RecordWriter<C: Codec, W: Write>: Sized {
    /// Writes a record.
    fn write(&mut self, record: &C::Record<'_>) -> Result<()>;

    /// Ends the file and returns the output.
    fn finish(self) -> Result<W>;
}

/// Restricts [`Codec`] to Traceloom's crates.
#[doc(hidden)]
pub mod sealed {
    pub trait Sealed {}
}

//! The dialect of Pynytprof: the layout of its document, and every other that the tool wrote.

mod check;
pub mod edit;
pub(crate) mod figures;
pub mod findings;
mod forms;
mod info;
mod item;
pub mod raw;
mod read;
mod record;
pub mod sample;
mod write;

use std::io::Write;

use traceloom_core::{
    Codec, Descriptor as Format, Edited, Findings, Info, Options, Order, Result, Rule, Sample, Slice, Sniff, Source,
    Variant,
};

pub use self::{
    read::{Reader, open},
    record::{Chunk, Edge, File, Header, Line, Process, Range, Record, SiteCalls, Sub, Visit},
    write::{Writer, create},
};
use crate::{dialect, variant::with_levels};

/// The dialect as data.
pub static FORMAT: Format = Format::new("pynytprof", "Pynytprof")
    .extensions(&["pynytprof", "out", "nytprof"])
    .variants(&with_levels(Variant::new("document", "as its document says, not compressed")))
    .siblings(&["nytprof"])
    .order(Order::None);

/// Whether these first bytes look like a file of Pynytprof.
pub fn sniff(prefix: &[u8]) -> Sniff {
    let is_pynytprof = dialect::begins(prefix) && dialect::dialect_of_prefix(prefix).is_pynytprof();
    if is_pynytprof { Sniff::Yes } else { Sniff::No }
}

/// Pynytprof's dialect.
#[derive(Clone, Copy, Debug)]
pub struct Pynytprof;

impl traceloom_core::codec::sealed::Sealed for Pynytprof {}

impl Codec for Pynytprof {
    const FORMAT: &'static Format = &FORMAT;
    const RULES: &'static [&'static Rule] = findings::RULES;

    type Header = Header;
    type Record<'a> = Record<'a>;
    type Reader = Reader;
    type Writer<W: Write> = Writer<W>;

    fn sniff(prefix: &[u8]) -> Sniff {
        sniff(prefix)
    }

    fn settle(source: &Source, options: &Options) -> Result<Option<&'static str>> {
        let is_pynytprof = dialect::dialect(source, &options.limits)?.is_pynytprof();
        Ok((!is_pynytprof).then_some(crate::FORMAT.id))
    }

    fn convert_to<W: Write>(
        source: &Source,
        out: W,
        _to: &Format,
        variant: Option<&str>,
        options: &Options,
    ) -> Result<Edited> {
        edit::to_nytprof(source, out, variant, options)
    }

    fn open(source: Source, options: &Options) -> Result<Reader> {
        open(source, options)
    }

    fn create<W: Write>(out: W, header: &Header) -> Result<Writer<W>> {
        create(out, header)
    }

    fn header_bytes(header: &Header) -> u64 {
        header.head.len() as u64
    }

    fn info(source: &Source, options: &Options) -> Result<(Info, Findings)> {
        info::info(source, options)
    }

    fn canonical<W: Write>(source: &Source, out: W, variant: Option<&str>, options: &Options) -> Result<Edited> {
        edit::canonical(source, out, variant, options)
    }

    fn repair<W: Write>(source: &Source, out: W, options: &Options) -> Result<Edited> {
        edit::repair(source, out, options)
    }

    fn slice<W: Write>(source: &Source, out: W, slice: &Slice, options: &Options) -> Result<Edited> {
        edit::slice(source, out, slice, options)
    }

    fn merge<W: Write>(sources: &[Source], out: W, options: &Options) -> Result<Edited> {
        edit::merge(sources, out, options)
    }

    fn sample() -> Result<Sample> {
        sample::sample()
    }
}

//! Pynytprof's dialect: the documented layout, and every other one that the tool wrote.

mod check;
pub mod edit;
pub(crate) mod figures;
pub mod findings;
mod forms;
mod info;
mod item;
mod newlines;
pub(crate) mod plan;
pub mod raw;
mod read;
mod record;
pub mod sample;
pub(crate) mod tokens;
mod write;

use std::io::Write;

use traceloom_core::{Descriptor as Format, Edited, Options, Order, Result, Sibling, Sniff, Source, Variant};

pub use self::{
    read::{Reader, open},
    record::{Chunk, Edge, File, Header, Line, Process, Range, Record, SiteCalls, Sub, Visit},
    write::{Writer, create},
};
use crate::{dialect, variant::with_levels};

/// The dialect's descriptor.
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

traceloom_core::codec! {
    /// Pynytprof's dialect.
    pub struct Pynytprof;

    fn settle(source: &Source, options: &Options) -> Result<Option<&'static str>> {
        let is_pynytprof = dialect::dialect(source, &options.limits)?.is_pynytprof();
        Ok((!is_pynytprof).then_some(crate::FORMAT.id))
    }

    fn convert_to<W: Write>(source: &Source, out: W, to: &Sibling<'_>, options: &Options) -> Result<Edited> {
        edit::to_nytprof(source, out, to.variant, options)
    }

    fn header_bytes(header: &Header) -> u64 {
        header.head.len() as u64
    }
}

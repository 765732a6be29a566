//! Edits of whole files: canonical, repair, slice, merge, and conversion to the other dialect.

mod attributes;
mod canonical;
mod convert;
mod frames;
mod merge;
mod renumber;
mod repair;
mod slice;

use std::io::Write;

use traceloom_core::{Loss, Result};

pub use self::{canonical::canonical, convert::to_pynytprof, merge::merge, repair::repair, slice::slice};
use crate::{FORMAT, Nv, NvLayout, Record, Writer, dialect::PRODUCER, record::brief, variant};

/// The compression level of a variant: `None` for no compression.
pub fn level_of(variant: &str) -> Result<Option<u8>> {
    variant::level_of(&FORMAT, variant)
}

/// The comment before a compressed part.
pub fn compression_comment(level: u8) -> String {
    format!("Compressed at level {level} with zlib 1.3.1")
}

/// Starts the compressed part, like the profiler.
pub(crate) fn start_deflate<W: Write>(writer: &mut Writer<W>, level: u8) -> Result<()> {
    writer.write(&Record::Comment(compression_comment(level).as_bytes()))?;
    writer.write(&Record::StartDeflate(level))
}

/// Whether a comment is about compression, which a new file may not have.
fn is_compression_comment(text: &[u8]) -> bool {
    text.starts_with(b"Compressed at level ")
}

/// Whether a comment names Pynytprof; a new file does not have it, because with this text, a process record could be
/// mistaken for one of Pynytprof.
fn names_pynytprof(text: &[u8], loss: &mut Loss) -> bool {
    let is_named = text.windows(PRODUCER.len()).any(|word| word == PRODUCER);
    if is_named {
        loss.lose("comments that name Pynytprof", || brief(text));
    }
    is_named
}

/// Whether these bytes are the lines that the profiler writes after the compressed part.
fn is_closing_text(bytes: &[u8]) -> bool {
    bytes.starts_with(b"#\n# Compressed ")
}

/// Whether the record is text, which may come before the compressed part.
const fn is_text(record: &Record<'_>) -> bool {
    matches!(record, Record::Comment(_) | Record::Attribute(_) | Record::Option(_))
}

/// Stores every number as common perls do; also returns whether digits are lost.
fn with_doubles<'a>(record: &Record<'a>) -> (Record<'a>, bool) {
    let mut record = record.canonical();
    let mut is_exact = true;
    let mut double = |number: &mut Nv| {
        is_exact &= number.is_double();
        *number = Nv::new(number.value(), NvLayout::COMMON);
    };
    match &mut record {
        Record::PidStart(start) => double(&mut start.time),
        Record::PidEnd(end) => double(&mut end.time),
        Record::SubReturn(left) => {
            double(&mut left.incl_ticks);
            double(&mut left.excl_ticks);
        }
        Record::SubCallers(calls) => {
            double(&mut calls.incl_seconds);
            double(&mut calls.excl_seconds);
            double(&mut calls.reci_seconds);
        }
        _ => {}
    }
    (record, is_exact)
}

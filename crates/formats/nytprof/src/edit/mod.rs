//! Edits of whole files: clean layout, repair, slices, merging, and the way to the other dialect and back.

mod canonical;
mod convert;
mod merge;
mod repair;
mod slice;

use traceloom_core::{Error, Result};

pub use self::{
    canonical::canonical,
    convert::{from_pynytprof, to_pynytprof},
    merge::merge,
    repair::repair,
    slice::slice,
};
use crate::{Nv, NvLayout, Record};

/// The compression that a variant asks for: `None` for none.
pub fn level_of(variant: &str) -> Result<Option<u8>> {
    let level = match variant {
        "plain" | "document" => return Ok(None),
        "zlib" => Some(6),
        other => other.strip_prefix("zlib").and_then(|level| level.parse().ok()).filter(|level| *level <= 9),
    };
    let unknown = || Error::usage(format!("there is no variant {variant}; there are plain, zlib, and zlib0 to zlib9"));
    level.map(Some).ok_or_else(unknown)
}

/// The comment that comes before a compressed part.
pub fn compression_comment(level: u8) -> String {
    format!("Compressed at level {level} with zlib 1.3.1")
}

/// Whether a comment speaks of compression, which a new file may not have.
fn is_compression_comment(text: &[u8]) -> bool {
    text.starts_with(b"Compressed at level ")
}

/// Whether these bytes are the lines that the profiler writes behind the compressed part.
fn is_closing_text(bytes: &[u8]) -> bool {
    bytes.starts_with(b"#\n# Compressed ")
}

/// Whether it is text, which may stand before the compressed part.
const fn is_text(record: &Record<'_>) -> bool {
    matches!(record, Record::Comment(_) | Record::Attribute(_) | Record::Option(_))
}

/// Stores every number as common perls do; says whether digits are lost.
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

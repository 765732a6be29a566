//! Edits of whole files: clean layout, repair, slices, merging, and the way to the other dialect and back.

mod canonical;
mod convert;
mod merge;
mod repair;
mod slice;

use traceloom_core::{Error, Result, Variant};

pub use self::{
    canonical::canonical,
    convert::{from_pynytprof, to_pynytprof},
    merge::merge,
    repair::repair,
    slice::slice,
};
use crate::{Nv, NvLayout, Record};

/// A variant without compression, and one for each level.
pub(crate) const fn with_levels(plain: Variant) -> [Variant; 12] {
    const fn level(id: &'static str, about: &'static str) -> Variant {
        Variant { id, about }
    }
    [
        plain,
        level("zlib", "compressed at level 6"),
        level("zlib0", "stored in zlib blocks"),
        level("zlib1", "compressed at level 1, the fastest"),
        level("zlib2", "compressed at level 2"),
        level("zlib3", "compressed at level 3"),
        level("zlib4", "compressed at level 4"),
        level("zlib5", "compressed at level 5"),
        level("zlib6", "compressed at level 6"),
        level("zlib7", "compressed at level 7"),
        level("zlib8", "compressed at level 8"),
        level("zlib9", "compressed at level 9, the smallest"),
    ]
}

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

//! Edits of files: canonical, repair, slice, merge.
//!
//! The header of a file holds the number of entries and the offset of the dictionary. So every edit walks its inputs
//! twice, once to count and once to write, and memory does not grow with the file.

mod canonical;
mod merge;
mod plan;
mod relay;
mod repair;
mod slice;

use traceloom_core::{Located, Loss};

pub use self::{
    canonical::{canonical, canonical_in},
    merge::merge,
    repair::{repair, repair_with},
    slice::slice,
};
use crate::Record;

/// Counts the bytes of a record that is left out because it cannot be read.
fn lose_unreadable(located: &Located<Record<'_>>, loss: &mut Loss) {
    let (what, bytes) = match &located.record {
        Record::Residue(bytes) => ("bytes that are not a record", bytes.len()),
        Record::Block(block) if block.plain_bytes == 0 => ("bytes of damaged blocks", block.stored.len()),
        _ => return,
    };
    loss.lose_many(what, bytes as u64, || format!("{bytes} bytes from {} on", located.offset));
}

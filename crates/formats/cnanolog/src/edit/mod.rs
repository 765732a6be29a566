//! Edits from file to file: re-laid, repaired, sliced, merged.
//!
//! A file says in its header how many entries it has and where its dictionary lies. Every edit therefore walks its
//! inputs twice: once to count, once to write, so that memory does not grow with the file.

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

/// Counts the bytes of a record that stays behind because nothing can be read from it.
fn lose_unreadable(located: &Located<Record<'_>>, loss: &mut Loss) {
    let (what, bytes) = match &located.record {
        Record::Residue(bytes) => ("bytes that are not a record", bytes.len()),
        Record::Block(block) if block.plain_bytes == 0 => ("bytes of damaged blocks", block.stored.len()),
        _ => return,
    };
    loss.lose_many(what, bytes as u64, || format!("{bytes} bytes from {} on", located.offset));
}

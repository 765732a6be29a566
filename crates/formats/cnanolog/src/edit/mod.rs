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

pub use self::{
    canonical::{canonical, canonical_in},
    merge::merge,
    repair::{repair, repair_with},
    slice::slice,
};

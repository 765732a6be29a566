//! Edits on records: re-laying, repairing, slicing, merging.
//!
//! Every edit is a `Plan`, which says what becomes of each record; the transcript
//! counts first and writes then, so that memory does not grow with the file.

mod canonical;
mod clean;
mod input;
mod merge;
mod repair;
mod slice;
mod transcript;

pub use self::{canonical::canonical, merge::merge, repair::repair, slice::slice};

//! Edits of files: canonical, repair, slice, merge.
//!
//! Every edit is a `Plan`, which decides about each record; the transcript first counts and then writes, so that memory
//! does not grow with the file.

mod canonical;
mod clean;
mod ids;
mod input;
mod merge;
mod repair;
mod slice;
mod transcript;

pub use self::{canonical::canonical, merge::merge, repair::repair, slice::slice};

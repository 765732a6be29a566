//! Edits of whole files of the dialect; all except [`to_nytprof`] write the documented layout.

mod canonical;
mod convert;
mod merge;
mod repair;
mod slice;

use traceloom_core::Result;

pub use self::{canonical::canonical, convert::to_nytprof, merge::merge, repair::repair, slice::slice};
use super::FORMAT;
use crate::variant;

/// The compression level of a variant: `None` for no compression.
pub fn level_of(variant: &str) -> Result<Option<u8>> {
    variant::level_of(&FORMAT, variant)
}

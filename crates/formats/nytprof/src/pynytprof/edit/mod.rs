//! Edits of whole files of the dialect; all of them write the document's layout but [`to_nytprof`].

mod canonical;
mod convert;
mod merge;
mod repair;
mod slice;

use traceloom_core::Result;

pub use self::{canonical::canonical, convert::to_nytprof, merge::merge, repair::repair, slice::slice};
use super::FORMAT;
use crate::variant;

/// The level of compression that a variant asks for: `None` for none.
pub fn level_of(variant: &str) -> Result<Option<u8>> {
    variant::level_of(&FORMAT, variant)
}

//! All formats behind one interface: which format a file has, and what every format can do.
//!
//! A format is one line in [`FORMATS`] and one feature.

#![forbid(unsafe_code)]
// If no format is enabled, some code is unused.
#![cfg_attr(
    not(any(
        feature = "cnanolog",
        feature = "easyprofiler",
        feature = "memlyze",
        feature = "nytprof",
        feature = "wtf"
    )),
    allow(dead_code, unused_imports)
)]

mod detect;
mod foreign;
mod format;
mod formats;

pub use crate::{
    detect::{Opened, detect, open},
    format::{Dump, Format},
    formats::{FORMATS, by_id},
};

//! All formats behind one door: which one a file is, and what every format can do with it.
//!
//! A format is one line in [`FORMATS`] and one feature.

#![forbid(unsafe_code)]
// Without any format there is nothing to erase.
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

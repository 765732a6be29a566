//! All formats behind one door: which one a file is, and what every format can do with it.
//!
//! A format is one line in [`FORMATS`] and one feature.

#![forbid(unsafe_code)]

mod detect;
mod format;
mod formats;

pub use crate::{
    detect::{Opened, detect, open},
    format::{Dump, Format},
    formats::{FORMATS, by_id},
};

//! All formats behind one door: which one a file is, and what every format can do with it.
//!
//! A format is one line in [`FORMATS`] and one module in `formats`.

#![forbid(unsafe_code)]

mod detect;
mod format;
mod formats;
mod info;
mod utc;
mod walk;

pub use crate::{
    detect::{Opened, detect, open},
    format::{Dump, Format, Sample},
    formats::{FORMATS, by_id},
    info::{Amount, Fact, Info, Table},
};

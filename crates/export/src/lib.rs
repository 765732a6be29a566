//! Converts tables to the formats of other tools.
//!
//! A [`Target`] declares as data which tables it needs, reads them any number of times, writes to any `Write` and
//! returns a counted `Loss`. The passes that targets share are in `traceloom-passes`; [`text`] writes text that other
//! programs parse.
//!
//! ```no_run
//! # fn convert(trace: &dyn traceloom_model::TableSource) -> traceloom_core::Result<()> {
//! use traceloom_export::{Options, by_path, write};
//!
//! let (target, gzip) = by_path("trace.pftrace".as_ref()).expect("Perfetto's ending is known");
//! let mut out = std::io::BufWriter::new(std::fs::File::create("trace.pftrace")?);
//! let loss = write(target, trace, &Options { gzip, ..Options::default() }, &mut out)?;
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod cells;
mod notes;
mod targets;
pub mod text;
mod wire;

pub use traceloom_passes::{Options, Target, Variant, write};

pub use crate::{
    cells::AnyColumn,
    notes::{Note, Noted, NotedSet},
    targets::{TARGETS, by_id, by_path, targets},
};

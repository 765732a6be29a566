//! From the records of any format to the tables.
//!
//! ```no_run
//! use traceloom_mapping::{Options, ingest, open};
//! use traceloom_model::{Batches, Table, Wanted};
//!
//! let options = Options::default();
//! let trace = open("game.prof".as_ref(), None, &options)?;
//! let mut sink = Batches::of(Wanted::everything());
//! ingest(&trace, &options, &mut sink)?;
//! println!("{} spans", sink.rows(Table::Spans));
//! # Ok::<(), traceloom_core::Error>(())
//! ```

#![forbid(unsafe_code)]

mod cnanolog;
mod easyprofiler;
mod memlyze;
mod nytprof;
mod pynytprof;
mod set;
mod shared;
mod targets;
mod trace;
mod wtf;

pub use crate::{
    set::{AxisOptions, Offset, TraceSet},
    shared::RULES,
    targets::TARGETS,
    trace::{Options, Trace, ingest, open},
};

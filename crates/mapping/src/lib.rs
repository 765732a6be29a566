//! Converts the records of any format to tables, and back.
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
// If only some formats are enabled, some of the shared code is unused.
#![cfg_attr(
    not(all(
        feature = "cnanolog",
        feature = "easyprofiler",
        feature = "memlyze",
        feature = "nytprof",
        feature = "wtf"
    )),
    allow(dead_code)
)]

#[cfg(feature = "cnanolog")]
mod cnanolog;
#[cfg(feature = "easyprofiler")]
mod easyprofiler;
mod formats;
mod growing;
#[cfg(feature = "memlyze")]
mod memlyze;
#[cfg(feature = "nytprof")]
mod nytprof;
mod pipeline;
mod prepared;
#[cfg(feature = "nytprof")]
mod pynytprof;
mod set;
mod shared;
mod trace;
#[cfg(feature = "wtf")]
mod wtf;

pub use crate::{
    formats::{FORMATS, Mapping},
    growing::Growing,
    set::{AxisOptions, Offset, TraceSet, pour_in_turn},
    shared::{RULES, messages_cut},
    trace::{Options, Told, Trace, ingest, open},
};

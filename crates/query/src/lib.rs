//! SQL over traces, read in place, and over stores.
//!
//! ```no_run
//! use traceloom_query::{Options, Session};
//!
//! let session = Session::open(&["game.prof".into()], &Options::default())?;
//! let mut answer = session.ask("select name, count(*) from spans group by name")?;
//! while let Some(batch) = answer.next()? {
//!     println!("{} rows", batch.num_rows());
//! }
//! # Ok::<(), traceloom_query::Failure>(())
//! ```
//!
//! Everything here blocks and nothing is generic, so users of this crate do not compile the engine again.

#![forbid(unsafe_code)]

mod align;
mod answer;
mod bounds;
#[cfg(feature = "codec")]
mod codec;
mod errors;
pub mod fleet;
mod functions;
mod grouping;
mod guard;
mod inputs;
mod location;
mod objects;
mod operator;
mod output;
mod recipe;
#[cfg(feature = "remote")]
mod remote;
mod rows;
mod scan;
mod session;
mod skipped;
mod spill;
pub mod store;
mod stored;
mod views;

#[cfg(feature = "codec")]
pub use crate::codec::{LogicalCodec, PhysicalCodec, TraceProblem, TraceProblems, traveling_functions};
#[cfg(feature = "codec")]
pub use crate::session::Engine;
pub use crate::{
    align::Alignment,
    answer::{Answer, Stop},
    errors::{Failure, Problem, SqlRange},
    inputs::{Input, resolve},
    location::trace,
    objects::object_stores,
    output::{Cells, Format, Writer, json_columns},
    rows::{Ask, ReceivedRows, Rows},
    session::{Options, Relation, Session, Watch},
    skipped::{Skipped, describe_skipped},
};
pub use traceloom_mapping::Offset;
pub use traceloom_passes::Reason;

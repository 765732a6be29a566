//! Fleet stores: many traces in one store, and queries over all of them.
//!
//! [`ingest`] adds traces to the store, which [`traceloom_query::fleet`] describes. [`trend`] and [`regressions`] read
//! its sums per trace and name, with the statistics of [`traceloom_analysis`].

#![forbid(unsafe_code)]

mod answers;
mod batches;
mod commit;
mod compact;
mod files;
mod ingest;
mod read;
mod regressions;
mod rows;
mod template;
mod trend;

pub use crate::{
    answers::{each_row, number, quoted, text},
    compact::compact,
    ingest::{Options, Quarantined, Report, Step, ingest},
    read::content_hash,
    regressions::regressions,
    template::{Tags, Template},
    trend::{Metric, NameTrend, Point, Trend, TrendOptions, trend},
};

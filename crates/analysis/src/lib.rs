//! Statistics, flame graphs, memory reports and more from the tables of a trace, without a SQL engine.
//!
//! One module per analysis; each has a sink for tables and a report of plain data.

#![forbid(unsafe_code)]

pub mod advise;
pub mod call_tree;
pub mod choice;
pub mod definitions;
pub mod diff;
pub mod flame;
mod group;
pub mod levels;
pub mod lines;
pub mod lod;
pub mod logs;
pub mod memory;
pub mod notes;
pub mod places;
pub mod stats;
pub mod summary;
mod threads;
pub mod trend;
pub mod units;

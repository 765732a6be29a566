//! The server over real connections on the loopback interface.

mod axis;
mod definitions;
mod findings;
mod flame;
mod guard;
mod histogram;
mod hostile;
mod log;
mod memory;
mod notes;
mod picture;
mod questions;
mod slow;
mod source;
#[cfg(feature = "sql")]
mod sql;
mod stats;
#[cfg(feature = "sql")]
mod store;
mod support;
mod traces;

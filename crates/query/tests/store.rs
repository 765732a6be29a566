//! Stores: contents, other engines, and failures.

#[path = "store/common.rs"]
mod common;
#[path = "store/contents.rs"]
mod contents;
#[path = "store/engines.rs"]
mod engines;
#[path = "store/safety.rs"]
mod safety;
#[path = "store/sql.rs"]
mod sql;

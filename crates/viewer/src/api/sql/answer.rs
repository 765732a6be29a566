//! SQL queries and their results.
#![cfg_attr(not(feature = "sql"), allow(dead_code, reason = "only the page needs the types then"))]

use serde::{Deserialize, Serialize};

use crate::api::wire::row;

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SqlQuery {
    pub(super) sql: String,
}

/// Rows, or the error in the query.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(untagged)]
pub(crate) enum SqlAnswer {
    Problem { problem: SqlProblem },
    Rows(SqlRows),
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SqlRows {
    pub(super) columns: Vec<SqlColumn>,
    pub(super) rows: Vec<Vec<Option<String>>>,
    /// Whether there are more rows.
    pub(super) is_cut: bool,
    /// Whether another query stopped this one.
    pub(super) is_stopped: bool,
    pub(super) elapsed_ms: f64,
}

row! {
    /// A column of a result.
    pub(crate) struct SqlColumn { name: String, is_number: bool }
}

/// An error in a query.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SqlProblem {
    pub(super) message: String,
    pub(super) place: Option<SqlPlace>,
    pub(super) help: Vec<String>,
}

row! {
    /// The position of an error, counted from 1.
    pub(crate) struct SqlPlace { line: usize, column: usize, end_column: usize }
}

/// Tables, views and functions for queries, and example queries.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Schema {
    pub(super) tables: Vec<SchemaTable>,
    pub(super) views: Vec<SchemaView>,
    pub(super) functions: Vec<String>,
    pub(super) examples: Vec<SqlExample>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SchemaTable {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) columns: Vec<SchemaColumn>,
}

row! {
    /// A column, and the table that it refers to.
    pub(crate) struct SchemaColumn {
        name: String,
        label: String,
        about: String,
        is_nullable: bool,
        target: Option<String>,
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SchemaView {
    pub(super) name: String,
    pub(super) columns: Vec<String>,
}

row! {
    /// An example query.
    pub(crate) struct SqlExample { title: String, sql: String }
}

//! What producers declare once and refer to, with how often each is used.

use std::sync::Arc;

use axum::{Extension, Json, Router, extract::State, routing::get};
use serde::Serialize;
use traceloom_analysis::definitions::{Definition, Definitions, Report, UsedAs};

use super::{
    Answer,
    range::{self, RangeQuery, TraceScope},
    wire::row,
    work,
};
use crate::server::App;

pub(crate) fn routes() -> Router<App> {
    let known: Arc<Known> = Arc::default();
    Router::new().route("/definitions", get(definitions)).layer(Extension(known))
}

/// Reports by trace: they do not change after it is read.
type Known = work::Kept<u32, Report>;

/// The declarations of all traces.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct DefinitionsAnswer {
    loading: bool,
    all: usize,
    rows: Vec<DefinitionRow>,
}

row! {
    /// A declaration, and the rows that refer to it.
    pub(crate) struct DefinitionRow {
        trace: u32,
        kind: String,
        name: String,
        file: Option<String>,
        line: Option<u32>,
        color: Option<u32>,
        status: Option<String>,
        args: Option<String>,
        used: u64,
        unit: Option<DefinitionUnit>,
        id: Option<i64>,
    }
}

/// The rows that refer to a declaration.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub(crate) enum DefinitionUnit {
    Allocations,
    Calls,
    Events,
    #[serde(rename = "log lines")]
    LogLines,
    Spans,
    Statements,
    Values,
}

impl From<UsedAs> for DefinitionUnit {
    fn from(used_as: UsedAs) -> Self {
        match used_as {
            UsedAs::Allocations => Self::Allocations,
            UsedAs::Calls => Self::Calls,
            UsedAs::Events => Self::Events,
            UsedAs::LogLines => Self::LogLines,
            UsedAs::Spans => Self::Spans,
            UsedAs::Statements => Self::Statements,
            UsedAs::Values => Self::Values,
        }
    }
}

/// More than a table is scrolled through.
const MAX_ROWS: usize = 100_000;

async fn definitions(
    State(app): State<App>,
    Extension(known): Extension<Arc<Known>>,
) -> Answer<Json<DefinitionsAnswer>> {
    let scopes = RangeQuery::default().scopes(&app)?;
    let loading = range::is_loading(&app)?;
    work::run_awaited(move |over| {
        let mut answer = DefinitionsAnswer { loading, all: 0, rows: Vec::new() };
        for scope in &scopes {
            let report = known.or(scope.trace, || report(scope, over))?;
            answer.all += report.all;
            let room = MAX_ROWS - answer.rows.len();
            answer.rows.extend(report.rows.iter().take(room).map(|row| shown(row, scope.trace)));
        }
        Ok(Json(answer))
    })
    .await
}

fn report(scope: &TraceScope, over: &work::Over) -> Answer<Report> {
    let mut definitions = Definitions::new(MAX_ROWS);
    scope.whole().pour(&mut definitions, over)?;
    Ok(definitions.finish())
}

fn shown(row: &Definition, trace: u32) -> DefinitionRow {
    let Definition { id, kind, name, file, line, color, status, args, used, used_as } = row.clone();
    DefinitionRow { trace, kind, name, file, line, color, status, args, used, unit: used_as.map(Into::into), id }
}

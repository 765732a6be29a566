//! Declarations of producers, and how often each is used.

use std::sync::Arc;

use serde::Serialize;
use traceloom_analysis::definitions::{Definition, Definitions, Report, UsedAs};

use super::{
    Answer, Routes,
    range::{self, RangeQuery, TraceScope},
    wire::row,
    work::{self, Reply},
};
use crate::app::App;

pub(crate) fn routes(routes: &mut Routes) {
    let mut routes = routes.sharing(Arc::<KeptReports>::default());
    routes.get("definitions", |app, known, _| definitions(app, known));
}

/// Reports by trace, which do not change after the trace is read.
type KeptReports = work::Kept<u32, Report>;

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

/// Max number of rows; more than anybody scrolls through.
const MAX_ROWS: usize = 100_000;

fn definitions(app: App, known: Arc<KeptReports>) -> Answer<Reply<DefinitionsAnswer>> {
    let scopes = RangeQuery::default().scopes(&app)?;
    let loading = range::is_loading(&app)?;
    work::later(move |over| {
        let mut answer = DefinitionsAnswer { loading, all: 0, rows: Vec::new() };
        for scope in &scopes {
            let report = known.or(scope.trace, || report(scope, over))?;
            answer.all += report.all;
            let room = MAX_ROWS - answer.rows.len();
            answer.rows.extend(report.rows.iter().take(room).map(|row| shown(row, scope.trace)));
        }
        Ok(answer)
    })
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

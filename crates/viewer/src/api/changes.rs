//! Compares two of the traces: names that got slower or faster, new names, and missing names.

use std::{slice, sync::Arc};

use serde::{Deserialize, Serialize};
use traceloom_analysis::diff::{self, Kind, Noise, Report, Row, Side};

use super::{
    Answer, Routes,
    wire::row,
    work::{self, Reply},
};
use crate::app::App;

pub(crate) fn routes(routes: &mut Routes) {
    let mut routes = routes.sharing(Arc::<KeptReports>::default());
    routes.get("changes", |app, known, ask| changes(app, known, ask.query()?));
}

/// Comparisons by the numbers of both traces: traces that are ready do not change.
type KeptReports = work::Kept<(u32, u32), Report>;

#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct ChangesQuery {
    before: u32,
    after: u32,
}

/// The comparison of two traces, or of two builds of a store.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Changes {
    /// Self time of everything, before and after.
    self_ns: [f64; 2],
    /// Names that were compared.
    all: usize,
    rows: Vec<ChangeRow>,
}

impl Changes {
    pub(crate) fn of(report: &Report) -> Self {
        Self {
            self_ns: report.self_ns,
            all: report.rows.len(),
            rows: report.rows.iter().take(ROWS).map(shown).collect(),
        }
    }
}

row! {
    /// A name, line or function: the mean of its calls before and after, in nanoseconds, or its bytes.
    pub(crate) struct ChangeRow {
        verdict: String,
        name: String,
        line: Option<u32>,
        is_bytes: bool,
        before: Option<f64>,
        after: Option<f64>,
        change: Option<f64>,
        noise: Option<f64>,
        calls_before: f64,
        calls_after: f64,
        share: f64,
    }
}

/// Max number of rows, more than anybody scrolls through; the greatest differences come first.
const ROWS: usize = 2_000;

fn changes(app: App, known: Arc<KeptReports>, ChangesQuery { before, after }: ChangesQuery) -> Answer<Reply<Changes>> {
    let traces = [work::ready(&app, before)?, work::ready(&app, after)?];
    work::later(move |_| {
        let [first, second] = &traces;
        let report = known.or((before, after), || {
            let options = diff::Options::default();
            Ok(diff::of_traces(slice::from_ref(first), slice::from_ref(second), &options)?)
        })?;
        Ok(Changes::of(&report))
    })
}

fn shown(row: &Row) -> ChangeRow {
    let value = |side: Option<Side>| side.map(|side| side.value);
    let calls = |side: Option<Side>| side.map_or(0.0, |side| side.calls);
    ChangeRow {
        verdict: row.verdict.as_str().to_owned(),
        name: row.name.clone(),
        line: row.line,
        is_bytes: row.kind == Kind::Memory,
        before: value(row.before),
        after: value(row.after),
        change: row.change,
        noise: match row.noise {
            Noise::BetweenRuns(noise) | Noise::WithinRun(noise) => Some(noise),
            Noise::Unknown => None,
        },
        calls_before: calls(row.before),
        calls_after: calls(row.after),
        share: row.share,
    }
}

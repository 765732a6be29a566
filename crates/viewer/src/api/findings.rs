//! Problems of the files, and advice about the traces.

use std::{collections::BTreeMap, sync::Arc};

use arrow_array::RecordBatch;
use serde::Serialize;
use traceloom_analysis::advise::{self, Unit};
use traceloom_mapping::Trace;
use traceloom_model::{Columns, Filter, Flow, Table, TableSink, TableSource, select};

use super::{
    Answer, Routes, meanings,
    work::{self, Kept, Over, Reply},
};
use crate::{app::App, scene::LoadState};

pub(crate) fn routes(routes: &mut Routes) {
    let mut routes = routes.sharing(Arc::<KeptFindings>::default());
    routes.get("findings", |app, known, _| findings(app, known));
    routes.get("advice", |app, known, _| advice(app, known));
}

/// Answers by the number of the trace; a trace that is ready does not change.
#[derive(Default)]
struct KeptFindings {
    findings: Kept<u32, Found>,
    advice: Kept<u32, Vec<advise::Advice>>,
}

/// The findings of all traces, and the traces that cannot be read.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct FindingsAnswer {
    failed: Vec<FailedTrace>,
    traces: Vec<TraceFindings>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct FailedTrace {
    trace: usize,
    error: String,
}

/// The findings of one trace; only some have a row, but all are counted by code.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct TraceFindings {
    trace: u32,
    rows: Vec<Finding>,
    counts: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Finding {
    code: String,
    severity: String,
    /// Byte offset.
    position: Option<u64>,
    message: String,
    /// Meaning, from the page of the format.
    meaning: Option<String>,
}

/// Max number of rows per trace.
const MAX_FINDINGS: usize = 2_000;

fn findings(app: App, known: Arc<KeptFindings>) -> Answer<Reply<FindingsAnswer>> {
    let failed = failed(&app)?;
    let traces = app.loader.traces();
    work::later(move |over| {
        let traces = each(&traces, over, |number, trace| {
            let found = known.findings.or(number, || Found::of(trace))?;
            Ok(TraceFindings { trace: number, rows: found.rows.clone(), counts: found.counts.clone() })
        })?;
        Ok(FindingsAnswer { failed, traces })
    })
}

fn each<T>(traces: &[(u32, Arc<Trace>)], over: &Over, mut one: impl FnMut(u32, &Trace) -> Answer<T>) -> Answer<Vec<T>> {
    let mut all = Vec::new();
    for (number, trace) in traces {
        over.check()?;
        all.push(one(*number, trace)?);
    }
    Ok(all)
}

fn failed(app: &App) -> Answer<Vec<FailedTrace>> {
    let scene = app.scene()?;
    let failed = scene.traces.iter().enumerate().filter_map(|(trace, info)| match &info.state {
        LoadState::Failed(error) => Some(FailedTrace { trace, error: error.clone() }),
        _ => None,
    });
    Ok(failed.collect())
}

/// The findings of one trace.
#[derive(Debug, Default)]
struct Found {
    rows: Vec<Finding>,
    /// By code.
    counts: BTreeMap<String, u64>,
}

impl Found {
    fn of(trace: &Trace) -> Answer<Self> {
        let mut found = Self::default();
        trace.pour(&Filter::default(), &mut found)?;
        let options = &trace.options.read;
        // The table has only the first findings of each code; the reader knows how many there are.
        if found.counts.values().any(|count| *count >= options.limits.findings as u64) {
            let checked = trace.opened.format.check(&trace.opened.source, options)?;
            for (code, count) in checked.counts() {
                let known = found.counts.entry((*code).to_owned()).or_default();
                *known = (*known).max(*count);
            }
        }
        Ok(found)
    }
}

select! { struct FindingRow of findings { code, severity, position, message } }

impl TableSink for Found {
    fn wants(&self, table: Table) -> Columns {
        if table == Table::Findings { FindingRow::COLUMNS } else { Columns::NONE }
    }

    fn batch(&mut self, _: Table, batch: RecordBatch) -> traceloom_core::Result<Flow> {
        let rows = FindingRow::of(&batch)?;
        for row in 0..rows.rows {
            let code = rows.code.get(row);
            *self.counts.entry(code.to_owned()).or_default() += 1;
            if self.rows.len() < MAX_FINDINGS {
                self.rows.push(Finding {
                    code: code.to_owned(),
                    severity: rows.severity.get(row).to_owned(),
                    position: rows.position.get(row),
                    message: rows.message.get(row).to_owned(),
                    meaning: meanings::of(code).map(str::to_owned),
                });
            }
        }
        Ok(Flow::Continue)
    }
}

/// Advice about all traces.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct AdviceAnswer {
    traces: Vec<TraceAdvice>,
}

/// Advice about one trace, most important first.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct TraceAdvice {
    trace: u32,
    advice: Vec<Advice>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Advice {
    rule: String,
    weight: String,
    /// The name that causes the problem.
    subject: String,
    cause: String,
    /// The whole finding in one sentence.
    message: String,
    count: u64,
    evidence: Vec<Evidence>,
    /// SQL query that shows the affected rows.
    query: String,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Evidence {
    what: String,
    /// Time on the axis.
    ts_ns: Option<i64>,
    value: f64,
    unit: AdviceUnit,
}

/// The unit of a figure.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub(crate) enum AdviceUnit {
    Bytes,
    Count,
    Ns,
    Number,
    Part,
    Times,
}

impl From<Unit> for AdviceUnit {
    fn from(unit: Unit) -> Self {
        match unit {
            Unit::Bytes => Self::Bytes,
            Unit::Count => Self::Count,
            Unit::Nanoseconds => Self::Ns,
            Unit::Number => Self::Number,
            Unit::Part => Self::Part,
            Unit::Times => Self::Times,
        }
    }
}

fn advice(app: App, known: Arc<KeptFindings>) -> Answer<Reply<AdviceAnswer>> {
    let offsets: Vec<i64> = {
        let scene = app.scene()?;
        scene.traces.iter().map(|trace| trace.offset_ns).collect()
    };
    let traces = app.loader.traces();
    work::later(move |over| {
        let traces = each(&traces, over, |number, trace| {
            let advice = known.advice.or(number, || Ok(advise::of_trace(trace, &advise::Options::default())?))?;
            let offset_ns = offsets.get(number as usize).copied().unwrap_or(0);
            Ok(TraceAdvice { trace: number, advice: advice.iter().map(|one| shown(one, offset_ns)).collect() })
        })?;
        Ok(AdviceAnswer { traces })
    })
}

/// Advice with its times on the axis.
pub(super) fn shown(advice: &advise::Advice, offset_ns: i64) -> Advice {
    let evidence = advice.evidence.iter().map(|evidence| Evidence {
        what: evidence.what.clone(),
        ts_ns: evidence.ts_ns.map(|ts_ns| ts_ns.saturating_add(offset_ns)),
        value: evidence.value,
        unit: evidence.unit.into(),
    });
    Advice {
        rule: advice.rule.as_str().to_owned(),
        weight: advice.weight.as_str().to_owned(),
        subject: advice.subject.clone(),
        cause: advice.cause.clone(),
        message: advice.message.clone(),
        count: advice.count,
        evidence: evidence.collect(),
        query: advice.query.clone(),
    }
}

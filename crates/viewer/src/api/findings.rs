//! What is wrong with the traces, and what is worth a look in them.

use std::{collections::BTreeMap, sync::Arc};

use arrow_array::RecordBatch;
use axum::{Extension, Json, Router, extract::State, routing::get};
use serde_json::{Value, json};
use traceloom_analysis::advise::{self, Advice, Evidence, Unit};
use traceloom_mapping::Trace;
use traceloom_model::{Columns, Filter, Flow, Table, TableSink, TableSource, findings as rows};

use super::{
    Answer, Refusal, meanings,
    work::{self, Kept, Over, Waiting},
};
use crate::{scene::LoadState, server::App};

pub(crate) fn routes() -> Router<App> {
    let known: Arc<Known> = Arc::default();
    Router::new().route("/findings", get(findings)).route("/advice", get(advice)).layer(Extension(known))
}

/// Answers by the number of the trace: what is ready does not change.
#[derive(Default)]
struct Known {
    findings: Kept<u32, Found>,
    advice: Kept<u32, Vec<Advice>>,
}

/// Rows that are shown of one trace; all are counted.
const MOST_FINDINGS: usize = 2_000;

/// The findings of all traces, and the traces that cannot be read at all.
async fn findings(State(app): State<App>, Extension(known): Extension<Arc<Known>>) -> Answer {
    let failed = failed(&app)?;
    let traces = app.loader.traces();
    let waiting = Waiting::default();
    let over = waiting.over();
    let found = work::run(move || {
        each(&traces, &over, |number, trace| {
            let found = known.findings.or(number, || Found::of(trace))?;
            Ok(json!({ "trace": number, "rows": found.rows, "counts": found.counts }))
        })
    });
    Ok(Json(json!({ "failed": failed, "traces": found.await? })))
}

fn each(
    traces: &[(u32, Arc<Trace>)],
    over: &Over,
    mut one: impl FnMut(u32, &Trace) -> Answer<Value>,
) -> Answer<Vec<Value>> {
    let mut all = Vec::new();
    for (number, trace) in traces {
        over.check()?;
        all.push(one(*number, trace)?);
    }
    Ok(all)
}

fn failed(app: &App) -> Answer<Vec<Value>> {
    let scene = app.scene.read().map_err(|_| Refusal::broken())?;
    let failed = scene.traces.iter().enumerate().filter_map(|(number, trace)| match &trace.state {
        LoadState::Failed(error) => Some(json!({ "trace": number, "error": error })),
        _ => None,
    });
    Ok(failed.collect())
}

/// The findings of one trace.
#[derive(Debug, Default)]
struct Found {
    rows: Vec<Value>,
    /// By code.
    counts: BTreeMap<String, u64>,
}

impl Found {
    fn of(trace: &Trace) -> Answer<Self> {
        let mut found = Self::default();
        trace.pour(&Filter::default(), &mut found)?;
        let options = &trace.options.read;
        // The table holds the first of each code; how many there are only the reader knows.
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

impl TableSink for Found {
    fn wants(&self, table: Table) -> Columns {
        if table == Table::Findings { Columns::ALL } else { Columns::NONE }
    }

    fn batch(&mut self, _: Table, batch: RecordBatch) -> traceloom_core::Result<Flow> {
        let view = rows::View::of(&batch);
        for row in 0..view.rows {
            let code = view.code.get(row);
            *self.counts.entry(code.to_owned()).or_default() += 1;
            if self.rows.len() < MOST_FINDINGS {
                self.rows.push(json!({
                    "code": code,
                    "severity": view.severity.get(row),
                    "position": view.position.get(row),
                    "message": view.message.get(row),
                    "meaning": meanings::of(code),
                }));
            }
        }
        Ok(Flow::Continue)
    }
}

/// What is worth a look in all traces, the weightiest first.
async fn advice(State(app): State<App>, Extension(known): Extension<Arc<Known>>) -> Answer {
    let offsets: Vec<i64> = {
        let scene = app.scene.read().map_err(|_| Refusal::broken())?;
        scene.traces.iter().map(|trace| trace.offset_ns).collect()
    };
    let traces = app.loader.traces();
    let waiting = Waiting::default();
    let over = waiting.over();
    let all = work::run(move || {
        each(&traces, &over, |number, trace| {
            let advice = known.advice.or(number, || Ok(advise::of_trace(trace, &advise::Options::default())?))?;
            let offset_ns = offsets.get(number as usize).copied().unwrap_or(0);
            Ok(json!({ "trace": number, "advice": advice.iter().map(|one| told(one, offset_ns)).collect::<Vec<_>>() }))
        })
    });
    Ok(Json(json!({ "traces": all.await? })))
}

fn told(advice: &Advice, offset_ns: i64) -> Value {
    json!({
        "rule": advice.rule.as_str(),
        "weight": advice.weight.as_str(),
        "subject": advice.subject,
        "value": advice.value,
        "limit": advice.limit,
        "unit": unit(advice.rule.unit()),
        "count": advice.count,
        "evidence": advice.evidence.iter().map(|evidence| fact(evidence, offset_ns)).collect::<Vec<_>>(),
        "query": advice.query,
    })
}

fn fact(evidence: &Evidence, offset_ns: i64) -> Value {
    json!({
        "what": evidence.what,
        "ts_ns": evidence.ts_ns.map(|ts_ns| ts_ns.saturating_add(offset_ns)),
        "value": evidence.value,
        "unit": unit(evidence.unit),
    })
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Bytes => "bytes",
        Unit::Count => "count",
        Unit::Nanoseconds => "ns",
        Unit::Number => "number",
        Unit::Part => "part",
        Unit::Times => "times",
    }
}

//! `stats`: calls, times and shares by name.

mod text;

use std::{collections::BTreeSet, io::Write};

use traceloom::{Traces, tables::Tables};
use traceloom_analysis::stats::{self, Options, Pairing, Report};
use traceloom_core::Result;
use traceloom_model::{Table, select};

use super::or_nearest;
use crate::{
    Outcome,
    args::figures::Stats as Arguments,
    input::note_copies,
    output::{note, stdout},
    table::Rounded,
};

/// Runs the verb.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let opened = arguments.shifts.apply(arguments.answer.reading.open_all(&arguments.files)?);
    note_copies(&opened);
    let traces = opened.set()?;
    let report = stats::of_traces(traces.placed(), &options(arguments))?;
    let missing = missing(&report, &opened, arguments)?;
    let mut out = stdout();
    if arguments.answer.json {
        writeln!(out, "{}", report.to_json(arguments.limit.unwrap_or(usize::MAX)))?;
    } else if !missing.is_empty() && (names(&report).is_empty() || is_about_one(arguments)) {
        // A list of threads alone would look like a result.
    } else if is_measured(&report) || is_about_one(arguments) {
        text::write(&mut out, &report, arguments)?;
    } else {
        writeln!(out, "no spans, values or events{}", other_contents(&opened)?)?;
    }
    out.flush()?;
    missing.iter().for_each(|problem| note(problem));
    Ok(if missing.is_empty() { Outcome::Fine } else { Outcome::Findings })
}

fn options(arguments: &Arguments) -> Options {
    let defaults = Options::default();
    let relation = arguments.value.clone().zip(arguments.inside.clone());
    Options {
        by: arguments.by.clone(),
        range: arguments.range.unwrap_or_default(),
        names: arguments.names.clone(),
        sort: arguments.sort,
        histogram: arguments.histogram.clone(),
        relation: relation.map(|(value, span)| Pairing { value, span }),
        ..defaults
    }
}

/// Whether the result is about one name, not a list.
fn is_about_one(arguments: &Arguments) -> bool {
    arguments.histogram.is_some() || arguments.value.is_some()
}

fn is_measured(report: &Report) -> bool {
    !names(report).is_empty() || report.threads.iter().any(|row| row.switches.is_some())
}

fn names(report: &Report) -> BTreeSet<&str> {
    let calls = report.calls.iter().map(|row| row.name.as_str());
    let events = report.events.iter().map(|row| row.name.as_str());
    spans_of(report).into_iter().chain(calls).chain(values_of(report)).chain(events).collect()
}

fn spans_of(report: &Report) -> BTreeSet<&str> {
    report.spans.iter().map(|row| row.name.as_str()).collect()
}

fn values_of(report: &Report) -> BTreeSet<&str> {
    report.values.iter().map(|row| row.name.as_str()).collect()
}

/// A requested name.
struct Requested<'a> {
    name: &'a str,
    kind: &'static str,
    /// The names in a report that it may be.
    known: fn(&Report) -> BTreeSet<&str>,
}

fn requested(arguments: &Arguments) -> Vec<Requested<'_>> {
    let names = arguments.names.iter().map(|name| Requested { name, kind: "span", known: names });
    let spans = arguments.histogram.iter().chain(&arguments.inside);
    let spans = spans.map(|name| Requested { name, kind: "span", known: spans_of });
    let values = arguments.value.iter().map(|name| Requested { name, kind: "value", known: values_of });
    names.chain(spans).chain(values).collect()
}

/// Requested names that are not in the traces.
fn missing(report: &Report, traces: &Traces, arguments: &Arguments) -> Result<Vec<String>> {
    let is_unknown = |wanted: &Requested<'_>, report: &Report| !(wanted.known)(report).contains(wanted.name);
    let mut unknown = requested(arguments);
    unknown.retain(|wanted| is_unknown(wanted, report));
    let is_outside = arguments.range.is_some() && names(report).is_empty();
    if unknown.is_empty() && !is_outside {
        return Ok(Vec::new());
    }
    let everything = stats::of_traces(traces.set()?.placed(), &Options::default())?;
    unknown.retain(|wanted| is_unknown(wanted, &everything));
    let problem = |wanted: &Requested<'_>| {
        let known = (wanted.known)(&everything);
        or_nearest(&format!("no {} is named", wanted.kind), wanted.name, known.into_iter())
    };
    let problems: Vec<String> = unknown.iter().map(problem).collect();
    if problems.is_empty() && is_outside && !everything.spans.is_empty() {
        // An empty range is a valid result, not a failure.
        let end = Rounded(end_ns(&traces.tables()?)? as f64);
        note(&format!("nothing starts in this range; the trace is {end} long"));
    }
    Ok(problems)
}

select! {
    struct Ends of traces { last_ts_ns }
}

fn end_ns(tables: &Tables<'_>) -> Result<i64> {
    let mut end_ns = 0;
    tables.for_each(Table::Traces, Ends::COLUMNS, |batch| -> Result<_> {
        let traces = Ends::of(batch)?;
        end_ns = (0..traces.rows).filter_map(|row| traces.last_ts_ns.get(row)).fold(end_ns, i64::max);
        Ok(std::ops::ControlFlow::Continue(()))
    })?;
    Ok(end_ns)
}

/// Suggests verbs for the other contents of traces without spans.
fn other_contents(traces: &Traces) -> Result<String> {
    let tables = traces.tables()?;
    for (table, rows, verb) in [(Table::Logs, "log lines", "log"), (Table::Allocations, "allocations", "memory")] {
        let count = tables.rows(table)?;
        if count > 0 {
            return Ok(format!(", but {count} {rows}: try `traceloom {verb}`"));
        }
    }
    Ok(String::new())
}

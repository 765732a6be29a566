//! `stats`: calls, times and shares by name.

mod text;

use std::{collections::BTreeSet, io::Write};

use traceloom::{Traces, tables::Tables};
use traceloom_analysis::stats::{self, Options, Pairing, Report};
use traceloom_core::{Result, nearest};
use traceloom_model::{Table, select};

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
    } else if !missing.is_empty() && (names(&report).is_empty() || arguments.histogram.is_some()) {
        // A list of threads alone would look like a result.
    } else if is_measured(&report) || arguments.histogram.is_some() || arguments.value.is_some() {
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

fn is_measured(report: &Report) -> bool {
    !names(report).is_empty() || report.threads.iter().any(|row| row.switches.is_some())
}

fn names(report: &Report) -> BTreeSet<&str> {
    let spans = report.spans.iter().map(|row| row.name.as_str());
    let calls = report.calls.iter().map(|row| row.name.as_str());
    let values = report.values.iter().map(|row| row.name.as_str());
    spans.chain(calls).chain(values).chain(report.events.iter().map(|row| row.name.as_str())).collect()
}

/// Requested names that are not in the traces.
fn missing(report: &Report, traces: &Traces, arguments: &Arguments) -> Result<Vec<String>> {
    let found = names(report);
    let is_wanted = |name: &&String| !found.contains(name.as_str());
    let wanted: Vec<&String> = arguments.names.iter().chain(&arguments.histogram).filter(is_wanted).collect();
    let is_outside = arguments.range.is_some() && found.is_empty();
    if wanted.is_empty() && !is_outside {
        return Ok(Vec::new());
    }
    let everything = stats::of_traces(traces.set()?.placed(), &Options::default())?;
    let known = names(&everything);
    let unknown = wanted.into_iter().filter(|name| !known.contains(name.as_str()));
    let problems: Vec<String> = unknown
        .map(|name| match nearest(name, known.iter().copied()) {
            Some(near) => format!("no span is named {name}; did you mean `{near}`?"),
            None => format!("no span is named {name}"),
        })
        .collect();
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

//! Tools whose results equal the program's `--json`.

use std::path::Path;

use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use traceloom::{
    OpenOptions, Traces, Verdict,
    analysis::{advise, diff, lines, memory, stats, summary::RowCount},
    tables::{Filter, Table, TableSource},
};
use traceloom_core::{Error, Result, TimeRange};
use traceloom_model::ColumnDef;

use super::{Answer, Call, Kind, max_rows, word::Word};
use crate::{inert::Cut, shelf::handle};

pub(super) static TOOLS: &[Kind] = &[
    Kind::new::<Open>(
        "open",
        "Open a trace file and describe it: format, duration, contents, health, the most important findings, and what to ask \
         next. Returns a handle for the other tools.",
        "handle:str, file:str, format:str, version:str, size_bytes:int, duration_ns:int?, counts:[table:str, rows:int], \
         health:{badge:str, problems:[code:str, severity:str, message:str, count:int]}, verdict:str, findings:[rule:str, \
         severity:str, message:str], ask_next:[tool:str, why:str]",
        open,
    ),
    Kind::new::<OfTrace>(
        "summary",
        "The most important facts about a trace: health, advice with evidence and a query for each, names, threads, slow spans, \
         memory, logs. Equals `traceloom summary --json`.",
        "file:str, format:str, version:str, bytes:int, duration_ns:int?, counts:[table:str, rows:int], health:{badge:str, \
         problems:[code:str, count:int]}, verdict:str, findings:[message:str], names:[name:str, calls:int, total_ns:int, \
         self_ns:int], threads:[name:str, spans:int, busy_ns:int], slow:[any], memory:{allocations:int}?, logs:{lines:int}?",
        summary,
    ),
    Kind::new::<Stats>(
        "stats",
        "Statistics by name: calls, total, self, mean, p50, p95, p99 and max time of spans in nanoseconds; functions, values, \
         events and threads. Equals `traceloom stats --json`.",
        "self_ns:int, merged:int, spans:[name:str, calls:int, unclosed:int, total_ns:int, self_ns:int, min_ns:any, mean_ns:any, \
         p50_ns:any, p95_ns:any, p99_ns:any, max_ns:any, share:num?, exact:bool], functions:[name:str, calls:int, total_ns:int, \
         self_ns:int], values:[name:str, count:int], events:[name:str, count:int], threads:[name:str?, spans:int, busy_ns:int]",
        stats,
    ),
    Kind::new::<Memory>(
        "memory",
        "Memory usage over time, allocations in use at the peak or at a given time, and allocations never freed, by call site. \
         Times are in nanoseconds, sizes in bytes. Equals `traceloom memory --json`.",
        "peak:{ts_ns:int, bytes:int, count:int, all_sites:int}, curve:[ts_ns:int, used_bytes:int, max_bytes:int], all_sites:int, sites:[number:int, count:int, bytes:int]",
        memory_of,
    ),
    Kind::new::<Lines>(
        "lines",
        "Cost per source line, per sub and per package of a line profile, in nanoseconds. Equals `traceloom lines --json`.",
        "file:str, format:str, files?:[name:str, statements:int, time_ns:int], subs?:[name:str, calls:int, incl_ns:int, \
         excl_ns:int], packages?:[name:str, calls:int, incl_ns:int, excl_ns:int]",
        lines_of,
    ),
    Kind::new::<Diff>(
        "diff",
        "Compare runs: which names, lines and allocations are worse, better, new or gone, and whether the change exceeds the noise. \
         Times are in nanoseconds, memory in bytes, changes are fractions. Equals `traceloom diff --json`.",
        "runs:[int], noise_known:bool, self_ns:[num], rows:[kind:str, name:str, line:int?, verdict:str, before:{calls:num, \
         value_ns?:num, value_bytes?:num, value_calls?:num, total_ns?:num, total_bytes?:num}?, after:{calls:num, value_ns?:num, \
         value_bytes?:num, value_calls?:num, total_ns?:num, total_bytes?:num}?, change:num?, noise:num?, p:num?, share:any]",
        diff_of,
    ),
    Kind::new::<OfTrace>(
        "check",
        "All problems of a file, with codes and byte offsets; the resource traceloom://findings explains the codes. Equals \
         `traceloom check --json`.",
        "file:str, format:str?, accepted:bool, complete:bool?, refused:str?, findings:[code:str, severity:str, offset:int?, \
         message:str], finding_counts:map",
        check,
    ),
    Kind::new::<Schema>(
        "schema",
        "The tables and columns for `sql`, with their meaning.",
        "tables:[name:str, about:str, columns:[name:str, type:str, about:str]]",
        schema,
    ),
];

/// The trace to open.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Open {
    /// Path of the trace, in a folder that this server may read.
    trace: Option<String>,
}

/// Which trace.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfTrace {
    /// Handle or path of the trace; may be omitted if only one is open.
    trace: Option<String>,
    /// Max rows per list (default 20, at most 1000).
    limit: Option<usize>,
}

fn open(call: &Call<'_>) -> Result<Answer> {
    let arguments: Open = call.arguments()?;
    let (trace, summary) = call.summary(arguments.trace.as_deref())?;
    let about = &summary.about;
    let found = json!({
        "handle": handle(&trace),
        "file": about.file,
        "format": about.format,
        "version": about.version,
        "size_bytes": about.bytes,
        "duration_ns": about.duration_ns,
        "counts": about.counts,
        "health": summary.health,
        "verdict": summary.verdict,
        "findings": summary.findings.iter().map(short).collect::<Vec<_>>(),
        "ask_next": ask_next(&about.counts),
    });
    Ok(Answer::new(found, None))
}

/// Advice without its evidence, which `summary` returns.
fn short(advice: &advise::Advice) -> Json {
    json!({ "rule": advice.rule.as_str(), "severity": advice.weight.as_str(), "message": advice.message })
}

/// Tools that are useful for the contents of a trace.
fn ask_next(counts: &[RowCount]) -> Vec<Json> {
    let mut next = vec![json!({ "tool": "summary", "why": "advice with evidence and queries" })];
    let has_rows = |table: Table| counts.iter().any(|count| count.table == table.name() && count.rows > 0);
    let found = SUBJECTS.iter().filter(|(table, ..)| has_rows(*table));
    next.extend(found.map(|(_, tool, why)| json!({ "tool": tool, "why": why })));
    next
}

static SUBJECTS: &[(Table, &str, &str)] = &[
    (Table::Spans, "stats", "which names take the time"),
    (Table::Spans, "tree", "callers, callees and their cost"),
    (Table::Calls, "stats", "which functions take the time"),
    (Table::LineTimes, "lines", "which source lines take the time"),
    (Table::Allocations, "memory", "memory in use at the peak, and leaks"),
    (Table::Logs, "log", "the log lines"),
];

fn summary(call: &Call<'_>) -> Result<Answer> {
    let arguments: OfTrace = call.arguments()?;
    let (_, summary) = call.summary(arguments.trace.as_deref())?;
    let found = serde_json::to_value(&*summary).map_err(|error| Error::internal(error.to_string()))?;
    // The summary itself has only the first rows of some lists.
    let names = Cut::if_less("names", summary.names.len(), summary.all_names as u64);
    let sites =
        summary.logs.as_ref().and_then(|logs| Cut::if_less("logs.sites", logs.sites.len(), logs.all_sites as u64));
    Ok(Answer::new(found, arguments.limit).cut([names, sites]))
}

/// Which statistics.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Stats {
    /// Handle or path of the trace; may be omitted if only one is open.
    trace: Option<String>,
    /// Only these names.
    #[serde(default)]
    names: Vec<String>,
    /// Grouping keys in addition to the name.
    #[serde(default)]
    by: Vec<Word<stats::By>>,
    /// Sort key of rows, largest first (default `self`).
    sort: Option<Word<stats::Sort>>,
    /// Only spans that start at or after this time, in nanoseconds from the start of the trace.
    from_ns: Option<i64>,
    /// Only spans that start before this time, in nanoseconds from the start of the trace.
    to_ns: Option<i64>,
    /// Max rows per list (default 20, at most 1000).
    limit: Option<usize>,
}

fn stats(call: &Call<'_>) -> Result<Answer> {
    let arguments: Stats = call.arguments()?;
    let trace = call.trace(arguments.trace.as_deref())?;
    let options = stats::Options {
        by: arguments.by.into_iter().map(|Word(by)| by).collect(),
        range: TimeRange::new(arguments.from_ns, arguments.to_ns),
        names: arguments.names,
        sort: arguments.sort.map_or(stats::Sort::SelfTime, |Word(sort)| sort),
        ..stats::Options::default()
    };
    let set = Traces::from_iter([trace]).set()?;
    let (mut report, limit) = (stats::of_traces(set.placed(), &options)?, arguments.limit);
    // No JSON is built for rows that are not shown.
    let cuts = [
        first("spans", &mut report.spans, limit),
        first("functions", &mut report.calls, limit),
        first("values", &mut report.values, limit),
        first("events", &mut report.events, limit),
        first("threads", &mut report.threads, limit),
    ];
    Ok(Answer::new(report.to_json(usize::MAX), limit).cut(cuts))
}

/// Keeps the first rows of a list of a result, and returns its truncation.
fn first<T>(list: &str, rows: &mut Vec<T>, limit: Option<usize>) -> Option<Cut> {
    let total = rows.len() as u64;
    rows.truncate(max_rows(limit));
    Cut::if_less(list, rows.len(), total)
}

/// Which memory.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Memory {
    /// Handle or path of the trace; may be omitted if only one is open.
    trace: Option<String>,
    /// Also list the allocations in use at this time, in nanoseconds from the start of the trace.
    at_ns: Option<i64>,
    /// Number of points of the usage curve (default 20).
    points: Option<usize>,
    /// Max rows per list (default 20, at most 1000).
    limit: Option<usize>,
}

fn memory_of(call: &Call<'_>) -> Result<Answer> {
    let arguments: Memory = call.arguments()?;
    let trace = call.trace(arguments.trace.as_deref())?;
    let points = max_rows(arguments.points);
    let options = memory::Options { at_ns: arguments.at_ns, points, ..memory::Options::default() };
    let report = memory::memory(&trace, &Filter::default(), &options)?;
    if report.totals.allocations == 0 && report.totals.frees == 0 {
        return Err(Error::unsupported("the trace has no allocations; `open` lists its contents").in_file(trace.path()));
    }
    let rows = max_rows(arguments.limit);
    let cut = |list: &str, total: usize| Cut::if_less(list, total.min(rows), total as u64);
    let at_time = report.at.as_ref().and_then(|at| cut("at.sites", at.sites.len()));
    let cuts = [cut("sites", report.sites.len()), cut("peak.sites", report.peak.sites.len()), at_time];
    let mut extract = memory::Extract { most_alive: rows, ..memory::Extract::whole(&report) };
    extract.sites.truncate(rows);
    Ok(Answer::new(report.to_json(&extract), arguments.limit).cut(cuts))
}

/// Which lines.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Lines {
    /// Handle or path of the trace; may be omitted if only one is open.
    trace: Option<String>,
    /// Only the source file with this name, or else those whose names contain it.
    file: Option<String>,
    /// Only this list (default: all).
    list: Option<LineList>,
    /// Max rows per list (default 20, at most 1000).
    limit: Option<usize>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum LineList {
    Packages,
    Subs,
}

fn lines_of(call: &Call<'_>) -> Result<Answer> {
    let arguments: Lines = call.arguments()?;
    let trace = call.trace(arguments.trace.as_deref())?;
    let mut collected = lines::Lines::new(lines::Options { merge_evals: true });
    trace.pour(&Filter::default(), &mut collected)?;
    let profile = collected.finish().profiles.pop().ok_or_else(|| {
        let format = trace.format().name;
        Error::unsupported(format!("the trace ({format}) has no line timings; use `stats`")).in_file(trace.path())
    })?;
    let mut files = files_called(&profile, arguments.file.as_deref())?;
    let cut = first("files", &mut files, arguments.limit);
    let (lists, cut) = match arguments.list {
        None => (lines::Lists::All, cut),
        Some(LineList::Packages) => (lines::Lists::Packages, None),
        Some(LineList::Subs) => (lines::Lists::Subs, None),
    };
    Ok(Answer::new(profile.to_json(lists, &files), arguments.limit).cut([cut]))
}

/// The files with this name, or else those whose names contain it, as in the program.
fn files_called(profile: &lines::Profile, name: Option<&str>) -> Result<Vec<i64>> {
    let mut files = profile.files_by_time();
    let Some(name) = name else { return Ok(files) };
    let is_exact = |id: &i64| profile.files[id].name == name;
    let has_exact = files.iter().any(is_exact);
    files.retain(|id| if has_exact { is_exact(id) } else { profile.files[id].name.contains(name) });
    if files.is_empty() {
        return Err(Error::usage(format!("no file in the profile matches {name}")));
    }
    Ok(files)
}

/// What to compare.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Diff {
    /// Handles or paths of the runs before; two or more give a noise estimate.
    before: Vec<String>,
    /// Handles or paths of the runs after.
    after: Vec<String>,
    /// Metric to compare (default `mean`).
    metric: Option<Word<diff::Metric>>,
    /// Include rows without a difference.
    #[serde(default)]
    all: bool,
    /// Max rows per list (default 20, at most 1000).
    limit: Option<usize>,
}

fn diff_of(call: &Call<'_>) -> Result<Answer> {
    let arguments: Diff = call.arguments()?;
    let set = |references: &[String]| {
        let traces: Result<Traces> = references.iter().map(|one| call.trace(Some(one))).collect();
        traces?.set()
    };
    if arguments.before.is_empty() || arguments.after.is_empty() {
        return Err(Error::usage("needs at least one trace before and one after"));
    }
    let (before, after) = (set(&arguments.before)?, set(&arguments.after)?);
    let metric = arguments.metric.map_or(diff::Metric::Mean, |Word(metric)| metric);
    let options = diff::Options { metric, ..diff::Options::default() };
    let mut report = diff::of_traces(before.traces(), after.traces(), &options)?;
    report.rows.retain(|row| arguments.all || row.verdict != diff::Verdict::Same);
    let cut = first("rows", &mut report.rows, arguments.limit);
    Ok(Answer::new(report.to_json(true, usize::MAX), arguments.limit).cut([cut]))
}

fn check(call: &Call<'_>) -> Result<Answer> {
    let arguments: OfTrace = call.arguments()?;
    let path = match call.trace(arguments.trace.as_deref()) {
        Ok(trace) => return Ok(verdict(&Verdict::of_trace(&trace)?, trace.path(), arguments.limit)),
        // A file that is not a trace has a verdict too.
        Err(error) if error.is_about_file() => arguments.trace.ok_or(error)?,
        Err(error) => return Err(error),
    };
    let path = call.state.shelf.access.readable(Path::new(&path))?;
    Ok(verdict(&Verdict::of(&path, &OpenOptions::new())?, &path, arguments.limit))
}

/// A verdict, which has only the first findings of each code.
fn verdict(verdict: &Verdict, path: &Path, limit: Option<usize>) -> Answer {
    let cut = match verdict {
        Verdict::Read { findings, .. } => Cut::if_less("findings", findings.kept().len(), findings.total()),
        Verdict::Refused { .. } => None,
    };
    Answer::new(verdict.to_json(path), limit).cut([cut])
}

/// Which tables.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Schema {
    /// Only this table.
    table: Option<String>,
}

/// The type of a column; `?` marks one that may be NULL.
fn column_type(column: &ColumnDef) -> String {
    let target = column.target.map(|target| format!(" → {}", target.name())).unwrap_or_default();
    format!("{}{}{target}", column.label, if column.nullable { "?" } else { "" })
}

fn schema(call: &Call<'_>) -> Result<Answer> {
    let arguments: Schema = call.arguments()?;
    let tables: Vec<Table> = match &arguments.table {
        None => Table::ALL.to_vec(),
        Some(name) => {
            let known = Table::ALL.map(Table::name).join(", ");
            vec![Table::by_name(name).ok_or_else(|| Error::usage(format!("no table {name}; the tables are {known}")))?]
        }
    };
    let column =
        |column: &ColumnDef| json!({ "name": column.name, "type": column_type(column), "about": column.about });
    let table = |table: Table| {
        let columns: Vec<Json> = table.columns().iter().map(column).collect();
        json!({ "name": table.name(), "about": table.about(), "columns": columns })
    };
    let found: Vec<Json> = tables.into_iter().map(table).collect();
    Ok(Answer::new(json!({ "tables": found }), Some(super::MAX_ROWS)))
}

//! Statistics as text.

use std::{
    collections::BTreeSet,
    io::{self, IsTerminal, Write},
};

use traceloom_analysis::stats::{EventRow, Histogram, Relation, Report, SpanRow, ValueRow};
use traceloom_core::Result;

use crate::{
    args::figures::Stats as Arguments,
    output::Styles,
    table::{Rounded, TextTable, rest, terminal_columns},
};

pub(super) fn write(out: &mut dyn Write, report: &Report, arguments: &Arguments) -> Result<()> {
    if let Some(name) = &arguments.histogram {
        return histogram(out, name, report);
    }
    if let Some((value, span)) = arguments.value.as_ref().zip(arguments.inside.as_ref()) {
        return relation(out, value, span, report.relation.as_ref());
    }
    let limit = arguments.limit.unwrap_or(if io::stdout().is_terminal() { TERMINAL_ROWS } else { usize::MAX });
    spans(out, report, limit)?;
    calls(out, report, limit)?;
    values(out, &report.values, limit)?;
    events(out, &report.events, limit)?;
    threads(out, report, limit)
}

/// Default number of rows of a list on a terminal.
const TERMINAL_ROWS: usize = 20;

fn spans(out: &mut dyn Write, report: &Report, limit: usize) -> Result<()> {
    let rows = &report.spans;
    if rows.is_empty() {
        return Ok(());
    }
    let more = Extra::of(rows);
    let mut table = more.heads(TextTable::new().text("name"));
    table = table.numbers(&["calls", "total", "self", "share", "min", "mean", "p50", "p95", "p99", "max"]);
    table = table.fit(&["p50", "p95", "min", "p99", "max", "total", "mean"]);
    for row in rows.iter().take(limit) {
        let mut cells = vec![row.name.clone()];
        more.cells(row, &mut cells);
        let mark = if row.is_exact { "" } else { "~" };
        let quantile = |value: Option<f64>| value.map_or_else(|| "?".to_owned(), |ns| format!("{mark}{}", Rounded(ns)));
        cells.extend([
            row.calls.to_string(),
            Rounded(row.total_ns as f64).to_string(),
            Rounded(row.self_ns as f64).to_string(),
            row.share.map_or_else(String::new, |share| format!("{:.1} %", share * 100.0)),
            Rounded(row.min_ns as f64).to_string(),
            Rounded(row.mean_ns).to_string(),
            quantile(row.p50_ns),
            quantile(row.p95_ns),
            quantile(row.p99_ns),
            Rounded(row.max_ns as f64).to_string(),
        ]);
        table.row(cells);
    }
    let self_time = Rounded(report.self_ns as f64);
    head(out, "spans", &format!("{} rows, {self_time} self time in total", rows.len()), &table)?;
    notes(out, report, limit)
}

fn notes(out: &mut dyn Write, report: &Report, limit: usize) -> Result<()> {
    let rows = &report.spans;
    let unclosed: u64 = rows.iter().map(|row| row.unclosed).sum();
    rest(out, rows.len(), limit)?;
    if unclosed > 0 {
        writeln!(out, "  {unclosed} spans never ended and are not counted")?;
    }
    if report.merged > 0 {
        writeln!(out, "  {} spans are counted as (other), because there are too many groups", report.merged)?;
    }
    if rows.iter().any(|row| !row.is_exact) {
        writeln!(out, "  ~ is within 0.1 %, because there are too many spans to keep all durations")?;
    }
    Ok(())
}

/// The columns that distinguish groups.
struct Extra {
    shown: Vec<(&'static str, Shown)>,
}

type Shown = fn(&SpanRow) -> Option<String>;

static EXTRAS: &[(&str, Shown)] = &[
    ("thread", |row| row.thread.clone()),
    ("location", |row| match (&row.file, row.line) {
        (Some(file), Some(line)) => Some(format!("{file}:{line}")),
        (file, _) => file.clone(),
    }),
    ("category", |row| row.category.clone()),
    ("parent", |row| row.parent.clone()),
    ("frame", |row| row.frame.as_ref().map(|frame| format!("{} at {}", frame.name, Rounded(frame.ts_ns as f64)))),
];

impl Extra {
    fn of(rows: &[SpanRow]) -> Self {
        let is_used = |(_, cell): &&(&'static str, Shown)| rows.iter().any(|row| cell(row).is_some());
        Self { shown: EXTRAS.iter().filter(is_used).copied().collect() }
    }

    fn heads(&self, table: TextTable) -> TextTable {
        self.shown.iter().fold(table, |table, (head, _)| table.text(head))
    }

    fn cells(&self, row: &SpanRow, cells: &mut Vec<String>) {
        cells.extend(self.shown.iter().map(|(_, cell)| cell(row).unwrap_or_default()));
    }
}

fn calls(out: &mut dyn Write, report: &Report, limit: usize) -> Result<()> {
    // A profiler may add up the same calls that are recorded as spans.
    let spans: BTreeSet<_> = report.spans.iter().map(|row| (row.name.as_str(), row.calls)).collect();
    if report.calls.iter().map(|row| (row.name.as_str(), row.calls)).collect::<BTreeSet<_>>() == spans {
        return Ok(());
    }
    let mut table = TextTable::new().text("name").numbers(&["calls", "total", "self", "share", "mean"]);
    table = table.fit(&["mean", "total"]);
    for row in report.calls.iter().take(limit) {
        table.row(vec![
            row.name.clone(),
            row.calls.to_string(),
            Rounded(row.total_ns as f64).to_string(),
            Rounded(row.self_ns as f64).to_string(),
            format!("{:.1} %", row.share * 100.0),
            Rounded(row.mean_ns).to_string(),
        ]);
    }
    if table.is_empty() {
        return Ok(());
    }
    head(out, "functions", &format!("{}, totals from the profiler", report.calls.len()), &table)?;
    Ok(rest(out, report.calls.len(), limit)?)
}

fn values(out: &mut dyn Write, rows: &[ValueRow], limit: usize) -> Result<()> {
    let mut table =
        TextTable::new().text("name").numbers(&["count", "min", "mean", "p50", "p95", "p99", "max", "first", "last"]);
    for row in rows.iter().take(limit) {
        let number = |value: Option<f64>| value.map_or_else(String::new, plain);
        let mut cells = vec![row.name.clone(), (row.count + row.others).to_string()];
        let figures = [row.min, row.mean, row.p50, row.p95, row.p99, row.max, row.first, row.last];
        cells.extend(figures.map(number));
        table.row(cells);
    }
    if table.is_empty() {
        return Ok(());
    }
    table = table.fit(&["p50", "p95", "p99", "first", "last"]);
    head(out, "values", &rows.len().to_string(), &table)?;
    Ok(rest(out, rows.len(), limit)?)
}

/// Up to six decimal places, without trailing zeros.
fn plain(value: f64) -> String {
    if value != 0.0 && value.is_finite() && !(1e-3..1e15).contains(&value.abs()) {
        return format!("{value:.3e}");
    }
    let text = format!("{value:.3}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn events(out: &mut dyn Write, rows: &[EventRow], limit: usize) -> Result<()> {
    let by_thread = rows.iter().any(|row| row.thread.is_some());
    let mut table = TextTable::new().text("name").text("category");
    if by_thread {
        table = table.text("thread");
    }
    table = table.numbers(&["count"]).fit(&[]);
    for row in rows.iter().take(limit) {
        let mut cells = vec![row.name.clone(), row.category.clone()];
        cells.extend(by_thread.then(|| row.thread.clone().unwrap_or_default()));
        cells.push(row.count.to_string());
        table.row(cells);
    }
    if table.is_empty() {
        return Ok(());
    }
    head(out, "events", &rows.len().to_string(), &table)?;
    Ok(rest(out, rows.len(), limit)?)
}

fn threads(out: &mut dyn Write, report: &Report, limit: usize) -> Result<()> {
    let rows: Vec<_> = report.threads.iter().filter(|row| row.is_active()).collect();
    // Most formats do not record the processor.
    let has_switches = rows.iter().any(|row| row.switches.is_some());
    let mut table = TextTable::new().text("name").numbers(&["tid", "spans", "busy"]).fit(&[]);
    if has_switches {
        table = table.numbers(&["switches", "off CPU"]);
    }
    for row in rows.iter().take(limit) {
        let mut cells = vec![
            row.name.clone(),
            row.tid.map_or_else(String::new, |tid| tid.to_string()),
            row.spans.to_string(),
            Rounded(row.busy_ns as f64).to_string(),
        ];
        if has_switches {
            cells.push(row.switches.map_or_else(String::new, |switches| switches.to_string()));
            cells.push(row.off_cpu_ns.map_or_else(String::new, |ns| Rounded(ns as f64).to_string()));
        }
        table.row(cells);
    }
    if table.is_empty() {
        return Ok(());
    }
    let count: u64 = report.threads.iter().map(|row| row.threads).sum();
    head(out, "threads", &count.to_string(), &table)?;
    Ok(rest(out, rows.len(), limit)?)
}

fn head(out: &mut dyn Write, what: &str, about: &str, table: &TextTable) -> Result<()> {
    let name = Styles::NAME;
    writeln!(out, "{name}{what}{name:#}: {about}")?;
    Ok(table.write(out)?)
}

/// Length of the longest bar.
const BAR: usize = 50;
/// Room for the numbers in front of a bar.
const BEFORE_BAR: usize = 36;

fn histogram(out: &mut dyn Write, name: &str, report: &Report) -> Result<()> {
    let bold = Styles::NAME;
    let Some(Histogram { bins, is_logarithmic }) = &report.histogram else {
        return Ok(writeln!(out, "no closed span is named {name}")?);
    };
    let all: u64 = bins.iter().map(|bin| bin.count).sum();
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(0).max(1);
    let scale = if *is_logarithmic { ", logarithmic bins" } else { "" };
    writeln!(out, "{bold}{name}{bold:#}: {all} durations{scale}")?;
    let longest = terminal_columns().map_or(BAR, |columns| columns.saturating_sub(BEFORE_BAR).clamp(1, BAR));
    let mut table = TextTable::new().numbers(&["from", "to", "count"]).text("");
    for bin in bins {
        // A nonempty bin is always visible.
        let bar = (bin.count * longest as u64).div_ceil(most) as usize;
        table.row(vec![
            Rounded(bin.from_ns).to_string(),
            Rounded(bin.to_ns).to_string(),
            bin.count.to_string(),
            "█".repeat(bar),
        ]);
    }
    Ok(table.write(out)?)
}

fn relation(out: &mut dyn Write, value: &str, span: &str, relation: Option<&Relation>) -> Result<()> {
    let name = Styles::NAME;
    let Some(relation) = relation else { return Ok(()) };
    writeln!(out, "{name}{value}{name:#} in {name}{span}{name:#}: {} values inside these spans", relation.pairs)?;
    if relation.left_out > 0 {
        writeln!(out, "  {} more values did not fit into memory", relation.left_out)?;
    }
    let Some(fit) = &relation.fit else {
        writeln!(out, "  too few values, or all equal: cannot compute a correlation")?;
        return Ok(());
    };
    writeln!(out, "  correlation   {:.3}", fit.correlation)?;
    writeln!(out, "  linear fit    {} + {} per unit", signed(fit.intercept_ns), signed(fit.slope_ns))?;
    let law = fit.complexity.as_str();
    match fit.r2 {
        Some(r2) => writeln!(out, "  best fit      {law}, explains {:.0} % of the variance", r2 * 100.0)?,
        None => writeln!(out, "  best fit      {law}: no complexity class explains a third of the variance")?,
    }
    Ok(())
}

fn signed(ns: f64) -> String {
    if ns < 0.0 { format!("-{}", Rounded(-ns)) } else { Rounded(ns).to_string() }
}

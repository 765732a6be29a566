//! `summary`: the most important facts about a trace.

use std::{io::Write, path::Path};

use traceloom_analysis::{
    advise,
    summary::{self, Badge, Health, LogSummary, MemorySiteUse, MemorySummary, NameRow, Summary},
};
use traceloom_core::Result;
use traceloom_model::TableSource;

use super::advise::write_advice;
use crate::{
    Outcome,
    args::figures::Summary as Arguments,
    each,
    input::shown_name,
    output::{Styles, clean, stdout},
    table::{Rounded, TextTable, rest},
    units::Bytes,
};

/// Runs the verb.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    each(&arguments.each.files, |path| {
        let trace = arguments.each.reading.open(path)?;
        let mut out = stdout();
        if arguments.each.json {
            let summary = summary::of_trace(&trace, &advise::Options::default())?;
            writeln!(out, "{}", serde_json::to_string(&summary).unwrap_or_default())?;
        } else {
            print(&mut out, path, &trace, arguments.limit)?;
        }
        out.flush()?;
        Ok(Outcome::Fine)
    })
}

/// Prints the summary of one trace.
pub(crate) fn print(out: &mut dyn Write, path: &Path, trace: &dyn TableSource, limit: usize) -> Result<()> {
    let summary = summary::of_trace(trace, &advise::Options::default())?;
    Text { out, limit }.write(&shown_name(path), &summary)
}

struct Text<'a> {
    out: &'a mut dyn Write,
    limit: usize,
}

impl Text<'_> {
    fn write(&mut self, file: &str, summary: &Summary) -> Result<()> {
        let (name, dim) = (Styles::NAME, Styles::DIM);
        let about = &summary.about;
        let (format, version) = (&about.format_name, clean(&about.version));
        let duration = about.duration_ns.map_or_else(String::new, |ns| format!(", {}", Rounded(ns as f64)));
        writeln!(self.out, "{name}{file}{name:#}: {format} {version}, {}{duration}", Bytes(about.bytes))?;
        let counts: Vec<String> = about.counts.iter().map(ToString::to_string).collect();
        writeln!(self.out, "  {dim}{}{dim:#}", counts.join(", "))?;
        self.health(&summary.health)?;
        writeln!(self.out, "\n{name}{}{name:#}", clean(&summary.verdict))?;
        for advice in summary.findings.iter().take(self.limit) {
            write_advice(self.out, advice)?;
        }
        self.names(summary)?;
        self.slow(summary)?;
        summary.memory.as_ref().map_or(Ok(()), |memory| self.memory(memory))?;
        summary.logs.as_ref().map_or(Ok(()), |logs| self.logs(logs))
    }

    fn health(&mut self, health: &Health) -> Result<()> {
        let style = match health.badge {
            Badge::Fine => Styles::GOOD,
            Badge::Damaged | Badge::DataMissing => Styles::ERROR,
        };
        let problems: Vec<String> =
            health.problems.iter().map(|problem| format!("{} [{}]", clean(&problem.message), problem.code)).collect();
        let badge = health.badge.as_str();
        let all = if problems.is_empty() { "no problems found".to_owned() } else { problems.join("; ") };
        Ok(writeln!(self.out, "  {style}{badge}{style:#}: {all}")?)
    }

    fn head(&mut self, text: &str) -> Result<()> {
        let name = Styles::NAME;
        Ok(writeln!(self.out, "\n{name}{text}{name:#}")?)
    }

    fn names(&mut self, summary: &Summary) -> Result<()> {
        if summary.names.is_empty() {
            return Ok(());
        }
        self.head("most self time")?;
        let mut table = TextTable::new()
            .text("name")
            .numbers(&["calls", "total", "self", "share", "p50", "p95", "p99", "max"])
            .fit(&["p50", "p99", "max", "calls"]);
        let rounded = |ns: f64| Rounded(ns).to_string();
        let cells = |row: &NameRow| {
            let known = row.durations.as_ref();
            let quantiles = known.map(|known| [known.p50_ns, known.p95_ns, known.p99_ns, known.max_ns as f64]);
            let first = [
                row.name.clone(),
                row.calls.to_string(),
                rounded(row.total_ns as f64),
                rounded(row.self_ns as f64),
                format!("{:.1} %", row.share * 100.0),
            ];
            let last = quantiles.map_or([const { String::new() }; 4], |quantiles| quantiles.map(rounded));
            first.into_iter().chain(last).collect()
        };
        summary.names.iter().take(self.limit).for_each(|row| table.row(cells(row)));
        table.write(self.out)?;
        if summary.all_names > summary.names.len().min(self.limit) {
            writeln!(self.out, "  {} names in all; `traceloom stats` lists them", summary.all_names)?;
        }
        Ok(())
    }

    fn slow(&mut self, summary: &Summary) -> Result<()> {
        let Some(first) = summary.slow.first() else { return Ok(()) };
        self.head(if first.is_slow { "slow spans" } else { "longest frames" })?;
        let mut table =
            TextTable::new().text("name").text("thread").numbers(&["at", "took", "median"]).text("because of").fit(&[]);
        for slow in summary.slow.iter().take(self.limit) {
            let took = Rounded(slow.blamed_ns as f64);
            table.row(vec![
                slow.name.clone(),
                slow.thread.clone(),
                Rounded(slow.ts_ns as f64).to_string(),
                Rounded(slow.dur_ns as f64).to_string(),
                Rounded(slow.median_ns).to_string(),
                format!("{}, {took}: {}", slow.blamed, slow.cause),
            ]);
        }
        Ok(table.write(self.out)?)
    }

    fn memory(&mut self, memory: &MemorySummary) -> Result<()> {
        self.head("memory")?;
        let (allocations, bytes) = (memory.allocations, Bytes(memory.allocated_bytes));
        writeln!(self.out, "  {allocations} allocations, {bytes}")?;
        writeln!(self.out, "  peak {} at {}", Bytes(memory.peak_bytes), Rounded(memory.peak_ns as f64))?;
        if memory.is_growth_only {
            return Ok(writeln!(self.out, "  the tracer does not record which blocks are freed")?);
        }
        writeln!(self.out, "  {} never freed in {} blocks", Bytes(memory.live_bytes), memory.live)?;
        if memory.double_frees > 0 {
            writeln!(self.out, "  {} blocks were freed twice", memory.double_frees)?;
        }
        let mut table = TextTable::new().text("never freed").numbers(&["blocks", "bytes"]).fit(&[]);
        for site in memory.leaks.iter().take(self.limit) {
            table.row(vec![site_name(site), site.count.to_string(), Bytes(site.bytes).to_string()]);
        }
        if !table.is_empty() {
            table.write(self.out)?;
        }
        Ok(rest(self.out, memory.leaks.len(), self.limit)?)
    }

    fn logs(&mut self, logs: &LogSummary) -> Result<()> {
        self.head("log")?;
        let levels: Vec<String> =
            logs.levels.iter().map(|one| format!("{} {}", one.lines, clean(&one.level))).collect();
        writeln!(self.out, "  {} lines: {}", logs.lines, levels.join(", "))?;
        let mut table = TextTable::new().text("level").numbers(&["lines"]).text("site").text("text").fit(&[]);
        for site in logs.sites.iter().take(self.limit) {
            let (place, format) = (site.place.clone(), site.format.clone());
            table.row(vec![
                site.level.clone(),
                site.lines.to_string(),
                place.unwrap_or_default(),
                format.unwrap_or_default(),
            ]);
        }
        table.write(self.out)?;
        for (label, lines) in [("first", &logs.first_errors), ("last", &logs.last_errors)] {
            if let Some(line) = if label == "first" { lines.first() } else { lines.last() } {
                let at = line.ts_ns.map_or_else(String::new, |ts_ns| format!(" at {}", Rounded(ts_ns as f64)));
                writeln!(self.out, "  {label} error{at}: {}", clean(&line.message))?;
            }
        }
        Ok(())
    }
}

/// The innermost frames of a stack.
fn site_name(site: &MemorySiteUse) -> String {
    let functions: Vec<&str> = site.stack.iter().take(2).map(|frame| frame.function.as_str()).collect();
    if functions.is_empty() { "(unknown)".to_owned() } else { functions.join(" < ") }
}

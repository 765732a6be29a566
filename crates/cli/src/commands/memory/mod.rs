//! `memory`: usage, allocations at the peak, and leaks of a trace or of a program that it runs.

#[cfg(target_os = "linux")]
mod trace;

use std::{io::Write, path::PathBuf};

use traceloom_analysis::memory::{Extract, Moment, Options, Report, Site, memory};
use traceloom_core::{Error, Result};
use traceloom_model::Filter;

use crate::{
    Outcome,
    args::{Shifts, answers::Memory as Arguments},
    input,
    output::{self, Styles, clean},
    table::Rounded,
    units::Bytes,
};

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    if arguments.program.is_empty() {
        finish(&arguments.files)?;
        return show(arguments, &arguments.files);
    }
    let (file, outcome) = trace(arguments)?;
    Ok(show(arguments, &[file])?.and(outcome))
}

#[cfg(target_os = "linux")]
use trace::trace;

#[cfg(not(target_os = "linux"))]
fn trace(_: &Arguments) -> Result<(PathBuf, Outcome)> {
    Err(Error::unsupported("recording a program's allocations works only on Linux"))
}

/// Completes the files of programs that were killed or left this to us.
fn finish(files: &[PathBuf]) -> Result<()> {
    #[cfg(target_os = "linux")]
    for file in files.iter().filter(|file| traceloom_record_alloc::is_unfinished(file)) {
        traceloom_record_alloc::finish(file)?;
    }
    Ok(())
}

fn show(arguments: &Arguments, files: &[PathBuf]) -> Result<Outcome> {
    let traces = arguments.answer.reading.open_set(files, &Shifts::default())?;
    let options = Options { at_ns: arguments.at, points: arguments.points, ..Options::default() };
    let report = memory(&traces, &Filter::default(), &options)?;
    if report.totals.allocations == 0 && report.totals.frees == 0 {
        return Err(input::about(
            files,
            Error::unsupported("the trace has no allocations; `traceloom info` lists its contents"),
        ));
    }
    let mut out = output::stdout();
    if arguments.answer.json {
        writeln!(out, "{}", report.to_json(&Extract::whole(&report)))?;
    } else {
        Text { out: &mut out, report: &report, limit: arguments.limit }.write()?;
    }
    out.flush()?;
    Ok(Outcome::Fine)
}

/// The report as text.
struct Text<'a> {
    out: &'a mut dyn Write,
    report: &'a Report,
    limit: usize,
}

impl Text<'_> {
    fn write(&mut self) -> Result<()> {
        self.totals()?;
        self.curve()?;
        if self.report.is_growth_only {
            writeln!(self.out, "\nThe trace has no addresses: it shows where memory grew, but not what was freed.")?;
            return self.growth();
        }
        self.moment("at the peak", &self.report.peak)?;
        if let Some(at) = &self.report.at {
            self.moment("at the given time", at)?;
        }
        self.leaks()?;
        self.hot()?;
        self.lifetimes()
    }

    fn heading(&mut self, text: &str) -> Result<()> {
        let style = Styles::NAME;
        Ok(writeln!(self.out, "\n{style}{text}{style:#}")?)
    }

    fn totals(&mut self) -> Result<()> {
        let totals = &self.report.totals;
        let mark = if self.report.is_coarse { "at least " } else { "" };
        let rows: [(&str, String); 8] = [
            ("allocations", format!("{} ({})", totals.allocations, Bytes(totals.allocated_bytes))),
            ("frees", format!("{} ({})", totals.frees, Bytes(totals.freed_bytes))),
            ("peak", format!("{mark}{} at {}", Bytes(self.report.peak.bytes), Rounded(self.report.peak.ts_ns as f64))),
            ("never freed", format!("{} ({})", totals.live, Bytes(totals.live_bytes))),
            ("churn", format!("{}/s", Bytes(totals.churn_bytes_per_second() as u64))),
            ("temporary", format!("{} freed by the next event", totals.temporary)),
            ("odd frees", format!("{} double, {} unknown", totals.double_frees, totals.unknown_frees)),
            ("reused", format!("{} addresses allocated again without a free", totals.reused)),
        ];
        // Without known frees, the other figures would look as if there were no problems.
        let told = if self.report.is_growth_only { 1 } else { rows.len() };
        for (name, value) in rows.into_iter().take(told) {
            writeln!(self.out, "{name:<12} {value}")?;
        }
        Ok(())
    }

    /// One character per point, whose height is the usage.
    fn curve(&mut self) -> Result<()> {
        const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let most = self.report.curve.iter().map(|point| point.max_bytes).max().unwrap_or(0).max(1);
        let block = |bytes: u64| BLOCKS[(u128::from(bytes) * 8).div_ceil(u128::from(most)).min(8) as usize];
        let line: String = self.report.curve.iter().map(|point| block(point.max_bytes)).collect();
        Ok(writeln!(self.out, "{:<12} {line}", "usage")?)
    }

    fn moment(&mut self, name: &str, moment: &Moment) -> Result<()> {
        let (bytes, at) = (Bytes(moment.bytes), Rounded(moment.ts_ns as f64));
        self.heading(&format!("In use {name}: {bytes} in {} allocations at {at}", moment.count))?;
        for (site, bytes, count) in moment.sites.iter().take(self.limit) {
            let place = place(&self.report.sites[*site]);
            writeln!(self.out, "{:>10} {count:>8}  {place}", Bytes(*bytes).to_string())?;
        }
        Ok(())
    }

    fn leaks(&mut self) -> Result<()> {
        let mut leaks: Vec<&Site> = self.report.sites.iter().filter(|site| site.live > 0).collect();
        leaks.sort_by_key(|site| std::cmp::Reverse(site.live_bytes));
        self.heading("Never freed")?;
        let last = self.report.totals.last_ns;
        for site in leaks.into_iter().take(self.limit) {
            let age = Rounded(last.saturating_sub(site.oldest_live_ns.unwrap_or(last)).max(0) as f64);
            let (bytes, count) = (Bytes(site.live_bytes).to_string(), site.live);
            writeln!(self.out, "{bytes:>10} {count:>8}  {}, the oldest for {age}", place(site))?;
        }
        Ok(())
    }

    fn hot(&mut self) -> Result<()> {
        self.heading("Most bytes")?;
        for site in self.report.sites.iter().take(self.limit) {
            let (bytes, count) = (Bytes(site.bytes).to_string(), site.count);
            writeln!(self.out, "{bytes:>10} {count:>8}  {}", place(site))?;
        }
        let mut by_count: Vec<&Site> = self.report.sites.iter().collect();
        by_count.sort_by_key(|site| std::cmp::Reverse(site.count));
        self.heading("Most allocations")?;
        for site in by_count.into_iter().take(self.limit) {
            let (bytes, count) = (Bytes(site.bytes).to_string(), site.count);
            let fate = match site.lifetime_ns.checked_div(site.freed) {
                None => "never freed".to_owned(),
                Some(mean) => format!("{} on average, {} temporary", Rounded(mean as f64), site.temporary),
            };
            writeln!(self.out, "{bytes:>10} {count:>8}  {}, {fate}", place(site))?;
        }
        Ok(())
    }

    fn growth(&mut self) -> Result<()> {
        self.heading("Growth by site, in quarters of the trace")?;
        for site in self.report.sites.iter().take(self.limit) {
            let quarters = site.quarters.map(|bytes| format!("{:>10}", Bytes(bytes).to_string())).join(" ");
            writeln!(self.out, "{:>10} {quarters}  {}", Bytes(site.bytes).to_string(), place(site))?;
        }
        Ok(())
    }

    fn lifetimes(&mut self) -> Result<()> {
        self.heading("Lifetimes of freed allocations")?;
        for row in self.report.lifetimes.iter().filter(|row| row.count > 0) {
            let bound = match row.below_ns {
                u64::MAX => "longer".to_owned(),
                bound => format!("< {}", Rounded(bound as f64)),
            };
            writeln!(self.out, "{bound:>10} {:>8}  {}", row.count, Bytes(row.bytes))?;
        }
        Ok(())
    }
}

/// The innermost frame and its caller.
fn place(site: &Site) -> String {
    let Some(frame) = site.stack.first() else { return "(unknown)".to_owned() };
    let line = frame.line.map(|line| format!(":{line}")).unwrap_or_default();
    let file = frame.file.as_ref().map(|file| format!(" {file}{line}")).unwrap_or_default();
    let callers: Vec<&str> = site.stack.iter().skip(1).take(3).map(|frame| frame.function.as_str()).collect();
    let callers = if callers.is_empty() { String::new() } else { format!(" < {}", callers.join(" < ")) };
    clean(&format!("{}{file}{callers}", frame.function))
}

//! `diff`: compares traces or runs.

use std::{io::Write, path::PathBuf};

use serde_json::json;
use traceloom_analysis::diff::{self, Kind, Metric, Report, Row, Side, Verdict};
use traceloom_core::Result;

use crate::{
    Outcome,
    args::figures::{Comparison, Diff as Arguments},
    output::{Styles, stdout},
    table::{Rounded, TextTable},
    units::Bytes,
};

/// Runs the verb.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let set = |single: &Option<PathBuf>, several: &[PathBuf]| {
        let paths: Vec<PathBuf> = single.iter().chain(several).cloned().collect();
        arguments.reading.open_every_set(&paths)
    };
    let before = set(&arguments.before, &arguments.runs.baseline)?;
    let after = set(&arguments.after, &arguments.runs.candidate)?;
    show(&diff::of_traces(before.traces(), after.traces(), &arguments.comparison.options())?, &arguments.comparison)
}

/// Prints a comparison; the outcome says whether anything got worse by more than `--fail-over`.
pub(crate) fn show(report: &Report, arguments: &Comparison) -> Result<Outcome> {
    let failed = arguments.fail_over.map_or(0, |limit| report.worse_than(limit).count());
    let mut out = stdout();
    if arguments.json {
        let mut object = report.to_json(arguments.all, arguments.limit.unwrap_or(usize::MAX));
        object["failed"] = json!(arguments.fail_over.map(|_| failed));
        writeln!(out, "{object}")?;
    } else {
        Text { out: &mut out, report, arguments }.write(failed)?;
    }
    out.flush()?;
    Ok(if failed > 0 { Outcome::Findings } else { Outcome::Fine })
}

/// The comparison for people.
struct Text<'a> {
    out: &'a mut dyn Write,
    report: &'a Report,
    arguments: &'a Comparison,
}

impl Text<'_> {
    fn write(&mut self, failed: usize) -> Result<()> {
        self.caution()?;
        for kind in [Kind::Name, Kind::Line, Kind::Memory] {
            self.kind(kind)?;
        }
        if self.report.rows.is_empty() {
            writeln!(self.out, "nothing to compare")?;
        }
        if let Some(limit) = self.arguments.fail_over {
            let (style, limit) = (if failed > 0 { Styles::ERROR } else { Styles::GOOD }, limit * 100.0);
            writeln!(self.out, "{style}{failed} worse by more than {limit} %{style:#}")?;
        }
        Ok(())
    }

    /// Prints how reliable the verdicts are.
    fn caution(&mut self) -> Result<()> {
        let [before, after] = self.report.runs;
        let style = Styles::WARNING;
        if self.report.knows_noise() {
            return Ok(writeln!(
                self.out,
                "{before} runs before, {after} after; at most about 5 % of the listed differences are due to chance"
            )?);
        }
        Ok(writeln!(
            self.out,
            "{style}With one run on each side, run-to-run noise is unknown;{style:#} ± is the spread within a run. Pass more \
             runs with --baseline and --candidate."
        )?)
    }

    fn kind(&mut self, kind: Kind) -> Result<()> {
        let of_kind: Vec<&Row> = self.report.rows.iter().filter(|row| row.kind == kind).collect();
        if of_kind.is_empty() {
            return Ok(());
        }
        let count = |verdict: Verdict| of_kind.iter().filter(|row| row.verdict == verdict).count();
        let verdicts = [Verdict::Worse, Verdict::Better, Verdict::New, Verdict::Gone, Verdict::Same];
        let summary: Vec<String> = verdicts
            .into_iter()
            .filter(|verdict| count(*verdict) > 0)
            .map(|verdict| format!("{} {}", count(verdict), self.word(kind, verdict)))
            .collect();
        let (name, head) = (Styles::NAME, heading(kind));
        writeln!(self.out, "{name}{head}{name:#}: {}", summary.join(", "))?;
        let mut table = TextTable::new().text("").text("name").numbers(&[
            "before",
            "after",
            "change",
            "noise",
            "effect",
            "calls before",
            "calls after",
        ]);
        table = table.fit(&["effect", "calls before", "calls after"]);
        let shown = of_kind.iter().filter(|row| self.arguments.all || row.verdict != Verdict::Same);
        for row in shown.take(self.arguments.limit.unwrap_or(usize::MAX)) {
            table.row(self.cells(row));
        }
        if !table.is_empty() {
            table.write(self.out)?;
        }
        Ok(())
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        let value = |side: Option<Side>| side.map_or_else(String::new, |side| self.amount(row.kind, side.value));
        let calls = |side: Option<Side>| side.map_or_else(String::new, |side| format!("{:.0}", side.calls));
        vec![
            self.word(row.kind, row.verdict).to_owned(),
            row.label(),
            value(row.before),
            value(row.after),
            row.change_label(),
            row.noise.to_string(),
            row.effect.map_or_else(String::new, |effect| format!("{effect:+.2}")),
            calls(row.before),
            calls(row.after),
        ]
    }

    fn amount(&self, kind: Kind, value: f64) -> String {
        match (self.arguments.metric, kind) {
            (Metric::Calls, _) => format!("{value:.0}"),
            (_, Kind::Memory) => Bytes(value as u64).to_string(),
            _ => Rounded(value).to_string(),
        }
    }

    fn word(&self, kind: Kind, verdict: Verdict) -> &'static str {
        let is_time = kind != Kind::Memory && self.arguments.metric != Metric::Calls;
        match (verdict, is_time) {
            (Verdict::Worse, true) => "slower",
            (Verdict::Worse, false) => "more",
            (Verdict::Better, true) => "faster",
            (Verdict::Better, false) => "less",
            (Verdict::New, _) => "new",
            (Verdict::Gone, _) => "gone",
            (Verdict::Same, _) => "same",
        }
    }
}

fn heading(kind: Kind) -> &'static str {
    match kind {
        Kind::Name => "names",
        Kind::Line => "lines",
        Kind::Memory => "allocated by",
    }
}

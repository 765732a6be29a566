//! The report as Markdown, short enough for a comment.

use std::fmt::Write;

use traceloom_analysis::units::{bytes, percent, time};

use crate::{Report, TraceReport, compare, text::markdown};

const NAME: usize = 80;
const ROWS: usize = 8;

pub(crate) fn page(report: &Report) -> String {
    let mut out = String::from("## Traceloom report\n");
    if let Some(comparison) = &report.comparison {
        let changes = &comparison.changes;
        let _ = write!(out, "\n**{}** {}\n", compare::verdict(changes), compare::caution(changes));
        for verdict in compare::VERDICTS {
            let rows = compare::rows(changes, verdict);
            if rows.is_empty() {
                continue;
            }
            let _ = write!(
                out,
                "\n{} {}\n\n| name | before | after | change | noise |\n|---|--:|--:|--:|--:|\n",
                rows.len(),
                compare::word(verdict)
            );
            for row in rows.iter().take(ROWS) {
                line(&mut out, &compare::cells(row));
            }
        }
    }
    let max = if report.comparison.is_some() { 2 } else { ROWS };
    report.traces.iter().take(max).for_each(|trace| one(&mut out, trace));
    out
}

fn one(out: &mut String, TraceReport { summary, notes, .. }: &TraceReport) {
    let about = &summary.about;
    let file = about.file.rsplit(['/', '\\']).next().unwrap_or_default();
    let duration = about.duration_ns.map_or_else(String::new, |ns| format!(", {}", time(ns as f64)));
    let (format, badge) = (&about.format_name, summary.health.badge.as_str());
    let _ = write!(
        out,
        "\n### {}\n\n{}, {}{duration}; file {badge}.\n",
        markdown(file, NAME),
        markdown(format, NAME),
        bytes(about.bytes as f64)
    );
    let _ = write!(out, "\n**{}**\n\n", markdown(&summary.verdict, NAME * 4));
    for advice in summary.findings.iter().take(ROWS) {
        let _ = writeln!(out, "- {}: {}", advice.weight.as_str(), markdown(&advice.message, NAME * 4));
    }
    for note in notes.iter().take(ROWS) {
        let _ = writeln!(out, "- note at {}: {}", time(note.ts_ns as f64), markdown(&note.text, NAME * 4));
    }
    if summary.names.is_empty() {
        return;
    }
    out.push_str("\n| name | calls | self | share | p95 |\n|---|--:|--:|--:|--:|\n");
    for row in summary.names.iter().take(ROWS) {
        let p95 = row.durations.as_ref().map_or_else(String::new, |known| time(known.p95_ns));
        line(out, &[row.name.clone(), row.calls.to_string(), time(row.self_ns as f64), percent(row.share), p95]);
    }
}

fn line(out: &mut String, cells: &[String; 5]) {
    let cells = cells.each_ref().map(|cell| markdown(cell, NAME));
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

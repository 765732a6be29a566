//! The report as a page.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use traceloom_analysis::{
    advise::{Advice, Evidence, Unit},
    notes::Note,
    summary::{Badge, LogSummary, MemorySiteUse, MemorySummary, Summary},
    units::{bytes, percent, time, times},
};

use crate::{
    Comparison, Detail, FlameUnit, Report, TraceReport, compare,
    lines::HotLine,
    svg,
    text::{shown, thousands},
};

/// Loads nothing and runs nothing, even if a name were interpreted as markup.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

pub(crate) fn page(report: &Report, detail: &Detail, sources: &[Markup]) -> Markup {
    let names: Vec<String> = report.traces.iter().take(3).map(|trace| file_name(&trace.summary, detail)).collect();
    let title = names.join(", ");
    let left_out = report.traces.len().saturating_sub(detail.traces);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Traceloom report: " (title) }
                style { (PreEscaped(include_str!("style.css"))) }
            }
            body {
                main {
                    h1 { "Traceloom report: " (title) }
                    @if let Some(comparison) = &report.comparison { (compared(comparison, detail)) }
                    @for (number, trace) in report.traces.iter().take(detail.traces).enumerate() {
                        (one(trace, detail))
                        @if let Some(source) = sources.get(number) { (source) }
                    }
                    @if left_out > 0 { p.dim { (left_out) " more traces are not shown." } }
                    (reproduce(report, detail))
                }
            }
        }
    }
}

fn file_name(summary: &Summary, detail: &Detail) -> String {
    let file = &summary.about.file;
    shown(file.rsplit(['/', '\\']).next().unwrap_or(file), detail.name)
}

fn one(trace: &TraceReport, detail: &Detail) -> Markup {
    let summary = &trace.summary;
    let memory = summary.memory.as_ref().map_or(&[][..], |memory| &memory.curve);
    html! {
        h2 { (file_name(summary, detail)) }
        (about(summary, detail))
        p.verdict { (shown(&summary.verdict, detail.name * 4)) }
        (findings(&summary.findings, detail))
        (notes(&trace.notes, detail))
        @if trace.strip.cells > 0 || !memory.is_empty() {
            h3 { "The whole trace" }
            (svg::strip(&trace.strip, memory, detail))
            @if trace.strip.cells > 0 { p.dim { "From " (time(trace.strip.start_ns as f64)) ", " (time(trace.strip.cell_ns as f64 * trace.strip.cells as f64)) " wide." @if !trace.strip.threads.is_empty() { " Colors represent names." } } }
        }
        (names(summary, detail))
        (flame(trace, detail))
        (slow(summary, detail))
        @if let Some(memory) = &summary.memory { (memory_section(memory, detail)) }
        @if let Some(logs) = &summary.logs { (log_section(logs, detail)) }
        (lines(&trace.lines, detail))
    }
}

fn about(summary: &Summary, detail: &Detail) -> Markup {
    let about = &summary.about;
    let badge = match summary.health.badge {
        Badge::Fine => "fine",
        Badge::Damaged => "damaged",
        Badge::DataMissing => "data-missing",
    };
    let counts: Vec<String> = about.counts.iter().map(ToString::to_string).collect();
    html! {
        p {
            (shown(&about.format_name, detail.name)) " " (shown(&about.version, detail.name)) ", " (bytes(about.bytes as f64))
            @if let Some(duration) = about.duration_ns { ", " (time(duration as f64)) }
            @if let Some(producer) = &about.producer { ", written by " (shown(producer, detail.name)) }
            " " span class={ "badge " (badge) } { (summary.health.badge.as_str()) }
        }
        p.dim { (counts.join(", ")) }
        @if !summary.health.problems.is_empty() {
            h3 { "Problems in the file" }
            ul {
                @for problem in summary.health.problems.iter().take(detail.rows) {
                    li {
                        strong { (problem.severity) } ": " (shown(&problem.message, detail.name * 2))
                        @if let Some(offset) = problem.offset { " at byte " (offset) }
                        @if problem.count > 1 { ", " (problem.count) " in all" }
                        " " small { "[" (problem.code) "]" }
                    }
                }
            }
        }
    }
}

fn findings(all: &[Advice], detail: &Detail) -> Markup {
    html! {
        @if !all.is_empty() {
            h3 { "Findings" }
            ol {
                @for advice in all.iter().take(detail.rows) {
                    li {
                        strong class=(advice.weight.as_str()) { (advice.weight.as_str()) } " "
                        (shown(&advice.message, detail.name * 4)) " " small { "[" (advice.rule.as_str()) "]" }
                        ul { @for evidence in advice.evidence.iter().take(6) { li.dim { (fact(evidence, detail)) } } }
                    }
                }
            }
        }
    }
}

/// What people wrote, by time.
fn notes(notes: &[Note], detail: &Detail) -> Markup {
    // A report on a few things has room for many words about them.
    let max = detail.rows * 5;
    html! {
        @if !notes.is_empty() {
            h3 { "Notes" }
            ul.notes {
                @for note in notes.iter().take(max) {
                    li {
                        strong { (time(note.ts_ns as f64)) } " " (shown(&note.text, detail.name * 4))
                        @if let Some(about) = note.about() { " " small { "[" (shown(&about, detail.name)) "]" } }
                    }
                }
            }
            @if notes.len() > max { p.dim { (notes.len() - max) " more notes are not shown." } }
        }
    }
}

fn fact(evidence: &Evidence, detail: &Detail) -> String {
    let value = match evidence.unit {
        Unit::Bytes => bytes(evidence.value),
        Unit::Count => format!("{:.0}", evidence.value),
        Unit::Nanoseconds => time(evidence.value),
        Unit::Number => evidence.value.to_string(),
        Unit::Part => percent(evidence.value),
        Unit::Times => times(evidence.value),
    };
    let at = evidence.ts_ns.map_or_else(String::new, |ts_ns| format!(" at {}", time(ts_ns as f64)));
    format!("{value} {}{at}", shown(&evidence.what, detail.name))
}

fn names(summary: &Summary, detail: &Detail) -> Markup {
    html! {
        @if !summary.names.is_empty() {
            h3 { "Most self time" }
            div.scroll tabindex="0" { table {
                thead { tr { th scope="col" { "name" } @for head in ["calls", "total", "self", "share", "p50", "p95", "p99", "max"] { th scope="col" { (head) } } th.left scope="col" { "durations" } } }
                tbody {
                    @for row in summary.names.iter().take(detail.rows) {
                        tr {
                            td { (shown(&row.name, detail.name)) }
                            td { (thousands(row.calls)) } td { (time(row.total_ns as f64)) } td { (time(row.self_ns as f64)) } td { (percent(row.share)) }
                            @if let Some(known) = &row.durations {
                                @for ns in [known.p50_ns, known.p95_ns, known.p99_ns, known.max_ns as f64] { td { (time(ns)) } }
                                td.left { (svg::histogram(&known.bins)) }
                            } @else { @for _ in 0..5 { td {} } }
                        }
                    }
                }
            } }
            @if summary.all_names > detail.rows { p.dim { (summary.all_names) " names in total. Shares are percentages of the self time of all names." } }
        }
    }
}

fn flame(trace: &TraceReport, detail: &Detail) -> Markup {
    let frames = trace.flame.top_down(&[]).frames;
    let (head, amount): (&str, fn(f64) -> String) = match trace.flame_unit {
        FlameUnit::Bytes => ("Flame graph of the bytes allocated", bytes),
        FlameUnit::Time => ("Flame graph of the time", time),
        FlameUnit::Estimated => ("Flame graph of the time, estimated from sums of calls", time),
    };
    html! {
        @if frames.len() > 1 {
            h3 { (head) }
            (svg::Flame { frames: &frames, amount, changes: None }.markup(detail))
        }
    }
}

fn slow(summary: &Summary, detail: &Detail) -> Markup {
    html! {
        @if let Some(first) = summary.slow.first() {
            h3 { @if first.is_slow { "Slow spans, and why" } @else { "The longest frames" } }
            div.scroll tabindex="0" { table {
                thead { tr { th scope="col" { "span" } @for head in ["at", "took", "median"] { th scope="col" { (head) } } th.left scope="col" { "because of" } } }
                tbody {
                    @for slow in summary.slow.iter().take(detail.rows) {
                        tr {
                            td { (shown(&slow.name, detail.name)) " on " (shown(&slow.thread, detail.name)) }
                            td { (time(slow.ts_ns as f64)) } td { (time(slow.dur_ns as f64)) } td { (time(slow.median_ns)) }
                            td.left { (shown(&slow.blamed, detail.name)) ", " (time(slow.blamed_ns as f64)) ": " (shown(&slow.cause, detail.name)) }
                        }
                    }
                }
            } }
        }
    }
}

fn memory_section(memory: &MemorySummary, detail: &Detail) -> Markup {
    html! {
        h3 { "Memory" }
        p {
            (thousands(memory.allocations)) " allocations of " (bytes(memory.allocated_bytes as f64)) " in total. Peak "
            (bytes(memory.peak_bytes as f64)) " at " (time(memory.peak_ns as f64)) ". "
            @if memory.is_growth_only { "The tracer does not record which blocks are freed." }
            @else { (bytes(memory.live_bytes as f64)) " in " (thousands(memory.live)) " blocks were never freed." }
            @if memory.double_frees > 0 { " " (memory.double_frees) " blocks were freed twice." }
        }
        (svg::memory(&memory.curve))
        @if !memory.is_growth_only { (sites("Never freed", &memory.leaks, detail)) }
        (sites("In use at the peak", &memory.at_peak, detail))
        (sites("Most bytes allocated", &memory.hot, detail))
    }
}

fn sites(head: &str, sites: &[MemorySiteUse], detail: &Detail) -> Markup {
    html! {
        @if !sites.is_empty() {
            div.scroll tabindex="0" { table {
                thead { tr { th scope="col" { (head) } th scope="col" { "blocks" } th scope="col" { "bytes" } } }
                tbody {
                    @for site in sites.iter().take(detail.rows / 2) {
                        tr { td { (stack(site, detail)) } td { (thousands(site.count)) } td { (bytes(site.bytes as f64)) } }
                    }
                }
            } }
        }
    }
}

fn stack(site: &MemorySiteUse, detail: &Detail) -> String {
    let frames = site.stack.iter().take(3).map(|frame| {
        let place = frame.file.as_ref().map_or_else(String::new, |file| {
            let line = frame.line.map_or_else(String::new, |line| format!(":{line}"));
            format!(" ({}{line})", shown(file, detail.name))
        });
        format!("{}{place}", shown(&frame.function, detail.name))
    });
    let all: Vec<String> = frames.collect();
    if all.is_empty() { "(unknown)".to_owned() } else { all.join(" ← ") }
}

fn log_section(logs: &LogSummary, detail: &Detail) -> Markup {
    html! {
        h3 { "Log" }
        p {
            (thousands(logs.lines)) " lines: "
            @for (number, level) in logs.levels.iter().take(detail.rows).enumerate() {
                @if number > 0 { ", " } (thousands(level.lines)) " " (shown(&level.level, 40))
            }
        }
        div.scroll tabindex="0" { table {
            thead { tr { th scope="col" { "text" } th scope="col" { "lines" } th.left scope="col" { "level" } th.left scope="col" { "site" } } }
            tbody {
                @for site in logs.sites.iter().take(detail.rows) {
                    tr {
                        td { (shown(site.format.as_deref().unwrap_or("(unknown)"), detail.name)) } td { (thousands(site.lines)) }
                        td.left { (shown(&site.level, 40)) } td.left { (shown(site.place.as_deref().unwrap_or(""), detail.name)) }
                    }
                }
            }
        } }
        @for (head, lines) in [("First errors", &logs.first_errors), ("Last errors", &logs.last_errors)] {
            @if !lines.is_empty() {
                h3 { (head) }
                ul {
                    @for line in lines.iter().take(detail.rows) {
                        li {
                            @if let Some(ts_ns) = line.ts_ns { span.dim { (time(ts_ns as f64)) } " " }
                            (shown(&line.level, 40)) " " code { (shown(&line.message, detail.name * 2)) }
                            @if let Some(place) = &line.place { " " small { (shown(place, detail.name)) } }
                        }
                    }
                }
            }
        }
    }
}

fn lines(lines: &[HotLine], detail: &Detail) -> Markup {
    html! {
        @if !lines.is_empty() {
            h3 { "Hottest source lines" }
            @for hot in lines.iter().take(detail.rows / 2) {
                p { code { (shown(&hot.file, detail.name)) ":" (hot.line) } ": " (time(hot.self_ns as f64)) ", " (percent(hot.share)) ", " (thousands(hot.count)) " statements" }
                div.scroll tabindex="0" { table {
                    thead { tr { th scope="col" { "line" } th scope="col" { "time" } th.left scope="col" { "source" } } }
                    tbody {
                        @for (number, source, self_ns) in &hot.context {
                            tr class=(if *number == hot.line { "hot" } else { "cold" }) {
                                td { (number) } td { @if let Some(ns) = self_ns { (time(*ns as f64)) } }
                                td.source { (shown(source.as_deref().unwrap_or("(the profile has no source)").trim_end(), detail.name)) }
                            }
                        }
                    }
                } }
            }
        }
    }
}

fn compared(comparison: &Comparison, detail: &Detail) -> Markup {
    let Comparison { changes, flames: [before, after] } = comparison;
    let frames = after.top_down(&[]).frames;
    html! {
        h2 { "What changed" }
        p.verdict { (compare::verdict(changes)) }
        p.dim { (compare::caution(changes)) }
        @for verdict in compare::VERDICTS {
            @let rows = compare::rows(changes, verdict);
            @if !rows.is_empty() {
                h3 { (rows.len()) " " (compare::word(verdict)) }
                div.scroll tabindex="0" { table {
                    thead { tr { th scope="col" { "name" } @for head in ["before", "after", "change", "noise"] { th scope="col" { (head) } } } }
                    tbody {
                        @for row in rows.iter().take(detail.rows) {
                            tr { @for cell in compare::cells(row) { td { (shown(&cell, detail.name)) } } }
                        }
                    }
                } }
            }
        }
        @if frames.len() > 1 {
            h3 { "Flame graph of the second side, colored by change" }
            (svg::Flame { changes: Some(compare::changes(before, &frames)), frames: &frames, amount: time }.markup(detail))
            p.dim { "Red frames have a larger share of the time than before, blue ones a smaller share." }
        }
    }
}

fn reproduce(report: &Report, detail: &Detail) -> Markup {
    let files: Vec<String> = report
        .traces
        .iter()
        .take(detail.traces)
        .map(|trace| shown(&trace.summary.about.file, detail.name * 2))
        .collect();
    let compares = report.comparison.is_some();
    html! {
        h2 { "How to reproduce" }
        pre tabindex="0" {
            @for file in &files { "traceloom view " (quoted(file)) "\n" "traceloom advise --sql " (quoted(file)) "\n" }
            @if compares && files.len() == 2 { "traceloom diff " (quoted(&files[0])) " " (quoted(&files[1])) "\n" }
        }
        p.dim { "Generated by traceloom " (env!("CARGO_PKG_VERSION")) ". Times are relative to the start of the capture." }
    }
}

/// A path quoted for a shell.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=".contains(c);
    if path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

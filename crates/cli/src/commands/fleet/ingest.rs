//! `ingest`: adds traces to a fleet store.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use serde_json::json;
use traceloom_core::{Error, Result};
use traceloom_fleet::{Options, Report, Step, Template, compact};

use crate::{
    Outcome,
    args::fleet::Ingest as Arguments,
    input::{display_name, shown_name},
    output::{Styles, clean, is_quiet, note_missing_data, stdout},
    progress::Progress,
    units::Bytes,
};

/// Runs the verb.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let (store, sources) = match arguments.files.split_last() {
        Some((store, sources)) if !sources.is_empty() || arguments.compact => (store, sources),
        _ => return Err(Error::usage("no store given; use `traceloom ingest SRC... STORE`")),
    };
    let mut report = if sources.is_empty() { Report::default() } else { add(sources, store, arguments)? };
    if arguments.compact {
        report.compacted += compact(store)?;
    }
    if arguments.answer.json {
        let mut out = stdout();
        writeln!(out, "{}", to_json(&report))?;
        out.flush()?;
    } else {
        say(&report, sources.is_empty(), store);
    }
    if report.incomplete > 0 {
        note_missing_data();
    }
    Ok(match (report.failed.is_empty(), report.quarantined.is_empty()) {
        (false, _) => Outcome::Incomplete,
        (true, false) => Outcome::Findings,
        (true, true) => Outcome::Fine,
    })
}

fn add(sources: &[PathBuf], store: &Path, arguments: &Arguments) -> Result<Report> {
    let options = Options {
        from: arguments.answer.reading.from.clone(),
        template: arguments.template.as_deref().map(Template::parse).transpose()?,
        tags: arguments.tags.iter().cloned().collect(),
        ..Options::default()
    };
    let progress = Progress::new();
    traceloom_fleet::ingest(sources, store, &options, &mut |step: Step| {
        let [done, all] = step.files;
        let [bytes, all_bytes] = step.bytes;
        progress.seen(Path::new(&format!("{done} of {all} files")), bytes, all_bytes);
    })
}

/// Max number of problems that are listed individually.
const LISTED: usize = 10;

fn say(report: &Report, is_compaction: bool, store: &Path) {
    report.failed.iter().for_each(crate::report);
    if is_quiet() {
        return;
    }
    let (note, warning, store) = (Styles::NOTE, Styles::WARNING, shown_name(store));
    for quarantined in report.quarantined.iter().take(LISTED) {
        let (path, finding) = (shown_name(&quarantined.path), clean(&quarantined.finding));
        anstream::eprintln!("{warning}quarantined:{warning:#} {path}: {finding}");
    }
    if report.quarantined.len() > LISTED {
        let rest = report.quarantined.len() - LISTED;
        anstream::eprintln!("{warning}quarantined:{warning:#} {rest} more; see the table `quarantine`");
    }
    if is_compaction {
        anstream::eprintln!("{note}merged:{note:#} {} files of {store}", report.compacted);
        return;
    }
    let mut parts = vec![format!("{} traces, {} rows, {}", report.added, report.rows, Bytes(report.bytes))];
    let counts = [
        (report.damaged, "damaged"),
        (report.known, "known already"),
        (report.quarantined.len(), "quarantined"),
        (report.unmatched, "not matched by the template"),
    ];
    parts.extend(counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
    anstream::eprintln!("{note}added:{note:#} {} to {store}", parts.join(", "));
}

fn to_json(report: &Report) -> serde_json::Value {
    let quarantined = report.quarantined.iter();
    let quarantined = quarantined.map(|one| json!({"path": display_name(&one.path), "finding": one.finding}));
    json!({
        "added": report.added,
        "damaged": report.damaged,
        "incomplete": report.incomplete,
        "known": report.known,
        "unmatched": report.unmatched,
        "quarantined": quarantined.collect::<Vec<_>>(),
        "failed": report.failed.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "rows": report.rows,
        "bytes": report.bytes,
        "compacted": report.compacted,
    })
}

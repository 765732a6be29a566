//! `report`: a single file to share.

use std::path::PathBuf;

use traceloom_analysis::{lines::Profile, notes};
use traceloom_core::Result;
use traceloom_report::Report;

use super::lines::source;
use crate::{
    Outcome,
    args::answers::{Report as Arguments, ReportFormat},
    each,
    output::{note, write_file},
};

mod interactive;

/// Runs the verb.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    if arguments.interactive {
        return interactive::run(arguments);
    }
    let (before, after) = sides(arguments);
    let mut report = Report::default();
    let (mut failed, mut outcome) = (0, Outcome::Fine);
    if let (Some(first), Some(second)) = (before.first(), after.first()) {
        let sets = [arguments.reading.open_every_set(before)?, arguments.reading.open_every_set(after)?];
        failed = report.compare(sets[0].traces(), sets[1].traces(), arguments.fail_over)?;
        [first, second].into_iter().try_for_each(|path| add(&mut report, arguments, path))?;
    } else {
        let mut added = 0;
        outcome = each(&arguments.files, |path| {
            add(&mut report, arguments, path)?;
            added += 1;
            Ok(Outcome::Fine)
        })?;
        if added == 0 {
            return Ok(outcome);
        }
    }
    let inputs: Vec<_> = arguments.files.iter().chain(before).chain(after).map(AsRef::as_ref).collect();
    write_file(&arguments.output, &inputs, |out| {
        Ok(match arguments.format() {
            ReportFormat::Html => out.write_all(report.to_html().as_bytes()),
            ReportFormat::Markdown => out.write_all(report.to_markdown().as_bytes()),
            ReportFormat::Json => writeln!(out, "{}", report.to_json()),
        }?)
    })?;
    if failed > 0 {
        let limit = arguments.fail_over.unwrap_or_default() * 100.0;
        note(&format!("{failed} worse by more than {limit} %"));
    }
    Ok(if failed > 0 { outcome.and(Outcome::Findings) } else { outcome })
}

/// Adds a trace, with its source if requested.
fn add(report: &mut Report, arguments: &Arguments, path: &PathBuf) -> Result<()> {
    let trace = arguments.reading.open(path)?;
    let complete =
        |profile: &mut Profile| arguments.source_dir.as_ref().map_or(Ok(()), |folder| source::add(profile, folder));
    let added = if arguments.source { report.add_with_source(&trace, complete) } else { report.add(&trace) };
    added.map_err(|error| error.in_file(path))?;
    report.annotate(notes::read(path)?);
    Ok(())
}

/// The runs to compare: the given sets, or else two traces.
fn sides(arguments: &Arguments) -> (&[PathBuf], &[PathBuf]) {
    match arguments.files.as_slice() {
        [] => (&arguments.runs.baseline, &arguments.runs.candidate),
        [before, after] => (std::slice::from_ref(before), std::slice::from_ref(after)),
        _ => (&[], &[]),
    }
}

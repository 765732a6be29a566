//! `repair`, `slice` and `merge`: edits within one format.

use std::{io::Write, path::Path};

use traceloom::{
    OpenOptions, Trace,
    cnanolog::{self, CNanoLog},
};
use traceloom_core::{Edited, Error, Loss, Result, Slice, checked};
use traceloom_model::TableSource;

use crate::{
    Outcome, args,
    commands::{log::lend_dictionary, threads},
    input::{display_name, watched},
    output::{file_bytes, is_quiet, report_loss, say_written, show_findings, warn, write_silently},
};

/// Runs `repair`.
pub(crate) fn repair(arguments: &args::files::Repair) -> Result<Outcome> {
    let input = arguments.input.as_path();
    let trace = arguments.reading.open(input)?;
    let traces = [&trace];
    let edited = match &arguments.dictionary {
        None => write(&arguments.output, &traces, &[input], |out| trace.repair(out)),
        Some(dictionary) => repair_with(&trace, dictionary, arguments),
    };
    // Damage is expected here.
    let Edited { findings, loss } = edited?;
    show_findings(&display_name(input), &findings)?;
    Ok(outcome(&loss))
}

/// Repairs a log with the dictionary of another one.
fn repair_with(trace: &Trace, path: &Path, arguments: &args::files::Repair) -> Result<Edited> {
    if !trace.is::<CNanoLog>() {
        let message =
            format!("--dictionary works only with CNanoLog logs, and this is a trace of {}", trace.format().name);
        return Err(Error::usage(message).in_file(trace.path()));
    }
    let dictionary = lend_dictionary(path, &arguments.reading)?;
    let extra = cnanolog::Extra::default().with_dictionary(dictionary);
    let repair = || {
        write(&arguments.output, &[trace], &[&arguments.input, path], |out| {
            let (source, options) = (trace.source(), trace.options());
            checked::<CNanoLog, _>(out, options, |out| cnanolog::edit::repair_with(source, out, &extra, options))
        })
    };
    let mut edited = repair().map_err(|error| error.in_file(trace.path()))?;
    edited.findings.absorb(trace.layer_findings().clone());
    Ok(edited)
}

/// Runs `slice`.
pub(crate) fn slice(arguments: &args::files::Slice) -> Result<Outcome> {
    let input = arguments.input.as_path();
    let slice = Slice { range: arguments.range.unwrap_or_default(), threads: arguments.threads.clone() };
    let trace = watched(arguments.reading.silent()).open(input)?;
    threads::check([&trace as &dyn TableSource], &slice.threads).map_err(|error| error.in_file(input))?;
    report(input, write(&arguments.output, &[&trace], &[input], |out| trace.slice(&slice, out))?)
}

/// Runs `merge`.
pub(crate) fn merge(arguments: &args::files::Merge) -> Result<Outcome> {
    let (output, inputs) = match arguments.files.split_last() {
        Some((output, inputs)) if !inputs.is_empty() => (output, inputs),
        _ => {
            return Err(Error::usage("no output given; use `traceloom merge IN... OUT`, with `-` for standard output"));
        }
    };
    let traces = arguments.reading.open_every(inputs)?;
    let paths: Vec<&Path> = inputs.iter().map(AsRef::as_ref).collect();
    let edited = write(output, &traces.iter().collect::<Vec<_>>(), &paths, |out| traces.merge(out))?;
    report(paths.first().copied().unwrap_or(Path::new("-")), edited)
}

/// Writes an edit and prints how many records were kept.
fn write(
    output: &Path,
    traces: &[&Trace],
    inputs: &[&Path],
    work: impl FnOnce(&mut dyn Write) -> Result<Edited>,
) -> Result<Edited> {
    let edited = write_silently(output, inputs, work)?;
    if let Some(bytes) = file_bytes(output).filter(|_| !is_quiet()) {
        let read = traces.iter().map(|trace| records(trace)).sum::<Result<u64>>()?;
        let format = traces.first().map_or("", |trace| trace.format().id);
        let kept = records(&watched(OpenOptions::new().format(format)).open(output)?)?;
        say_written(&format!("{}: {}, {bytes}", display_name(output), of_records(kept, read)));
    }
    Ok(edited)
}

/// A dictionary adds records to a log that had none, so that more may be written than were read.
fn of_records(kept: u64, read: u64) -> String {
    match kept.checked_sub(read) {
        None | Some(0) => format!("{kept} of {read} records"),
        Some(added) => format!("{kept} records, {added} more than were read"),
    }
}

fn records(trace: &Trace) -> Result<u64> {
    let mut records = 0;
    // The header comes first and does not count as a record.
    trace.records(|_| records += 1)?;
    Ok(records - 1)
}

fn report(input: &Path, edited: Edited) -> Result<Outcome> {
    warn(&display_name(input), &edited.findings)?;
    Ok(outcome(&edited.loss))
}

/// Reports the losses; an output that the format's own tool rejects is a failure.
fn outcome(loss: &Loss) -> Outcome {
    report_loss(loss);
    if loss.has_remaining() { Outcome::Findings } else { Outcome::Fine }
}

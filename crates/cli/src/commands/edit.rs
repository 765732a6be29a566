//! `repair`, `slice` and `merge`: edits within one format.

use std::path::Path;

use traceloom::{
    Trace,
    cnanolog::{self, CNanoLog},
};
use traceloom_core::{Edited, Error, Loss, Result, Slice, checked};

use crate::{
    Outcome, args,
    commands::log::lend_dictionary,
    input::display_name,
    output::{report_loss, show_findings, warn, write_file},
};

/// Runs `repair`.
pub(crate) fn repair(arguments: &args::Repair) -> Result<Outcome> {
    let input = arguments.input.as_path();
    let trace = arguments.reading.open(input)?;
    let edited = match &arguments.dictionary {
        None => write_file(&arguments.output, &[input], |out| trace.repair(out)),
        Some(dictionary) => repair_with(&trace, dictionary, arguments),
    };
    // Damage is the reason to repair.
    let Edited { findings, loss } = edited?;
    show_findings(&display_name(input), &findings)?;
    Ok(outcome(&loss))
}

/// Repairs a log with the dictionary of another one.
fn repair_with(trace: &Trace, path: &Path, arguments: &args::Repair) -> Result<Edited> {
    if !trace.is::<CNanoLog>() {
        let message = format!("is {}; --dictionary is for logs", trace.format().name);
        return Err(Error::usage(message).in_file(trace.path()));
    }
    let dictionary = lend_dictionary(path, &arguments.reading)?;
    let extra = cnanolog::Extra::default().with_dictionary(dictionary);
    let repair = || {
        write_file(&arguments.output, &[&arguments.input, path], |out| {
            let (source, options) = (trace.source(), trace.options());
            checked::<CNanoLog, _>(out, options, |out| cnanolog::edit::repair_with(source, out, &extra, options))
        })
    };
    let mut edited = repair().map_err(|error| error.in_file(trace.path()))?;
    edited.findings.absorb(trace.layer_findings().clone());
    Ok(edited)
}

/// Runs `slice`.
pub(crate) fn slice(arguments: &args::Slice) -> Result<Outcome> {
    let input = arguments.input.as_path();
    let slice = Slice { range: arguments.range.unwrap_or_default(), threads: arguments.threads.clone() };
    let trace = arguments.reading.open(input)?;
    report(input, write_file(&arguments.output, &[input], |out| trace.slice(&slice, out))?)
}

/// Runs `merge`.
pub(crate) fn merge(arguments: &args::Merge) -> Result<Outcome> {
    let (output, inputs) = match arguments.files.split_last() {
        Some((output, inputs)) if !inputs.is_empty() => (output, inputs),
        _ => return Err(Error::usage("where to? Use `traceloom merge IN... OUT`; OUT `-` is standard output")),
    };
    let traces = arguments.reading.open_all(inputs)?;
    let paths: Vec<&Path> = inputs.iter().map(AsRef::as_ref).collect();
    let edited = write_file(output, &paths, |out| traces.merge(out))?;
    report(paths.first().copied().unwrap_or(Path::new("-")), edited)
}

fn report(input: &Path, edited: Edited) -> Result<Outcome> {
    warn(&display_name(input), &edited.findings)?;
    Ok(outcome(&edited.loss))
}

/// Reports what the output lacks; an output that its own tool refuses is a failure.
fn outcome(loss: &Loss) -> Outcome {
    report_loss(loss);
    if loss.has_remaining() { Outcome::Findings } else { Outcome::Fine }
}

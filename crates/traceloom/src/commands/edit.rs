//! `repair`, `slice` and `merge`: edits within one format.

use std::path::Path;

use traceloom_bytes::{Edited, Error, Options, Result, Slice};

use crate::{
    Outcome, args,
    input::{display_name, open_trace},
    output::{report_loss, warn, write_file},
};

/// Runs `repair`.
pub(crate) fn repair(arguments: &args::Repair) -> Result<Outcome> {
    let options = Options::default();
    let input = arguments.input.as_path();
    let opened = open_trace(input, &arguments.reading, &options)?;
    warn(&display_name(input), &opened.findings)?;
    let edited = write_file(&arguments.output, &[input], |out| opened.format.repair(&opened.source, out, &options));
    report(input, edited)
}

/// Runs `slice`.
pub(crate) fn slice(arguments: &args::Slice) -> Result<Outcome> {
    let options = Options::default();
    let input = arguments.input.as_path();
    let (from_ns, to_ns) = arguments.range.map_or((None, None), |range| (range.from_ns, range.to_ns));
    let slice = Slice { from_ns, to_ns, threads: arguments.threads.clone() };
    let opened = open_trace(input, &arguments.reading, &options)?;
    warn(&display_name(input), &opened.findings)?;
    let edited =
        write_file(&arguments.output, &[input], |out| opened.format.slice(&opened.source, out, &slice, &options));
    report(input, edited)
}

/// Runs `merge`.
pub(crate) fn merge(arguments: &args::Merge) -> Result<Outcome> {
    let options = Options::default();
    let Some((output, inputs)) = arguments.files.split_last() else { return Ok(Outcome::Fine) };
    let opened =
        inputs.iter().map(|path| open_trace(path, &arguments.reading, &options)).collect::<Result<Vec<_>>>()?;
    let Some(format) = opened.first().map(|first| first.format) else { return Ok(Outcome::Fine) };
    if let Some((path, other)) =
        inputs.iter().zip(&opened).find(|(_, one)| one.format.descriptor().id != format.descriptor().id)
    {
        let message = format!("is {}, the first is {}", other.format.descriptor().name, format.descriptor().name);
        return Err(Error::usage(message).in_file(path));
    }
    for (path, one) in inputs.iter().zip(&opened) {
        warn(&display_name(path), &one.findings)?;
    }
    let sources: Vec<_> = opened.iter().map(|one| one.source.clone()).collect();
    let paths: Vec<&Path> = inputs.iter().map(AsRef::as_ref).collect();
    let edited = write_file(output, &paths, |out| format.merge(&sources, out, &options));
    report(inputs.first().map_or(Path::new("-"), AsRef::as_ref), edited)
}

fn report(input: &Path, edited: Result<Edited>) -> Result<Outcome> {
    let edited = edited.map_err(|error| error.in_file(input))?;
    warn(&display_name(input), &edited.findings)?;
    report_loss(&edited.loss);
    Ok(Outcome::Fine)
}

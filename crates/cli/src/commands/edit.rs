//! `repair`, `slice` and `merge`: edits within one format.

use std::path::Path;

use traceloom_cnanolog as cnanolog;
use traceloom_core::{Edited, Error, Options, Result, Slice};
use traceloom_open::Opened;

use crate::{
    Outcome, args,
    commands::log::lend_dictionary,
    input::{display_name, open_trace},
    output::{report_loss, warn, write_file},
};

/// Runs `repair`.
pub(crate) fn repair(arguments: &args::Repair) -> Result<Outcome> {
    let options = Options::default();
    let input = arguments.input.as_path();
    let opened = open_trace(input, &arguments.reading, &options)?;
    warn(&display_name(input), &opened.findings)?;
    let edited = match &arguments.dictionary {
        None => write_file(&arguments.output, &[input], |out| opened.format.repair(&opened.source, out, &options)),
        Some(dictionary) => repair_with(&opened, dictionary, arguments, &options),
    };
    report(input, edited)
}

/// Repairs a log with the dictionary of another one.
fn repair_with(opened: &Opened, path: &Path, arguments: &args::Repair, options: &Options) -> Result<Edited> {
    let descriptor = opened.format.descriptor();
    if descriptor.id != cnanolog::FORMAT.id {
        return Err(Error::usage(format!("is {}, which has no use for --dictionary", descriptor.name)));
    }
    let dictionary = lend_dictionary(path, &arguments.reading, options)?;
    let extra = cnanolog::Extra::default().with_dictionary(dictionary);
    write_file(&arguments.output, &[&arguments.input, path], |out| {
        cnanolog::edit::repair_with(&opened.source, out, &extra, options)
    })
}

/// Runs `slice`.
pub(crate) fn slice(arguments: &args::Slice) -> Result<Outcome> {
    let options = Options::default();
    let input = arguments.input.as_path();
    let slice = Slice { range: arguments.range.unwrap_or_default(), threads: arguments.threads.clone() };
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

//! `convert`: a trace written anew.

use traceloom_bytes::{Error, Options, Result};
use traceloom_open::{Opened, by_id};

use crate::{
    Outcome, args,
    input::{display_name, open_trace},
    output::{report_loss, warn, write_file},
};

/// Runs the verb.
pub(crate) fn run(arguments: &args::Convert) -> Result<Outcome> {
    let options = Options::default();
    let (input, output) = (arguments.input.as_path(), arguments.output.as_path());
    let opened = open_trace(input, &arguments.reading, &options)?;
    let variant = variant(arguments, &opened)?;
    let (format, source) = (opened.format, &opened.source);
    warn(&display_name(input), &opened.findings)?;
    if variant.is_none() && !arguments.canonical {
        let findings = write_file(output, &[input], |out| format.rewrite(source, out, &options))
            .map_err(|error| error.in_file(input))?;
        warn(&display_name(input), &findings)?;
        return Ok(Outcome::Fine);
    }
    let edited = write_file(output, &[input], |out| format.canonical(source, out, variant, &options))
        .map_err(|error| error.in_file(input))?;
    warn(&display_name(input), &edited.findings)?;
    report_loss(&edited.loss);
    Ok(Outcome::Fine)
}

/// The variant asked for; the format has to be that of the input.
fn variant<'a>(arguments: &'a args::Convert, opened: &Opened) -> Result<Option<&'a str>> {
    let Some(to) = &arguments.to else { return Ok(None) };
    let (id, variant) = to.split_once(':').map_or((to.as_str(), None), |(id, variant)| (id, Some(variant)));
    let from = opened.format.descriptor().id;
    if by_id(id)?.descriptor().id != from {
        return Err(Error::usage(format!("{from} cannot be converted to {id}")));
    }
    Ok(variant)
}

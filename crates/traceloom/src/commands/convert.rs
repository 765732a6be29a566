//! `convert`: a trace written anew.

use traceloom_bytes::{Descriptor, Edited, Error, Loss, Options, Result};
use traceloom_open::by_id;

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
    let (format, source) = (opened.format, &opened.source);
    let target = arguments.to.as_deref().map(Target::parse).transpose()?;
    warn(&display_name(input), &opened.findings)?;
    let in_input = |error: Error| error.in_file(input);
    let edited = match &target {
        None if !arguments.canonical => {
            let findings =
                write_file(output, &[input], |out| format.rewrite(source, out, &options)).map_err(in_input)?;
            Edited { findings, loss: Loss::default() }
        }
        Some(target) if target.format.id != format.descriptor().id => {
            write_file(output, &[input], |out| format.convert_to(source, out, target.format, target.variant, &options))
                .map_err(in_input)?
        }
        _ => {
            let variant = target.as_ref().and_then(|target| target.variant);
            write_file(output, &[input], |out| format.canonical(source, out, variant, &options)).map_err(in_input)?
        }
    };
    warn(&display_name(input), &edited.findings)?;
    report_loss(&edited.loss);
    Ok(Outcome::Fine)
}

/// What `--to ID[:VARIANT]` names.
struct Target<'a> {
    format: &'static Descriptor,
    variant: Option<&'a str>,
}

impl<'a> Target<'a> {
    fn parse(text: &'a str) -> Result<Self> {
        let (id, variant) = text.split_once(':').map_or((text, None), |(id, variant)| (id, Some(variant)));
        Ok(Self { format: by_id(id)?.descriptor(), variant })
    }
}

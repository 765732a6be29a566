//! `convert`: a trace written anew.

use std::{
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

use traceloom_core::{Edited, Error, Loss, Options, Result, Slice};
use traceloom_export::{Target, by_path, targets};
use traceloom_model::Table;
use traceloom_open::{FORMATS, Format};

use crate::{
    Outcome, args,
    commands::store,
    input::{display_name, open_trace},
    output::{self, Styles, report_loss, warn, write_file},
};

/// Runs the verb.
pub(crate) fn run(arguments: &args::Convert) -> Result<Outcome> {
    if arguments.list {
        return list();
    }
    let Some((output, inputs)) = arguments.files.split_last() else {
        return Err(Error::usage("name a trace and where to write"));
    };
    if store::is_wanted(arguments.to.as_deref(), output) {
        return store::add(inputs, output, arguments);
    }
    let wish = Wish::new(arguments, output)?;
    if let [input] = inputs
        && !wish.is_partial
        && !store::is_store(input)
        && let Some(outcome) = within_format(input, output, &wish, arguments)?
    {
        return Ok(outcome);
    }
    through_tables(inputs, output, &wish, arguments)
}

/// What is to be written.
struct Wish<'a> {
    /// What `--to` says, without the variant.
    id: Option<&'a str>,
    /// The variant that `--to` names, or that the extension of the output stands for.
    variant: Option<&'static str>,
    /// The target of that id, or of the extension of the output.
    target: Option<(&'static dyn Target, bool)>,
    /// Whether only a part is wanted, which a byte for byte copy cannot give.
    is_partial: bool,
}

impl<'a> Wish<'a> {
    fn new(arguments: &'a args::Convert, output: &Path) -> Result<Self> {
        let to = arguments.to.as_deref();
        let (id, variant) = match to.and_then(|to| to.split_once(':')) {
            Some((id, variant)) => (Some(id), Some(variant)),
            None => (to, None),
        };
        let is_partial = arguments.range.is_some() || !arguments.threads.is_empty();
        let gzip = output.extension().is_some_and(|extension| extension == "gz");
        let target = match id {
            Some(id) => Some((traceloom_export::by_id(id)?, gzip)),
            None => by_path(output),
        };
        let variant = match target.map(|(target, _)| target.descriptor()) {
            Some(target) if variant.is_some() => Some(target.variant(variant)?),
            Some(target) => target.variant_of(output),
            None => None,
        };
        Ok(Self { id, variant, target, is_partial })
    }
}

/// The same format in and out, or a dialect of it: record to record, without the tables. None where it is neither.
fn within_format(input: &Path, output: &Path, wish: &Wish<'_>, arguments: &args::Convert) -> Result<Option<Outcome>> {
    let options = Options::default();
    let opened = open_trace(input, &arguments.reading, &options)?;
    let (format, source) = (opened.format, &opened.source);
    let own = format.descriptor();
    // An ending that another target has asks for that; an own one, or any other, means a copy.
    let is_own = output.extension().is_some_and(|ending| own.extensions.iter().any(|own| ending == *own));
    let target = wish.target.filter(|_| !is_own).map(|(target, _)| target.descriptor().id);
    let wanted = wish.id.or(target).unwrap_or(own.id);
    let in_input = |error: Error| error.in_file(input);
    // Bytes under another ending may be of the wrong form; of what comes in a pipe nobody knows.
    let is_form = wish.variant.is_none() || input == Path::new("-") || input.extension() == output.extension();
    let edited = if wanted == own.id && wish.id.is_none() && is_form && !arguments.canonical {
        let copied = write_file(output, &[input], |out| format.rewrite(source, out, &options)).map_err(in_input)?;
        Edited { findings: copied, loss: Loss::default() }
    } else if wanted == own.id {
        write_file(output, &[input], |out| format.canonical(source, out, wish.variant, &options)).map_err(in_input)?
    } else if let Some(sibling) = sibling(format, wanted) {
        let to = sibling.descriptor();
        write_file(output, &[input], |out| format.convert_to(source, out, to, wish.variant, &options))
            .map_err(in_input)?
    } else {
        return Ok(None);
    };
    warn(&display_name(input), &opened.findings)?;
    warn(&display_name(input), &edited.findings)?;
    report_loss(&edited.loss);
    Ok(Some(Outcome::Fine))
}

/// The dialects of one producer's file, which a conversion keeps more of than the tables can.
const DIALECTS: [&str; 2] = ["nytprof", "pynytprof"];

fn sibling(format: &dyn Format, wanted: &str) -> Option<&'static dyn Format> {
    let is_dialect = |id: &str| DIALECTS.contains(&id);
    let other = FORMATS.iter().find(|other| other.descriptor().id == wanted)?;
    (is_dialect(format.descriptor().id) && is_dialect(wanted)).then_some(*other)
}

fn through_tables(inputs: &[PathBuf], output: &Path, wish: &Wish<'_>, arguments: &args::Convert) -> Result<Outcome> {
    let Some((target, gzip)) = wish.target else {
        let name = wish.id.map_or_else(|| output.display().to_string(), str::to_owned);
        return Err(Error::usage(format!("what {name} should be is not known: say it with --to")));
    };
    if output == Path::new("-") && !target.descriptor().is_text && io::stdout().is_terminal() {
        return Err(Error::usage("will not write bytes to a terminal; name a file"));
    }
    let tables = store::open_source(inputs, &arguments.reading)?;
    let slice = Slice { range: arguments.range.unwrap_or_default(), threads: arguments.threads.clone() };
    let options = traceloom_export::Options {
        variant: wish.variant.map(str::to_owned),
        slice,
        gzip,
        ..traceloom_export::Options::default()
    };
    let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
    let loss = write_file(output, &inputs, |out| traceloom_export::write(target, &*tables, &options, out))?;
    report_loss(&loss);
    Ok(Outcome::Fine)
}

/// Prints the matrix: what can be written, and which tables it holds.
fn list() -> Result<Outcome> {
    let mut out = output::stdout();
    let (name, dim) = (Styles::NAME, Styles::DIM);
    for target in targets() {
        let target = target.descriptor();
        let extensions: Vec<_> = target.written_extensions().map(|extension| format!(".{extension}")).collect();
        writeln!(out, "{name}{}{name:#}  {dim}{}{dim:#}\n    {}", target.id, extensions.join(" "), target.about)?;
        let tables: Vec<_> = Table::ALL.into_iter().filter(|table| target.shows(*table)).map(Table::name).collect();
        let held = if tables.is_empty() { "any one table".to_owned() } else { tables.join(", ") };
        writeln!(out, "    holds: {held}")?;
        if !target.variants.is_empty() {
            let variants = target.variants.iter().map(|variant| format!("{}:{}", target.id, variant.id));
            writeln!(out, "    variants: {}", variants.collect::<Vec<_>>().join(", "))?;
        }
    }
    let (id, about) = (store::ID, store::ABOUT);
    writeln!(out, "{name}{id}{name:#}  {dim}a folder{dim:#}\n    {about}\n    holds: every table")?;
    out.flush()?;
    Ok(Outcome::Fine)
}

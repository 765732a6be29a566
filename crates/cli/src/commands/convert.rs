//! `convert`: a trace in another format, version, or tool.

use std::{
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

use traceloom::{
    Conversion,
    export::{Note, targets},
    tables::Table,
};
use traceloom_analysis::notes;
use traceloom_core::{Error, Result};
use traceloom_model::TableSource;

use crate::{
    Outcome, args,
    commands::{store, threads},
    input::display_name,
    output::{self, Styles, report_loss, warn, write_file},
};

/// Runs the verb.
pub(crate) fn run(arguments: &args::files::Convert) -> Result<Outcome> {
    if arguments.list {
        return list();
    }
    let (output, inputs) = match arguments.files.split_last() {
        Some((output, inputs)) if !inputs.is_empty() => (output, inputs),
        _ => {
            return Err(Error::usage(
                "no output given; use `traceloom convert IN... OUT`, with `-` for standard output",
            ));
        }
    };
    if store::is_wanted(arguments.to.as_deref(), output) {
        return store::add(inputs, output, arguments);
    }
    if let (None, Some((what, verb))) = (&arguments.to, written_by(output)) {
        let name = output.display();
        let problem =
            format!("cannot tell the output format from {name}; use --to (`convert --list` lists the formats)");
        return Err(Error::usage(format!("{problem}. For {what}, use `traceloom {verb} IN -o {name}`")));
    }
    let conversion = conversion(arguments, output)?;
    if output == Path::new("-") && !conversion.is_text() && io::stdout().is_terminal() {
        return Err(Error::usage("will not write binary data to a terminal; name a file"));
    }
    let paths: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
    if let [input] = inputs
        && store::is_store(input)
    {
        if !arguments.shifts.offsets.is_empty() {
            return Err(Error::usage("--offset does not work with a store"));
        }
        let tables = store::open(input)?;
        threads::check([&*tables], &arguments.threads)?;
        report_loss(&write_file(output, &paths, |out| conversion.write(&*tables, out))?);
        return Ok(Outcome::Fine);
    }
    let conversion = with_notes(conversion, inputs)?;
    let traces = arguments.shifts.apply(arguments.reading.open_every(inputs)?);
    threads::check(traces.iter().map(|trace| trace as &dyn TableSource), &arguments.threads)?;
    let edited = write_file(output, &paths, |out| traces.convert(&conversion, out))?;
    if let [input] = inputs {
        warn(&display_name(input), &edited.findings)?;
    }
    report_loss(&edited.loss);
    Ok(Outcome::Fine)
}

/// What has the extension of this file without being a trace, and the verb that writes it.
fn written_by(output: &Path) -> Option<(&'static str, &'static str)> {
    match output.extension()?.to_str()? {
        "html" => Some(("a report", "report")),
        "svg" => Some(("a flame graph", "flame")),
        _ => None,
    }
}

fn conversion(arguments: &args::files::Convert, output: &Path) -> Result<Conversion> {
    let conversion = match &arguments.to {
        Some(to) => Conversion::to(to)?.named(output),
        None => Conversion::for_path(output),
    };
    let conversion = conversion.canonical(arguments.canonical).range(arguments.range.unwrap_or_default());
    Ok(arguments.threads.iter().fold(conversion, Conversion::thread))
}

/// Copies the notes of the traces.
fn with_notes(conversion: Conversion, inputs: &[PathBuf]) -> Result<Conversion> {
    inputs.iter().try_fold(conversion, |conversion, input| {
        let written = |note: notes::Note| Note {
            ts_ns: note.ts_ns,
            text: note.about().map_or_else(|| note.text.clone(), |about| format!("{} ({about})", note.text)),
        };
        let notes = notes::read(input)?.into_iter().map(written).collect();
        Ok(conversion.notes(input, notes))
    })
}

/// Lists the targets and the tables that each can hold.
fn list() -> Result<Outcome> {
    let mut out = output::stdout();
    let (name, dim) = (Styles::NAME, Styles::DIM);
    for target in targets() {
        let extensions: Vec<_> = target.written_extensions().map(|extension| format!(".{extension}")).collect();
        writeln!(out, "{name}{}{name:#}  {dim}{}{dim:#}\n    {}", target.id, extensions.join(" "), target.about)?;
        let tables: Vec<_> = Table::ALL.into_iter().filter(|table| target.shows(*table)).map(Table::name).collect();
        let held = if tables.is_empty() { "one table of your choice".to_owned() } else { tables.join(", ") };
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

//! `dump`: every record with its byte offset.

use std::io::Write;

use traceloom_core::{Options, Result, Severity};

use crate::{
    Outcome, args,
    commands::resources,
    fields::{JsonLines, Lines, TextLines},
    input::{display_name, open_trace},
    output::{stdout, warn},
};

/// Runs the verb.
pub(crate) fn run(arguments: &args::Dump) -> Result<Outcome> {
    let options = Options::default();
    let path = &arguments.file;
    let opened = open_trace(path, &arguments.reading, &options)?;
    if let Some(folder) = &arguments.resources {
        return resources::extract(&opened, path, folder, arguments.json);
    }
    let mut out = stdout();
    let mut lines: Box<dyn Lines> =
        if arguments.json { Box::<JsonLines>::default() } else { Box::<TextLines>::default() };
    let mut left = arguments.limit.unwrap_or(u64::MAX);
    let findings = opened.format.dump(&opened.source, &options, &mut |offset, len, record| {
        if left == 0 {
            return Ok(false);
        }
        left -= 1;
        writeln!(out, "{}", lines.line(offset, len, record))?;
        Ok(true)
    });
    out.flush()?;
    let findings = findings.map_err(|error| error.in_file(path))?;
    warn(&display_name(path), &opened.findings)?;
    warn(&display_name(path), &findings)?;
    let worst = findings.worst().max(opened.findings.worst());
    Ok(if worst == Some(Severity::Error) { Outcome::Findings } else { Outcome::Fine })
}

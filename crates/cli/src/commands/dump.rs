//! `dump`: every record with its byte offset.

use std::{io::Write, ops::ControlFlow};

use traceloom::Record;
use traceloom_core::Result;

use crate::{
    Outcome, args,
    commands::resources,
    input::display_name,
    output::{Styles, stdout, warn},
};

/// Runs the verb.
pub(crate) fn run(arguments: &args::files::Dump) -> Result<Outcome> {
    let trace = arguments.reading.open(&arguments.file)?;
    if let Some(folder) = &arguments.resources {
        return resources::extract(&trace, folder, arguments.json);
    }
    let mut out = stdout();
    let mut lines = Lines::new(arguments.json);
    let mut left = arguments.limit.unwrap_or(u64::MAX);
    let findings = trace.records(|record| -> Result<ControlFlow<()>> {
        if left == 0 {
            return Ok(ControlFlow::Break(()));
        }
        left -= 1;
        lines.write(record, &mut out)?;
        Ok(ControlFlow::Continue(()))
    });
    out.flush()?;
    let findings = findings?;
    warn(&display_name(&arguments.file), &findings)?;
    Ok(Outcome::Fine)
}

/// Records as lines: `offset  kind  name=value …`, or JSON.
struct Lines {
    is_json: bool,
    buffer: Vec<u8>,
    /// The escape codes before and after a dimmed name.
    dim: [String; 2],
}

impl Lines {
    fn new(is_json: bool) -> Self {
        let dim = Styles::DIM;
        Self { is_json, buffer: Vec::new(), dim: [format!("{dim}"), format!("{dim:#}")] }
    }

    fn write(&mut self, record: &Record<'_>, out: &mut dyn Write) -> Result<()> {
        if self.is_json {
            self.buffer.clear();
            record.push_json(&mut self.buffer);
            self.buffer.push(b'\n');
            return Ok(out.write_all(&self.buffer)?);
        }
        let ([before, after], name) = (&self.dim, Styles::NAME);
        let fields = record.fields().marked(before, after);
        Ok(writeln!(out, "{before}{:>10}{after}  {name}{:<10}{name:#}{fields}", record.offset, record.kind())?)
    }
}

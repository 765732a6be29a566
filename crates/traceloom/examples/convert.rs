//! Converts a range of a trace for another tool, and reports the losses.
//!
//! `cargo run --features export --example convert -- TRACE spike.pftrace`; without files it converts the built-in sample for
//! Perfetto and only counts the bytes.

use std::{ffi::OsString, fs::File, io::Write};

use traceloom::{Conversion, Result, Trace};

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let (path, output) = (arguments.next(), arguments.next());
    run(path, output, &mut std::io::stdout())
}

/// The example, which the tests also run.
pub fn run(path: Option<OsString>, output: Option<OsString>, out: &mut dyn Write) -> Result<()> {
    let trace = path.map_or_else(|| Trace::sample("easyprofiler"), Trace::open)?;

    // The extension determines the output format, unless a target is given.
    let conversion = match &output {
        Some(path) => Conversion::for_path(path),
        None => Conversion::to("perfetto")?,
    };
    let conversion = conversion.range("0.8s..0.9s".parse()?);

    let mut bytes = Vec::new();
    let edited = trace.convert(&conversion, &mut bytes)?;
    for (what, count, example) in edited.loss.entries() {
        writeln!(out, "lost: {what}: {count} (such as {example})")?;
    }
    if let Some(path) = output {
        File::create(path)?.write_all(&bytes)?;
    }
    writeln!(out, "{} bytes", bytes.len())?;
    Ok(())
}

//! `dump --resources`: the files embedded in a trace.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

use serde_json::json;
use traceloom::{
    Trace,
    wtf::{Record, Resource, Wtf, raw::PartType},
};
use traceloom_core::{Error, Records, Result};

use crate::{
    Outcome,
    input::display_name,
    output::{stdout, warn},
    units::Bytes,
};

/// Writes every resource into `folder`, which is created if needed, and lists them.
pub(crate) fn extract(trace: &Trace, folder: &Path, as_json: bool) -> Result<Outcome> {
    let path = trace.path();
    if !trace.is::<Wtf>() {
        let message = format!("{} traces have no embedded resources", trace.format().name);
        return Err(Error::unsupported(message).in_file(path));
    }
    let mut reader = trace.reader::<Wtf>()?;
    fs::create_dir_all(folder).map_err(|error| Error::from(error).in_file(folder))?;
    let mut out = stdout();
    let mut number = 0_u64;
    while let Some(located) = reader.next().map_err(|error| error.in_file(path))? {
        let Record::Resource(resource) = located.record else { continue };
        number += 1;
        let name = file_name(number, &resource);
        let bytes = resource.bytes.len() as u64;
        write_new(&folder.join(&name), resource.bytes)?;
        if as_json {
            writeln!(out, "{}", json!({"offset": located.offset, "bytes": bytes, "file": name}))?;
        } else {
            writeln!(out, "{:>10}  {:>9}  {name}", located.offset, Bytes(bytes).to_string())?;
        }
    }
    out.flush()?;
    let mut findings = trace.layer_findings().clone();
    findings.absorb(reader.into_findings());
    warn(&display_name(path), &findings)?;
    Ok(Outcome::Fine)
}

/// Resources have no names; no content of the file becomes part of a path.
fn file_name(number: u64, resource: &Resource<'_>) -> String {
    let ending = if resource.kind == PartType::STRING_RESOURCE { "txt" } else { "bin" };
    format!("resource-{number}.{ending}")
}

/// Writes a new file; fails if it exists.
fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    let written = File::create_new(path).and_then(|mut file| file.write_all(bytes));
    let explain = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => io::Error::new(error.kind(), "already exists; choose another folder"),
        _ => error,
    };
    written.map_err(|error| Error::from(explain(error)).in_file(path))
}

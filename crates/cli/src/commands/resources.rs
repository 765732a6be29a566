//! `dump --resources`: the files that travel inside a trace.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

use serde_json::json;
use traceloom_core::{Error, Options, Records, Result, Severity};
use traceloom_open::Opened;
use traceloom_wtf::{self as wtf, Record, Resource, raw::PartType};

use crate::{
    Outcome,
    input::display_name,
    output::{stdout, warn},
    units::Bytes,
};

/// Writes every resource into `folder`, which is made if it is not there, and lists them.
pub(crate) fn extract(opened: &Opened, path: &Path, folder: &Path, as_json: bool) -> Result<Outcome> {
    let descriptor = opened.format.descriptor();
    if descriptor.id != wtf::FORMAT.id {
        let message = format!("is {}, which holds no resources", descriptor.name);
        return Err(Error::usage(message).in_file(path));
    }
    let mut reader = wtf::open(opened.source.clone(), &Options::default()).map_err(|error| error.in_file(path))?;
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
    let findings = reader.into_findings();
    warn(&display_name(path), &opened.findings)?;
    warn(&display_name(path), &findings)?;
    let worst = findings.worst().max(opened.findings.worst());
    Ok(if worst == Some(Severity::Error) { Outcome::Findings } else { Outcome::Fine })
}

/// Resources have no names; nothing of the file gets into a path.
fn file_name(number: u64, resource: &Resource<'_>) -> String {
    let ending = if resource.kind == PartType::STRING_RESOURCE { "txt" } else { "bin" };
    format!("resource-{number}.{ending}")
}

/// Writes a file that is not there yet.
fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    let written = File::create_new(path).and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Error::usage("is there already; choose another folder").in_file(path),
        _ => Error::from(error).in_file(path),
    })
}

//! Stores: folders of Parquet files to which traces are added.

use std::path::{Path, PathBuf};

use traceloom_core::{Error, Result, Variant};
use traceloom_model::TableSource;

use crate::{Outcome, args};

/// The id of a store for `--to`.
pub(crate) const ID: &str = "parquet";
/// The description in `convert --list`.
pub(crate) const ABOUT: &str = "a store of sorted Parquet files for many traces, for SQL and other engines";

/// Whether `convert` writes a store: `--to` says so, or the output is one.
pub(crate) fn is_wanted(to: Option<&str>, output: &Path) -> bool {
    match to {
        Some(to) => to.split(':').next() == Some(ID),
        None => is_store(output),
    }
}

/// Whether this is a folder that looks like a store.
pub(crate) fn is_store(path: &Path) -> bool {
    path.join("manifest.json").is_file()
}

/// Whether this is a folder that looks like a store, be it one of a fleet.
pub(crate) fn is_any_store(path: &Path) -> bool {
    is_store(path) || path.join("fleet.json").is_file()
}

/// Whether this is a folder, or the URL of one.
#[cfg(feature = "sql")]
pub(crate) fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.to_str().is_some_and(|name| name.contains("://") && name.ends_with('/'))
}

/// Adds traces to a store.
pub(crate) fn add(inputs: &[PathBuf], output: &Path, arguments: &args::files::Convert) -> Result<Outcome> {
    if let Some((_, variant)) = arguments.to.as_deref().and_then(|to| to.split_once(':')) {
        return Err(Variant::unknown(ID, &[], variant));
    }
    let is_moved = !arguments.shifts.offsets.is_empty();
    if arguments.range.is_some() || !arguments.threads.is_empty() || arguments.canonical || is_moved {
        let message = "a store holds whole traces; leave out --range, --thread, --canonical and --offset";
        return Err(Error::usage(message));
    }
    if inputs.is_empty() {
        return Err(Error::usage("no traces given; use `traceloom convert IN... STORE --to parquet`"));
    }
    imp::add(inputs, output, &arguments.reading)
}

#[cfg(feature = "sql")]
pub(crate) use self::about::about;

/// The tables of a store.
pub(crate) fn open(path: &Path) -> Result<Box<dyn TableSource>> {
    imp::open(path)
}

#[cfg(feature = "sql")]
mod imp {
    use traceloom::sql::store::{Options, Report, Store};

    use super::*;
    use crate::{
        input::shown_name,
        output::{Styles, is_quiet},
        units::Bytes,
    };

    pub(super) fn add(inputs: &[PathBuf], output: &Path, reading: &args::Reading) -> Result<Outcome> {
        let report = reading.open_all(inputs)?.add_to_store(output, &Options::default())?;
        say(&report, output);
        Ok(Outcome::Fine)
    }

    pub(super) fn open(path: &Path) -> Result<Box<dyn TableSource>> {
        let none = || Error::unrecognized("not a Traceloom store").in_file(path);
        Ok(Box::new(Store::open(path)?.ok_or_else(none)?))
    }

    /// Reports which traces were added, and which were skipped because the store has them.
    fn say(report: &Report, output: &Path) {
        if is_quiet() {
            return;
        }
        let style = Styles::NOTE;
        for skipped in &report.skipped {
            let [path, stored] = [&skipped.path, &skipped.stored_path].map(|path| shown_name(Path::new(path)));
            anstream::eprintln!("{style}skipped:{style:#} {path} is already in the store as {stored}");
        }
        let (traces, rows, bytes) = (report.added.len(), report.rows, Bytes(report.bytes));
        let output = shown_name(output);
        match traces {
            0 => anstream::eprintln!("{style}added:{style:#} nothing; {output} already has all traces"),
            1 => anstream::eprintln!("{style}added:{style:#} 1 trace, {rows} rows, {bytes} to {output}"),
            _ => anstream::eprintln!("{style}added:{style:#} {traces} traces, {rows} rows, {bytes} to {output}"),
        }
    }
}

/// Description of a folder, for `info`.
#[cfg(feature = "sql")]
mod about {
    use std::path::Path;

    use serde_json::json;
    use traceloom_core::Result;
    use traceloom_query::{
        fleet::{Fleet, FleetTable},
        store::Store,
    };

    use traceloom_analysis::units::counted;

    use crate::{input::display_name, units::Bytes};

    /// The description as text and as JSON.
    pub(crate) struct About {
        pub(crate) text: String,
        pub(crate) json: serde_json::Value,
    }

    /// The store in a folder, or `None`.
    pub(crate) fn about(path: &Path) -> Result<Option<About>> {
        let name = display_name(path);
        if let Some(fleet) = Fleet::open(path)? {
            let manifest = fleet.manifest();
            let [traces, quarantined] =
                [FleetTable::Ingested, FleetTable::Quarantine].map(|table| manifest.rows(table));
            let (files, partitions) = (manifest.files.len(), manifest.partitions.join(", "));
            let bytes: u64 = manifest.files.iter().map(|file| file.bytes).sum();
            let text = format!(
                "{name}: a fleet store, {} by {partitions}, {} in quarantine, {}, {}",
                counted(traces, "trace"),
                counted(quarantined, "file"),
                counted(files as u64, "Parquet file"),
                Bytes(bytes)
            );
            let json = json!({
                "path": name, "kind": "fleet", "traces": traces, "quarantined": quarantined,
                "partitions": manifest.partitions, "files": files, "bytes": bytes,
            });
            return Ok(Some(About { text, json }));
        }
        let Some(store) = Store::open(path)? else { return Ok(None) };
        let traces = store.traces().len();
        let json = json!({"path": name, "kind": "store", "traces": traces});
        Ok(Some(About { text: format!("{name}: a store, {traces} traces"), json }))
    }
}

#[cfg(not(feature = "sql"))]
mod imp {
    use super::*;

    pub(super) fn add(_: &[PathBuf], _: &Path, _: &args::Reading) -> Result<Outcome> {
        Err(missing())
    }

    pub(super) fn open(_: &Path) -> Result<Box<dyn TableSource>> {
        Err(missing())
    }

    fn missing() -> Error {
        Error::usage("this build has no stores; `cargo install --path crates/cli` includes them")
    }
}

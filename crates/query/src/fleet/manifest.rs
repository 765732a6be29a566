//! The manifest of a fleet store.

use std::{
    collections::BTreeSet,
    path::{Component, Path},
};

use serde::{Deserialize, Serialize};
use traceloom_core::{Error, Limits, Result};

use super::{FleetTable, PARTITIONS};
use crate::location;

/// The file that makes a folder a fleet store.
pub(super) const FILE: &str = "fleet.json";

/// The version that is written, and the only one that can be read.
const VERSION: u32 = 1;

/// Max size of a manifest, enough for a million files.
const MAX_BYTES: u64 = 512 << 20;

/// The contents of `fleet.json`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Manifest {
    version: u32,
    /// The partition columns, in the order of the folders.
    pub partitions: Vec<String>,
    /// The number for the names of the next files.
    pub next_run: u32,
    /// All files.
    pub files: BTreeSet<FleetFile>,
}

/// A Parquet file of one table and partition.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct FleetFile {
    /// Path in the store: `TABLE/COLUMN=VALUE/…/RUN.parquet`.
    pub file: String,
    /// Number of rows.
    pub rows: u64,
    /// Length in bytes.
    pub bytes: u64,
}

impl FleetFile {
    /// Name of the table.
    pub fn table(&self) -> Option<FleetTable> {
        self.file.split('/').next().and_then(FleetTable::by_name)
    }

    /// The partition, as folders: `day=…/host=…/build=…`.
    pub fn partition(&self) -> &str {
        let rest = self.file.split_once('/').map_or("", |(_, rest)| rest);
        rest.rsplit_once('/').map_or("", |(partition, _)| partition)
    }
}

impl Manifest {
    /// An empty store that is partitioned by these columns in addition to those that every store has.
    pub fn new<'c>(more: impl IntoIterator<Item = &'c str>) -> Self {
        let known = |column: &&str| !PARTITIONS.contains(column);
        let more: BTreeSet<&str> = more.into_iter().filter(known).collect();
        let partitions = PARTITIONS.into_iter().chain(more).map(str::to_owned).collect();
        Self { version: VERSION, partitions, next_run: 1, files: BTreeSet::new() }
    }

    /// The files of a table.
    pub fn files(&self, table: FleetTable) -> impl Iterator<Item = &FleetFile> {
        self.files.iter().filter(move |file| file.table() == Some(table))
    }

    /// The same store with the files of one table only.
    #[cfg(feature = "codec")]
    pub(crate) fn only(&self, table: FleetTable) -> Self {
        Self { partitions: self.partitions.clone(), files: self.files(table).cloned().collect(), ..*self }
    }

    /// Number of rows of a table.
    pub fn rows(&self, table: FleetTable) -> u64 {
        self.files(table).map(|file| file.rows).fold(0, u64::saturating_add)
    }

    /// The name of a new file.
    pub fn file_name(&self, table: FleetTable, partition: &str) -> String {
        format!("{}/{partition}/{:04}.parquet", table.name(), self.next_run)
    }

    /// Counts a run, so that the files of the next one get other names.
    pub fn start_next_run(&mut self) -> Result<()> {
        let next = self.next_run.checked_add(1);
        self.next_run = next.ok_or_else(|| Error::unrecognized("the store has run out of file numbers"))?;
        Ok(())
    }

    pub(super) fn read(path: &Path) -> Result<Self> {
        Self::parse(path).map_err(|error| error.in_file(path))
    }

    fn parse(path: &Path) -> Result<Self> {
        let source = location::source(path, &Limits::default())?;
        let length = source.len()?;
        if length > MAX_BYTES {
            return Err(Error::limit("manifest", length, MAX_BYTES));
        }
        let broken =
            |error: serde_json::Error| Error::unrecognized(format!("invalid manifest of a fleet store: {error}"));
        let manifest: Self = serde_json::from_slice(&source.prefix(length as usize)?).map_err(broken)?;
        if manifest.version != VERSION {
            let message = format!("store version {}; this program reads version {VERSION}", manifest.version);
            return Err(Error::unrecognized(message));
        }
        // Names are untrusted, and files of the store are removed by name.
        let is_inside = |file: &FleetFile| {
            let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
            file.table().is_some()
                && file.file.ends_with(".parquet")
                && Path::new(&file.file).components().all(is_plain)
        };
        match manifest.files.iter().find(|file| !is_inside(file)) {
            Some(file) => Err(Error::unrecognized(format!("contains an invalid file name, {:?}", file.file))),
            None => Ok(manifest),
        }
    }

    pub(super) fn to_json(&self) -> Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self).map_err(std::io::Error::other)?;
        text.push(b'\n');
        Ok(text)
    }
}

/// The folders of a partition; characters that a file system or an engine could misread are escaped as in URLs.
pub fn partition_path<'v>(columns: &[String], value: impl Fn(&str) -> &'v str) -> String {
    let folder = |column: &String| format!("{column}={}", escaped(value(column)));
    columns.iter().map(folder).collect::<Vec<_>>().join("/")
}

fn escaped(value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let mut text = String::new();
    for (number, byte) in value.bytes().enumerate() {
        match byte {
            // A name that starts with a dot is hidden in folder listings.
            _ if is_plain(byte) || byte == b'.' && number > 0 => text.push(char::from(byte)),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_value_is_one_folder() {
        let columns = ["day".to_owned(), "build".to_owned()];
        let path = partition_path(&columns, |column| if column == "day" { "2026-11-16" } else { "../x=1 ü" });
        assert_eq!(path, "day=2026-11-16/build=%2E.%2Fx%3D1%20%C3%BC");
    }

    #[test]
    fn a_manifest_names_no_file_outside() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(FILE);
        for (name, is_good) in [
            ("spans/day=1/host=a/build=b/0001.parquet", true),
            ("spans/../../x.parquet", false),
            ("/etc/x.parquet", false),
            ("other/0001.parquet", false),
            ("spans/x", false),
        ] {
            let mut manifest = Manifest::new([]);
            manifest.files.insert(FleetFile { file: name.to_owned(), rows: 1, bytes: 2 });
            std::fs::write(&path, manifest.to_json().expect("JSON")).expect("a file");
            assert_eq!(Manifest::read(&path).is_ok(), is_good, "{name}");
        }
    }
}

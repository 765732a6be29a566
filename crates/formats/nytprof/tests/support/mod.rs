//! Shared by the tests: fixtures.
#![allow(dead_code, reason = "each test file uses its part")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use traceloom_core::{Limits, Options};

/// Folders of profiles that Devel::NYTProf or its library wrote.
pub(crate) const REAL: &[&str] = &["devel-nytprof-6.12", "synthetic"];
/// The folder of profiles with problems.
pub(crate) const DAMAGED: &[&str] = &["damaged"];
/// Folders of files that Pynytprof wrote, including damaged copies.
pub(crate) const PYNYTPROF: &[&str] = &["pynytprof/a986d58", "pynytprof/damaged", "pynytprof/last", "pynytprof/other"];
/// The folder of Pynytprof files that once broke the reader.
pub(crate) const PYNYTPROF_FOUND: &[&str] = &["pynytprof/found"];

/// Name and bytes of each profile in these folders, sorted by name.
pub(crate) fn profiles(folders: &[&str]) -> Vec<(String, Vec<u8>)> {
    let mut profiles = Vec::new();
    for folder in folders {
        let folder = root().join(folder);
        let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let found = names.filter_map(|name| Some((name.strip_suffix(".nytprof")?.to_owned(), name)));
        let before = profiles.len();
        profiles.extend(found.map(|(name, file)| (name, fs::read(folder.join(file)).unwrap())));
        assert!(profiles.len() > before, "no fixtures in {}", folder.display());
    }
    profiles.sort();
    profiles
}

/// The folder of all fixtures.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/nytprof")
}

/// The bytes of the only fixture with this name.
pub(crate) fn read(name: &str) -> Vec<u8> {
    let folders = [REAL, DAMAGED, PYNYTPROF].concat();
    let paths = folders.iter().map(|folder| root().join(folder).join(format!("{name}.nytprof")));
    let found: Vec<_> = paths.filter(|path| path.exists()).collect();
    assert_eq!(found.len(), 1, "fixtures that are called {name}");
    fs::read(&found[0]).unwrap()
}

/// Options with a window of this size.
pub(crate) fn windowed(window_bytes: usize) -> Options {
    Options::default().with_limits(Limits::with(|limits| limits.window_bytes = window_bytes))
}

/// Name and bytes of all fixtures except those that once broke the reader.
pub(crate) fn fixtures() -> Vec<(String, Vec<u8>)> {
    profiles(&[REAL, DAMAGED, PYNYTPROF].concat())
}

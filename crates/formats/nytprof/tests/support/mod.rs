//! What the tests share: fixtures.
#![allow(dead_code, reason = "each test file uses its part")]

use std::path::{Path, PathBuf};

use traceloom_core::{Limits, Options};

/// The folder with the fixtures.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/nytprof")
}

/// All profiles of a folder, sorted, without their ending.
pub(crate) fn profiles(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = entries.filter_map(|name| name.strip_suffix(".nytprof").map(str::to_owned)).collect();
    names.sort();
    assert!(!names.is_empty(), "no fixtures in {}", folder.display());
    names
}

pub(crate) fn read(folder: &Path, name: &str) -> Vec<u8> {
    std::fs::read(folder.join(format!("{name}.nytprof"))).unwrap()
}

/// Options with a window of so many bytes.
pub(crate) fn windowed(window_bytes: usize) -> Options {
    Options::default().with_limits(Limits::with(|limits| limits.window_bytes = window_bytes))
}

/// All fixtures of all folders.
pub(crate) fn fixtures() -> Vec<(String, Vec<u8>)> {
    let folders = ["", "damaged", "pynytprof"].map(|name| folder().join(name));
    let files = folders.iter().flat_map(|folder| {
        profiles(folder).into_iter().map(move |name| (format!("{}/{name}", folder.display()), read(folder, &name)))
    });
    files.collect()
}

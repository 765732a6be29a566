//! The traces that the tests of this crate read.

#![allow(dead_code, reason = "each test program uses its part")]

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use serde_json::Value as Json;
use traceloom_core::{Records, Result};
use traceloom_wtf::{Event, Reader, Record};

/// Folders with traces: ours, and the one in the folder named by `TRACELOOM_CORPUS`.
fn folders() -> impl Iterator<Item = PathBuf> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/wtf");
    let ours = ["hand-made", "wtf-cpp", "wtf-js"].map(|tool| ours.join(tool));
    let corpus = env::var_os("TRACELOOM_CORPUS").map(|corpus| Path::new(&corpus).join("wtf"));
    ours.into_iter().chain(corpus)
}

/// Every trace by name, each once.
pub(crate) fn traces() -> BTreeMap<String, PathBuf> {
    let mut all = BTreeMap::new();
    for entry in folders().flat_map(|folder| fs::read_dir(folder).unwrap()) {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_file() && name.contains(".wtf-") {
            all.entry(name).or_insert(path);
        }
    }
    assert!(all.len() > 80, "fixtures are missing");
    all
}

/// The output of WTF for a trace.
pub(crate) fn golden(trace: &Path) -> Json {
    serde_json::from_slice(&fs::read(trace.with_extension("json")).unwrap()).unwrap()
}

/// Reads to the end and passes on every event.
pub(crate) fn each_event(reader: &mut Reader, mut take: impl FnMut(&Event<'_>) -> Result<()>) -> Result<()> {
    reader.walk(|located| match &located.record {
        Record::Event(event) => take(event),
        _ => Ok(()),
    })
}

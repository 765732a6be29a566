//! A C program, the library to preload, and the figures of each allocating function in a file.

#![allow(dead_code)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

use traceloom_core::{Limits, Options, Records, Source};
use traceloom_memlyze::{
    Record,
    allocations::{Allocations, Totals},
};
use traceloom_testkit::preload_library;

/// Compiles a C file of `tests/data`.
pub(crate) fn compile(folder: &Path, name: &str, arguments: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let program = folder.join(name).with_extension("out");
    let mut cc = Command::new("cc");
    cc.args(["-g", "-pthread"]).args(arguments).arg(&source).arg("-o").arg(&program).arg("-ldl");
    assert!(cc.status().expect("there is a C compiler").success());
    program
}

/// A command that records to `app.mlyze` in the folder.
pub(crate) fn traced(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("LD_PRELOAD", preload_library()).env("TRACELOOM_ALLOC_OUTPUT", folder.join("app.mlyze"));
    command
}

/// The recordings in a folder, by name.
pub(crate) fn recordings(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> = entries.filter(|path| path.extension().is_some_and(|name| name == "mlyze")).collect();
    paths.sort();
    paths
}

/// The sums of the allocations of one innermost function.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Site {
    pub(crate) allocations: u64,
    pub(crate) bytes: u64,
    pub(crate) leaked: u64,
    pub(crate) lines: Vec<u64>,
    pub(crate) callers: Vec<String>,
}

pub(crate) struct Contents {
    pub(crate) sites: BTreeMap<String, Site>,
    pub(crate) totals: Totals,
    /// Allocations of zero bytes, and those of them that were not freed.
    pub(crate) empty: (u64, u64),
    pub(crate) markers: Vec<String>,
    pub(crate) threads: usize,
}

impl Contents {
    pub(crate) fn site(&self, name: &str) -> (u64, u64, u64) {
        let site = self.sites.get(name).cloned().unwrap_or_default();
        (site.allocations, site.bytes, site.leaked)
    }
}

/// Reads a file strictly.
pub(crate) fn read(path: &Path) -> Contents {
    let options = Options::strict().thorough();
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut reader = traceloom_memlyze::open(Source::file(file), &options).expect("a healthy file");
    let mut allocations = Allocations::new(reader.header().dialect, &Limits::default());
    let (mut by_stack, mut markers, mut threads) = (BTreeMap::<u64, Site>::new(), Vec::new(), BTreeSet::new());
    let mut empty = (0, 0);
    while let Some(located) = reader.next().expect("healthy events") {
        match located.record {
            Record::Alloc(alloc) => {
                let site = by_stack.entry(alloc.stack).or_default();
                site.allocations += 1;
                site.bytes += alloc.size_bytes;
                empty.0 += u64::from(alloc.size_bytes == 0);
                threads.insert(alloc.thread);
                allocations.alloc(&alloc).expect("few live");
            }
            Record::Free(free) => drop(allocations.free(&free)),
            Record::Marker(marker) => markers.push(marker.name),
            _ => {}
        }
    }
    for live in allocations.live() {
        by_stack.entry(live.stack).or_default().leaked += 1;
        empty.1 += u64::from(live.size_bytes == 0);
    }
    let metadata = reader.metadata();
    let text = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let mut sites = BTreeMap::<String, Site>::new();
    for (stack, of_stack) in by_stack {
        let frames: Vec<_> = metadata.stack(stack).expect("the stack is there").collect();
        let mut names = frames.iter().map(|frame| text(frame.function.and_then(|id| metadata.function(id))));
        let site = sites.entry(names.next().unwrap_or_default()).or_default();
        site.allocations += of_stack.allocations;
        site.bytes += of_stack.bytes;
        site.leaked += of_stack.leaked;
        site.lines.extend(frames.first().and_then(|frame| frame.line));
        site.callers.extend(names);
    }
    let markers = markers.into_iter().map(|id| text(metadata.function(id))).collect();
    Contents { sites, totals: *allocations.totals(), empty, markers, threads: threads.len() }
}

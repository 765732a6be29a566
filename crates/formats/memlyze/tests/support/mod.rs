//! The fixtures, a summary of a whole file, and random numbers for changing it.

#![allow(dead_code, reason = "each test uses a part")]

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use traceloom_core::{Describe, FieldValue, Fields, Options, Records, Result, Source};
use traceloom_memlyze::{edit, raw::Packing};

/// The fixtures of this format.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/memlyze")
}

/// Every trace among the fixtures, in a fixed order.
pub(crate) fn fixtures() -> Vec<PathBuf> {
    let tools = ["document", "invalid", "memlyze-0.1.0", "memlyze-0.1.0-encoder"];
    let folders = tools.map(|tool| folder().join(tool));
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "mlyze"));
    paths.sort();
    paths
}

/// The bytes of every fixture with its name.
pub(crate) fn contents() -> impl Iterator<Item = (String, Vec<u8>)> {
    fixtures().into_iter().map(|path| (path.display().to_string(), fs::read(&path).unwrap()))
}

/// The sample with this packing.
pub(crate) fn sample(packing: Packing) -> Vec<u8> {
    let plain = traceloom_memlyze::sample::sample().unwrap().bytes;
    if packing == Packing::Plain {
        return plain;
    }
    let mut packed = Vec::new();
    edit::canonical(&Source::bytes(plain), &mut packed, Some("lz4"), &Options::default()).unwrap();
    packed
}

/// Everything that a walk over a file returns.
#[derive(Debug, Default, Eq, PartialEq)]
pub(crate) struct Walked {
    /// Header and records with their positions, one line each.
    pub(crate) lines: Vec<String>,
    /// Findings as they are printed.
    pub(crate) findings: Vec<String>,
    /// Codes of the findings.
    pub(crate) codes: Vec<&'static str>,
    /// The file, written back from header and records.
    pub(crate) rewritten: Vec<u8>,
}

/// Walks a file from front to back and writes it back at the same time.
pub(crate) fn walk(bytes: &[u8], options: &Options) -> Result<Walked> {
    let mut reader = traceloom_memlyze::open(Source::bytes(bytes), options)?;
    let mut walked = Walked::default();
    walked.lines.push(line(reader.header()));
    let mut writer = traceloom_memlyze::create(Vec::new(), reader.header())?;
    while let Some(located) = reader.next()? {
        let text = line(&located.record);
        walked.lines.push(format!("{}+{} {text}", located.offset, located.len));
        writer.write(&located.record)?;
    }
    assert!(reader.next()?.is_none());
    walked.rewritten = writer.finish()?;
    walked.findings = reader.findings().kept().iter().map(ToString::to_string).collect();
    walked.codes = reader.findings().kept().iter().map(|finding| finding.rule.code).collect();
    Ok(walked)
}

/// The events of a file, one line each, without their positions and padding.
pub(crate) fn events(bytes: &[u8]) -> Vec<String> {
    let mut reader = traceloom_memlyze::open(Source::bytes(bytes), &Options::default()).unwrap();
    let mut lines = Vec::new();
    while let Some(located) = reader.next().unwrap() {
        if located.record.event_type().is_some() {
            lines.push(line(&located.record).split(" padding").next().unwrap().to_owned());
        }
    }
    lines
}

fn line(described: &impl Describe) -> String {
    let mut line = Line(described.kind().to_owned());
    described.describe(&mut line);
    line.0
}

struct Line(String);

impl Fields for Line {
    fn field(&mut self, name: &'static str, value: FieldValue<'_>) {
        match value {
            FieldValue::Text(text) => write!(self.0, " {name}=\"{}\"", text.escape_ascii()),
            FieldValue::Unsigned(number) | FieldValue::Hex(number) => write!(self.0, " {name}={number}"),
            value => write!(self.0, " {name}={value:?}"),
        }
        .unwrap();
    }
    fn list(&mut self, name: &'static str) {
        self.word(name, "[");
    }
    fn end(&mut self) {
        self.word("", "]");
    }
}

/// Pseudo-random numbers that are always the same.
pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }
}

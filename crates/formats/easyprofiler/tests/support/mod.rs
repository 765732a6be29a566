//! Fixtures, files made of records, and shared code of the test suites.
#![allow(dead_code)]

pub(crate) mod arbitrary;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use traceloom_core::{ByteOrder, Codec, Error, Located, Options, Records, Result, Source};
use traceloom_easyprofiler::{
    Block, Bookmark, Descriptor, EasyProfiler, Header, Name, Record, Switch, Tally, Thread, create, open,
    raw::{BlockType, EASY_PROFILER_SIGNATURE, Layout, Version},
};

/// All `.prof` files of the repository, sorted by their paths below the format's folder.
pub(crate) fn fixtures() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/easyprofiler");
    let mut files = Vec::new();
    gather(&folder, &mut files);
    files.sort();
    let name = |path: &PathBuf| path.strip_prefix(&folder).unwrap().display().to_string();
    files.iter().map(|path| (name(path), fs::read(path).unwrap())).collect()
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            gather(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "prof") {
            files.push(path);
        }
    }
}

/// The fixtures that easy_profiler opens, except those in the documented layout.
pub(crate) fn accepted() -> Vec<(String, Vec<u8>)> {
    let real = fixtures().into_iter().filter(|(name, _)| !name.starts_with("document/"));
    let fixtures: Vec<_> = real.filter(|(_, bytes)| is_accepted(bytes)).collect();
    assert!(fixtures.len() > 40, "{}", fixtures.len());
    fixtures
}

/// Whether easy_profiler opens it.
pub(crate) fn is_accepted(bytes: &[u8]) -> bool {
    EasyProfiler::check(&Source::bytes(bytes), &Options::strict()).is_ok()
}

/// Codes of all findings.
pub(crate) fn codes(bytes: &[u8]) -> BTreeSet<&'static str> {
    let findings = EasyProfiler::check(&Source::bytes(bytes), &Options::default()).unwrap();
    findings.counts().keys().copied().collect()
}

/// Records as shown, with their offsets and lengths.
pub(crate) fn shown(bytes: &[u8], options: &Options) -> Result<Vec<String>> {
    let mut records = Vec::new();
    open(Source::bytes(bytes), options)?.walk(|located| {
        records.push(show(&located));
        Ok::<_, Error>(())
    })?;
    Ok(records)
}

pub(crate) fn show(located: &Located<Record<'_>>) -> String {
    format!("{} {} {:?}", located.offset, located.len, located.record)
}

/// The file, rewritten through its records.
pub(crate) fn rewritten(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    EasyProfiler::rewrite(&Source::bytes(bytes), &mut out, &Options::default())?;
    Ok(out)
}

/// A file of these records, with correct counts in the header.
pub(crate) fn file(mut header: Header, records: &[Record<'_>]) -> Vec<u8> {
    let mut tally = Tally::default();
    records.iter().for_each(|record| tally.count(record, &header.layout));
    tally.fill(&mut header);
    write(&header, records)
}

/// The same with the header unchanged.
pub(crate) fn write(header: &Header, records: &[Record<'_>]) -> Vec<u8> {
    let mut writer = create(Vec::new(), header).unwrap();
    records.iter().for_each(|record| writer.write(record).unwrap());
    writer.finish().unwrap()
}

/// A file of one version with descriptors of a block, an event and a value.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) header: Header,
    pub(crate) records: Vec<Record<'static>>,
    pub(crate) bookmarks: Vec<Record<'static>>,
}

/// Indices of its descriptors.
pub(crate) const BLOCK: u32 = 0;
pub(crate) const EVENT: u32 = 1;
pub(crate) const VALUE: u32 = 2;

impl Made {
    /// A 2.1.0 file whose capture starts at this time.
    pub(crate) fn new(begin_time: u64) -> Self {
        Self::of(Layout::real(Version::V2_1_0, ByteOrder::Little), Version::V2_1_0, begin_time)
    }

    pub(crate) fn of(layout: Layout, version: Version, begin_time: u64) -> Self {
        let mut header = Header::new(layout, version);
        (header.begin_time, header.end_time) = (begin_time, begin_time + 1_000_000);
        if let Some(pid) = &mut header.pid {
            *pid = 1;
        }
        let kinds = [(BlockType::BLOCK, &b"work"[..]), (BlockType::EVENT, b"tick"), (BlockType::VALUE, b"load")];
        let records = kinds.into_iter().zip(0..).map(|((block_type, name), id)| {
            let descriptor = Descriptor::new(id, block_type, name);
            Record::Descriptor(Descriptor { line: 7, file: Name::new(b"work.cpp"), ..descriptor })
        });
        Self { header, records: records.collect(), bookmarks: Vec::new() }
    }

    /// A thread with switches (start, end, target) and blocks (start, end).
    pub(crate) fn thread(&mut self, id: u64, switches: &[(u64, u64, u64)], blocks: &[(u64, u64)]) {
        let blocks: Vec<_> = blocks.iter().map(|(begin, end)| Record::Block(Block::new(BLOCK, *begin, *end))).collect();
        self.thread_of(id, switches, &blocks);
    }

    /// The same with any records.
    pub(crate) fn thread_of(&mut self, id: u64, switches: &[(u64, u64, u64)], records: &[Record<'static>]) {
        self.records.push(Record::Thread(Thread { id, name: Name::new(b"t"), switches: switches.len() as u32 }));
        let switches = switches.iter().map(|(begin, end, target)| Record::Switch(Switch::new(*begin, *end, *target)));
        self.records.extend(switches);
        self.records.push(Record::Blocks(records.len() as u32));
        self.records.extend(records);
    }

    pub(crate) fn bookmark(&mut self, position_ns: u64) {
        self.bookmarks.push(Record::Bookmark(Bookmark::new(position_ns, b"here")));
    }

    /// All records, with the marks that the version has.
    pub(crate) fn all(&self) -> Vec<Record<'static>> {
        let mark = Record::Mark(EASY_PROFILER_SIGNATURE);
        let mut records = self.records.clone();
        if self.header.layout.marks {
            records.push(mark);
            records.extend(&self.bookmarks);
            records.extend((!self.bookmarks.is_empty()).then_some(mark));
        }
        records
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        file(self.header.clone(), &self.all())
    }

    pub(crate) fn source(&self) -> Source {
        Source::bytes(self.bytes())
    }
}

//! EasyProfiler files in the forms given by a description of the format that circulates, right or wrong.
//!
//! People write such files because they trust the description, so the reader accepts them in lenient mode. Each form is
//! one file in `fixtures/easyprofiler/document/`, made here from bytes and not by our writer.

use traceloom_core::{Options, Records, Result, Source};
use traceloom_easyprofiler::{Record, open};

const MARK: u32 = 0x4561_7379;
const MISSPELLED_MARK: u32 = 0x4561_7329;

/// A file, its contents, and the findings that it must have.
#[derive(Debug)]
pub struct Form {
    /// Name of the fixture, without `.prof`.
    pub name: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
    /// Its contents, however they are stored.
    pub contents: Contents,
    /// The findings, in order, without the format's id.
    pub codes: &'static [&'static str],
}

/// The contents of a file, independent of their layout.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Contents {
    /// Version stamp: major, minor.
    pub version: (u8, u8),
    /// Process id.
    pub pid: Option<u64>,
    /// Start and end of the capture.
    pub times: (u64, u64),
    /// Name, file, line.
    pub descriptors: Vec<(String, String, i32)>,
    /// Threads in file order.
    pub threads: Vec<ThreadContents>,
    /// Position and text.
    pub bookmarks: Vec<(u64, String)>,
}

/// The contents of one thread.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ThreadContents {
    /// Thread id.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Start, end, target, name.
    pub switches: Vec<(u64, u64, u64, String)>,
    /// Start, end, descriptor, runtime name.
    pub blocks: Vec<(u64, u64, u32, String)>,
}

impl Contents {
    /// Reads a file in lenient mode; returns its contents and the codes of the findings.
    pub fn read(source: Source) -> Result<(Self, Vec<&'static str>)> {
        let mut reader = open(source, &Options::default())?;
        let header = reader.header();
        let stamp = header.version.0;
        let mut contents = Self {
            version: ((stamp >> 24) as u8, (stamp >> 16) as u8),
            pid: header.pid,
            times: (header.begin_time, header.end_time),
            ..Self::default()
        };
        while let Some(located) = reader.next()? {
            contents.take(&located.record);
        }
        let code = |finding: &traceloom_core::Finding| finding.rule.code.trim_start_matches("easyprofiler.");
        let codes = reader.findings().kept().iter().map(code).collect();
        Ok((contents, codes))
    }

    fn take(&mut self, record: &Record<'_>) {
        match record {
            Record::Descriptor(it) => self.descriptors.push((text(it.name.text), text(it.file.text), it.line)),
            Record::Thread(it) => {
                let thread = ThreadContents { id: it.id, name: text(it.name.text), ..ThreadContents::default() };
                self.threads.push(thread);
            }
            Record::Switch(it) => {
                let switch = (it.begin, it.end, it.target, text(it.name.text));
                self.threads.last_mut().into_iter().for_each(|thread| thread.switches.push(switch.clone()));
            }
            Record::Block(it) => {
                let block = (it.begin, it.end, it.descriptor, text(it.name.text));
                self.threads.last_mut().into_iter().for_each(|thread| thread.blocks.push(block.clone()));
            }
            Record::Bookmark(it) => self.bookmarks.push((it.position_ns, text(it.text.text))),
            _ => {}
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Every form.
pub fn forms() -> Vec<Form> {
    let mut forms: Vec<_> = FORMS.iter().map(Recipe::make).collect();
    forms.extend([minimal(), literal_examples(), literal_examples_by_id()]);
    forms
}

/// A form made from the sample contents.
struct Recipe {
    name: &'static str,
    version: (u8, u8),
    bookmarks: bool,
    dialect: Dialect,
    codes: &'static [&'static str],
}

/// Where the bytes follow the description instead of the library.
#[derive(Clone, Copy)]
struct Dialect {
    swapped_signature: bool,
    pid_u32: bool,
    thread_id_u64: bool,
    target_first: bool,
    size_counts_itself: bool,
    block_count_without_switches: bool,
    missing_nul: bool,
    no_block_name: bool,
    mark_anyway: bool,
    mark_u64: bool,
    second_mark: bool,
    last_mark: u32,
}

/// What the library writes.
const REAL: Dialect = Dialect {
    swapped_signature: false,
    pid_u32: false,
    thread_id_u64: false,
    target_first: false,
    size_counts_itself: false,
    block_count_without_switches: false,
    missing_nul: false,
    no_block_name: false,
    mark_anyway: false,
    mark_u64: false,
    second_mark: false,
    last_mark: MARK,
};

/// Everything that the description says about versions before 2.1.0, in one file.
const ALL_AT_ONCE: Dialect = Dialect {
    swapped_signature: true,
    pid_u32: true,
    thread_id_u64: true,
    target_first: true,
    size_counts_itself: true,
    mark_anyway: true,
    mark_u64: true,
    second_mark: true,
    last_mark: MISSPELLED_MARK,
    ..REAL
};

#[rustfmt::skip]
static FORMS: &[Recipe] = &[
    Recipe { name: "real_210", version: (2, 1), bookmarks: true, codes: &[], dialect: REAL },
    Recipe { name: "real_120", version: (1, 2), bookmarks: false, codes: &[], dialect: REAL },
    Recipe { name: "signature_swapped", version: (2, 1), bookmarks: true, codes: &["document-signature"],
        dialect: Dialect { swapped_signature: true, ..REAL } },
    Recipe { name: "signature_swapped_100", version: (1, 0), bookmarks: false, codes: &["document-signature"],
        dialect: Dialect { swapped_signature: true, ..REAL } },
    Recipe { name: "pid_u32_100", version: (1, 0), bookmarks: false, codes: &["document-pid"],
        dialect: Dialect { pid_u32: true, ..REAL } },
    Recipe { name: "pid_u32_010", version: (0, 1), bookmarks: false, codes: &["document-pid"],
        dialect: Dialect { pid_u32: true, ..REAL } },
    Recipe { name: "thread_id_u64_120", version: (1, 2), bookmarks: false, codes: &["document-thread-id"],
        dialect: Dialect { thread_id_u64: true, ..REAL } },
    Recipe { name: "switch_target_first_210", version: (2, 1), bookmarks: true, codes: &["document-switch"],
        dialect: Dialect { target_first: true, ..REAL } },
    Recipe { name: "switch_target_first_120", version: (1, 2), bookmarks: false, codes: &["document-switch"],
        dialect: Dialect { target_first: true, ..REAL } },
    Recipe { name: "mark_u64", version: (2, 1), bookmarks: false, codes: &["document-mark-u64"],
        dialect: Dialect { mark_u64: true, ..REAL } },
    Recipe { name: "mark_u64_bookmarks", version: (2, 1), bookmarks: true, codes: &["document-mark-u64-bookmarks"],
        dialect: Dialect { mark_u64: true, ..REAL } },
    Recipe { name: "mark_u32_200", version: (2, 0), bookmarks: false, codes: &["document-mark-version"],
        dialect: Dialect { mark_anyway: true, ..REAL } },
    Recipe { name: "mark_u64_200", version: (2, 0), bookmarks: false, codes: &["document-mark-version"],
        dialect: Dialect { mark_anyway: true, mark_u64: true, ..REAL } },
    Recipe { name: "mark_u64_120", version: (1, 2), bookmarks: false, codes: &["document-mark-version"],
        dialect: Dialect { mark_anyway: true, mark_u64: true, ..REAL } },
    Recipe { name: "second_mark", version: (2, 1), bookmarks: false, codes: &["document-second-mark"],
        dialect: Dialect { second_mark: true, ..REAL } },
    Recipe { name: "second_mark_200", version: (2, 0), bookmarks: false,
        codes: &["document-mark-version", "document-second-mark"],
        dialect: Dialect { mark_anyway: true, second_mark: true, ..REAL } },
    Recipe { name: "second_mark_misspelled", version: (2, 1), bookmarks: false,
        codes: &["document-mark-u64", "document-second-mark", "document-mark-typo"],
        dialect: Dialect { mark_u64: true, second_mark: true, last_mark: MISSPELLED_MARK, ..REAL } },
    Recipe { name: "mark_misspelled", version: (2, 1), bookmarks: true, codes: &["document-mark-typo"],
        dialect: Dialect { last_mark: MISSPELLED_MARK, ..REAL } },
    Recipe { name: "size_counts_itself", version: (2, 1), bookmarks: true, codes: &["document-size"],
        dialect: Dialect { size_counts_itself: true, ..REAL } },
    Recipe { name: "size_counts_itself_120", version: (1, 2), bookmarks: false, codes: &["document-size"],
        dialect: Dialect { size_counts_itself: true, ..REAL } },
    Recipe { name: "block_count_without_switches", version: (2, 1), bookmarks: true, codes: &["count-mismatch"],
        dialect: Dialect { block_count_without_switches: true, ..REAL } },
    Recipe { name: "missing_nul", version: (2, 1), bookmarks: true,
        codes: &["missing-nul", "missing-nul", "missing-nul", "missing-nul", "missing-nul", "missing-nul",
                 "missing-nul", "no-name", "missing-nul", "missing-nul", "missing-nul", "missing-nul", "no-name",
                 "bookmark-nul", "bookmark-nul"],
        dialect: Dialect { missing_nul: true, ..REAL } },
    Recipe { name: "no_block_name", version: (2, 1), bookmarks: true, codes: &["no-name", "no-name"],
        dialect: Dialect { no_block_name: true, ..REAL } },
    Recipe { name: "all_at_once_100", version: (1, 0), bookmarks: false, dialect: ALL_AT_ONCE,
        codes: &["document-signature", "document-pid", "document-thread-id", "document-switch", "document-size",
                 "document-mark-version", "document-second-mark", "document-mark-typo"] },
    Recipe { name: "all_at_once_100_count", version: (1, 0), bookmarks: false,
        dialect: Dialect { block_count_without_switches: true, ..ALL_AT_ONCE },
        codes: &["document-signature", "document-pid", "document-thread-id", "document-switch", "document-size",
                 "document-mark-version", "count-mismatch", "document-second-mark", "document-mark-typo"] },
    Recipe { name: "all_at_once_130", version: (1, 3), bookmarks: false, dialect: ALL_AT_ONCE,
        codes: &["document-signature", "document-switch", "document-size", "document-mark-version",
                 "document-second-mark", "document-mark-typo"] },
    Recipe { name: "all_at_once_210", version: (2, 1), bookmarks: true, dialect: ALL_AT_ONCE,
        codes: &["document-signature", "document-switch", "document-size", "document-mark-u64-bookmarks",
                 "document-mark-typo"] },
];

impl Recipe {
    fn make(&self) -> Form {
        let mut contents = sample(self.version);
        contents.pid = (self.version > (1, 0) || self.dialect.pid_u32).then_some(1234);
        if self.bookmarks {
            contents.bookmarks = vec![(2500, "here".into()), (700_000, "and there".into())];
        }
        let bytes = Layouter { dialect: self.dialect, bytes: Vec::new() }.file(&contents);
        Form { name: self.name, bytes, contents, codes: self.codes }
    }
}

fn sample(version: (u8, u8)) -> Contents {
    let descriptor = |name: &str, line| (name.to_owned(), "main.cpp".to_owned(), line);
    let main = ThreadContents {
        id: 77,
        name: "Main".into(),
        switches: vec![(1600, 1700, 78, "other".into()), (2200, 2300, 4, "System".into())],
        blocks: vec![(2000, 3000, 1, String::new()), (1500, 5000, 0, "Test".into())],
    };
    let worker = ThreadContents {
        id: 78,
        name: "Worker".into(),
        switches: vec![(400_000, 400_100, 77, "other".into())],
        blocks: vec![(300_000, 500_000, 0, "Job".into()), (600_000, 600_000, 1, String::new())],
    };
    Contents {
        version,
        times: (1000, 1_000_000),
        descriptors: vec![descriptor("Frame", 10), descriptor("Step", 20)],
        threads: vec![main, worker],
        ..Contents::default()
    }
}

/// Writes contents in a dialect.
struct Layouter {
    dialect: Dialect,
    bytes: Vec<u8>,
}

impl Layouter {
    fn file(mut self, contents: &Contents) -> Vec<u8> {
        let mut body = Self { dialect: self.dialect, bytes: Vec::new() };
        let descriptor_bytes = body.descriptors(contents);
        let record_bytes = body.threads(contents);
        body.end(contents);
        self.header(contents, descriptor_bytes, record_bytes);
        self.bytes.extend(body.bytes);
        self.bytes
    }

    fn header(&mut self, contents: &Contents, descriptor_bytes: u64, record_bytes: u64) {
        let (major, minor) = contents.version;
        let pid = contents.pid.unwrap_or(0);
        let count = |per_thread: fn(&ThreadContents) -> usize| contents.threads.iter().map(per_thread).sum::<usize>();
        let switches = if self.dialect.block_count_without_switches { 0 } else { count(|it| it.switches.len()) };
        let blocks = (count(|it| it.blocks.len()) + switches) as u32;
        let descriptors = contents.descriptors.len() as u32;
        self.put(if self.dialect.swapped_signature { MARK.to_be_bytes() } else { MARK.to_le_bytes() });
        self.put([0, 0, minor, major]);
        if contents.version >= (1, 3) {
            self.put(pid.to_le_bytes());
        } else if contents.version > (1, 0) || self.dialect.pid_u32 {
            self.put((pid as u32).to_le_bytes());
        }
        self.put(0i64.to_le_bytes());
        self.put(contents.times.0.to_le_bytes());
        self.put(contents.times.1.to_le_bytes());
        if contents.version >= (2, 0) {
            self.put(record_bytes.to_le_bytes());
            self.put(descriptor_bytes.to_le_bytes());
            self.put(blocks.to_le_bytes());
            self.put(descriptors.to_le_bytes());
        } else {
            self.put(blocks.to_le_bytes());
            self.put(record_bytes.to_le_bytes());
            self.put(descriptors.to_le_bytes());
            self.put(descriptor_bytes.to_le_bytes());
        }
        if contents.version >= (2, 1) {
            self.put((contents.threads.len() as u32).to_le_bytes());
            self.put((contents.bookmarks.len() as u16).to_le_bytes());
            self.put([0, 0]);
        }
    }

    fn descriptors(&mut self, contents: &Contents) -> u64 {
        let mut sum = 0;
        for (id, (name, file, line)) in contents.descriptors.iter().enumerate() {
            let name = self.text(name);
            let mut payload = Vec::new();
            payload.extend((id as u32).to_le_bytes());
            payload.extend(line.to_le_bytes());
            payload.extend([0xff, 0, 0, 0xff, 1, 1]);
            payload.extend((name.len() as u16).to_le_bytes());
            payload.extend(name);
            payload.extend(self.text(file));
            sum += self.sized(&payload);
        }
        sum
    }

    fn threads(&mut self, contents: &Contents) -> u64 {
        let wide = contents.version >= (1, 3);
        let mut sum = 0;
        for thread in &contents.threads {
            self.id(thread.id, wide || self.dialect.thread_id_u64);
            let name = self.text(&thread.name);
            self.put((name.len() as u16).to_le_bytes());
            self.put(name);
            self.put((thread.switches.len() as u32).to_le_bytes());
            for (begin, end, target, name) in &thread.switches {
                let mut payload = Self { dialect: self.dialect, bytes: Vec::new() };
                if self.dialect.target_first {
                    payload.id(*target, true);
                }
                payload.put(begin.to_le_bytes());
                payload.put(end.to_le_bytes());
                if !self.dialect.target_first {
                    payload.id(*target, wide || self.dialect.thread_id_u64);
                }
                payload.put(self.text(name));
                sum += self.sized(&payload.bytes);
            }
            self.put((thread.blocks.len() as u32).to_le_bytes());
            for (begin, end, descriptor, name) in &thread.blocks {
                let mut payload = [begin.to_le_bytes(), end.to_le_bytes()].concat();
                payload.extend(descriptor.to_le_bytes());
                if !name.is_empty() || !self.dialect.no_block_name {
                    payload.extend(self.text(name));
                }
                sum += self.sized(&payload);
            }
        }
        sum
    }

    fn end(&mut self, contents: &Contents) {
        if contents.version < (2, 1) && !self.dialect.mark_anyway {
            return;
        }
        self.put(MARK.to_le_bytes());
        if self.dialect.mark_u64 {
            self.put([0; 4]);
        }
        for (position, text) in &contents.bookmarks {
            let mut payload = position.to_le_bytes().to_vec();
            payload.extend([0xff, 0, 0, 0xff]);
            payload.extend(self.text(text));
            self.sized(&payload);
        }
        if !contents.bookmarks.is_empty() || self.dialect.second_mark {
            self.put(self.dialect.last_mark.to_le_bytes());
        }
    }

    fn id(&mut self, id: u64, wide: bool) {
        let bytes = id.to_le_bytes();
        self.put(if wide { &bytes[..] } else { &bytes[..4] });
    }

    fn text(&self, text: &str) -> Vec<u8> {
        let mut bytes = text.as_bytes().to_vec();
        if !self.dialect.missing_nul {
            bytes.push(0);
        }
        bytes
    }

    /// Writes SIZE and payload; returns SIZE.
    fn sized(&mut self, payload: &[u8]) -> u64 {
        let size = payload.len() + if self.dialect.size_counts_itself { 2 } else { 0 };
        self.put((size as u16).to_le_bytes());
        self.put(payload);
        size as u64
    }

    fn put(&mut self, bytes: impl AsRef<[u8]>) {
        self.bytes.extend_from_slice(bytes.as_ref());
    }
}

/// The description's smallest file, byte for byte.
fn minimal() -> Form {
    let bytes = hex("45 61 73 79  00 00 01 02  D2 04 00 00 00 00 00 00  00 00 00 00 00 00 00 00
         10 00 00 00 00 00 00 00  20 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
         00 00 00 00 00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00  00 00  00 00
         79 73 61 45 00 00 00 00");
    let contents = Contents { version: (2, 1), pid: Some(1234), times: (16, 32), ..Contents::default() };
    let codes = &["document-signature", "empty-profile", "no-descriptors", "no-threads", "document-mark-u64"];
    Form { name: "minimal", bytes, contents, codes }
}

/// The description's descriptor: SIZE 42 for 33 bytes, NAME_LENGTH 9 for 8.
const DESCRIPTOR_EXAMPLE: &str = "2A 00  01 00 00 00  7B 00 00 00  FF 00 00 FF  01  00  09 00
    4D 79 42 6C 6F 63 6B 00  6D 61 69 6E 2E 63 70 70 00";
/// The description's block: SIZE 28 for 25 bytes.
const BLOCK_EXAMPLE: &str = "1C 00  00 10 00 00 00 00 00 00  00 20 00 00 00 00 00 00  01 00 00 00  54 65 73 74 00";

/// Both examples, literally, in a file where the descriptor is at the index that the block refers to.
fn literal_examples() -> Form {
    let hole = "00 00";
    let codes = &["size-disagrees", "descriptor-name"];
    let mut form = literal("literal_examples", &[hole, DESCRIPTOR_EXAMPLE], codes);
    form.contents.descriptors = vec![("MyBlock".into(), "main.cpp".into(), 123)];
    form
}

/// Both examples alone: the block refers to the descriptor's number, not its index.
fn literal_examples_by_id() -> Form {
    let codes = &["size-disagrees", "descriptor-name", "descriptor-id", "descriptor-missing"];
    let mut form = literal("literal_examples_by_id", &[DESCRIPTOR_EXAMPLE], codes);
    form.contents.descriptors = vec![("MyBlock".into(), "main.cpp".into(), 123)];
    form
}

fn literal(name: &'static str, descriptors: &[&str], codes: &'static [&'static str]) -> Form {
    let count = format!("{:02x} 00 00 00", descriptors.len());
    let parts = [
        "79 73 61 45  00 00 01 02  D2 04 00 00 00 00 00 00  00 00 00 00 00 00 00 00",
        "10 00 00 00 00 00 00 00  00 00 01 00 00 00 00 00  1C 00 00 00 00 00 00 00",
        "2A 00 00 00 00 00 00 00  01 00 00 00",
        &count,
        "01 00 00 00  00 00  00 00",
        &descriptors.concat(),
        "4D 00 00 00 00 00 00 00  05 00  4D 61 69 6E 00  00 00 00 00  01 00 00 00",
        BLOCK_EXAMPLE,
        "79 73 61 45",
    ];
    let thread = ThreadContents {
        id: 77,
        name: "Main".into(),
        switches: Vec::new(),
        blocks: vec![(4096, 8192, 1, "Test".into())],
    };
    let contents =
        Contents { version: (2, 1), pid: Some(1234), times: (16, 65536), threads: vec![thread], ..Contents::default() };
    Form { name, bytes: hex(&parts.concat()), contents, codes }
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<_> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks_exact(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

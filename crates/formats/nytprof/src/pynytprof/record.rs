//! Header and records of the dialect: everything in a file, borrowed and lossless.

use traceloom_core::{Describe, Fields};

use super::raw::{Form, Framing, Layout, Tag, TimeField};
use crate::{
    Dialect, Pair,
    dialect::{MAX_PID, is_plausible},
};

/// The start of the file, and its form.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Header {
    /// The form.
    pub dialect: Dialect,
    /// The bytes before the first record: the line with the version, or the ancestor's binary header.
    pub head: Vec<u8>,
}

impl Default for Header {
    fn default() -> Self {
        Self { dialect: Dialect::Document, head: b"NYTProf 5 0\n".to_vec() }
    }
}

/// The process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Process {
    /// Process number.
    pub pid: u32,
    /// Process number of the parent.
    pub ppid: u32,
    /// Seconds since 1970.
    pub time: f64,
    /// Whether a length of 16 follows the tag.
    pub has_length: bool,
    /// Where the time is.
    pub time_field: TimeField,
}

impl Process {
    /// A process record as documented.
    pub const fn new(pid: u32, ppid: u32, time: f64) -> Self {
        Self { pid, ppid, time, has_length: false, time_field: TimeField::Last }
    }

    /// Decodes the fields. The time is where it is a time of day.
    pub(crate) fn decode(fields: [u8; 16]) -> Self {
        let [documented, others @ ..] = TimeField::ALL.map(|field| Self::decode_as(field, fields));
        let is_likely = |process: &Self| {
            // The same bytes have to come out again.
            process.pid.max(process.ppid) <= MAX_PID && process.encode() == fields && is_plausible(process.time)
        };
        let is_documented = is_plausible(documented.time);
        others.into_iter().find(|process| !is_documented && is_likely(process)).unwrap_or(documented)
    }

    fn decode_as(time_field: TimeField, fields: [u8; 16]) -> Self {
        let bits = u128::from_le_bytes(fields);
        let (first, last) = (bits as u64, (bits >> 64) as u64);
        let (numbers, time) = match time_field {
            TimeField::Last => (first, f64::from_bits(last)),
            TimeField::FirstSeconds => (last, f64::from_bits(first)),
            TimeField::FirstMicroseconds => (last, first as f64 / 1e6),
        };
        Self { time_field, ..Self::new(numbers as u32, (numbers >> 32) as u32, time) }
    }

    /// The bytes of the fields.
    pub(crate) fn encode(&self) -> [u8; 16] {
        let numbers = u128::from(self.pid) | u128::from(self.ppid) << 32;
        let bits = match self.time_field {
            TimeField::Last => numbers | u128::from(self.time.to_bits()) << 64,
            TimeField::FirstSeconds => u128::from(self.time.to_bits()) | numbers << 64,
            TimeField::FirstMicroseconds => u128::from((self.time * 1e6).round() as u64) | numbers << 64,
        };
        bits.to_le_bytes()
    }
}

impl From<&crate::PidStart<'_>> for Process {
    fn from(start: &crate::PidStart<'_>) -> Self {
        Self::new(start.pid, start.ppid, start.time.value())
    }
}

/// The head of a chunk; its records follow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Chunk {
    /// The kind of chunk.
    pub tag: Tag,
    /// Number of bytes that should follow.
    pub length: u32,
    /// How the contents are stored; not in the file.
    pub layout: Layout,
    /// Which of tag and length are stored.
    pub framing: Framing,
}

impl Chunk {
    /// A chunk as documented, with tag, length and integers of 4 bytes.
    pub fn new(tag: Tag, length: u32, form: Form) -> Self {
        Self { tag, length, layout: form.into(), framing: Framing::Length }
    }
}

/// Figures of a line, in ticks.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Line {
    /// File.
    pub fid: u32,
    /// Line.
    pub line: u32,
    /// Number of visits.
    pub calls: u32,
    /// Total time; the tool measures the time since the previous event.
    pub inc_ticks: u64,
    /// Self time; the tool measures the time until the next event.
    pub exc_ticks: u64,
}

/// A sub.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Sub<'a> {
    /// Number of the sub.
    pub sid: u32,
    /// Always 0 so far.
    pub flags: u32,
    /// Name, without the NUL.
    pub name: &'a [u8],
}

/// A sub with its source range.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Range<'a> {
    /// Number of the sub.
    pub sid: u32,
    /// File.
    pub fid: u32,
    /// First line.
    pub first_line: u32,
    /// Last line.
    pub last_line: u32,
    /// Name, without the NUL.
    pub name: &'a [u8],
}

/// One visit of a line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Visit {
    /// File.
    pub fid: u32,
    /// Line.
    pub line: u32,
    /// Nanoseconds.
    pub ns: u64,
}

/// Calls from one sub to another.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Edge {
    /// Number of the calling sub.
    pub caller_sid: u32,
    /// Number of the called sub.
    pub callee_sid: u32,
    /// Number of calls.
    pub calls: u32,
    /// Total time.
    pub ticks: u64,
    /// Self time; the tool writes the total time again.
    pub sub_ticks: u64,
}

/// Calls to a sub from one line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SiteCalls {
    /// File of the calls.
    pub fid: u32,
    /// Line of the calls.
    pub line: u32,
    /// Number of the called sub.
    pub sid: u32,
    /// Total time.
    pub inc_ticks: u64,
    /// Self time.
    pub exc_ticks: u64,
}

/// A file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct File<'a> {
    /// Number of the file.
    pub fid: u32,
    /// The same flags as in the real stream.
    pub flags: u32,
    /// Size in bytes.
    pub size: u32,
    /// Time of the last change.
    pub mtime: u32,
    /// Path, without the NUL.
    pub path: &'a [u8],
}

/// One record of a file. A file as documented is `Comment Attribute* Option* Process Chunk Line* Chunk Sub* Chunk Edge*
/// Chunk`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Record<'a> {
    /// A line of text, without `#` and newline.
    Comment(&'a [u8]),
    /// An attribute of the run.
    Attribute(Pair<'a>),
    /// An option.
    Option(Pair<'a>),
    /// An empty line; early files have one before the binary part.
    Blank,
    /// From here on, the file is compressed, at approximately this level.
    StartDeflate(u8),
    /// The end of the compressed part.
    EndDeflate,
    /// The process.
    Process(Process),
    /// The head of a chunk.
    Chunk(Chunk),
    /// Figures of a line.
    Line(Line),
    /// A sub.
    Sub(Sub<'a>),
    /// A sub with its source range.
    Range(Range<'a>),
    /// One visit of a line.
    Visit(Visit),
    /// Ends a list of visits.
    VisitsEnd,
    /// Calls from one sub to another.
    Edge(Edge),
    /// Calls to a sub from one line.
    SiteCalls(SiteCalls),
    /// A file.
    File(File<'a>),
    /// A file and the number of its name, which is not stored.
    IndexedFile(u32, u32),
    /// An attribute in an early file.
    Property(Pair<'a>),
    /// A record of the real stream, in files of the latest writer.
    Token(crate::Record<'a>),
    /// Contents of a chunk that could not be decoded.
    Payload(&'a [u8]),
    /// Bytes that belong to no record.
    Residue(&'a [u8]),
}

impl Describe for Header {
    fn kind(&self) -> &'static str {
        "header"
    }

    fn describe(&self, fields: &mut dyn Fields) {
        fields.word("dialect", self.dialect.as_str());
        fields.bytes("head", &self.head);
    }
}

impl Describe for Record<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Comment(_) => "comment",
            Self::Attribute(_) => "attribute",
            Self::Option(_) => "option",
            Self::Blank => "blank",
            Self::StartDeflate(_) => "start_deflate",
            Self::EndDeflate => "end_deflate",
            Self::Process(_) => "process",
            Self::Chunk(_) => "chunk",
            Self::Line(_) => "line",
            Self::Sub(_) => "sub",
            Self::Range(_) => "range",
            Self::Visit(_) => "visit",
            Self::VisitsEnd => "visits_end",
            Self::Edge(_) => "edge",
            Self::SiteCalls(_) => "place",
            Self::File(_) => "file",
            Self::IndexedFile(..) => "indexed_file",
            Self::Property(_) => "property",
            Self::Token(record) => record.kind(),
            Self::Payload(_) => "payload",
            Self::Residue(_) => "residue",
        }
    }

    fn describe(&self, fields: &mut dyn Fields) {
        match self {
            Self::Comment(text) => fields.text("text", text),
            Self::Attribute(pair) | Self::Option(pair) | Self::Property(pair) => {
                fields.text("key", pair.key);
                if let Some(value) = pair.value {
                    fields.text("value", value);
                }
            }
            Self::Blank | Self::EndDeflate | Self::VisitsEnd => {}
            Self::StartDeflate(level) => fields.unsigned("level", (*level).into()),
            Self::Process(process) => {
                unsigned(fields, &[("pid", process.pid), ("ppid", process.ppid)]);
                fields.float("time", process.time);
                fields.flag("has_length", process.has_length);
                if process.time_field != TimeField::Last {
                    fields.word("time_field", process.time_field.as_str());
                }
            }
            Self::Chunk(chunk) => {
                fields.word("tag", &chunk.tag.to_string());
                fields.unsigned("length", chunk.length.into());
                fields.word("form", &chunk.layout.to_string());
                if chunk.framing != Framing::Length {
                    fields.word("framing", chunk.framing.as_str());
                }
            }
            Self::Token(record) => record.describe(fields),
            Self::Payload(bytes) | Self::Residue(bytes) => fields.bytes("bytes", bytes),
            figures => figures.describe_figures(fields),
        }
    }
}

impl Record<'_> {
    fn describe_figures(&self, fields: &mut dyn Fields) {
        match self {
            Self::Line(line) => {
                unsigned(fields, &[("fid", line.fid), ("line", line.line), ("calls", line.calls)]);
                fields.unsigned("inc_ticks", line.inc_ticks);
                fields.unsigned("exc_ticks", line.exc_ticks);
            }
            Self::Sub(sub) => {
                unsigned(fields, &[("sid", sub.sid), ("flags", sub.flags)]);
                fields.text("name", sub.name);
            }
            Self::Range(sub) => {
                unsigned(fields, &[("sid", sub.sid), ("fid", sub.fid)]);
                unsigned(fields, &[("first_line", sub.first_line), ("last_line", sub.last_line)]);
                fields.text("name", sub.name);
            }
            Self::Visit(visit) => {
                unsigned(fields, &[("fid", visit.fid), ("line", visit.line)]);
                fields.unsigned("ns", visit.ns);
            }
            Self::Edge(edge) => {
                unsigned(fields, &[("caller_sid", edge.caller_sid), ("callee_sid", edge.callee_sid)]);
                unsigned(fields, &[("calls", edge.calls)]);
                fields.unsigned("ticks", edge.ticks);
                fields.unsigned("sub_ticks", edge.sub_ticks);
            }
            Self::SiteCalls(calls) => {
                unsigned(fields, &[("fid", calls.fid), ("line", calls.line), ("sid", calls.sid)]);
                fields.unsigned("inc_ticks", calls.inc_ticks);
                fields.unsigned("exc_ticks", calls.exc_ticks);
            }
            Self::File(file) => {
                unsigned(fields, &[("fid", file.fid), ("flags", file.flags)]);
                unsigned(fields, &[("size", file.size), ("mtime", file.mtime)]);
                fields.text("path", file.path);
            }
            Self::IndexedFile(fid, string) => unsigned(fields, &[("fid", *fid), ("string", *string)]),
            _ => {}
        }
    }
}

fn unsigned(fields: &mut dyn Fields, numbers: &[(&'static str, u32)]) {
    for (name, value) in numbers {
        fields.unsigned(name, (*value).into());
    }
}

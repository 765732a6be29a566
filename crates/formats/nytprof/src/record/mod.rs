//! Header and records: everything in a stream, borrowed and lossless.

mod describe;

use std::borrow::Cow;

use traceloom_core::Text;

use crate::{
    Nv,
    raw::{FidFlags, MAGIC, NYTP_FILE_MAJOR_VERSION, NYTP_FILE_MINOR_VERSION},
};

/// The first line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Header {
    /// Major version of the format; always 5.
    pub major: u32,
    /// Minor version of the format; 0 so far.
    pub minor: u32,
    /// The text between the version and the end of the line, which should be empty.
    pub rest: Vec<u8>,
    /// The line as stored if the numbers are spelled unusually; otherwise empty.
    pub odd_line: Vec<u8>,
}

impl Default for Header {
    fn default() -> Self {
        Self { major: NYTP_FILE_MAJOR_VERSION, minor: NYTP_FILE_MINOR_VERSION, rest: Vec::new(), odd_line: Vec::new() }
    }
}

impl Header {
    /// The line as a writer writes it, with its newline.
    pub fn line(&self) -> Vec<u8> {
        if !self.odd_line.is_empty() {
            return self.odd_line.clone();
        }
        let version = format!("{} {}", self.major, self.minor);
        [MAGIC, version.as_bytes(), &self.rest, b"\n"].concat()
    }
}

/// A stored string.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Str<'a> {
    /// The bytes: UTF-8, or Latin-1, or anything that a file system allows.
    pub bytes: &'a [u8],
    /// Whether the file marks it as UTF-8; the profiler never does, even if it is.
    pub is_utf8: bool,
}

impl<'a> Str<'a> {
    /// A string as the profiler stores it.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, is_utf8: false }
    }

    /// The text, see [`text_of`].
    pub fn text(&self) -> Cow<'a, str> {
        text_of(self.bytes)
    }
}

/// Decodes a name: the profiler stores a name as Latin-1 if possible and as UTF-8 otherwise, and nothing says which;
/// bytes that are valid UTF-8 are almost never meant as Latin-1.
pub fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|byte| char::from(*byte)).collect()),
    }
}

/// Stored text for a message; a long one is shortened, because findings are kept.
pub(crate) fn brief(bytes: &[u8]) -> String {
    const MAX_BYTES: usize = 160;
    match bytes.get(..MAX_BYTES) {
        Some(head) if bytes.len() > MAX_BYTES => format!("{}… ({} bytes)", Text(head), bytes.len()),
        _ => Text(bytes).to_string(),
    }
}

/// A line `key=value`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Pair<'a> {
    /// The text before the first `=`.
    pub key: &'a [u8],
    /// The text after it, without the newline; `None` if there is no `=`.
    pub value: Option<&'a [u8]>,
}

impl<'a> Pair<'a> {
    /// A whole line.
    pub const fn new(key: &'a [u8], value: &'a [u8]) -> Self {
        Self { key, value: Some(value) }
    }

    /// Splits a line without its newline.
    pub fn split(line: &'a [u8]) -> Self {
        match line.iter().position(|byte| *byte == b'=').and_then(|at| line.split_at_checked(at)) {
            Some((key, value)) => Self { key, value: value.get(1..) },
            None => Self { key: line, value: None },
        }
    }
}

/// A process starts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PidStart<'a> {
    /// Process number.
    pub pid: u32,
    /// Process number of the parent.
    pub ppid: u32,
    /// Seconds since 1970.
    pub time: Nv,
    /// The record as stored, if a writer would write it differently.
    pub odd_bytes: Option<&'a [u8]>,
}

/// A process ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PidEnd<'a> {
    /// Process number.
    pub pid: u32,
    /// Seconds since 1970.
    pub time: Nv,
    /// The record as stored, if a writer would write it differently.
    pub odd_bytes: Option<&'a [u8]>,
}

/// A file, or a string eval.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NewFid<'a> {
    /// Number of the file.
    pub fid: u32,
    /// For an eval: the file that contains it. Otherwise 0.
    pub eval_fid: u32,
    /// For an eval: the line that contains it. Otherwise 0.
    pub eval_line: u32,
    /// Flags of the file.
    pub flags: FidFlags,
    /// Size in bytes; the profiler writes 0.
    pub size: u32,
    /// Time of the last change; the profiler writes 0.
    pub mtime: u32,
    /// Path, or `(eval N)[file:line]`.
    pub name: Str<'a>,
    /// The record as stored, if a writer would write it differently.
    pub odd_bytes: Option<&'a [u8]>,
}

impl<'a> NewFid<'a> {
    /// A file that is not an eval, as the profiler describes it.
    pub const fn file(fid: u32, flags: FidFlags, name: &'a [u8]) -> Self {
        Self { fid, eval_fid: 0, eval_line: 0, flags, size: 0, mtime: 0, name: Str::new(name), odd_bytes: None }
    }
}

/// A statement.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TimeLine<'a> {
    /// Time spent in it; negative if 32 bits were not enough.
    pub ticks: i32,
    /// File.
    pub fid: u32,
    /// Line.
    pub line: u32,
    /// The record as stored, if a writer would write it differently.
    pub odd_bytes: Option<&'a [u8]>,
}

/// A statement, with its block and sub.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TimeBlock<'a> {
    /// Time spent in it; negative if 32 bits were not enough.
    pub ticks: i32,
    /// File.
    pub fid: u32,
    /// Line.
    pub line: u32,
    /// First line of the block around it.
    pub block_line: u32,
    /// First line of the sub around it.
    pub sub_line: u32,
    /// The record as stored, if a writer would write it differently.
    pub odd_bytes: Option<&'a [u8]>,
}

/// A sub is entered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SubEntry<'a> {
    /// File of the call.
    pub caller_fid: u32,
    /// Line of the call.
    pub caller_line: u32,
    /// The record as stored, if a writer would write it differently.
    pub odd_bytes: Option<&'a [u8]>,
}

/// A sub is left.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SubReturn<'a> {
    /// Depth of the call, from 1.
    pub depth: u32,
    /// Total ticks in the sub.
    pub incl_ticks: Nv,
    /// Self ticks in the sub.
    pub excl_ticks: Nv,
    /// Name of the sub.
    pub name: Str<'a>,
    /// The record as stored, if a writer would write it differently.
    pub odd_bytes: Option<&'a [u8]>,
}

/// A line of source.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SrcLine<'a> {
    /// File.
    pub fid: u32,
    /// Line.
    pub line: u32,
    /// The text with its newline.
    pub text: Str<'a>,
    /// The record as stored, if a writer would write it differently.
    pub odd_bytes: Option<&'a [u8]>,
}

/// The source range of a sub.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SubInfo<'a> {
    /// File.
    pub fid: u32,
    /// Name.
    pub name: Str<'a>,
    /// First line; 0 for a sub that is not written in Perl.
    pub first_line: u32,
    /// Last line.
    pub last_line: u32,
    /// The record as stored, if a writer would write it differently.
    pub odd_bytes: Option<&'a [u8]>,
}

/// Calls to a sub, from one sub at one call site.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SubCallers<'a> {
    /// File of the calls; 0 marks the sub as not written in Perl.
    pub fid: u32,
    /// Line of the calls.
    pub line: u32,
    /// Name of the calling sub.
    pub caller: Str<'a>,
    /// Number of calls.
    pub count: u32,
    /// Total seconds in the sub, of outermost calls.
    pub incl_seconds: Nv,
    /// Self seconds in the sub.
    pub excl_seconds: Nv,
    /// Total seconds in the sub, of recursive calls.
    pub reci_seconds: Nv,
    /// Maximum recursion depth.
    pub depth: u32,
    /// Name of the sub.
    pub called: Str<'a>,
    /// The record as stored, if a writer would write it differently.
    pub odd_bytes: Option<&'a [u8]>,
}

/// One record of a stream. A stream is `(Comment | Attribute | Option | other)* (StartDeflate (…)* EndDeflate)?
/// Residue?`: text may be anywhere.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Record<'a> {
    /// A line of text, without its newline.
    Comment(&'a [u8]),
    /// An attribute of the run.
    Attribute(Pair<'a>),
    /// An option of the profiler.
    Option(Pair<'a>),
    /// From here on, the file is compressed, at approximately this level.
    StartDeflate(u8),
    /// The end of the compressed part.
    EndDeflate,
    /// A process starts.
    PidStart(PidStart<'a>),
    /// A process ends.
    PidEnd(PidEnd<'a>),
    /// A file, or a string eval.
    NewFid(NewFid<'a>),
    /// A statement.
    TimeLine(TimeLine<'a>),
    /// A statement, with its block and sub.
    TimeBlock(TimeBlock<'a>),
    /// The next statement was already counted.
    Discount,
    /// A sub is entered.
    SubEntry(SubEntry<'a>),
    /// A sub is left.
    SubReturn(SubReturn<'a>),
    /// A line of source.
    SrcLine(SrcLine<'a>),
    /// The source range of a sub.
    SubInfo(SubInfo<'a>),
    /// Calls to a sub, from one sub at one call site.
    SubCallers(SubCallers<'a>),
    /// Bytes that belong to no record.
    Residue(&'a [u8]),
}

impl<'a> Record<'a> {
    /// The record without the peculiarities of its stored bytes.
    #[must_use]
    pub fn canonical(mut self) -> Self {
        if let Some(odd) = self.odd_bytes_mut() {
            *odd = None;
        }
        self
    }

    /// The bytes as stored, if a writer would write them differently.
    pub fn odd_bytes(&self) -> Option<&'a [u8]> {
        let mut copy = *self;
        copy.odd_bytes_mut().and_then(|odd| *odd)
    }

    fn odd_bytes_mut(&mut self) -> Option<&mut Option<&'a [u8]>> {
        Some(match self {
            Self::PidStart(record) => &mut record.odd_bytes,
            Self::PidEnd(record) => &mut record.odd_bytes,
            Self::NewFid(record) => &mut record.odd_bytes,
            Self::TimeLine(record) => &mut record.odd_bytes,
            Self::TimeBlock(record) => &mut record.odd_bytes,
            Self::SubEntry(record) => &mut record.odd_bytes,
            Self::SubReturn(record) => &mut record.odd_bytes,
            Self::SrcLine(record) => &mut record.odd_bytes,
            Self::SubInfo(record) => &mut record.odd_bytes,
            Self::SubCallers(record) => &mut record.odd_bytes,
            Self::Comment(_)
            | Self::Attribute(_)
            | Self::Option(_)
            | Self::StartDeflate(_)
            | Self::EndDeflate
            | Self::Discount
            | Self::Residue(_) => return None,
        })
    }
}

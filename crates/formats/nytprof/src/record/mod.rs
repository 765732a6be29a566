//! Header and records: all that a stream holds, borrowed and lossless.

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
    /// What stands between the version and the end of the line, which should be nothing.
    pub rest: Vec<u8>,
    /// The line as stored where the numbers are spelled in another way than plainly; else empty.
    pub odd_line: Vec<u8>,
}

impl Default for Header {
    fn default() -> Self {
        Self { major: NYTP_FILE_MAJOR_VERSION, minor: NYTP_FILE_MINOR_VERSION, rest: Vec::new(), odd_line: Vec::new() }
    }
}

impl Header {
    /// The line as a writer lays it out, with its newline.
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
    /// Its bytes: UTF-8, or Latin-1, or anything a file system allows.
    pub bytes: &'a [u8],
    /// Whether the file calls it UTF-8; the profiler never does, not even where it is.
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

/// Decodes a name: the profiler stores one that fits Latin-1 as Latin-1, any other as UTF-8, and
/// nothing says which; bytes that are valid UTF-8 are all but never meant as Latin-1.
pub fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|byte| char::from(*byte)).collect()),
    }
}

/// Stored text for a message; a long one is cut, because findings are kept.
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
    /// What stands before the first `=`.
    pub key: &'a [u8],
    /// What stands behind it, without the newline; `None` where there is no `=`.
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

/// A process begins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PidStart<'a> {
    /// Its number.
    pub pid: u32,
    /// Its parent's number.
    pub ppid: u32,
    /// Seconds since 1970.
    pub time: Nv,
    /// The record as stored, where a writer would lay it out in another way.
    pub odd_bytes: Option<&'a [u8]>,
}

/// A process ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PidEnd<'a> {
    /// Its number.
    pub pid: u32,
    /// Seconds since 1970.
    pub time: Nv,
    /// The record as stored, where a writer would lay it out in another way.
    pub odd_bytes: Option<&'a [u8]>,
}

/// A file, or a string eval.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NewFid<'a> {
    /// Its number.
    pub fid: u32,
    /// Of an eval: the file with the eval. Else 0.
    pub eval_fid: u32,
    /// Of an eval: the line of the eval. Else 0.
    pub eval_line: u32,
    /// What it is.
    pub flags: FidFlags,
    /// Size in bytes; the profiler writes 0.
    pub size: u32,
    /// Time of the last change; the profiler writes 0.
    pub mtime: u32,
    /// Path, or `(eval N)[file:line]`.
    pub name: Str<'a>,
    /// The record as stored, where a writer would lay it out in another way.
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
    /// Time spent in it; negative where 32 bits were not enough.
    pub ticks: i32,
    /// File.
    pub fid: u32,
    /// Line.
    pub line: u32,
    /// The record as stored, where a writer would lay it out in another way.
    pub odd_bytes: Option<&'a [u8]>,
}

/// A statement, with its surroundings.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TimeBlock<'a> {
    /// Time spent in it; negative where 32 bits were not enough.
    pub ticks: i32,
    /// File.
    pub fid: u32,
    /// Line.
    pub line: u32,
    /// First line of the block around it.
    pub block_line: u32,
    /// First line of the sub around it.
    pub sub_line: u32,
    /// The record as stored, where a writer would lay it out in another way.
    pub odd_bytes: Option<&'a [u8]>,
}

/// A sub is entered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SubEntry<'a> {
    /// File of the call.
    pub caller_fid: u32,
    /// Line of the call.
    pub caller_line: u32,
    /// The record as stored, where a writer would lay it out in another way.
    pub odd_bytes: Option<&'a [u8]>,
}

/// A sub is left.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SubReturn<'a> {
    /// Depth of the call, from 1.
    pub depth: u32,
    /// Ticks in the sub and what it called.
    pub incl_ticks: Nv,
    /// Ticks in the sub alone.
    pub excl_ticks: Nv,
    /// Name of the sub.
    pub name: Str<'a>,
    /// The record as stored, where a writer would lay it out in another way.
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
    /// The record as stored, where a writer would lay it out in another way.
    pub odd_bytes: Option<&'a [u8]>,
}

/// Where a sub is.
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
    /// The record as stored, where a writer would lay it out in another way.
    pub odd_bytes: Option<&'a [u8]>,
}

/// Calls to a sub, from one sub at one place.
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
    /// Seconds in the sub and what it called, of outermost calls.
    pub incl_seconds: Nv,
    /// Seconds in the sub alone.
    pub excl_seconds: Nv,
    /// Seconds in the sub and what it called, of recursive calls.
    pub reci_seconds: Nv,
    /// Deepest recursion.
    pub depth: u32,
    /// Name of the sub.
    pub called: Str<'a>,
    /// The record as stored, where a writer would lay it out in another way.
    pub odd_bytes: Option<&'a [u8]>,
}

/// One record of a stream. A stream is
/// `(Comment | Attribute | Option | other)* (StartDeflate (…)* EndDeflate)? Residue?`: text may stand anywhere.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Record<'a> {
    /// A line of text, without its newline.
    Comment(&'a [u8]),
    /// Something about the run.
    Attribute(Pair<'a>),
    /// An option of the profiler.
    Option(Pair<'a>),
    /// From here on the file is compressed, at about this level.
    StartDeflate(u8),
    /// The compressed part is over.
    EndDeflate,
    /// A process begins.
    PidStart(PidStart<'a>),
    /// A process ends.
    PidEnd(PidEnd<'a>),
    /// A file, or a string eval.
    NewFid(NewFid<'a>),
    /// A statement.
    TimeLine(TimeLine<'a>),
    /// A statement, with its surroundings.
    TimeBlock(TimeBlock<'a>),
    /// The next statement was already counted.
    Discount,
    /// A sub is entered.
    SubEntry(SubEntry<'a>),
    /// A sub is left.
    SubReturn(SubReturn<'a>),
    /// A line of source.
    SrcLine(SrcLine<'a>),
    /// Where a sub is.
    SubInfo(SubInfo<'a>),
    /// Calls to a sub, from one sub at one place.
    SubCallers(SubCallers<'a>),
    /// Bytes that no record explains.
    Residue(&'a [u8]),
}

impl<'a> Record<'a> {
    /// The record without what only its stored bytes say.
    #[must_use]
    pub fn canonical(mut self) -> Self {
        if let Some(odd) = self.odd_bytes_mut() {
            *odd = None;
        }
        self
    }

    /// The bytes as stored, where a writer would lay them out in another way.
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

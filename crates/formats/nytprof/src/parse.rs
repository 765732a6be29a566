//! Parses one binary record.

use crate::{
    NewFid, Nv, NvLayout, PidEnd, PidStart, Record, SrcLine, Str, SubCallers, SubEntry, SubInfo, SubReturn, TimeBlock,
    TimeLine,
    raw::{FidFlags, Tag, get_integer},
};

/// Why a record could not be parsed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Stop {
    /// At least this many bytes are needed.
    Need(usize),
    /// There is no string at this offset from the record's first byte.
    NoString { at: usize, tag: u8 },
    /// No record starts like this.
    Unknown,
}

/// A record and its length.
pub(crate) type Parsed<'a> = Result<(Record<'a>, usize), Stop>;

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    is_padded: bool,
    layout: NvLayout,
}

/// Parses the record at the front of `bytes`; not for text lines and the start of compression.
#[inline]
pub(crate) fn record(bytes: &[u8], layout: NvLayout) -> Parsed<'_> {
    let tag = Tag(bytes.first().copied().ok_or(Stop::Need(1))?);
    let mut parser = Parser { bytes, at: 1, is_padded: false, layout };
    let record = match tag {
        Tag::TIME_LINE => parser.time_line(),
        Tag::DISCOUNT => Ok(Record::Discount),
        Tag::TIME_BLOCK => parser.time_block(),
        Tag::SUB_RETURN => parser.sub_return(),
        Tag::SUB_ENTRY => parser.sub_entry(),
        Tag::NEW_FID => parser.new_fid(),
        Tag::SRC_LINE => parser.src_line(),
        Tag::SUB_INFO => parser.sub_info(),
        Tag::SUB_CALLERS => parser.sub_callers(),
        Tag::PID_START => parser.pid_start(),
        Tag::PID_END => parser.pid_end(),
        _ => Err(Stop::Unknown),
    }?;
    Ok((record, parser.at))
}

/// The numbers of a statement, and their size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Statement {
    pub(crate) ticks: i32,
    pub(crate) fid: u32,
    pub(crate) line: u32,
    pub(crate) len: usize,
    pub(crate) is_padded: bool,
}

/// Parses a complete statement: the hot path of every large file.
#[inline(always)]
pub(crate) fn time_line(bytes: &[u8]) -> Option<Statement> {
    // Most integers take one byte, and most records four.
    if let [_, a @ ..0x80, b @ ..0x80, c @ ..0x80, ..] = bytes {
        let (ticks, fid, line) = (i32::from(*a), u32::from(*b), u32::from(*c));
        return Some(Statement { ticks, fid, line, len: 4, is_padded: false });
    }
    let ticks = get_integer(bytes.get(1..)?)?;
    let fid = get_integer(bytes.get(1 + ticks.len..)?)?;
    let line = get_integer(bytes.get(1 + ticks.len + fid.len..)?)?;
    Some(Statement {
        ticks: ticks.value as i32,
        fid: fid.value,
        line: line.value,
        len: 1 + ticks.len + fid.len + line.len,
        is_padded: ticks.is_padded | fid.is_padded | line.is_padded,
    })
}

/// Parses the complete end of a call with common numbers in its shortest form: the other hot path.
#[inline]
pub(crate) fn sub_return(bytes: &[u8]) -> Option<(SubReturn<'_>, usize)> {
    let depth = get_integer(bytes.get(1..)?)?;
    let rest = bytes.get(1 + depth.len..)?;
    let incl_ticks = Nv::take(rest, NvLayout::COMMON)?;
    let excl_ticks = Nv::take(rest.get(8..)?, NvLayout::COMMON)?;
    let (&tag, rest) = rest.get(16..)?.split_first()?;
    let len = get_integer(rest)?;
    let name = Str { bytes: rest.get(len.len..)?.get(..len.value as usize)?, is_utf8: tag == Tag::STRING_UTF8.0 };
    let is_plain = !depth.is_padded && !len.is_padded && matches!(Tag(tag), Tag::STRING | Tag::STRING_UTF8);
    let record = SubReturn { depth: depth.value, incl_ticks, excl_ticks, name, odd_bytes: None };
    is_plain.then_some((record, 18 + depth.len + len.len + name.bytes.len()))
}

/// Reads numbers and text from the front of a record; both dialects build their records from these.
pub(crate) trait Take<'a> {
    fn integer(&mut self) -> Result<u32, Stop>;
    fn number(&mut self) -> Result<Nv, Stop>;
    fn string(&mut self) -> Result<Str<'a>, Stop>;
    /// Must be called last: returns the record's bytes, if a writer would write different ones.
    fn odd_bytes(&self) -> Option<&'a [u8]>;

    #[inline]
    fn time_line(&mut self) -> Result<Record<'a>, Stop> {
        let (ticks, fid, line) = (self.integer()? as i32, self.integer()?, self.integer()?);
        Ok(Record::TimeLine(TimeLine { ticks, fid, line, odd_bytes: self.odd_bytes() }))
    }

    fn new_fid(&mut self) -> Result<Record<'a>, Stop> {
        let (fid, eval_fid, eval_line) = (self.integer()?, self.integer()?, self.integer()?);
        let (flags, size, mtime) = (FidFlags(self.integer()?), self.integer()?, self.integer()?);
        let name = self.string()?;
        let odd_bytes = self.odd_bytes();
        Ok(Record::NewFid(NewFid { fid, eval_fid, eval_line, flags, size, mtime, name, odd_bytes }))
    }

    fn src_line(&mut self) -> Result<Record<'a>, Stop> {
        let (fid, line, text) = (self.integer()?, self.integer()?, self.string()?);
        Ok(Record::SrcLine(SrcLine { fid, line, text, odd_bytes: self.odd_bytes() }))
    }

    fn pid_start(&mut self) -> Result<Record<'a>, Stop> {
        let (pid, ppid, time) = (self.integer()?, self.integer()?, self.number()?);
        Ok(Record::PidStart(PidStart { pid, ppid, time, odd_bytes: self.odd_bytes() }))
    }

    fn pid_end(&mut self) -> Result<Record<'a>, Stop> {
        let (pid, time) = (self.integer()?, self.number()?);
        Ok(Record::PidEnd(PidEnd { pid, time, odd_bytes: self.odd_bytes() }))
    }
}

impl<'a> Take<'a> for Parser<'a> {
    #[inline]
    fn integer(&mut self) -> Result<u32, Stop> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some(integer) = get_integer(rest) else { return Err(self.short_integer(rest)) };
        self.at += integer.len;
        self.is_padded |= integer.is_padded;
        Ok(integer.value)
    }

    #[inline]
    fn number(&mut self) -> Result<Nv, Stop> {
        let end = self.at + self.layout.size();
        let number = self.bytes.get(self.at..).and_then(|rest| Nv::take(rest, self.layout)).ok_or(Stop::Need(end))?;
        self.at = end;
        Ok(number)
    }

    #[inline]
    fn string(&mut self) -> Result<Str<'a>, Stop> {
        let tag = *self.bytes.get(self.at).ok_or(Stop::Need(self.at + 1))?;
        let is_utf8 = match Tag(tag) {
            Tag::STRING => false,
            Tag::STRING_UTF8 => true,
            _ => return Err(Stop::NoString { at: self.at, tag }),
        };
        self.at += 1;
        let len = self.integer()? as usize;
        let end = self.at.saturating_add(len);
        let bytes = self.bytes.get(self.at..end).ok_or(Stop::Need(end))?;
        self.at = end;
        Ok(Str { bytes, is_utf8 })
    }

    #[inline]
    fn odd_bytes(&self) -> Option<&'a [u8]> {
        if self.is_padded { self.bytes.get(..self.at) } else { None }
    }
}

impl<'a> Parser<'a> {
    #[cold]
    fn short_integer(&self, rest: &[u8]) -> Stop {
        let len = match rest.first() {
            Some(0xff) => 5,
            Some(0xe0..) => 4,
            Some(0xc0..) => 3,
            Some(0x80..) => 2,
            _ => 1,
        };
        Stop::Need(self.at + len)
    }

    #[inline]
    fn time_block(&mut self) -> Result<Record<'a>, Stop> {
        let (ticks, fid, line) = (self.integer()? as i32, self.integer()?, self.integer()?);
        let (block_line, sub_line) = (self.integer()?, self.integer()?);
        Ok(Record::TimeBlock(TimeBlock { ticks, fid, line, block_line, sub_line, odd_bytes: self.odd_bytes() }))
    }

    fn sub_entry(&mut self) -> Result<Record<'a>, Stop> {
        let (caller_fid, caller_line) = (self.integer()?, self.integer()?);
        Ok(Record::SubEntry(SubEntry { caller_fid, caller_line, odd_bytes: self.odd_bytes() }))
    }

    fn sub_return(&mut self) -> Result<Record<'a>, Stop> {
        let (depth, incl_ticks, excl_ticks) = (self.integer()?, self.number()?, self.number()?);
        let name = self.string()?;
        Ok(Record::SubReturn(SubReturn { depth, incl_ticks, excl_ticks, name, odd_bytes: self.odd_bytes() }))
    }

    fn sub_info(&mut self) -> Result<Record<'a>, Stop> {
        let (fid, name) = (self.integer()?, self.string()?);
        let (first_line, last_line) = (self.integer()?, self.integer()?);
        Ok(Record::SubInfo(SubInfo { fid, name, first_line, last_line, odd_bytes: self.odd_bytes() }))
    }

    fn sub_callers(&mut self) -> Result<Record<'a>, Stop> {
        let (fid, line, caller, count) = (self.integer()?, self.integer()?, self.string()?, self.integer()?);
        let (incl_seconds, excl_seconds, reci_seconds) = (self.number()?, self.number()?, self.number()?);
        let (depth, called) = (self.integer()?, self.string()?);
        Ok(Record::SubCallers(SubCallers {
            fid,
            line,
            caller,
            count,
            incl_seconds,
            excl_seconds,
            reci_seconds,
            depth,
            called,
            odd_bytes: self.odd_bytes(),
        }))
    }
}

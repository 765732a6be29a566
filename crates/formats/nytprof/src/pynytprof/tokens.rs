//! Records of the real stream as some commits of the tool wrote them: with other tags and other integers.
//!
//! They are written back byte for byte because they are records of the real stream with `odd_bytes`.

use super::raw::Integers;
use crate::{
    Nv, NvLayout, PidStart, Record, Str,
    dialect::is_plausible,
    parse::{self, Parsed, Stop, Take},
    raw::Tag,
};

/// Parses the record at the front; only the process records have the tags of the real stream.
pub(crate) fn record(bytes: &[u8]) -> Parsed<'_> {
    let tag = bytes.first().copied().ok_or(Stop::Need(1))?;
    let integers = if matches!(tag, 1 | 2) { Integers::Variable } else { Integers::Septets };
    let mut token = Token { bytes, at: 1, integers };
    let record = match tag {
        1 | 8 => token.new_fid(),
        2 | 9 => token.src_line(),
        6 => token.time_line(),
        13 => token.pid_end(),
        tag if tag == Tag::PID_START.0 => token.pid_start(),
        tag if tag == Tag::PID_END.0 => token.pid_end(),
        _ => Err(Stop::Unknown),
    }?;
    Ok((record, token.at))
}

/// Whether a record of this kind starts here; the figures of a line may start with the same byte.
pub(super) fn starts(bytes: &[u8]) -> bool {
    matches!(bytes, [1 | 2, 1..=255, ..]) && matches!(record(bytes), Ok(_) | Err(Stop::Need(_)))
}

/// A process record with integers of variable length, if a chunk follows it.
pub(crate) fn process(bytes: &[u8]) -> Option<(PidStart<'_>, usize)> {
    let readings = [parse::record(bytes, NvLayout::COMMON), record(bytes)];
    readings.into_iter().flatten().find_map(|(record, len)| match record {
        Record::PidStart(start) if is_plausible(start.time.value()) => {
            let is_followed = bytes.get(len).is_some_and(|tag| super::raw::Tag(*tag).is_known());
            is_followed.then_some((start, len))
        }
        _ => None,
    })
}

struct Token<'a> {
    bytes: &'a [u8],
    at: usize,
    integers: Integers,
}

impl<'a> Token<'a> {
    fn bytes(&mut self, len: usize) -> Result<&'a [u8], Stop> {
        let end = self.at.saturating_add(len);
        let bytes = self.bytes.get(self.at..end).ok_or(Stop::Need(end))?;
        self.at = end;
        Ok(bytes)
    }
}

impl<'a> Take<'a> for Token<'a> {
    fn integer(&mut self) -> Result<u32, Stop> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        // Numbers above 28 bits, such as modification times, are stored as in the real stream.
        let integers = if rest.first() == Some(&0xff) { Integers::Variable } else { self.integers };
        let stop = if rest.len() < 5 { Stop::Need(self.bytes.len() + 1) } else { Stop::Unknown };
        let (value, len) = integers.get(rest).ok_or(stop)?;
        self.at += len;
        Ok(value)
    }

    fn number(&mut self) -> Result<Nv, Stop> {
        Nv::take(self.bytes(8)?, NvLayout::COMMON).ok_or(Stop::Unknown)
    }

    /// A string: its tag, its length, its bytes; the first commit wrote no tag.
    fn string(&mut self) -> Result<Str<'a>, Stop> {
        let tag = *self.bytes.get(self.at).ok_or(Stop::Need(self.at + 1))?;
        let is_tagged = matches!(tag, 3 | 4 | 14 | 15);
        self.at += usize::from(is_tagged);
        let len = self.integer()? as usize;
        Ok(Str { bytes: self.bytes(len)?, is_utf8: matches!(tag, 4 | 15) })
    }

    fn odd_bytes(&self) -> Option<&'a [u8]> {
        self.bytes.get(..self.at)
    }
}

//! What a file does not state explicitly: how its numbers are stored, and what its first line means.

use traceloom_core::{ByteOrder, Finding, Result};

use super::{MAX_PROBED, Reader};
use crate::{
    Header, NvLayout, Record, dialect,
    findings::{NV_BIG_ENDIAN, NV_SIZE_MISSING, NV_SIZE_WRONG},
    parse,
    raw::Tag,
};

impl Reader {
    /// Only the size of the numbers is declared; their layout is the one in which the first record with a number makes
    /// sense.
    pub(super) fn decide_layout(&mut self) -> Result<NvLayout> {
        let declared = self.checker.nv_size;
        let size = declared.map_or(8, |size| size as usize);
        let sorted = || {
            let (first, then): (Vec<_>, Vec<_>) = NvLayout::ALL.into_iter().partition(|layout| layout.size() == size);
            first.into_iter().chain(then)
        };
        let mut found = None;
        for needs_time in [true, false] {
            for layout in sorted() {
                if found.is_none() && self.fits(layout, needs_time)? {
                    found = Some(layout);
                }
            }
        }
        let layout = found.or_else(|| sorted().next()).unwrap_or(NvLayout::COMMON);
        self.nv = Some(layout);
        let position = self.position();
        match declared {
            None => {
                let missing = Finding::new(&NV_SIZE_MISSING, position).with("found", layout.size());
                self.checker.findings.report(missing)?;
            }
            Some(declared) if declared as usize != layout.size() => {
                let wrong = Finding::new(&NV_SIZE_WRONG, position).with("declared", declared);
                self.checker.findings.report(wrong.with("found", layout.size()))?;
            }
            Some(_) => {}
        }
        if layout.order() == ByteOrder::Big {
            self.checker.findings.report(Finding::new(&NV_BIG_ENDIAN, position))?;
        }
        Ok(layout)
    }

    fn fits(&mut self, layout: NvLayout, needs_time: bool) -> Result<bool> {
        let Ok(len) = self.measure(layout, MAX_PROBED)? else { return Ok(false) };
        self.window.grow(len + 1)?;
        let bytes = self.window.bytes();
        let follows = bytes.get(len).is_none_or(|tag| Tag(*tag).is_record());
        let time = match parse::record(bytes, layout) {
            Ok((Record::PidStart(start), _)) => Some(start.time.value()),
            Ok((Record::PidEnd(end), _)) => Some(end.time.value()),
            _ => None,
        };
        Ok(follows && (!needs_time || time.is_none_or(dialect::is_plausible)))
    }
}

/// Parses the first line like C's `sscanf`: spaces are optional, and everything after the numbers is ignored.
pub(super) fn parse_version(line: &[u8]) -> Option<Header> {
    let rest = line.strip_prefix(b"NYTProf")?;
    let (major, rest) = take_number(rest)?;
    let (minor, rest) = take_number(rest)?;
    let text = rest.strip_suffix(b"\n").unwrap_or(rest);
    let mut header = Header { major, minor, rest: text.to_vec(), odd_line: Vec::new() };
    if header.line() != line {
        header.odd_line = line.to_vec();
    }
    Some(header)
}

fn take_number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let bytes = bytes.trim_ascii_start();
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = bytes.split_at_checked(digits)?;
    let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some((number, rest))
}

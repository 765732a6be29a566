//! Entries: a fast path for ordinary ones, and a careful path for the others.

use traceloom_core::{Finding, Position, Result, Rule};

use super::{Reader, State, Step, locate::is_section, survey::frame};
use crate::{
    Entry,
    dictionary::parse_section,
    findings::*,
    raw::{ENTRY_HEADER_BYTES, SECTION_HEADER_BYTES},
};

/// An entry that is completely in the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) id: u32,
    pub(super) len: usize,
    /// Index of its site in the dictionary.
    pub(super) index: Option<u32>,
}

impl Reader {
    /// The entry `at` bytes from here, if it is completely in the window, has no findings, and is followed by another one.
    #[inline]
    pub(super) fn quick_frame(&self, at: usize) -> Option<Frame> {
        let bytes = self.window.bytes().get(at..)?;
        let (id, data_len) = frame(bytes, self.header_bytes, self.header.order)?;
        let len = self.header_bytes + data_len;
        let next = bytes.get(len..)?.first_chunk()?;
        let index = match &self.dictionary {
            Some(dictionary) => {
                dictionary.find(self.header.order.u32(*next))?;
                Some(dictionary.find(id)?)
            }
            None if is_section(id) => return None,
            None => None,
        };
        let is_inside = (at + len) as u64 <= self.end.saturating_sub(self.window.offset());
        if id == 0 && data_len == 0 && self.is_never_written(bytes) {
            return None;
        }
        let is_expected = self.knows_all_ids || !self.is_odd(at) && !self.is_odd(at + len);
        (is_inside && is_expected && !self.checks_arguments).then_some(Frame { id, len, index })
    }

    /// An entry as it is lent.
    #[inline]
    pub(super) fn entry(&self, at: usize, frame: Frame) -> Entry<'_> {
        let Frame { id, len, index } = frame;
        let padded = self.window.bytes().get(at + self.header_bytes..).unwrap_or_default();
        let data = padded.get(..len - self.header_bytes).unwrap_or_default();
        Entry { id, timestamp: self.timestamp(at), data, padded, dictionary: self.dictionary.as_ref(), index }
    }

    /// The timestamp of the entry `at` bytes from here, if entries have one.
    #[inline]
    pub(super) fn timestamp(&self, at: usize) -> Option<u64> {
        match self.header_bytes {
            ENTRY_HEADER_BYTES => {
                let bytes = self.window.bytes().get(at + 4..)?.first_chunk()?;
                Some(self.header.order.u64(*bytes))
            }
            _ => None,
        }
    }

    /// An entry with its arguments.
    pub(super) fn entry_at(&self, at: usize, frame: Frame) -> Option<Entry<'_>> {
        let data = self.window.bytes().get(at + self.header_bytes..at + frame.len)?;
        Some(Entry { dictionary: self.dictionary.as_ref(), index: frame.index, ..Entry::new(frame.id, None, data) })
    }

    pub(super) fn next_entry(&mut self) -> Result<Option<Step>> {
        let offset = self.window.offset();
        let header_bytes = self.header_bytes;
        let left = self.end.saturating_sub(offset);
        let available = self.window.fill(header_bytes)?;
        let Some((id, data_len)) = frame(available, header_bytes, self.header.order) else {
            let available = available.len() as u64;
            return self.end_entries(left.min(available));
        };
        if !self.is_own && is_section(id) {
            return self.half_a_dictionary();
        }
        let len = header_bytes + data_len;
        if len as u64 > left || !self.window.has(len)? {
            return self.broken_frame(data_len, left);
        }
        if self.is_never_written(self.window.bytes()) {
            self.report(&ZEROS, |odd| odd)?;
            return self.lose(1);
        }
        let index = match &self.dictionary {
            Some(dictionary) => match dictionary.find(id) {
                None if self.knows_all_ids => return self.unknown_id(id, len),
                index => index,
            },
            None => None,
        };
        let frame = Frame { id, len, index };
        if self.swallows(frame)? {
            self.report(&ENTRY_LENGTH, |odd| odd.with("bytes", data_len))?;
            return self.lose(1);
        }
        if !self.knows_all_ids && self.is_odd(0) && self.is_garbage(len)? {
            return self.lose(1);
        }
        Ok(Some(Step::Entry(frame)))
    }

    /// The program was stopped, or is still busy, writing its levels or its dictionary.
    #[cold]
    fn half_a_dictionary(&mut self) -> Result<Option<Step>> {
        let section = parse_section(self.window.fill(SECTION_HEADER_BYTES)?, self.header.order);
        let expected = section.map_or(0, |section| section.count);
        self.report(&DICTIONARY_CUT, |cut| cut.with("expected", expected).with("found", 0u32))?;
        self.resume_at = Some(self.window.offset());
        self.state = State::Trailing { reported: true };
        self.check_count()?;
        Ok(None)
    }

    /// Too few bytes are left for an entry header.
    #[cold]
    pub(super) fn end_entries(&mut self, left: u64) -> Result<Option<Step>> {
        if left == 0 {
            self.resume_at = Some(self.window.offset());
            self.leave_entries()?;
            return Ok(None);
        }
        let needed = self.header_bytes;
        self.report(&ENTRY_CUT, |odd| odd.with("needed", needed).with("left", left))?;
        self.lose(1)
    }

    /// Called at the end of the entries, or of those of a damaged block.
    pub(super) fn leave_entries(&mut self) -> Result<()> {
        if self.end < self.entries_end {
            self.end = self.entries_end;
            (self.state, self.resume_at) = (State::Entries, None);
            return Ok(());
        }
        self.state = State::Levels;
        self.check_count()
    }

    pub(super) fn check_entry(&mut self, frame: Frame) -> Result<()> {
        let Some(entry) = self.entry_at(0, frame).filter(|entry| entry.index.is_some()) else { return Ok(()) };
        let rule = match entry.args() {
            None => &ARGUMENTS,
            Some(_) if entry.has_lost_sign() => &SIGN_LOST,
            Some(_) => return Ok(()),
        };
        let bytes = entry.data.len();
        self.report(rule, |odd| odd.with("id", frame.id).with("bytes", bytes))
    }

    pub(super) fn check_count(&mut self) -> Result<()> {
        if self.is_resumed {
            return Ok(());
        }
        let (expected, found) = (self.header.entry_count, self.entries);
        let Some(rule) = count_rule(expected, found) else { return Ok(()) };
        let odd = Finding::new(rule, Position::at(48).field("entry_count"));
        self.findings.report(odd.with("expected", expected).with("found", found))
    }
}

/// The rule that a header's 32-bit count breaks, if any.
fn count_rule(expected: u32, found: u64) -> Option<&'static Rule> {
    match (u64::from(expected) == found, expected == found as u32) {
        (true, _) => None,
        (false, true) => Some(&COUNT_WRAPPED),
        (false, false) => Some(&COUNT_MISMATCH),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapped_count_is_only_a_note() {
        let code = |expected, found| count_rule(expected, found).map(|rule| rule.code);
        assert_eq!(code(7, 7), None);
        assert_eq!(code(7, 8), Some(COUNT_MISMATCH.code));
        assert_eq!(code(7, 7 + (1 << 32)), Some(COUNT_WRAPPED.code));
        assert_eq!(code(0, 1 << 33), Some(COUNT_WRAPPED.code));
    }
}

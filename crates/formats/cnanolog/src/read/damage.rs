//! Resynchronizes after damage: finds where entries make sense again.

use traceloom_core::Result;

use super::{MAX_RESIDUE_BYTES, Reader, State, Step, entries::Frame, residue, survey::frame};
use crate::{Dictionary, Header, findings::*, raw::ENTRY_HEADER_BYTES};

/// Number of consecutive entries that must make sense before reading continues after damage.
const CHAIN: usize = 3;
/// The same if only headers can be checked, because the file has no dictionary with its ids and argument types.
const CHAIN_OF_HEADERS: usize = 6;
/// More log statements than any program has.
const MAX_SITES: u32 = 1 << 16;
/// No program logs to one file for longer than this.
const MAX_SECONDS: u64 = 10 * 366 * 86_400;
/// Consecutive entries are not further apart than this.
const MAX_SECONDS_APART: u64 = 86_400;

/// What entries look like if the file has no dictionary: small ids, and times after the start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outlook {
    /// One second before the start: the counters of a machine's processors differ slightly.
    earliest: u64,
    /// Number of ticks after `earliest` that an entry may have; 0 if there is no clock to judge by.
    span: u64,
    frequency: u64,
}

impl Outlook {
    pub(super) fn of(header: &Header) -> Self {
        let frequency = header.timestamp_frequency;
        let span = frequency.checked_mul(MAX_SECONDS).filter(|span| header.has_timestamps && *span < 1 << 60);
        Self { earliest: header.start_timestamp.wrapping_sub(frequency), span: span.unwrap_or(0), frequency }
    }

    /// Whether an entry looks plausible.
    #[inline]
    fn is_likely(&self, id: u32, ticks: u64) -> bool {
        id < MAX_SITES && ticks.wrapping_sub(self.earliest) < self.span
    }

    fn is_near(&self, ticks: u64, other: u64) -> bool {
        (ticks.wrapping_sub(other) as i64).unsigned_abs() / MAX_SECONDS_APART < self.frequency
    }
}

impl Reader {
    /// Whether an entry header is all zeros: a block that was never written to disk. In a log with a later start, no
    /// entry has the tick 0.
    #[inline]
    pub(super) fn is_never_written(&self, bytes: &[u8]) -> bool {
        self.header.start_timestamp != 0 && bytes.first_chunk() == Some(&[0; ENTRY_HEADER_BYTES])
    }

    /// Whether the entry `at` bytes from here is implausible, if that can be decided.
    #[inline]
    pub(super) fn is_odd(&self, at: usize) -> bool {
        let id = self.window.bytes().get(at..).and_then(|bytes| bytes.first_chunk());
        let head = id.map(|id| self.header.order.u32(*id)).zip(self.timestamp(at));
        self.outlook.span > 0 && head.is_some_and(|(id, ticks)| !self.outlook.is_likely(id, ticks))
    }

    /// The entry extends beyond the end of the entries, or of the file.
    #[cold]
    pub(super) fn broken_frame(&mut self, data_len: usize, left: u64) -> Result<Option<Step>> {
        let header_bytes = self.header_bytes as u64;
        if left < header_bytes {
            return self.end_entries(left);
        }
        let left = left - header_bytes;
        self.report(&ENTRY_OVERRUN, |odd| odd.with("bytes", data_len).with("left", left))?;
        self.lose(1)
    }

    /// Damage, unless only the id is damaged: then entries that make sense follow immediately.
    #[cold]
    pub(super) fn unknown_id(&mut self, id: u32, len: usize) -> Result<Option<Step>> {
        let sites = self.dictionary.as_ref().map_or(0, Dictionary::len);
        self.report(&UNKNOWN_ID, |odd| odd.with("id", id).with("sites", sites))?;
        let offset = self.window.offset();
        if self.chains(len)? && offset + (len as u64) < self.end && self.window.has(len)? {
            return Ok(Some(Step::Entry(Frame { id, len, index: None })));
        }
        self.lose(1)
    }

    /// Whether a damaged length merges many entries into one: neither its arguments nor the bytes after it make sense,
    /// but something inside does.
    pub(super) fn swallows(&mut self, frame: Frame) -> Result<bool> {
        let left = self.end.saturating_sub(self.window.offset());
        self.window.fill(frame.len + self.header_bytes)?;
        let makes_sense = self.entry_at(0, frame).is_some_and(|entry| entry.args().is_some());
        if makes_sense || frame.len as u64 == left || !self.is_strange(frame.len) {
            return Ok(false);
        }
        Ok(self.find_chain(1, frame.len)?.is_some())
    }

    /// Whether no entry can start `at` bytes from here, judging by its header.
    fn is_strange(&self, at: usize) -> bool {
        if !self.knows_all_ids {
            return self.is_odd(at);
        }
        let id = self.window.bytes().get(at..).and_then(|bytes| bytes.first_chunk());
        let index = id.zip(self.dictionary.as_ref()).and_then(|(id, known)| known.find(self.header.order.u32(*id)));
        index.is_none()
    }

    /// Whether an implausible entry is not an entry: nothing that makes sense follows it, but something later does.
    /// Without a dictionary, there is no better test.
    #[cold]
    pub(super) fn is_garbage(&mut self, len: usize) -> Result<bool> {
        let piece = self.piece()?;
        Ok(!self.chains(len)? && self.find_chain(1, piece)?.is_some())
    }

    /// Gives up the bytes up to the next offset where entries make sense, starting `skip` bytes from here.
    #[cold]
    pub(super) fn lose(&mut self, skip: usize) -> Result<Option<Step>> {
        self.resume_at.get_or_insert(self.window.offset());
        let left = self.end.saturating_sub(self.window.offset());
        let piece = self.piece()?;
        let found = self.find_chain(skip, piece)?;
        let at = found.unwrap_or(piece);
        let lost = at as u64 + if let State::Lost(before) = self.state { before } else { 0 };
        if found.is_some() {
            self.state = State::Entries;
            self.resume_at = None;
            self.report(&RESYNCED, |odd| odd.with("bytes", lost))?;
        } else if left > piece as u64 && piece > 0 {
            self.state = State::Lost(lost);
        } else {
            self.leave_entries()?;
        }
        Ok(residue(at))
    }

    /// How much is examined at once; the window holds it.
    fn piece(&mut self) -> Result<usize> {
        let left = self.end.saturating_sub(self.window.offset());
        let piece = usize::try_from(left).map_or(MAX_RESIDUE_BYTES, |left| left.min(MAX_RESIDUE_BYTES));
        Ok(piece.min(self.window.fill(piece)?.len()))
    }

    /// The first offset from `from` to `to` bytes from here where entries make sense.
    ///
    /// Offsets that were tried are not tried again, so a long range of garbage costs no more than its length.
    fn find_chain(&mut self, from: usize, to: usize) -> Result<Option<usize>> {
        let offset = self.window.offset();
        let tried = usize::try_from(self.barren_until.saturating_sub(offset)).unwrap_or(usize::MAX);
        for at in from.max(tried)..to {
            if self.chains(at)? {
                return Ok(Some(at));
            }
        }
        self.barren_until = self.barren_until.max(offset + to as u64);
        Ok(None)
    }

    /// Whether a chain of entries that make sense starts `at` bytes from here.
    pub(super) fn chains(&mut self, at: usize) -> Result<bool> {
        let limit = usize::try_from(self.end.saturating_sub(self.window.offset())).unwrap_or(usize::MAX);
        let mut at = at;
        let mut near = None;
        for links in 0..if self.knows_all_ids { CHAIN } else { CHAIN_OF_HEADERS } {
            // A dictionary marks the end; without one, the file may end anywhere.
            let is_end = if self.knows_all_ids { at == limit } else { links >= CHAIN && !self.window.has(at + 1)? };
            if is_end {
                return Ok(true);
            }
            match self.sensible_entry(at, limit, &mut near)? {
                Some(end) => at = end,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Where the entry `at` bytes from here ends, if it makes sense.
    fn sensible_entry(&mut self, at: usize, limit: usize, near: &mut Option<u64>) -> Result<Option<usize>> {
        let data_at = at.saturating_add(self.header_bytes);
        self.window.fill(data_at.min(limit))?;
        let head = self.window.bytes().get(at..data_at).unwrap_or_default();
        let Some((id, data_len)) = frame(head, self.header_bytes, self.header.order) else { return Ok(None) };
        let end = data_at.saturating_add(data_len);
        if self.is_never_written(head) || end > limit {
            return Ok(None);
        }
        let index = self.dictionary.as_ref().and_then(|dictionary| dictionary.find(id));
        // The id must be in the file's dictionary; a supplied dictionary may lack it, and then only the header counts.
        let is_accepted = match self.timestamp(at) {
            _ if self.knows_all_ids => index.is_some(),
            Some(ticks) => self.outlook.is_likely(id, ticks) && self.outlook.is_near(ticks, *near.get_or_insert(ticks)),
            None => false,
        };
        if !is_accepted || !self.window.has(end)? {
            return Ok(None);
        }
        let entry = self.entry_at(at, Frame { id, len: end - at, index });
        let fits = index.is_none() || entry.is_some_and(|entry| entry.args().is_some());
        Ok(fits.then_some(end))
    }
}

//! The way back after damage: where entries make sense again.

use traceloom_bytes::Result;

use super::{Frame, PIECE, Reader, State, Step, residue};
use crate::{Dictionary, Header, findings::*, raw::ENTRY_HEADER_BYTES, survey::frame};

/// Entries in a row that must make sense before reading goes on after damage.
const CHAIN: usize = 3;
/// More log statements than any program has.
const MOST_SITES: u32 = 1 << 20;
/// No program logs for longer into one file.
const MOST_SECONDS: u64 = 10 * 366 * 86_400;

/// What entries look like where no dictionary of the file's own explains them: small ids, and times after the start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outlook {
    /// A second before the start: the counters of a machine's processors are not quite the same.
    earliest: u64,
    /// Ticks from there on that an entry may have; none where there is no clock to tell by.
    span: Option<u64>,
}

impl Outlook {
    pub(super) fn of(header: &Header) -> Self {
        let frequency = header.timestamp_frequency;
        let span =
            frequency.checked_mul(MOST_SECONDS).filter(|span| header.has_timestamps && (1..1 << 60).contains(span));
        Self { earliest: header.start_timestamp.wrapping_sub(frequency), span }
    }

    /// Whether an entry looks like one.
    fn is_likely(&self, id: u32, timestamp: Option<u64>) -> bool {
        let in_time = |(ticks, span): (u64, u64)| ticks.wrapping_sub(self.earliest) < span;
        id < MOST_SITES && timestamp.zip(self.span).is_some_and(in_time)
    }

    /// Whether an entry does not look like one, although that could be told.
    #[inline]
    pub(super) fn is_odd(&self, id: u32, timestamp: Option<u64>) -> bool {
        self.span.is_some() && !self.is_likely(id, timestamp)
    }
}

impl Reader {
    /// Whether zeros stand where an entry header should: a block that never got to the disk. No entry of a log that
    /// was started later has the tick 0.
    #[inline]
    pub(super) fn is_never_written(&self, bytes: &[u8]) -> bool {
        self.header.start_timestamp != 0 && bytes.first_chunk() == Some(&[0; ENTRY_HEADER_BYTES])
    }

    /// The entry reaches behind the end of the entries, or of the file.
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

    /// Damage, unless only the id is: then entries that make sense follow at once.
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

    /// Whether a damaged length makes an entry of many: its arguments make no sense, nor does what follows it, but
    /// something inside does.
    pub(super) fn swallows(&mut self, frame: Frame) -> Result<bool> {
        let left = self.end.saturating_sub(self.window.offset());
        let bytes = self.window.fill(frame.len + self.header_bytes)?;
        let follows = bytes.get(frame.len..).and_then(|bytes| bytes.first_chunk()).map(|id| self.header.order.u32(*id));
        let is_known = follows.zip(self.dictionary.as_ref()).is_some_and(|(id, known)| known.find(id).is_some());
        if is_known || frame.len as u64 == left || self.entry_at(0, frame).is_some_and(|entry| entry.args().is_some()) {
            return Ok(false);
        }
        Ok(self.find_chain(1, frame.len)?.is_some())
    }

    /// Whether an entry that does not look like one is none: nothing that makes sense follows it, but something later
    /// does. Without a dictionary there is no better way to tell.
    #[cold]
    pub(super) fn is_garbage(&mut self, len: usize) -> Result<bool> {
        let piece = self.piece()?;
        Ok(!self.chains(len)? && self.find_chain(1, piece)?.is_some())
    }

    /// Gives up the bytes up to the next place where entries make sense, from `skip` bytes on.
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
            self.report(&RESYNCHRONISED, |odd| odd.with("bytes", lost))?;
        } else if left > piece as u64 && piece > 0 {
            self.state = State::Lost(lost);
        } else {
            self.state = State::Levels;
            self.check_count()?;
        }
        Ok(residue(at))
    }

    /// How much is looked at together; the window holds it.
    fn piece(&mut self) -> Result<usize> {
        let left = self.end.saturating_sub(self.window.offset());
        let piece = usize::try_from(left).map_or(PIECE, |left| left.min(PIECE));
        Ok(piece.min(self.window.fill(piece)?.len()))
    }

    /// The first place from `from` to `to` bytes from here where entries make sense.
    ///
    /// Places that were tried are not tried again, so that a long stretch of garbage costs no more than its length.
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

    /// Whether entries that make sense follow `at` bytes from here, up to the end or for a while.
    fn chains(&mut self, at: usize) -> Result<bool> {
        let limit = usize::try_from(self.end.saturating_sub(self.window.offset())).unwrap_or(usize::MAX);
        let mut at = at;
        for _ in 0..CHAIN {
            if at == limit {
                return Ok(true);
            }
            match self.sensible_entry(at, limit)? {
                Some(end) => at = end,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Where the entry `at` bytes from here ends, if it makes sense.
    fn sensible_entry(&mut self, at: usize, limit: usize) -> Result<Option<usize>> {
        let order = self.header.order;
        let data_at = at.saturating_add(self.header_bytes);
        self.window.fill(data_at.min(limit))?;
        let head = self.window.bytes().get(at..data_at).unwrap_or_default();
        let Some((id, data_len)) = frame(head, self.header_bytes, order) else { return Ok(None) };
        let timestamp = head.get(4..12).and_then(|bytes| bytes.first_chunk()).map(|bytes| order.u64(*bytes));
        let end = data_at.saturating_add(data_len);
        if self.is_never_written(head) || end > limit {
            return Ok(None);
        }
        let index = self.dictionary.as_ref().and_then(|dictionary| dictionary.find(id));
        let is_likely = self.outlook.is_likely(id, timestamp);
        // Of a file's own dictionary the id must be; another one may lack it, and then only the header speaks.
        let is_accepted = if self.is_own { index.is_some() } else { is_likely };
        if !is_accepted || !self.window.has(end)? {
            return Ok(None);
        }
        let entry = self.entry_at(at, Frame { id, len: end - at, index });
        let fits = index.is_none() || entry.is_some_and(|entry| entry.args().is_some());
        Ok(fits.then_some(end))
    }
}

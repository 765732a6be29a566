//! Walks chunks and their parts.

use traceloom_core::{Finding, Findings, Located, Mode, Position, Result};

use super::{
    Buffer, BytesKind, Feed, Next, Reader, State,
    plan::{self, Bounds, Content, Head, Plan},
};
use crate::{
    Encoding, Record, StringTable,
    findings::*,
    probe,
    raw::{CHUNK_FIXED, ChunkType, PART_ENTRY},
    record::{self, Chunk, Part},
};

impl Reader {
    /// Examines the chunk that starts here; returns true if its head can be returned.
    pub(super) fn next_chunk(&mut self) -> Result<bool> {
        let start = self.body.offset();
        let available = self.body.fill(CHUNK_FIXED)?;
        if available.is_empty() {
            self.end_body();
            return Ok(false);
        }
        let Some(head) = Head::parse(available) else {
            let bytes = available.len();
            self.report(&TRAILING, start, |odd| odd.with("bytes", bytes))?;
            self.residue_until(start + bytes as u64);
            return Ok(false);
        };
        if u64::from(head.length) < head.needed() {
            let values = |odd: Finding| {
                odd.with("length", head.length).with("parts", head.part_count).with("needed", head.needed())
            };
            self.report(&CHUNK_SHORT, start, values)?;
            self.lose_until_chunk(start)?;
            return Ok(false);
        }
        match self.bounds(start, &head)? {
            Some(bounds) => self.enter_chunk(head, bounds),
            None => Ok(false),
        }
    }

    /// The bounds of the chunk; `None` if not even its part table is complete.
    fn bounds(&mut self, start: u64, head: &Head) -> Result<Option<Bounds>> {
        let file_end = self.body.source().len()?;
        let end = start.saturating_add(head.length.into());
        let mut bounds = Bounds { start, body: start + head.needed(), end, file_end, is_cut: false };
        if end > file_end {
            let left = file_end - start;
            self.report(&CHUNK_CUT, start, |odd| odd.with("length", head.length).with("left", left))?;
            bounds.is_cut = true;
            bounds.end = plan::find(self.body.source(), start + 4, &self.limits)?.unwrap_or(file_end);
            if bounds.body > bounds.end {
                self.residue_until(bounds.end);
                return Ok(None);
            }
        } else if !head.length.is_multiple_of(4) && end < file_end {
            self.report(&CHUNK_UNALIGNED, start, |odd| odd.with("length", head.length))?;
        } else if let Some(begins) = plan::swallowed(self.body.source(), bounds, &self.limits)? {
            let left = begins - start;
            self.report(&CHUNK_OVERLONG, start, |odd| odd.with("length", head.length).with("left", left))?;
            (bounds.is_cut, bounds.end) = (true, begins);
        }
        Ok(Some(bounds))
    }

    fn residue_until(&mut self, end: u64) {
        self.state = State::Bytes { end, kind: BytesKind::Residue, then: Next::Chunk };
    }

    /// There is no chunk here: everything up to the next one is residue.
    fn lose_until_chunk(&mut self, start: u64) -> Result<()> {
        let source = self.body.source();
        let end = source.len()?;
        let found = plan::find(source, start + 4, &self.limits)?;
        if let Some(found) = found {
            self.report(&CHUNK_LOST, start, |odd| odd.with("bytes", found - start))?;
        }
        self.residue_until(found.unwrap_or(end));
        Ok(())
    }

    /// Plans the parts and reads the strings; returns false if the chunk has to be returned raw first.
    fn enter_chunk(&mut self, head: Head, bounds: Bounds) -> Result<bool> {
        self.chunk_end = bounds.end;
        self.zones.begin_chunk();
        self.plan = Plan::default();
        self.strings.clear();
        if head.kind.name().is_none() {
            self.report(&CHUNK_UNKNOWN, bounds.start, |odd| odd.with("type", head.kind.to_string()))?;
            return Ok(true);
        }
        let needed = usize::try_from(head.needed()).unwrap_or(usize::MAX);
        let table = self.body.fill(needed)?.get(CHUNK_FIXED..needed).unwrap_or_default();
        let parts: Vec<Part> = record::part_table(table).collect();
        self.plan_parts(head.kind, &parts, bounds)?;
        if self.plan.overlaps && !self.carried {
            self.state = State::Bytes { end: bounds.end, kind: BytesKind::Raw, then: Next::Carried(bounds.start) };
            return Ok(false);
        }
        if let Some(strings) = self.strings_given.take() {
            self.strings = strings;
        } else if let Some((start, end)) = self.plan.strings {
            let bytes = probe::read_span(self.body.source(), start, end, &self.limits)?;
            self.strings = StringTable::from_bytes(bytes)?;
        }
        Ok(true)
    }

    fn plan_parts(&mut self, kind: ChunkType, parts: &[Part], bounds: Bounds) -> Result<()> {
        if !self.carried {
            // A chunk with overlapping parts is planned again after it has been returned raw; only that plan counts.
            let mut spare = self.spare_bytes;
            self.plan = Plan::new(kind, parts, bounds, &mut spare, &mut self.findings)?;
            return Ok(());
        }
        // The findings of a binary chunk were reported when it was returned raw; those of a chunk made from text were
        // not.
        let mut local = Findings::new(Mode::Lenient, &self.limits);
        self.plan = Plan::new(kind, parts, bounds, &mut self.spare_bytes, &mut local)?;
        if let (Some(place), false) = (self.place, matches!(self.feed, Feed::None)) {
            for finding in local.kept() {
                self.findings.report(finding.clone().at(Position::at(place)))?;
            }
        }
        Ok(())
    }

    /// Returns the head of the chunk that was just planned.
    pub(super) fn lend_chunk(&mut self) -> Result<Option<Located<Record<'_>>>> {
        let start = self.body.offset();
        let place = self.place;
        let carried = self.carried;
        let Some(head) = Head::parse(self.body.fill(CHUNK_FIXED)?) else { return Ok(None) };
        let is_known = head.kind.name().is_some();
        let needed = if is_known { CHUNK_FIXED + PART_ENTRY * head.part_count as usize } else { CHUNK_FIXED };
        self.state = if is_known {
            State::Part(0)
        } else {
            State::Bytes { end: self.chunk_end, kind: BytesKind::Unread, then: Next::Chunk }
        };
        self.body.fill(needed)?;
        let bytes = self.body.take(needed);
        let chunk = Chunk {
            id: head.id,
            kind: head.kind,
            length: head.length,
            start: head.start,
            end: head.end,
            part_count: head.part_count,
            parts: bytes.get(CHUNK_FIXED..).unwrap_or_default(),
            carried,
        };
        Ok(Some(Located { offset: place.unwrap_or(start), len: needed as u64, record: Record::Chunk(chunk) }))
    }

    /// Examines the next part; returns true if it can be returned as one record.
    pub(super) fn next_part(&mut self, index: usize) -> Result<bool> {
        let Some(step) = self.plan.steps.get(index).copied() else {
            self.end_chunk();
            return Ok(false);
        };
        if self.carried {
            self.body.seek(step.start);
        } else if self.body.offset() < step.start {
            self.state = State::Bytes { end: step.start, kind: BytesKind::Padding, then: Next::Part(index) };
            return Ok(false);
        }
        let (end, then) = (step.end, index + 1);
        let encoding = match step.content {
            Content::WordEvents => Encoding::Words,
            Content::LegacyEvents => Encoding::Legacy,
            Content::Unread => {
                self.state = State::Bytes { end, kind: BytesKind::Unread, then: Next::Part(then) };
                return Ok(false);
            }
            _ => return Ok(true),
        };
        self.state = State::Events(Buffer { end, encoding, then: Some(then) });
        if self.headers == 0 {
            self.warn_no_header()?;
        }
        Ok(false)
    }

    fn end_chunk(&mut self) {
        let end = self.chunk_end;
        if !self.carried {
            self.state = State::Bytes { end, kind: BytesKind::Padding, then: Next::Chunk };
            return;
        }
        self.body.seek(end);
        self.state = State::Chunk;
        if let Feed::None = self.feed {
            self.carried = false;
            self.place = None;
        }
    }

    /// How many bytes can be returned at once before `end`; 0 in a chunk that was already returned raw.
    pub(super) fn piece(&mut self, end: u64) -> Result<usize> {
        if self.carried {
            return Ok(0);
        }
        super::piece(&mut self.body, end)
    }

    pub(super) fn lend_bytes(&mut self, len: usize, kind: BytesKind) -> Located<Record<'_>> {
        let offset = self.body.offset();
        let bytes = self.body.take(len);
        let record = match kind {
            BytesKind::Unread => Record::Unread(bytes),
            BytesKind::Padding => Record::Padding(bytes),
            BytesKind::Residue => Record::Residue(bytes),
            BytesKind::Torn => Record::Torn(bytes),
            BytesKind::Raw => Record::Raw(bytes),
        };
        Located { offset, len: len as u64, record }
    }

    pub(super) fn after_bytes(&mut self, end: u64, then: Next) {
        if self.carried {
            self.body.seek(end);
        }
        self.state = match then {
            Next::Chunk => State::Chunk,
            Next::Part(index) => State::Part(index),
            Next::Events(buffer) => State::Events(buffer),
            Next::Carried(start) => {
                self.body.seek(start);
                self.carried = true;
                self.place = Some(start);
                State::Chunk
            }
        };
    }
}

//! Chunks and their contents.

use traceloom_core::{Finding, Position, Records, Result};

use super::{Reader, State, Step};
use crate::{
    Dialect, NvLayout,
    dialect::is_plausible,
    parse,
    pynytprof::{
        findings::{CHUNK_UNKNOWN, TOKENS},
        forms::Contents,
        item,
        plan::{Part, Plan},
        raw::{CHUNK_HEAD, Form, Framing, Integers, Layout, Tag},
        record::Chunk,
        tokens,
    },
};

/// Ends the process, in files whose chunks have no lengths.
const PID_END: u8 = crate::raw::Tag::PID_END.0;

/// A record of the real stream, or an imitation; only some writers use the tags and integers of the real one.
pub(super) fn token(dialect: Dialect, bytes: &[u8]) -> parse::Parsed<'_> {
    let real = parse::record(bytes, NvLayout::COMMON);
    let is_real = match (dialect, real) {
        (Dialect::Tokens, _) => real != Err(parse::Stop::Unknown),
        (Dialect::VariableProcess, Ok((crate::Record::PidStart(start), _))) => is_plausible(start.time.value()),
        _ => false,
    };
    if is_real { real } else { tokens::record(bytes) }
}

impl Reader {
    /// After the process: records of the real stream under other tags, then chunks.
    pub(super) fn start_chunks(&mut self) -> Result<Step> {
        let (position, dialect) = (self.position(), self.header.dialect);
        if tokens::starts(self.window.fill(64)?) {
            if self.findings().counts().get(TOKENS.code).is_none() {
                self.checker.findings.report(Finding::new(&TOKENS, position))?;
            }
            return self.token();
        }
        let (source, limits) = (&self.source, &self.limits);
        let part = Part { source, limits, start: position.offset, end: self.length };
        self.planned = match dialect {
            Dialect::Bare => part.bare()?,
            Dialect::Tagged => part.tagged()?,
            _ => Plan::default(),
        }
        .chunks
        .into_iter();
        self.state = State::Chunks;
        Ok(Step::Again)
    }

    pub(super) fn chunk(&mut self) -> Result<Step> {
        let position = self.position();
        if let Some(chunk) = self.planned.next() {
            self.window.fill(chunk.framing.head_bytes())?;
            return self.enter(chunk, chunk.length.into(), position);
        }
        let head = self.window.fill(CHUNK_HEAD)?;
        let Some(&tag) = head.first() else { return self.end_of_part() };
        match self.header.dialect {
            Dialect::Tagged if tag == PID_END => {
                self.state = State::Tokens;
                return Ok(Step::Again);
            }
            Dialect::Bare | Dialect::Tagged => {
                return self.truncated("a chunk without a length".to_owned(), self.left() + 1);
            }
            _ => {}
        }
        let tag = Tag(tag);
        if tag == Tag::E && head.len() == 1 && !self.checker.has_ended() {
            let end = Chunk { framing: Framing::Tag, ..Chunk::new(tag, 0, Form::Raw) };
            return self.enter(end, 0, position);
        }
        let length = head.get(1..5).and_then(|length| length.first_chunk()).map(|length| u32::from_le_bytes(*length));
        let left = self.left().saturating_sub(CHUNK_HEAD as u64);
        let is_cut = length.is_none_or(|length| u64::from(length) > left);
        if self.checker.has_ended() && (!tag.is_known() || is_cut) {
            return self.after_end();
        }
        if !tag.is_known() {
            let unknown = Finding::new(&CHUNK_UNKNOWN, position).with("tag", tag.to_string());
            self.checker.findings.report(unknown)?;
            self.state = State::Residue;
            return Ok(Step::Again);
        }
        // A length that is not a multiple of the record size is wrong, rather than a sign of truncation.
        let is_lie = matches!(tag, Tag::S | Tag::C) && length.is_some_and(|length| length % 28 != 0);
        let Some(length) = length.filter(|_| !is_cut || !is_lie) else {
            return self.truncated(format!("chunk {tag}"), CHUNK_HEAD as u64 + length.map_or(0, u64::from));
        };
        let available = u64::from(length).min(left);
        let start = position.offset + CHUNK_HEAD as u64;
        let contents = Contents { source: &self.source, start, length: available, is_cut };
        let layout = contents.layout(tag, self.context)?;
        if layout.integers != Integers::Fixed {
            self.context.integers = layout.integers;
        }
        self.context.has_ranges |= layout.form == Form::Ranges;
        let step = self.enter(Chunk { layout, ..Chunk::new(tag, length, Form::Raw) }, available, position)?;
        if is_cut {
            self.checker.truncated(format!("chunk {tag}"), length.into(), left, position)?;
        }
        Ok(step)
    }

    /// Starts a chunk of which this many bytes are available.
    fn enter(&mut self, chunk: Chunk, available: u64, position: Position) -> Result<Step> {
        self.checker.chunk(&chunk, position)?;
        self.state = State::Items(chunk.layout, available);
        Ok(Step::Chunk(chunk))
    }

    pub(super) fn item(&mut self, layout: Layout, left: u64) -> Result<Step> {
        if left == 0 {
            self.state = State::Chunks;
            return Ok(Step::Again);
        }
        let within = usize::try_from(left).unwrap_or(usize::MAX);
        let len = self.item_len(layout, within)?;
        let Some(len) = len else {
            if layout.form == Form::Raw {
                // The file became shorter while it was read.
                self.state = State::Residue;
                return Ok(Step::Again);
            }
            // Only a truncated chunk ends inside an item, because the form was chosen to fit.
            self.state = State::Items(Form::Raw.into(), left);
            return self.item(Form::Raw.into(), left);
        };
        let position = self.position();
        let bytes = self.window.bytes().get(..len).unwrap_or_default();
        self.checker.item(layout, bytes, position)?;
        self.state = State::Items(layout, left - len as u64);
        Ok(Step::Item { layout, len })
    }

    /// The length of the item at the front, which is made available completely; `None` if it is not within its chunk.
    fn item_len(&mut self, layout: Layout, within: usize) -> Result<Option<usize>> {
        if layout.form == Form::Raw {
            let available = self.window.fill(1)?.len();
            return Ok(Some(available.min(within)).filter(|len| *len > 0));
        }
        loop {
            let bytes = self.window.bytes();
            let bytes = bytes.get(..within.min(bytes.len())).unwrap_or_default();
            match item::measure(layout, bytes) {
                Ok(len) => return Ok(Some(len)),
                Err(needed) if needed > within || self.window.grow(needed)? < needed => return Ok(None),
                Err(_) => {}
            }
        }
    }

    pub(super) fn token(&mut self) -> Result<Step> {
        let position = self.position();
        let Some(&tag) = self.window.fill(64)?.first() else { return self.end_of_part() };
        loop {
            let measured = token(self.header.dialect, self.window.bytes()).map(|(_, len)| len);
            match measured {
                Ok(len) => return Ok(Step::Token { len }),
                Err(parse::Stop::Need(needed)) => {
                    if self.window.grow(needed)? < needed {
                        return self.truncated(format!("a {} record", Tag(tag)), needed as u64);
                    }
                }
                Err(_) => {
                    let unknown = Finding::new(&CHUNK_UNKNOWN, position).with("tag", Tag(tag).to_string());
                    self.checker.findings.report(unknown)?;
                    self.state = State::Residue;
                    return Ok(Step::Again);
                }
            }
        }
    }
}

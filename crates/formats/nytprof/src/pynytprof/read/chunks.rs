//! Chunks and what they hold.

use traceloom_core::{Finding, Result};

use super::{Reader, State, Step};
use crate::{
    NvLayout, parse,
    pynytprof::{
        findings::CHUNK_UNKNOWN,
        forms::Contents,
        item,
        raw::{CHUNK_HEAD, Form, Tag},
        record::Chunk,
    },
};

impl Reader {
    pub(super) fn chunk(&mut self) -> Result<Step> {
        let position = self.position();
        let head = self.window.fill(CHUNK_HEAD)?;
        let Some(&tag) = head.first() else { return self.end_of_part() };
        let tag = Tag(tag);
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
        // A length that no records fill is a lie rather than a sign of a cut.
        let is_lie = matches!(tag, Tag::S | Tag::C) && length.is_some_and(|length| length % 28 != 0);
        let Some(length) = length.filter(|_| !is_cut || !is_lie) else {
            return self.truncated(format!("chunk {tag}"), CHUNK_HEAD as u64 + length.map_or(0, u64::from));
        };
        let available = u64::from(length).min(left);
        let start = position.offset + CHUNK_HEAD as u64;
        let contents = Contents { source: &self.source, start, length: available, is_cut };
        let form = contents.form(tag, self.context)?;
        self.context.is_varint |= form.is_varint();
        self.context.has_ranges |= form == Form::Ranges;
        self.checker.chunk(&Chunk { tag, length, form }, position)?;
        if is_cut {
            self.checker.truncated(format!("chunk {tag}"), length.into(), left, position)?;
        }
        self.state = State::Items(form, available);
        Ok(Step::Chunk(Chunk { tag, length, form }))
    }

    pub(super) fn item(&mut self, form: Form, left: u64) -> Result<Step> {
        if left == 0 {
            self.state = State::Chunks;
            return Ok(Step::Again);
        }
        let within = usize::try_from(left).unwrap_or(usize::MAX);
        let len = self.item_len(form, within)?;
        let Some(len) = len else {
            if form == Form::Raw {
                // The file has become shorter while it was read.
                self.state = State::Residue;
                return Ok(Step::Again);
            }
            // Only a cut chunk ends inside of an item: the form was chosen because it fits.
            self.state = State::Items(Form::Raw, left);
            return self.item(Form::Raw, left);
        };
        let position = self.position();
        let bytes = self.window.bytes().get(..len).unwrap_or_default();
        self.checker.item(form, bytes, position)?;
        self.state = State::Items(form, left - len as u64);
        Ok(Step::Item { form, len })
    }

    /// The length of the item at the front, made available whole; `None` if it is not within its chunk.
    fn item_len(&mut self, form: Form, within: usize) -> Result<Option<usize>> {
        if form == Form::Raw {
            let available = self.window.fill(1)?.len();
            return Ok(Some(available.min(within)).filter(|len| *len > 0));
        }
        loop {
            let bytes = self.window.bytes();
            let bytes = bytes.get(..within.min(bytes.len())).unwrap_or_default();
            match item::measure(form, bytes) {
                Ok(len) => return Ok(Some(len)),
                Err(needed) if needed > within || self.grow(needed)? < needed => return Ok(None),
                Err(_) => {}
            }
        }
    }

    pub(super) fn token(&mut self) -> Result<Step> {
        let position = self.position();
        let Some(&tag) = self.window.fill(64)?.first() else { return self.end_of_part() };
        loop {
            let measured = parse::record(self.window.bytes(), NvLayout::COMMON).map(|(_, len)| len);
            match measured {
                Ok(len) => return Ok(Step::Token { len }),
                Err(parse::Stop::Need(needed)) => {
                    if self.grow(needed)? < needed {
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

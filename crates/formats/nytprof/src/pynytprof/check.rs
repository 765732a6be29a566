//! The documented rules.

use std::collections::{BTreeSet, HashSet};

use traceloom_core::{Finding, Findings, Position, Result, Rule};

use super::{
    findings::*,
    forms, item,
    newlines::Newlines,
    raw::{self, Form, Framing, Integers, Layout, Tag, TimeField},
    record::{Chunk, Process, Record},
};
use crate::{Dialect, Pair, check::leading_number, dialect::is_plausible, record::brief};

#[derive(Debug)]
pub(super) struct Checker {
    pub(super) findings: Findings,
    /// Maximum number of subs that are remembered; beyond it, their rules are not checked.
    max_entries: usize,
    names_producer: bool,
    attributes: HashSet<Vec<u8>>,
    options: HashSet<Vec<u8>>,
    chunks: Vec<Tag>,
    has_ended: bool,
    /// Whether the file ends too early, so that missing records may be after its end.
    is_cut: bool,
    sids: HashSet<u32>,
    called: BTreeSet<u32>,
    newlines: Newlines,
}

/// More attributes, or longer names, than anyone writes.
const MAX_KEYS: usize = 256;

impl Checker {
    pub(super) fn new(findings: Findings, source_bytes: u64) -> Self {
        Self {
            findings,
            max_entries: (256 << 10) + usize::try_from(source_bytes / 16).unwrap_or(usize::MAX / 2),
            names_producer: false,
            attributes: HashSet::new(),
            options: HashSet::new(),
            chunks: Vec::new(),
            has_ended: false,
            is_cut: false,
            sids: HashSet::new(),
            called: BTreeSet::new(),
            newlines: Newlines::default(),
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    pub(super) fn text(&mut self, line: &[u8], position: Position) -> Result<()> {
        let text = line.get(1..).unwrap_or_default().trim_ascii_end();
        match line.first() {
            Some(b'#') => self.names_producer |= text.windows(9).any(|word| word == b"Pynytprof"),
            Some(b'\n') => self.findings.report(Finding::new(&BLANK_LINE, position))?,
            Some(tag) => self.pair(*tag == b':', &Pair::split(text), position)?,
            None => {}
        }
        Ok(())
    }

    fn pair(&mut self, is_attribute: bool, pair: &Pair<'_>, position: Position) -> Result<()> {
        let Some(value) = pair.value else {
            let malformed = Finding::new(&LINE_MALFORMED, position).with("text", brief(pair.key));
            return self.findings.report(malformed);
        };
        let seen = if is_attribute { &mut self.attributes } else { &mut self.options };
        if seen.len() < MAX_KEYS && pair.key.len() < MAX_KEYS {
            seen.insert(pair.key.to_vec());
        }
        let odd = match (is_attribute, pair.key) {
            (true, b"ticks_per_sec") if leading_number(value) != raw::TICKS_PER_SEC => &TICKS_PER_SEC,
            (true, b"nv_size") if leading_number(value) != 8 => &NV_SIZE,
            _ => return Ok(()),
        };
        self.findings.report(Finding::new(odd, position).with("value", brief(value)))
    }

    pub(super) fn end_banner(&mut self, position: Position) -> Result<()> {
        for key in raw::ATTRIBUTES.into_iter().filter(|key| !self.attributes.contains(key.as_bytes())) {
            self.findings.report(Finding::new(&ATTRIBUTE_MISSING, position).with("key", key))?;
        }
        for key in ["subs", "evals"].into_iter().filter(|key| !self.options.contains(key.as_bytes())) {
            self.findings.report(Finding::new(&OPTION_MISSING, position).with("key", key))?;
        }
        if !self.names_producer {
            self.findings.report(Finding::new(&COMMENT_MISSING, position))?;
        }
        Ok(())
    }

    pub(super) fn no_process(&mut self, position: Position) -> Result<()> {
        self.findings.report(Finding::new(&PROCESS_MISSING, position))
    }

    pub(super) fn process(&mut self, process: &Process, position: Position) -> Result<()> {
        if process.has_length {
            self.findings.report(Finding::new(&PROCESS_LENGTH, position))?;
        }
        if process.time_field != TimeField::Last {
            let odd = Finding::new(&PROCESS_FIELDS, position).with("field", process.time_field.as_str());
            self.findings.report(odd)?;
        }
        if !is_plausible(process.time) {
            let odd = Finding::new(&PROCESS_TIME, position).with("time", format!("{:?}", process.time));
            self.findings.report(odd)?;
        }
        Ok(())
    }

    pub(super) fn chunk(&mut self, chunk: &Chunk, position: Position) -> Result<()> {
        let at = |rule: &'static Rule| Finding::new(rule, position).with("tag", chunk.tag.to_string());
        match chunk.tag {
            Tag::E if self.has_ended => self.findings.report(at(&END_REPEATED))?,
            Tag::E if chunk.length > 0 => self.findings.report(at(&END_NOT_EMPTY).with("length", chunk.length))?,
            Tag::A | Tag::B | Tag::F | Tag::H | Tag::P | Tag::T => self.findings.report(at(&CHUNK_FOREIGN))?,
            tag if self.chunks.contains(&tag) => self.findings.report(at(&CHUNK_REPEATED))?,
            _ => {}
        }
        let missing = match chunk.framing {
            Framing::Length => None,
            Framing::Tag => Some("length"),
            Framing::None => Some("tag and length"),
        };
        if let Some(missing) = missing {
            self.findings.report(at(&FRAMING).with("missing", missing))?;
        }
        self.form(chunk, position)?;
        let ranked = chunk.tag.rank();
        let before = self.chunks.iter().rev().find(|tag| tag.rank().is_some()).copied();
        if let (Some(rank), Some(before)) = (ranked, before)
            && before.rank() > Some(rank)
        {
            self.findings.report(at(&CHUNK_ORDER).with("before", before.to_string()))?;
        }
        if !self.chunks.contains(&chunk.tag) || before != Some(chunk.tag) {
            // Only what matters for the order is kept: a tag that follows another one again.
            self.chunks.retain(|tag| *tag != chunk.tag);
            self.chunks.push(chunk.tag);
        }
        self.has_ended |= chunk.tag == Tag::E;
        Ok(())
    }

    fn form(&mut self, chunk: &Chunk, position: Position) -> Result<()> {
        let tag = chunk.tag.to_string();
        match (chunk.tag, chunk.layout.form) {
            (Tag::S, Form::Lines) | (Tag::D, Form::Subs) | (Tag::C, Form::Edges)
                if chunk.layout.integers == Integers::Fixed =>
            {
                Ok(())
            }
            (Tag::S | Tag::D | Tag::C, Form::Raw) => {
                let odd = Finding::new(&CHUNK_LENGTH, position).with("tag", tag).with("length", chunk.length);
                self.findings.report(odd)
            }
            (Tag::S | Tag::D | Tag::C, _) => {
                let odd = Finding::new(&CHUNK_FORM, position).with("tag", tag);
                let odd = odd.with("form", chunk.layout.to_string());
                self.findings.report(odd)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn item(&mut self, layout: Layout, bytes: &[u8], position: Position) -> Result<()> {
        let record = item::decode(layout, bytes);
        self.newlines.item(bytes, &record);
        match record {
            Record::Sub(sub) => {
                if sub.flags != 0 {
                    let odd = Finding::new(&FLAGS, position).with("sid", sub.sid).with("flags", sub.flags);
                    self.findings.report(odd)?;
                }
                self.sub(sub.sid, sub.name, position)
            }
            Record::Range(sub) => self.sub(sub.sid, sub.name, position),
            Record::Edge(edge) if self.called.len() < self.max_entries => {
                self.called.extend([edge.caller_sid, edge.callee_sid]);
                Ok(())
            }
            Record::SiteCalls(calls) if self.called.len() < self.max_entries => {
                self.called.insert(calls.sid);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn sub(&mut self, sid: u32, name: &[u8], position: Position) -> Result<()> {
        if !forms::is_clean(name) {
            self.findings.report(Finding::new(&NAME, position).with("sid", sid))?;
        }
        if self.sids.len() < self.max_entries && !self.sids.insert(sid) {
            let again = Finding::new(&SUB_REPEATED, position).with("sid", sid);
            self.findings.report(again.with("name", brief(name)))?;
        }
        Ok(())
    }

    pub(super) fn truncated(&mut self, what: String, needed: u64, left: u64, position: Position) -> Result<()> {
        self.is_cut = true;
        let cut = Finding::new(&TRUNCATED, position).with("what", what);
        self.findings.report(cut.with("needed", needed).with("left", left))
    }

    pub(super) fn finish(&mut self, dialect: Dialect, position: Position) -> Result<()> {
        if self.sids.len() < self.max_entries {
            let unknown: Vec<u32> = self.called.iter().copied().filter(|sid| !self.sids.contains(sid)).collect();
            for sid in unknown {
                self.findings.report(Finding::new(&SUB_UNKNOWN, position).with("sid", sid))?;
            }
        }
        if let Some(bytes) = self.newlines.missing_in(self.is_cut) {
            self.findings.report(Finding::new(&NEWLINE_DAMAGE, position).with("bytes", bytes))?;
        }
        if dialect == Dialect::Tokens || self.is_cut {
            return Ok(());
        }
        for tag in [Tag::S, Tag::D, Tag::C].into_iter().filter(|tag| !self.chunks.contains(tag)) {
            self.findings.report(Finding::new(&CHUNK_MISSING, position).with("tag", tag.to_string()))?;
        }
        if !self.has_ended {
            self.findings.report(Finding::new(&END_MISSING, position))?;
        }
        Ok(())
    }
}

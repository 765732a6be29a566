//! Reads the metadata's JSON into tables, as a stream, and finds where the events start.

use traceloom_core::{
    Finding, Findings, Limits, Position, Result, Rule, Text, Window,
    json::{Fault, Parser, Token, is_space},
};

use super::{Names, Stacks};
use crate::{Frame, Header, Metadata, findings::*, raw::HEADER_BYTES};

/// Reads the metadata; returns the tables and the offset at which the events start.
///
/// The JSON determines its end. If the header's length disagrees, the JSON is believed: a single number is more easily
/// wrong than a text that closes every bracket.
pub(crate) fn read(
    window: &mut Window,
    header: &Header,
    limits: &Limits,
    findings: &mut Findings,
) -> Result<(Metadata, u64)> {
    let begin = header.stored_bytes as u64;
    let file_end = window.source().len()?;
    if header.stored_bytes < HEADER_BYTES {
        // The truncation is already reported, and nothing follows it.
        return Ok((Metadata::default(), begin));
    }
    if header.metadata_len == 0 {
        findings.report(Finding::new(&METADATA_ABSENT, Position::at(16).field("metadata_length")))?;
        return Ok((Metadata::default(), begin));
    }
    window.seek(begin);
    let json = Parser::new(&mut *window, limits.record_bytes).keep_surrogates();
    let mut parser = MetadataParser { json, tables: Metadata::default(), limits, findings };
    let outcome = parser.document();
    let json_end = parser.json.offset();
    if let Some(offset) = parser.json.not_utf8() {
        parser.report(&METADATA_INVALID, offset, |odd| odd.with("reason", "a string is not UTF-8"))?;
    }
    // Definitions that truncated JSON lacks may be in the part that cannot be read.
    parser.finish(outcome.is_ok())?;
    let tables = parser.tables;
    let declared_end = begin.saturating_add(header.metadata_len.into());
    let ends = Ends { begin, json_end, declared_end, file_end };
    let events = match outcome {
        Ok(()) => events_after(window, &ends, findings)?,
        Err(Fault::Fetch(error)) => return Err(error),
        Err(Fault::Syntax { offset, what: reason }) => {
            let bad = Finding::new(&METADATA_INVALID, Position::at(offset).field("metadata"));
            let left = file_end.saturating_sub(begin);
            // A truncation is one problem, not a broken text and a wrong length.
            let reason = if declared_end > file_end {
                format!("{reason}, and the file ends after {left} of its {} bytes", header.metadata_len)
            } else {
                reason.to_owned()
            };
            findings.report(bad.with("reason", reason))?;
            declared_end.min(file_end)
        }
    };
    Ok((tables, events))
}

/// Where the metadata starts, and where it may end.
struct Ends {
    begin: u64,
    json_end: u64,
    declared_end: u64,
    file_end: u64,
}

/// Where the events start after complete JSON.
fn events_after(window: &mut Window, ends: &Ends, findings: &mut Findings) -> Result<u64> {
    let &Ends { begin, json_end, declared_end, file_end } = ends;
    if json_end <= declared_end && declared_end <= file_end {
        match surplus(window, json_end, declared_end)? {
            Surplus::Space => return Ok(declared_end),
            Surplus::Zeros => {
                let odd = Finding::new(&METADATA_SURPLUS, Position::at(json_end).field("metadata"));
                findings.report(odd.with("bytes", declared_end - json_end))?;
                return Ok(declared_end);
            }
            Surplus::Other => {}
        }
    }
    let odd = Finding::new(&METADATA_LENGTH, Position::at(16).field("metadata_length"))
        .with("declared", declared_end - begin)
        .with("left", file_end.saturating_sub(begin))
        .with("found", json_end - begin);
    findings.report(odd)?;
    Ok(json_end)
}

/// What is between the end of the JSON and the end in the header.
enum Surplus {
    /// Space that a writer reserved.
    Space,
    /// The same, with zeros, which JSON does not allow.
    Zeros,
    Other,
}

fn surplus(window: &mut Window, from: u64, to: u64) -> Result<Surplus> {
    window.seek(from);
    let (mut space, mut zeros) = (true, true);
    let mut left = to - from;
    while left > 0 && (space || zeros) {
        let bytes = window.fill(1)?;
        let len = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        let bytes = bytes.get(..len).unwrap_or_default();
        space &= bytes.iter().all(|byte| is_space(*byte));
        zeros &= bytes.iter().all(|byte| *byte == 0);
        if len == 0 {
            break;
        }
        window.consume(len);
        left -= len as u64;
    }
    Ok(match (space, zeros) {
        (true, _) => Surplus::Space,
        (false, true) => Surplus::Zeros,
        (false, false) => Surplus::Other,
    })
}

struct MetadataParser<'a> {
    json: Parser<&'a mut Window>,
    tables: Metadata,
    limits: &'a Limits,
    findings: &'a mut Findings,
}

/// The documented sections.
const SECTIONS: [&str; 3] = ["stack_traces", "files", "functions"];

impl MetadataParser<'_> {
    fn document(&mut self) -> Result<(), Fault> {
        let offset = self.json.offset();
        let token = self.json.next()?;
        if token == Token::End {
            return Err(self.json.fault("the text ends before it starts"));
        }
        if token != Token::ObjectStart {
            self.report(&METADATA_NOT_OBJECT, offset, |odd| odd.with("found", token.noun()))?;
            return self.json.skip(token);
        }
        let mut seen = [false; SECTIONS.len()];
        while self.json.next()? == Token::Key {
            let section = SECTIONS.iter().position(|section| section.as_bytes() == self.json.text());
            match section {
                Some(section) => {
                    self.note_twice(section, &mut seen)?;
                    self.section(section)?;
                }
                None => self.unknown_key()?,
            }
        }
        Ok(())
    }

    /// A repeated section replaces the first, as it does in Python.
    fn note_twice(&mut self, section: usize, seen: &mut [bool; SECTIONS.len()]) -> Result<(), Fault> {
        let Some(seen) = seen.get_mut(section) else { return Ok(()) };
        if std::mem::replace(seen, true) {
            let name = SECTIONS.get(section).copied().unwrap_or_default();
            self.report(&METADATA_DUPLICATE, self.json.offset(), |odd| odd.with("what", format!("the key {name}")))?;
            match section {
                0 => self.tables.stacks = Stacks::default(),
                1 => self.tables.files = Names::default(),
                _ => self.tables.functions = Names::default(),
            }
        }
        Ok(())
    }

    fn unknown_key(&mut self) -> Result<(), Fault> {
        let (key, offset) = (self.json.text().to_vec(), self.json.offset());
        self.report(&METADATA_KEY, offset, |odd| odd.with("key", shown(&key)))?;
        let token = self.json.next()?;
        self.json.skip(token)?;
        Ok(self.tables.push_other(&key, offset..self.json.offset())?)
    }

    fn section(&mut self, section: usize) -> Result<(), Fault> {
        let name = SECTIONS.get(section).copied().unwrap_or_default();
        if !self.expect(Token::ObjectStart, || name.to_owned())? {
            return Ok(());
        }
        while self.json.next()? == Token::Key {
            let offset = self.json.offset();
            match parse_id(self.json.text()) {
                Some(id) if section == 0 => self.stack(id)?,
                Some(id) => self.name(section, id)?,
                None => {
                    let key = shown(self.json.text());
                    self.report(&METADATA_ID, offset, |odd| odd.with("id", key).with("section", name))?;
                    let token = self.json.next()?;
                    self.json.skip(token)?;
                }
            }
        }
        Ok(())
    }

    fn name(&mut self, section: usize, id: u64) -> Result<(), Fault> {
        let is_file = section == 1;
        let place = || format!("{} {id}", if is_file { "file" } else { "function" });
        if !self.expect(Token::String, place)? {
            return Ok(());
        }
        let names = if is_file { &mut self.tables.files } else { &mut self.tables.functions };
        Ok(names.push(id, self.json.text(), self.limits)?)
    }

    fn stack(&mut self, id: u64) -> Result<(), Fault> {
        if !self.expect(Token::ArrayStart, || format!("stack {id}"))? {
            return Ok(());
        }
        for index in 0u64.. {
            let offset = self.json.offset();
            match self.json.next()? {
                Token::ArrayEnd => break,
                Token::ObjectStart => self.frame(id, index)?,
                token => {
                    self.report_shape(offset, || format!("frame {index} of stack {id}"), token, Token::ObjectStart)?;
                    self.json.skip(token)?;
                    self.tables.stacks.push_frame(Frame::default(), self.limits)?;
                }
            }
        }
        Ok(self.tables.stacks.push(id, self.limits)?)
    }

    fn frame(&mut self, stack: u64, index: u64) -> Result<(), Fault> {
        let offset = self.json.offset();
        let mut fields = [("file_id", None), ("line", None), ("func_id", None)];
        while self.json.next()? == Token::Key {
            let place = fields.iter().position(|(name, _)| name.as_bytes() == self.json.text());
            if place.is_none() {
                let key = format!("{} in a frame", shown(self.json.text()));
                self.report(&METADATA_KEY, offset, |odd| odd.with("key", key))?;
            }
            let token = self.json.next()?;
            let number = (token == Token::Number).then(|| parse_id(self.json.text())).flatten();
            self.json.skip(token)?;
            if let Some((_, value)) = place.and_then(|place| fields.get_mut(place)) {
                *value = number;
            }
        }
        for (field, _) in fields.iter().filter(|(_, value)| value.is_none()) {
            let odd = |odd: Finding| odd.with("frame", index).with("stack", stack).with("field", *field);
            self.report(&FRAME_FIELD, offset, odd)?;
        }
        let [(_, file), (_, line), (_, function)] = fields;
        Ok(self.tables.stacks.push_frame(Frame { file, line, function }, self.limits)?)
    }

    /// Consumes the first token of a value; a value of another kind is reported and skipped.
    fn expect(&mut self, expected: Token, place: impl FnOnce() -> String) -> Result<bool, Fault> {
        let offset = self.json.offset();
        let token = self.json.next()?;
        if token == expected {
            return Ok(true);
        }
        self.report_shape(offset, place, token, expected)?;
        self.json.skip(token)?;
        Ok(false)
    }

    fn report_shape(
        &mut self,
        offset: u64,
        place: impl FnOnce() -> String,
        found: Token,
        expected: Token,
    ) -> Result<()> {
        let odd =
            |odd: Finding| odd.with("where", place()).with("found", found.noun()).with("expected", expected.noun());
        self.report(&METADATA_SHAPE, offset, odd)
    }

    /// Rules across entries: duplicate ids, dangling frames.
    fn finish(&mut self, is_whole: bool) -> Result<()> {
        let offset = HEADER_BYTES as u64;
        for (what, ids) in self.tables.finish()? {
            for id in ids {
                self.report(&METADATA_DUPLICATE, offset, |odd| odd.with("what", format!("{what} {id}")))?;
            }
        }
        let (files, functions) = (&self.tables.files.ids, &self.tables.functions.ids);
        let missing = |frame: &Frame| {
            let file = frame.file.filter(|id| files.row(*id).is_none()).map(|id| ("file", id));
            file.or_else(|| frame.function.filter(|id| functions.row(*id).is_none()).map(|id| ("function", id)))
        };
        if !is_whole || !self.tables.stacks.frames().any(|frame| missing(&frame).is_some()) {
            return Ok(());
        }
        for (stack, frames) in self.tables.stacks() {
            for (index, frame) in frames.enumerate() {
                if let Some((what, id)) = missing(&frame) {
                    let odd = Finding::new(&FRAME_MISSING, Position::at(offset).field("stack_traces"));
                    let odd = odd.with("frame", index).with("stack", stack).with("what", what).with("id", id);
                    self.findings.report(odd)?;
                }
            }
        }
        Ok(())
    }

    fn report(&mut self, rule: &'static Rule, offset: u64, with: impl FnOnce(Finding) -> Finding) -> Result<()> {
        self.findings.report(with(Finding::new(rule, Position::at(offset).field("metadata"))))
    }
}

/// Digits only, without leading zeros: `"07"` and `"7"` are different keys to the producer.
fn parse_id(text: &[u8]) -> Option<u64> {
    let is_plain = matches!(text, [b'0'] | [b'1'..=b'9', ..]) && text.iter().all(u8::is_ascii_digit);
    is_plain.then(|| std::str::from_utf8(text).ok()?.parse().ok()).flatten()
}

/// Text for a message, shortened.
fn shown(text: &[u8]) -> String {
    Text(text.get(..80).unwrap_or(text)).to_string()
}

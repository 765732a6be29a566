//! Converts each chunk of text to the equivalent chunk of bytes.

use traceloom_core::{
    Error, Finding, Position, Result, Text, Window,
    json::{Fault, Parser, Token},
};

use super::{
    Context, Image,
    base64::from_base64,
    document::{Document, Within},
};
use crate::{
    FileInfo, StringTable,
    file_info::is_truthy,
    findings::{CHUNK_UNKNOWN, JSON_BASE64, JSON_EVENTS, JSON_LENGTH, PART_UNKNOWN},
    probe::read_span,
    raw::{ChunkType, NO_TIME, PartType},
    write,
};

/// A part as stored in a binary chunk.
type StoredPart = (PartType, Vec<u8>);

/// A chunk as written in the text.
#[derive(Debug, Default)]
struct ChunkDraft {
    id: u32,
    kind: Option<Vec<u8>>,
    start: u32,
    end: u32,
    has_parts: bool,
    parts: Vec<PartDraft>,
}

/// A part as written in the text.
#[derive(Debug, Default)]
struct PartDraft {
    kind: Option<Vec<u8>>,
    span: (u64, u64),
    value: Draft,
    is_base64: bool,
    byte_length: Option<f64>,
    events: Option<(u64, u64)>,
}

#[derive(Debug, Default)]
enum Draft {
    #[default]
    Missing,
    Text(Vec<u8>),
    Strings(Strings),
}

#[derive(Debug, Default)]
struct Strings {
    bytes: Vec<u8>,
    count: u32,
    /// Strings that contain a NUL.
    odd: Vec<(u32, Vec<u8>)>,
}

impl Document {
    pub(super) fn next_chunk(&mut self, context: &mut Context<'_>) -> Result<Option<Image>, Fault> {
        match self.parser.next()? {
            Token::ObjectStart => {
                let place = self.parser.token_start();
                let draft = self.read_chunk(context)?;
                let mut image = self.chunk_image(draft, place, context)?;
                image.place = place;
                image.text_end = self.parser.offset();
                Ok(Some(image))
            }
            Token::ArrayEnd => {
                self.within = Within::Root;
                Ok(None)
            }
            token => {
                self.shape("a chunk is not an object", context)?;
                self.parser.skip(token)?;
                Ok(None)
            }
        }
    }

    fn read_chunk(&mut self, context: &mut Context<'_>) -> Result<ChunkDraft, Fault> {
        let mut draft = ChunkDraft { start: NO_TIME, end: NO_TIME, ..ChunkDraft::default() };
        while self.parser.next()? == Token::Key {
            let key = self.parser.text().to_vec();
            let value = self.parser.next()?;
            match (key.as_slice(), value) {
                (b"id", Token::Number) => draft.id = self.number() as i64 as u32,
                (b"startTime", Token::Number) => draft.start = self.number() as i64 as u32,
                (b"endTime", Token::Number) => draft.end = self.number() as i64 as u32,
                (b"type", Token::String) => draft.kind = Some(self.parser.text().to_vec()),
                (b"type", value) if is_truthy(value, self.parser.text()) => {
                    // To WTF, a missing word is an unknown word.
                    draft.kind = Some(b"?".to_vec());
                    self.parser.skip(value)?;
                }
                (b"parts", Token::ArrayStart) => {
                    draft.has_parts = true;
                    self.read_parts(&mut draft.parts, context)?;
                }
                (_, value) => self.parser.skip(value)?,
            }
        }
        Ok(draft)
    }

    fn read_parts(&mut self, parts: &mut Vec<PartDraft>, context: &mut Context<'_>) -> Result<(), Fault> {
        loop {
            match self.parser.next()? {
                Token::ArrayEnd => return Ok(()),
                Token::ObjectStart => {
                    let start = self.parser.token_start();
                    let mut part = self.read_part()?;
                    part.span = (start, self.parser.offset());
                    self.limits.check_entries("parts", parts.len() as u64 + 1)?;
                    parts.push(part);
                }
                token => {
                    self.shape("a part is not an object", context)?;
                    self.parser.skip(token)?;
                }
            }
        }
    }

    fn read_part(&mut self) -> Result<PartDraft, Fault> {
        let mut part = PartDraft::default();
        while self.parser.next()? == Token::Key {
            let key = self.parser.text().to_vec();
            let value = self.parser.next()?;
            match (key.as_slice(), value) {
                (b"type", Token::String) => part.kind = Some(self.parser.text().to_vec()),
                (b"mode", Token::String) => part.is_base64 = self.parser.text() == b"base64",
                (b"byteLength", Token::Number) => part.byte_length = Some(self.number()),
                (b"value", Token::String) => part.value = Draft::Text(self.parser.text().to_vec()),
                (b"value", Token::ArrayStart) => part.value = Draft::Strings(self.read_strings()?),
                (b"events", Token::ArrayStart) => {
                    let start = self.parser.token_start();
                    self.parser.skip(value)?;
                    part.events = Some((start, self.parser.offset()));
                }
                (_, value) => self.parser.skip(value)?,
            }
        }
        Ok(part)
    }

    fn read_strings(&mut self) -> Result<Strings, Fault> {
        let mut strings = Strings::default();
        loop {
            let token = self.parser.next()?;
            if token == Token::ArrayEnd {
                return Ok(strings);
            }
            self.parser.skip(token)?;
            let text = if token == Token::String { self.parser.text() } else { &[] };
            if strings.bytes.len() + text.len() >= self.limits.record_bytes {
                let most = self.limits.record_bytes as u64;
                return Err(Error::limit("bytes in one string table", most + 1, most).into());
            }
            if text.contains(&0) {
                strings.odd.push((strings.count, text.to_vec()));
                strings.bytes.push(b'?');
            } else {
                strings.bytes.extend_from_slice(text);
            }
            strings.bytes.push(0);
            strings.count += 1;
        }
    }

    /// Encodes the chunk.
    fn chunk_image(&mut self, draft: ChunkDraft, place: u64, context: &mut Context<'_>) -> Result<Image, Fault> {
        let Some(kind) = draft.kind.as_deref().filter(|kind| !kind.is_empty()) else {
            self.shape("a chunk has no type", context)?;
            return Ok(Image::default());
        };
        if !draft.has_parts {
            self.shape("a chunk has no parts", context)?;
        }
        let Some(chunk_type) = ChunkType::from_name(kind) else {
            let odd = Finding::new(&CHUNK_UNKNOWN, Position::at(place));
            context.findings.report(odd.with("type", Text(kind).to_string()))?;
            return Ok(Image::default());
        };
        let mut image = Image::default();
        let mut parts = Vec::new();
        for part in draft.parts {
            let Some(kind) = part.kind.as_deref().filter(|kind| !kind.is_empty()) else {
                self.shape("a part has no type", context)?;
                continue;
            };
            let Some(kind) = PartType::from_name(kind) else {
                let odd = Finding::new(&PART_UNKNOWN, Position::at(part.span.0));
                context.findings.report(odd.with("type", Text(kind).to_string()))?;
                continue;
            };
            parts.extend(self.part_bytes(kind, part, &mut image, context)?);
        }
        let parts: Vec<(PartType, &[u8])> = parts.iter().map(|(kind, bytes)| (*kind, bytes.as_slice())).collect();
        image.chunk = Some(write::chunk(draft.id, chunk_type, (draft.start, draft.end), &parts)?);
        Ok(image)
    }

    /// The bytes of a part; events in JSON become two parts.
    fn part_bytes(
        &mut self,
        kind: PartType,
        part: PartDraft,
        image: &mut Image,
        context: &mut Context<'_>,
    ) -> Result<Vec<StoredPart>, Fault> {
        let bytes = match (kind, part.value) {
            (PartType::FILE_HEADER, _) => {
                let text = read_span(&self.source, part.span.0, part.span.1, &self.limits)?;
                self.info.get_or_insert_with(|| FileInfo::parse(&text).0);
                text
            }
            (PartType::JSON_EVENT_BUFFER, _) => {
                return self.json_events(part.events, image, context);
            }
            (PartType::STRING_TABLE, Draft::Strings(strings)) => {
                if !strings.odd.is_empty() {
                    let mut table = StringTable::from_bytes(strings.bytes.clone())?;
                    strings.odd.iter().for_each(|(ordinal, text)| table.replace(*ordinal, text));
                    image.strings = Some(table);
                }
                strings.bytes
            }
            (PartType::STRING_RESOURCE, Draft::Text(text)) => text,
            (PartType::STRING_TABLE | PartType::STRING_RESOURCE, _) => {
                self.shape("a part has no value, or one of the wrong type", context)?;
                return Ok(Vec::new());
            }
            (_, Draft::Text(text)) if part.is_base64 => match from_base64(&text) {
                Some(bytes) => {
                    self.check_length(part.byte_length, bytes.len(), part.span.0, context)?;
                    bytes
                }
                None => {
                    let odd = Finding::new(&JSON_BASE64, Position::at(part.span.0));
                    context.findings.report(odd.with("type", kind.to_string()))?;
                    return Ok(Vec::new());
                }
            },
            _ => {
                self.shape("a part has no value in base64", context)?;
                return Ok(Vec::new());
            }
        };
        Ok(vec![(kind, bytes)])
    }

    /// Reads a list of events in a part, with the strings that it needs.
    fn json_events(
        &mut self,
        span: Option<(u64, u64)>,
        image: &mut Image,
        context: &mut Context<'_>,
    ) -> Result<Vec<StoredPart>, Fault> {
        // A part without a list has no events.
        let Some((start, _)) = span else { return Ok(vec![(PartType::BINARY_EVENT_BUFFER, Vec::new())]) };
        context.findings.report(Finding::new(&JSON_EVENTS, Position::at(start)))?;
        let mut window = Window::new(self.source.clone(), &self.limits);
        window.seek(start);
        let mut parser = Parser::new(window, self.limits.record_bytes);
        parser.next()?;
        self.buffer.clear();
        loop {
            match parser.next()? {
                Token::ObjectStart => self.script.item(&mut parser, &mut self.buffer, context)?,
                Token::ArrayEnd | Token::End => break,
                token => parser.skip(token)?,
            }
            if self.buffer.events.len() > self.limits.record_bytes {
                let most = self.limits.record_bytes as u64;
                return Err(Error::limit("bytes of events in one list", most + 1, most).into());
            }
        }
        image.strings = None;
        image.is_wide = true;
        let strings = std::mem::take(&mut self.buffer.strings);
        let events = std::mem::take(&mut self.buffer.events);
        self.buffer.clear();
        Ok(vec![(PartType::STRING_TABLE, strings), (PartType::BINARY_EVENT_BUFFER, events)])
    }

    /// WTF reserves `byteLength` bytes, whatever the text holds.
    fn check_length(&self, declared: Option<f64>, found: usize, place: u64, context: &mut Context<'_>) -> Result<()> {
        if declared == Some(found as f64) {
            return Ok(());
        }
        let declared = declared.map_or_else(|| "missing".to_owned(), |declared| declared.to_string());
        let odd = Finding::new(&JSON_LENGTH, Position::at(place)).with("declared", declared);
        context.findings.report(odd.with("found", found))
    }
}

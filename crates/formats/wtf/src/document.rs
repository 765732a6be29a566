//! The JSON container: turns each chunk of text into the chunk of bytes that it stands for.

use traceloom_core::{
    Error, Finding, Findings, Limits, Mode, Options, Position, Result, Source, Window,
    json::{Fault, Parser, Token},
};

use crate::{
    Container, EventTypes, FileInfo, Header, StringTable,
    base64::from_base64,
    encode::{self, EventBuffer},
    file_info::is_truthy,
    findings::*,
    probe::{packed_header, read_span},
    raw::{ChunkType, FORMAT_VERSION, NO_TIME, PartType, SCRIPT_VERSION, WTF_VERSION},
    script::Script,
};

/// Text, and the chunk that was decoded from it.
#[derive(Debug, Default)]
pub(crate) struct Image {
    /// The text reaches to here.
    pub(crate) text_end: u64,
    /// Where the chunk stands in the text.
    pub(crate) place: u64,
    /// The chunk as bytes.
    pub(crate) chunk: Option<Vec<u8>>,
    /// Its strings, where bytes cannot hold them.
    pub(crate) strings: Option<StringTable>,
    /// Its events were made here, and their definitions may count beyond 16 bits.
    pub(crate) is_wide: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Place {
    /// Between documents.
    Outside,
    /// In a document, before a key.
    Root,
    /// In the list of chunks.
    Chunks,
    /// In a version 2 event list; whether an object stands around it.
    Events {
        wrapped: bool,
    },
    Done,
}

/// Reads one JSON file, chunk by chunk.
#[derive(Debug)]
pub(crate) struct Document {
    source: Source,
    limits: Limits,
    parser: Parser<Window>,
    place: Place,
    documents: u32,
    wtf_version: Option<f64>,
    format_version: Option<f64>,
    /// The writer's version is spelled as the original reads it.
    has_real_version: bool,
    info: Option<FileInfo>,
    script: Script,
    is_script: bool,
    buffer: EventBuffer,
}

/// How many chunks are looked at to find the file header; it is the first in every real file.
const CHUNKS_SEARCHED: usize = 16;
/// Event bytes that make a chunk out of a part of an event list.
const BATCH_BYTES: usize = 64 << 10;

impl Document {
    pub(crate) fn new(source: &Source, limits: &Limits) -> Self {
        Self {
            source: source.clone(),
            limits: limits.clone(),
            parser: Parser::new(Window::new(source.clone(), limits), limits.record_bytes),
            place: Place::Outside,
            documents: 0,
            wtf_version: None,
            format_version: None,
            has_real_version: false,
            info: None,
            script: Script::new(source, limits),
            is_script: false,
            buffer: EventBuffer::default(),
        }
    }

    /// Reads ahead as far as the header needs; findings are made again by the reader.
    pub(crate) fn header(source: &Source, options: &Options) -> Result<Header> {
        let mut findings = Findings::new(Mode::Lenient, &options.limits);
        let types = EventTypes::new(&options.limits);
        let mut document = Self::new(source, &options.limits);
        for _ in 0..CHUNKS_SEARCHED {
            if document.next(&mut findings, &types)?.is_none() || document.info.is_some() {
                break;
            }
        }
        let container = match (document.is_script, document.documents) {
            (true, _) => Container::Script,
            (false, 0 | 1) => Container::Json,
            (false, _) => Container::JsonPartial,
        };
        let mut info = document.info.unwrap_or_default();
        if document.is_script {
            info = document.script.info();
        }
        let default = if document.is_script { SCRIPT_VERSION } else { FORMAT_VERSION };
        let format_version = document.format_version.map_or(default, |version| version as u32);
        let mut header = packed_header(container, format_version, info, Vec::new());
        header.wtf_version = document.wtf_version.map_or(0, |version| version as u64);
        Ok(header)
    }

    /// The next stretch of text with what it stands for.
    pub(crate) fn next(&mut self, findings: &mut Findings, types: &EventTypes) -> Result<Option<Image>> {
        match self.advance(findings, types) {
            Ok(image) => Ok(image),
            Err(Fault::Fetch(error)) => Err(error),
            Err(Fault::Syntax { offset, what }) => {
                self.place = Place::Done;
                findings.report(Finding::new(&JSON_SYNTAX, Position::at(offset)).with("what", what))?;
                let rest = Image { text_end: self.source.len()?, ..Image::default() };
                Ok(Some(self.flush_script(rest)?))
            }
        }
    }

    fn advance(&mut self, findings: &mut Findings, types: &EventTypes) -> Result<Option<Image>, Fault> {
        loop {
            match self.place {
                Place::Outside => {
                    if let Some(end) = self.enter_document(findings)? {
                        return Ok(Some(end));
                    }
                }
                Place::Root => self.enter_member(findings)?,
                Place::Chunks => {
                    if let Some(image) = self.next_chunk(findings, types)? {
                        return Ok(Some(image));
                    }
                }
                Place::Events { wrapped } => return self.next_batch(wrapped, findings, types).map(Some),
                Place::Done => return Ok(None),
            }
        }
    }

    fn enter_document(&mut self, findings: &mut Findings) -> Result<Option<Image>, Fault> {
        match self.parser.next()? {
            Token::End => {
                self.place = Place::Done;
                return Ok(Some(Image { text_end: self.parser.offset(), ..Image::default() }));
            }
            Token::ObjectStart => {
                self.place = Place::Root;
                self.documents += 1;
                if self.documents == 2 {
                    findings.report(Finding::new(&JSON_PARTIAL, Position::at(self.parser.token_start())))?;
                }
            }
            Token::ArrayStart => self.enter_script(false, findings)?,
            token => {
                self.shape("a document is neither an object nor a list", findings)?;
                self.parser.skip(token)?;
            }
        }
        Ok(None)
    }

    fn enter_script(&mut self, wrapped: bool, findings: &mut Findings) -> Result<(), Fault> {
        self.is_script = true;
        self.place = Place::Events { wrapped };
        self.parser.relax();
        findings.report(Finding::new(&SCRIPT, Position::at(self.parser.token_start())))?;
        Ok(())
    }

    fn enter_member(&mut self, findings: &mut Findings) -> Result<(), Fault> {
        if self.parser.next()? == Token::ObjectEnd {
            self.place = Place::Outside;
            if self.has_real_version && self.format_version.is_none() {
                self.shape("there is a writer's version and no formatVersion", findings)?;
            }
            return Ok(());
        }
        let (key, at) = (self.parser.text().to_vec(), self.parser.token_start());
        let value = self.parser.next()?;
        match (key.as_slice(), value) {
            (b"chunks", Token::ArrayStart) => self.place = Place::Chunks,
            (b"events", Token::ArrayStart) => self.enter_script(true, findings)?,
            (b"wtfVersion" | b"wtf_version", Token::Number) => {
                let version = self.number();
                self.wtf_version = Some(version);
                self.has_real_version = key == b"wtfVersion" && version != 0.0;
                if key == b"wtf_version" {
                    findings.report(Finding::new(&JSON_KEYS, Position::at(at)))?;
                } else if version > WTF_VERSION as f64 {
                    findings.report(Finding::new(&NEWER_WRITER, Position::at(at)).with("version", version as u64))?;
                }
            }
            (b"formatVersion" | b"format_version", Token::Number) => {
                let version = self.number();
                self.format_version = Some(version);
                if key == b"formatVersion" && version != f64::from(FORMAT_VERSION) {
                    let message = format!("the chunked format has version {version}, only {FORMAT_VERSION} is known");
                    return Err(Error::unrecognized(message).at(Position::at(at).field("formatVersion")).into());
                }
            }
            (_, value) => self.parser.skip(value)?,
        }
        Ok(())
    }

    fn next_chunk(&mut self, findings: &mut Findings, types: &EventTypes) -> Result<Option<Image>, Fault> {
        match self.parser.next()? {
            Token::ObjectStart => {
                let place = self.parser.token_start();
                let draft = self.read_chunk(findings)?;
                let mut image = self.chunk_image(draft, place, findings, types)?;
                image.place = place;
                image.text_end = self.parser.offset();
                Ok(Some(image))
            }
            Token::ArrayEnd => {
                self.place = Place::Root;
                Ok(None)
            }
            token => {
                self.shape("a chunk is no object", findings)?;
                self.parser.skip(token)?;
                Ok(None)
            }
        }
    }

    fn read_chunk(&mut self, findings: &mut Findings) -> Result<ChunkDraft, Fault> {
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
                    // No word at all is an unknown word to the original.
                    draft.kind = Some(b"?".to_vec());
                    self.parser.skip(value)?;
                }
                (b"parts", Token::ArrayStart) => {
                    draft.has_parts = true;
                    self.read_parts(&mut draft.parts, findings)?;
                }
                (_, value) => self.parser.skip(value)?,
            }
        }
        Ok(draft)
    }

    fn read_parts(&mut self, parts: &mut Vec<PartDraft>, findings: &mut Findings) -> Result<(), Fault> {
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
                    self.shape("a part is no object", findings)?;
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

    /// Lays the chunk out in bytes.
    fn chunk_image(
        &mut self,
        draft: ChunkDraft,
        place: u64,
        findings: &mut Findings,
        types: &EventTypes,
    ) -> Result<Image, Fault> {
        let Some(kind) = draft.kind.as_deref().filter(|kind| !kind.is_empty()) else {
            self.shape("a chunk has no type", findings)?;
            return Ok(Image::default());
        };
        if !draft.has_parts {
            self.shape("a chunk has no parts", findings)?;
        }
        let Some(chunk_type) = ChunkType::from_name(kind) else {
            let odd = Finding::new(&CHUNK_UNKNOWN, Position::at(place));
            findings.report(odd.with("type", traceloom_core::Text(kind).to_string()))?;
            return Ok(Image::default());
        };
        let mut image = Image::default();
        let mut parts = Vec::new();
        for part in draft.parts {
            let Some(kind) = part.kind.as_deref().filter(|kind| !kind.is_empty()) else {
                self.shape("a part has no type", findings)?;
                continue;
            };
            let Some(kind) = PartType::from_name(kind) else {
                let odd = Finding::new(&PART_UNKNOWN, Position::at(part.span.0));
                findings.report(odd.with("type", traceloom_core::Text(kind).to_string()))?;
                continue;
            };
            parts.extend(self.part_bytes(kind, part, &mut image, findings, types)?);
        }
        let parts: Vec<(PartType, &[u8])> = parts.iter().map(|(kind, bytes)| (*kind, bytes.as_slice())).collect();
        image.chunk = Some(encode::chunk(draft.id, chunk_type, (draft.start, draft.end), &parts)?);
        Ok(image)
    }

    /// The bytes that a part stands for; events in JSON make two parts.
    fn part_bytes(
        &mut self,
        kind: PartType,
        part: PartDraft,
        image: &mut Image,
        findings: &mut Findings,
        types: &EventTypes,
    ) -> Result<Vec<StoredPart>, Fault> {
        let bytes = match (kind, part.value) {
            (PartType::FILE_HEADER, _) => {
                let text = read_span(&self.source, part.span.0, part.span.1, &self.limits)?;
                self.info.get_or_insert_with(|| FileInfo::parse(&text).0);
                text
            }
            (PartType::JSON_EVENT_BUFFER, _) => {
                return self.json_events(part.events, image, findings, types);
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
                self.shape("a part has no value, or one of the wrong type", findings)?;
                return Ok(Vec::new());
            }
            (_, Draft::Text(text)) if part.is_base64 => match from_base64(&text) {
                Some(bytes) => {
                    self.check_length(part.byte_length, bytes.len(), part.span.0, findings)?;
                    bytes
                }
                None => {
                    let odd = Finding::new(&JSON_BASE64, Position::at(part.span.0));
                    findings.report(odd.with("type", kind.to_string()))?;
                    return Ok(Vec::new());
                }
            },
            _ => {
                self.shape("a part has no value in base64", findings)?;
                return Ok(Vec::new());
            }
        };
        Ok(vec![(kind, bytes)])
    }

    /// Reads a list of events that stands in a part, with the strings that it needs.
    fn json_events(
        &mut self,
        span: Option<(u64, u64)>,
        image: &mut Image,
        findings: &mut Findings,
        types: &EventTypes,
    ) -> Result<Vec<StoredPart>, Fault> {
        // A part without a list has no events.
        let Some((start, _)) = span else { return Ok(vec![(PartType::BINARY_EVENT_BUFFER, Vec::new())]) };
        findings.report(Finding::new(&JSON_EVENTS, Position::at(start)))?;
        let mut window = Window::new(self.source.clone(), &self.limits);
        window.seek(start);
        let mut parser = Parser::new(window, self.limits.record_bytes);
        parser.next()?;
        self.buffer.clear();
        loop {
            match parser.next()? {
                Token::ObjectStart => self.script.entry(&mut parser, &mut self.buffer, findings, types)?,
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

    fn next_batch(&mut self, wrapped: bool, findings: &mut Findings, types: &EventTypes) -> Result<Image, Fault> {
        let place = self.parser.offset();
        while self.buffer.events.len() < BATCH_BYTES {
            match self.parser.next()? {
                Token::ObjectStart => self.script.entry(&mut self.parser, &mut self.buffer, findings, types)?,
                Token::ArrayEnd => {
                    self.place = if wrapped { Place::Root } else { Place::Outside };
                    if self.parser.was_relaxed() {
                        findings.report(Finding::new(&SCRIPT_RELAXED, Position::at(self.parser.offset())))?;
                    }
                    break;
                }
                token => {
                    self.script.unusable("it is no object", self.parser.token_start(), findings)?;
                    self.parser.skip(token)?;
                }
            }
        }
        Ok(self.flush_script(Image { text_end: self.parser.offset(), place, ..Image::default() })?)
    }

    fn flush_script(&mut self, mut image: Image) -> Result<Image> {
        if !self.buffer.is_empty() {
            image.chunk = Some(self.buffer.to_chunk(0, (NO_TIME, NO_TIME))?);
            image.is_wide = true;
            self.buffer.clear();
        }
        Ok(image)
    }

    /// The original makes room for `byteLength` bytes, whatever the text holds.
    fn check_length(&self, declared: Option<f64>, found: usize, place: u64, findings: &mut Findings) -> Result<()> {
        if declared == Some(found as f64) {
            return Ok(());
        }
        let declared = declared.map_or_else(|| "missing".to_owned(), |declared| declared.to_string());
        let odd = Finding::new(&JSON_LENGTH, Position::at(place)).with("declared", declared);
        findings.report(odd.with("found", found))
    }

    fn number(&self) -> f64 {
        std::str::from_utf8(self.parser.text()).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0)
    }

    fn shape(&self, what: &'static str, findings: &mut Findings) -> Result<()> {
        findings.report(Finding::new(&JSON_SHAPE, Position::at(self.parser.token_start())).with("what", what))
    }
}

/// A part as it would be stored in a binary chunk.
type StoredPart = (PartType, Vec<u8>);

#[derive(Debug, Default)]
struct ChunkDraft {
    id: u32,
    kind: Option<Vec<u8>>,
    start: u32,
    end: u32,
    has_parts: bool,
    parts: Vec<PartDraft>,
}

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
    /// Strings that hold a NUL.
    odd: Vec<(u32, Vec<u8>)>,
}

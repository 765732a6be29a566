//! The JSON container: documents, versions, and the chunks or events in them.

use traceloom_core::{
    Error, Finding, Findings, Limits, Mode, Options, Position, Result, Source, Window,
    json::{Fault, Parser, Token},
};

use super::{Context, Image, script::Script};
use crate::{
    Container, EventTypes, FileInfo, Header,
    findings::{JSON_KEYS, JSON_PARTIAL, JSON_SHAPE, JSON_SYNTAX, NEWER_WRITER, SCRIPT, SCRIPT_RELAXED},
    probe::packed_header,
    raw::{FORMAT_VERSION, NO_TIME, SCRIPT_VERSION, WTF_VERSION},
    write::EventBuffer,
};

/// The parser's position in the text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Within {
    /// Between documents.
    Outside,
    /// In a document, before a key.
    Root,
    /// In the list of chunks.
    Chunks,
    /// In a version 2 event list; whether it is inside an object.
    Events {
        wrapped: bool,
    },
    Done,
}

/// Reads one JSON file, chunk by chunk.
#[derive(Debug)]
pub(crate) struct Document {
    pub(super) source: Source,
    pub(super) limits: Limits,
    pub(super) parser: Parser<Window>,
    pub(super) within: Within,
    documents: u32,
    wtf_version: Option<f64>,
    format_version: Option<f64>,
    /// Whether the writer's version is spelled as WTF reads it.
    has_real_version: bool,
    pub(super) info: Option<FileInfo>,
    pub(super) script: Script,
    is_script: bool,
    pub(super) buffer: EventBuffer,
}

/// Maximum number of chunks that are searched for the file header; it is the first in every real file.
const CHUNKS_SEARCHED: usize = 16;
/// Number of event bytes after which a part of an event list becomes a chunk.
const BATCH_BYTES: usize = 64 << 10;

impl Document {
    pub(crate) fn new(source: &Source, limits: &Limits) -> Self {
        Self {
            source: source.clone(),
            limits: limits.clone(),
            parser: Parser::new(Window::new(source.clone(), limits), limits.record_bytes),
            within: Within::Outside,
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

    /// Reads ahead as far as the header requires; the reader reports the findings again.
    pub(crate) fn header(source: &Source, options: &Options) -> Result<Header> {
        let mut findings = Findings::new(Mode::Lenient, &options.limits);
        let types = EventTypes::new(&options.limits);
        let mut document = Self::new(source, &options.limits);
        for _ in 0..CHUNKS_SEARCHED {
            let mut context = Context { findings: &mut findings, types: &types };
            if document.next(&mut context)?.is_none() || document.info.is_some() {
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

    /// The next range of text with its contents.
    pub(crate) fn next(&mut self, context: &mut Context<'_>) -> Result<Option<Image>> {
        match self.advance(context) {
            Ok(image) => Ok(image),
            Err(Fault::Fetch(error)) => Err(error),
            Err(Fault::Syntax { offset, what }) => {
                self.within = Within::Done;
                context.findings.report(Finding::new(&JSON_SYNTAX, Position::at(offset)).with("what", what))?;
                let rest = Image { text_end: self.source.len()?, ..Image::default() };
                Ok(Some(self.flush_script(rest)?))
            }
        }
    }

    fn advance(&mut self, context: &mut Context<'_>) -> Result<Option<Image>, Fault> {
        loop {
            match self.within {
                Within::Outside => {
                    if let Some(end) = self.enter_document(context)? {
                        return Ok(Some(end));
                    }
                }
                Within::Root => self.enter_member(context)?,
                Within::Chunks => {
                    if let Some(image) = self.next_chunk(context)? {
                        return Ok(Some(image));
                    }
                }
                Within::Events { wrapped } => return self.next_batch(wrapped, context).map(Some),
                Within::Done => return Ok(None),
            }
        }
    }

    fn enter_document(&mut self, context: &mut Context<'_>) -> Result<Option<Image>, Fault> {
        match self.parser.next()? {
            Token::End => {
                self.within = Within::Done;
                return Ok(Some(Image { text_end: self.parser.offset(), ..Image::default() }));
            }
            Token::ObjectStart => {
                self.within = Within::Root;
                self.documents += 1;
                if self.documents == 2 {
                    context.findings.report(Finding::new(&JSON_PARTIAL, Position::at(self.parser.token_start())))?;
                }
            }
            Token::ArrayStart => self.enter_script(false, context)?,
            token => {
                self.shape("a document is neither an object nor a list", context)?;
                self.parser.skip(token)?;
            }
        }
        Ok(None)
    }

    fn enter_script(&mut self, wrapped: bool, context: &mut Context<'_>) -> Result<(), Fault> {
        self.is_script = true;
        self.within = Within::Events { wrapped };
        self.parser.relax();
        context.findings.report(Finding::new(&SCRIPT, Position::at(self.parser.token_start())))?;
        Ok(())
    }

    fn enter_member(&mut self, context: &mut Context<'_>) -> Result<(), Fault> {
        if self.parser.next()? == Token::ObjectEnd {
            self.within = Within::Outside;
            if self.has_real_version && self.format_version.is_none() {
                self.shape("there is a writer's version and no formatVersion", context)?;
            }
            return Ok(());
        }
        let (key, at) = (self.parser.text().to_vec(), self.parser.token_start());
        let value = self.parser.next()?;
        match (key.as_slice(), value) {
            (b"chunks", Token::ArrayStart) => self.within = Within::Chunks,
            (b"events", Token::ArrayStart) => self.enter_script(true, context)?,
            (b"wtfVersion" | b"wtf_version", Token::Number) => {
                let version = self.number();
                self.wtf_version = Some(version);
                self.has_real_version = key == b"wtfVersion" && version != 0.0;
                if key == b"wtf_version" {
                    context.findings.report(Finding::new(&JSON_KEYS, Position::at(at)))?;
                } else if version > WTF_VERSION as f64 {
                    context
                        .findings
                        .report(Finding::new(&NEWER_WRITER, Position::at(at)).with("version", version as u64))?;
                }
            }
            (b"formatVersion" | b"format_version", Token::Number) => {
                let version = self.number();
                self.format_version = Some(version);
                if key == b"formatVersion" && version != f64::from(FORMAT_VERSION) {
                    let message = format!("the chunked format has version {version}; only {FORMAT_VERSION} is known");
                    return Err(Error::unrecognized(message).at(Position::at(at).field("formatVersion")).into());
                }
            }
            (_, value) => self.parser.skip(value)?,
        }
        Ok(())
    }

    fn next_batch(&mut self, wrapped: bool, context: &mut Context<'_>) -> Result<Image, Fault> {
        let place = self.parser.offset();
        while self.buffer.events.len() < BATCH_BYTES {
            match self.parser.next()? {
                Token::ObjectStart => self.script.item(&mut self.parser, &mut self.buffer, context)?,
                Token::ArrayEnd => {
                    self.within = if wrapped { Within::Root } else { Within::Outside };
                    if self.parser.was_relaxed() {
                        context.findings.report(Finding::new(&SCRIPT_RELAXED, Position::at(self.parser.offset())))?;
                    }
                    break;
                }
                token => {
                    self.script.unusable("it is not an object", self.parser.token_start(), context)?;
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

    pub(super) fn number(&self) -> f64 {
        std::str::from_utf8(self.parser.text()).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0)
    }

    pub(super) fn shape(&self, what: &'static str, context: &mut Context<'_>) -> Result<()> {
        context.findings.report(Finding::new(&JSON_SHAPE, Position::at(self.parser.token_start())).with("what", what))
    }
}

//! `.wtf-calls`: a JSON header with the functions of a program, then one record per call and return.

use std::collections::HashMap;

use traceloom_core::{
    ByteOrder, Cursor, Error, Finding, Findings, Limits, Position, Result, Source, Window,
    json::{self, Memory, Parser, Token},
};

use super::Image;
use crate::{
    Container, FileInfo, Header,
    event::Definition,
    file_info::{TIMES_AS_COUNT, flatten},
    findings::{CALLS_FUNCTION, CALLS_HEADER, CALLS_TAIL},
    probe::{packed_header, read_span},
    raw::{EventClass, EventFlags, NO_TIME, padded},
    write::EventBuffer,
};

const VERSION: u32 = 1;
/// Size of the header's length field.
const LENGTH_BYTES: u64 = 4;
/// Wire ids of the functions come after those of the loader.
const LEAVE_WIRE_ID: u32 = 2;
const FIRST_FUNCTION: u32 = 3;
/// Number of records per chunk.
const BATCH_RECORDS: usize = 4096;

/// Whether the bytes start with a length and the JSON object of a calls file.
pub(crate) fn looks_like_calls(prefix: &[u8]) -> bool {
    let Some((len, rest)) = prefix.split_first_chunk::<4>() else { return false };
    let holds = |word: &[u8]| rest.windows(word.len()).any(|window| window == word);
    (2..1 << 30).contains(&u32::from_le_bytes(*len))
        && rest.trim_ascii_start().first() == Some(&b'{')
        && holds(b"\"version\"")
        && (holds(b"\"modules\"") || holds(b"\"context\""))
}

pub(crate) fn header(source: &Source, findings: &mut Findings, limits: &Limits) -> Result<Header> {
    let program = Program::read(source, limits)?;
    for what in &program.problems {
        findings.report(Finding::new(&CALLS_HEADER, Position::at(4)).with("what", *what))?;
    }
    if program.version != f64::from(VERSION) {
        let message = format!("the calls format has version {}; only {VERSION} is known", program.version);
        return Err(Error::unrecognized(message).at(Position::at(4).field("version")));
    }
    let mut info = FileInfo { flags: TIMES_AS_COUNT, ..program.info };
    info.metadata.extend(program.units.map(|units| ("units".to_owned(), units)));
    Ok(packed_header(Container::Calls, VERSION, info, Vec::new()))
}

/// The contents of the JSON header.
#[derive(Debug, Default)]
struct Program {
    version: f64,
    info: FileInfo,
    /// Names by function id, in header order.
    functions: Vec<(i64, String)>,
    attributes: usize,
    units: Option<String>,
    problems: Vec<&'static str>,
    /// Where the records start.
    records: u64,
}

impl Program {
    fn read(source: &Source, limits: &Limits) -> Result<Self> {
        let mut length = [0; 4];
        source.read_full(0, &mut length)?;
        let end = 4 + u64::from(u32::from_le_bytes(length));
        let text = read_span(source, 4, end, limits)?;
        let mut program = Self { records: padded(4 + text.len()) as u64, ..Self::default() };
        if text.len() as u64 + 4 < end {
            program.problems.push("the file ends inside it");
        }
        if !json::is_value(&text) {
            program.problems.push("it is not JSON");
        }
        program.take_apart(&text, limits)?;
        Ok(program)
    }

    fn take_apart(&mut self, text: &[u8], limits: &Limits) -> Result<()> {
        let mut parser = Parser::of(text, 4);
        let mut has_context = false;
        if !matches!(parser.next(), Ok(Token::ObjectStart)) {
            return Ok(());
        }
        while let Ok(Token::Key) = parser.next() {
            let key = parser.text().to_vec();
            let Ok(value) = parser.next() else { break };
            match (key.as_slice(), value) {
                (b"version", Token::Number) => self.version = number(&parser),
                (b"context", Token::ObjectStart) => {
                    has_context = true;
                    flatten(value, &mut parser, &mut String::new(), &mut self.info.context);
                }
                (b"metadata", Token::ObjectStart) => {
                    flatten(value, &mut parser, &mut String::new(), &mut self.info.metadata);
                }
                (b"modules", Token::ObjectStart) => self.read_modules(&mut parser, limits)?,
                (_, value) => {
                    let _ = parser.skip(value);
                }
            }
        }
        if !has_context {
            self.problems.push("it has no context");
        }
        let places =
            self.info.metadata.iter().filter_map(|(key, _)| key.strip_prefix("attributes.")?.split('.').next());
        self.attributes = places.filter_map(|place| place.parse::<usize>().ok()).max().map_or(0, |last| last + 1);
        let units = self.info.metadata.iter().find(|(key, _)| key == "attributes.0.units");
        self.units = Some(units.map_or_else(|| "count".to_owned(), |(_, units)| units.clone()));
        Ok(())
    }

    fn read_modules(&mut self, parser: &mut Parser<Memory<'_>>, limits: &Limits) -> Result<()> {
        while let Ok(Token::Key) = parser.next() {
            let Ok(Token::ObjectStart) = parser.next() else { return Ok(()) };
            while let Ok(Token::Key) = parser.next() {
                let is_functions = parser.text() == b"fns";
                match parser.next() {
                    Ok(Token::ArrayStart) if is_functions => self.read_functions(parser, limits)?,
                    Ok(token) => {
                        let _ = parser.skip(token);
                    }
                    Err(_) => return Ok(()),
                }
            }
        }
        Ok(())
    }

    /// Four values per function: id, name, and where its source starts and ends.
    fn read_functions(&mut self, parser: &mut Parser<Memory<'_>>, limits: &Limits) -> Result<()> {
        let mut place = 0;
        let mut id = 0;
        while let Ok(token) = parser.next() {
            match (place % 4, token) {
                (_, Token::ArrayEnd | Token::End) => break,
                (0, Token::Number) => id = number(parser) as i64,
                (1, Token::String) => {
                    limits.check_entries("functions", self.functions.len() as u64 + 1)?;
                    self.functions.push((id, String::from_utf8_lossy(parser.text()).into_owned()));
                }
                (_, token) => {
                    let _ = parser.skip(token);
                }
            }
            place += 1;
        }
        Ok(())
    }
}

fn number(parser: &Parser<Memory<'_>>) -> f64 {
    std::str::from_utf8(parser.text()).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0)
}

/// Reads the records of a calls file.
#[derive(Debug)]
pub(crate) struct Calls {
    window: Window,
    wire_ids: HashMap<i64, u32>,
    next_wire_id: u32,
    functions: Vec<(i64, String)>,
    attributes: usize,
    buffer: EventBuffer,
    time: u32,
    sample: Option<i32>,
    is_done: bool,
}

impl Calls {
    pub(crate) fn new(source: &Source, limits: &Limits) -> Result<Self> {
        let program = Program::read(source, limits)?;
        let mut window = Window::new(source.clone(), limits);
        window.seek(program.records.min(source.len()?));
        Ok(Self {
            window,
            wire_ids: HashMap::new(),
            next_wire_id: FIRST_FUNCTION,
            functions: program.functions,
            attributes: program.attributes.min(1 << 16),
            buffer: EventBuffer::default(),
            time: 0,
            sample: None,
            is_done: false,
        })
    }

    pub(crate) fn next(&mut self, findings: &mut Findings) -> Result<Option<Image>> {
        if self.is_done {
            return Ok(None);
        }
        let start = self.window.offset();
        let is_first = self.wire_ids.is_empty();
        if is_first {
            self.define();
        }
        let size = 4 * (1 + self.attributes);
        for _ in 0..BATCH_RECORDS {
            let offset = self.window.offset();
            let bytes = self.window.fill(size)?;
            let Some(record) = bytes.get(..size) else {
                let bytes = bytes.len();
                self.window.consume(bytes);
                self.is_done = true;
                if bytes > 0 {
                    findings.report(Finding::new(&CALLS_TAIL, Position::at(offset)).with("bytes", bytes))?;
                }
                break;
            };
            let mut cursor = Cursor::new(record, offset, ByteOrder::Little);
            let id = cursor.i32("function")?;
            let sample = cursor.i32("attribute").ok();
            self.window.consume(size);
            self.call(id, sample, offset, findings)?;
        }
        let text_end = self.window.offset();
        let place = if text_end > start {
            start
        } else if is_first {
            // Without calls, the functions are the only contents, and they are in the header.
            LENGTH_BYTES
        } else {
            return Ok(None);
        };
        let chunk = self.buffer.to_chunk(0, (NO_TIME, NO_TIME))?;
        self.buffer.clear();
        Ok(Some(Image { text_end, place, chunk: Some(chunk), strings: None, is_wide: true }))
    }

    fn define(&mut self) {
        let leave = Definition {
            wire_id: LEAVE_WIRE_ID,
            class: EventClass::INSTANCE,
            flags: EventFlags(40),
            name: "wtf.scope#leave",
            args: None,
        };
        self.buffer.define(0, &leave);
        for (id, name) in std::mem::take(&mut self.functions) {
            self.define_function(id, &name);
        }
        // Not empty even if the program has no functions, so that this is done only once.
        self.wire_ids.insert(i64::MIN, LEAVE_WIRE_ID);
    }

    fn call(&mut self, id: i32, sample: Option<i32>, offset: u64, findings: &mut Findings) -> Result<()> {
        if let Some(sample) = sample {
            let before = self.sample.replace(sample).filter(|before| *before >= 0);
            let delta = before.map_or(0, |before| i64::from(sample) - i64::from(before));
            self.time = self.time.wrapping_add(delta.max(0) as u32);
        }
        if id <= 0 {
            self.buffer.begin(LEAVE_WIRE_ID, self.time);
            return Ok(());
        }
        match self.wire_ids.get(&i64::from(id)) {
            Some(wire_id) => self.buffer.begin(*wire_id, self.time),
            None => {
                let odd = Finding::new(&CALLS_FUNCTION, Position::at(offset));
                findings.report(odd.with("function", id))?;
                // The return will follow; without a scope, it would close another one.
                let wire_id = self.define_function(id.into(), &format!("function {id}"));
                self.buffer.begin(wire_id, self.time);
            }
        }
        if sample.is_none() {
            self.time = self.time.wrapping_add(1);
        }
        Ok(())
    }

    fn define_function(&mut self, id: i64, name: &str) -> u32 {
        let wire_id = self.next_wire_id;
        self.next_wire_id += 1;
        let class = EventClass::SCOPE;
        self.buffer.define(self.time, &Definition { wire_id, class, flags: EventFlags(0), name, args: None });
        self.wire_ids.insert(id, wire_id);
        wire_id
    }
}

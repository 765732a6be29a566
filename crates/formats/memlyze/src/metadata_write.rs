//! Puts metadata together, every name and stack once, and writes it as JSON.

use std::{collections::HashMap, io::Write};

use traceloom_core::{Error, Limits, Result};

use crate::{Frame, Metadata};

impl Metadata {
    /// Writes the tables as the upstream encoder lays them out, ids in ascending order.
    pub fn write_json<W: Write>(&self, out: W) -> Result<()> {
        let mut json = JsonWriter { out, buffer: Vec::new() };
        json.put(b"{\"stack_traces\": {")?;
        for (place, (id, frames)) in self.stacks().enumerate() {
            json.put_key(place, id)?;
            json.put(b"[")?;
            for (place, frame) in frames.enumerate() {
                json.put_frame(place, &frame)?;
            }
            json.put(b"]")?;
        }
        json.put(b"}, \"files\": {")?;
        for (place, (id, path)) in self.files().enumerate() {
            json.put_key(place, id)?;
            json.put_text(path)?;
        }
        json.put(b"}, \"functions\": {")?;
        for (place, (id, name)) in self.functions().enumerate() {
            json.put_key(place, id)?;
            json.put_text(name)?;
        }
        json.put(b"}}")?;
        json.flush()
    }

    /// Bytes of the JSON that [`Metadata::write_json`] writes.
    pub fn json_len(&self) -> u64 {
        let mut counter = Counter(0);
        // A counter takes everything.
        let _ = self.write_json(&mut counter);
        counter.0
    }
}

struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

struct JsonWriter<W> {
    out: W,
    buffer: Vec<u8>,
}

impl<W: Write> JsonWriter<W> {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= 64 << 10 { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    fn put_key(&mut self, place: usize, id: u64) -> Result<()> {
        let comma = if place > 0 { ", " } else { "" };
        self.put(format!("{comma}\"{id}\": ").as_bytes())
    }

    fn put_frame(&mut self, place: usize, frame: &Frame) -> Result<()> {
        self.put(if place > 0 { b", {" } else { b"{" })?;
        let fields = [("file_id", frame.file), ("line", frame.line), ("func_id", frame.function)];
        let known = fields.into_iter().filter_map(|(name, value)| Some((name, value?)));
        for (place, (name, value)) in known.enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            self.put(format!("{comma}\"{name}\": {value}").as_bytes())?;
        }
        self.put(b"}")
    }

    /// ASCII only, as Python's encoder has it.
    fn put_text(&mut self, text: &[u8]) -> Result<()> {
        self.put(b"\"")?;
        let mut rest = text;
        while !rest.is_empty() {
            let valid = match std::str::from_utf8(rest) {
                Ok(valid) => valid,
                Err(error) => rest
                    .get(..error.valid_up_to())
                    .and_then(|valid| std::str::from_utf8(valid).ok())
                    .unwrap_or_default(),
            };
            for c in valid.chars() {
                self.put_char(c)?;
            }
            rest = rest.get(valid.len()..).unwrap_or_default();
            rest = match rest {
                [] => rest,
                [0xed, second @ 0xa0..=0xbf, third @ 0x80..=0xbf, tail @ ..] => {
                    let unit = 0xd000 | u32::from(second & 0x3f) << 6 | u32::from(third & 0x3f);
                    self.put(format!("\\u{unit:04x}").as_bytes())?;
                    tail
                }
                // As Python does with the bytes of a file name: any other would not come back.
                [byte, tail @ ..] => {
                    self.put(format!("\\u{:04x}", 0xdc00 | u32::from(*byte)).as_bytes())?;
                    tail
                }
            };
        }
        self.put(b"\"")
    }

    fn put_char(&mut self, c: char) -> Result<()> {
        match c {
            '"' => self.put(b"\\\""),
            '\\' => self.put(b"\\\\"),
            '\x08' => self.put(b"\\b"),
            '\x0c' => self.put(b"\\f"),
            '\n' => self.put(b"\\n"),
            '\r' => self.put(b"\\r"),
            '\t' => self.put(b"\\t"),
            ' '..='~' => self.put(&[c as u8]),
            c => c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| self.put(format!("\\u{unit:04x}").as_bytes())),
        }
    }
}

/// Collects names and stacks; equal ones get one id, and ids count up from zero.
#[derive(Debug, Default)]
pub struct MetadataBuilder {
    tables: Metadata,
    files: HashMap<Box<[u8]>, u64>,
    functions: HashMap<Box<[u8]>, u64>,
    /// By rows of the frames.
    stacks: HashMap<Box<[u32]>, u64>,
    limits: Limits,
}

impl MetadataBuilder {
    /// An empty one.
    pub fn new(limits: &Limits) -> Self {
        Self { limits: limits.clone(), ..Self::default() }
    }

    /// The id of a file.
    pub fn file(&mut self, path: &[u8]) -> Result<u64> {
        let next = self.files.len() as u64;
        if let Some(id) = self.files.get(path) {
            return Ok(*id);
        }
        self.tables.files.push(next, path, &self.limits)?;
        self.files.insert(path.into(), next);
        Ok(next)
    }

    /// The id of a function or marker name.
    pub fn function(&mut self, name: &[u8]) -> Result<u64> {
        let next = self.functions.len() as u64;
        if let Some(id) = self.functions.get(name) {
            return Ok(*id);
        }
        self.tables.functions.push(next, name, &self.limits)?;
        self.functions.insert(name.into(), next);
        Ok(next)
    }

    /// The id of a stack, the innermost call first.
    pub fn stack(&mut self, frames: &[Frame]) -> Result<u64> {
        let next = self.stacks.len() as u64;
        for frame in frames {
            self.tables.stacks.push_frame(*frame, &self.limits)?;
        }
        let rows = self.tables.stacks.pending();
        if let Some(id) = self.stacks.get(rows) {
            self.tables.stacks.drop_frames();
            return Ok(*id);
        }
        self.stacks.insert(rows.into(), next);
        self.tables.stacks.push(next, &self.limits)?;
        Ok(next)
    }

    /// How many stacks there are: the first id that no stack has.
    pub(crate) fn next_stack(&self) -> u64 {
        self.stacks.len() as u64
    }

    /// How many functions there are: the first id that no function has.
    pub(crate) fn next_function(&self) -> u64 {
        self.functions.len() as u64
    }

    /// The complete tables.
    pub fn finish(mut self) -> Result<Metadata> {
        self.tables.finish()?;
        Ok(self.tables)
    }
}

/// Gives threads small numbers: the format has 16 bits for one, a thread id of any system has more.
#[derive(Debug, Default)]
pub struct Threads(HashMap<u64, u16>);

impl Threads {
    /// The number of a thread: 0 for the first, 1 for the second.
    pub fn number(&mut self, thread: u64) -> Result<u16> {
        if let Some(number) = self.0.get(&thread) {
            return Ok(*number);
        }
        let number = u16::try_from(self.0.len())
            .map_err(|_| Error::usage("more than 65536 threads do not fit: a thread is stored in 16 bits"))?;
        self.0.insert(thread, number);
        Ok(number)
    }
}

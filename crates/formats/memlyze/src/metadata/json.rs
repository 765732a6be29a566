//! Writes metadata as JSON in the layout of Python's encoder.

use std::io::{self, BufWriter, Write};

use traceloom_core::Result;

use crate::{Frame, Metadata};

impl Metadata {
    /// Writes the tables in the layout of the upstream encoder, ids in ascending order.
    pub fn write_json<W: Write>(&self, out: W) -> Result<()> {
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, out);
        out.write_all(b"{\"stack_traces\": {")?;
        for (place, (id, frames)) in self.stacks().enumerate() {
            put_key(&mut out, place, id)?;
            out.write_all(b"[")?;
            for (place, frame) in frames.enumerate() {
                put_frame(&mut out, place, &frame)?;
            }
            out.write_all(b"]")?;
        }
        out.write_all(b"}, \"files\": {")?;
        for (place, (id, path)) in self.files().enumerate() {
            put_key(&mut out, place, id)?;
            put_text(&mut out, path)?;
        }
        out.write_all(b"}, \"functions\": {")?;
        for (place, (id, name)) in self.functions().enumerate() {
            put_key(&mut out, place, id)?;
            put_text(&mut out, name)?;
        }
        out.write_all(b"}}")?;
        Ok(out.flush()?)
    }

    /// Size of the JSON that [`Metadata::write_json`] writes.
    pub fn json_len(&self) -> u64 {
        let mut counter = Counter(0);
        // Writing to a counter cannot fail.
        let _ = self.write_json(&mut counter);
        counter.0
    }
}

const BUFFER_BYTES: usize = 64 << 10;

struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const fn comma_before(place: usize) -> &'static str {
    if place > 0 { ", " } else { "" }
}

fn put_key(out: &mut impl Write, place: usize, id: u64) -> io::Result<()> {
    write!(out, "{}\"{id}\": ", comma_before(place))
}

fn put_frame(out: &mut impl Write, place: usize, frame: &Frame) -> io::Result<()> {
    write!(out, "{}{{", comma_before(place))?;
    let fields = [("file_id", frame.file), ("line", frame.line), ("func_id", frame.function)];
    let known = fields.into_iter().filter_map(|(name, value)| Some((name, value?)));
    for (place, (name, value)) in known.enumerate() {
        write!(out, "{}\"{name}\": {value}", comma_before(place))?;
    }
    out.write_all(b"}")
}

/// ASCII only, like Python's encoder.
fn put_text(out: &mut impl Write, text: &[u8]) -> io::Result<()> {
    out.write_all(b"\"")?;
    let mut rest = text;
    while !rest.is_empty() {
        let valid = match std::str::from_utf8(rest) {
            Ok(valid) => valid,
            Err(error) => {
                rest.get(..error.valid_up_to()).and_then(|valid| std::str::from_utf8(valid).ok()).unwrap_or_default()
            }
        };
        valid.chars().try_for_each(|c| put_char(out, c))?;
        rest = match rest.get(valid.len()..).unwrap_or_default() {
            [] => &[],
            [0xed, second @ 0xa0..=0xbf, third @ 0x80..=0xbf, tail @ ..] => {
                put_unit(out, 0xd000 | u16::from(second & 0x3f) << 6 | u16::from(third & 0x3f))?;
                tail
            }
            // Escaped like the bytes of a file name in Python, the only way to read it back.
            [byte, tail @ ..] => {
                put_unit(out, 0xdc00 | u16::from(*byte))?;
                tail
            }
        };
    }
    out.write_all(b"\"")
}

fn put_char(out: &mut impl Write, c: char) -> io::Result<()> {
    match c {
        '"' => out.write_all(b"\\\""),
        '\\' => out.write_all(b"\\\\"),
        '\x08' => out.write_all(b"\\b"),
        '\x0c' => out.write_all(b"\\f"),
        '\n' => out.write_all(b"\\n"),
        '\r' => out.write_all(b"\\r"),
        '\t' => out.write_all(b"\\t"),
        ' '..='~' => out.write_all(&[c as u8]),
        c => c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| put_unit(out, *unit)),
    }
}

fn put_unit(out: &mut impl Write, unit: u16) -> io::Result<()> {
    write!(out, "\\u{unit:04x}")
}

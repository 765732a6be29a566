//! Writes the dialect: what was read comes out byte for byte, compressed data with the same content.

use std::io::Write;

use flate2::{Compression, write::ZlibEncoder};
use traceloom_core::{Describe, Error, RecordWriter, Result};

use super::{
    item,
    raw::Form,
    record::{Header, Record},
};
use crate::Pair;

/// Starts a file with its first line.
pub fn create<W: Write>(out: W, header: &Header) -> Result<Writer<W>> {
    Ok(Writer { out: Out::Plain(out), buffer: header.head.clone(), form: Form::Raw })
}

/// Writes one file, record by record, in the order that [`Record`] describes.
///
/// A chunk is written with the length that its record says: the caller knows what will follow.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: Out<W>,
    buffer: Vec<u8>,
    form: Form,
}

#[derive(Debug)]
enum Out<W: Write> {
    Plain(W),
    Deflating(Box<ZlibEncoder<W>>),
    /// Only while the one turns into the other.
    Gone,
}

const FLUSH_BYTES: usize = 64 << 10;

impl<W: Write> Writer<W> {
    /// Writes one record.
    pub fn write(&mut self, record: &Record<'_>) -> Result<()> {
        match record {
            Record::Comment(text) => self.put_line(b"#", &[text])?,
            Record::Attribute(pair) => self.put_pair(b":", pair)?,
            Record::Option(pair) => self.put_pair(b"!", pair)?,
            Record::Blank => self.buffer.push(b'\n'),
            Record::StartDeflate(level) => self.start_deflate(*level)?,
            Record::EndDeflate => self.end_deflate()?,
            Record::Process(process) => {
                self.buffer.push(b'P');
                if process.has_length {
                    self.buffer.extend_from_slice(&16u32.to_le_bytes());
                }
                self.buffer.extend_from_slice(&process.pid.to_le_bytes());
                self.buffer.extend_from_slice(&process.ppid.to_le_bytes());
                self.buffer.extend_from_slice(&process.time.to_le_bytes());
            }
            Record::Chunk(chunk) => {
                self.buffer.push(chunk.tag.0);
                self.buffer.extend_from_slice(&chunk.length.to_le_bytes());
                self.form = chunk.form;
            }
            Record::Token(token) => {
                let mut writer = crate::create(Vec::new(), &crate::Header::default())?;
                let head = crate::Header::default().line().len();
                writer.write(token)?;
                self.buffer.extend_from_slice(writer.finish()?.get(head..).unwrap_or_default());
            }
            Record::Residue(bytes) => self.buffer.extend_from_slice(bytes),
            other => {
                if !item::encode(self.form, other, &mut self.buffer) {
                    let (kind, form) = (other.kind(), self.form.as_str());
                    return Err(Error::usage(format!("a chunk of {form} cannot hold this {kind}")));
                }
            }
        }
        if self.buffer.len() >= FLUSH_BYTES {
            self.flush_buffer()?;
        }
        Ok(())
    }

    /// Ends the file; a compressed part that is still open is ended first.
    pub fn finish(mut self) -> Result<W> {
        self.end_deflate()?;
        match self.out {
            Out::Plain(mut out) => {
                out.flush()?;
                Ok(out)
            }
            Out::Deflating(_) | Out::Gone => Err(gone()),
        }
    }

    fn flush_buffer(&mut self) -> Result<()> {
        match &mut self.out {
            Out::Plain(out) => out.write_all(&self.buffer)?,
            Out::Deflating(out) => out.write_all(&self.buffer)?,
            Out::Gone => return Err(gone()),
        }
        self.buffer.clear();
        Ok(())
    }

    fn start_deflate(&mut self, level: u8) -> Result<()> {
        self.buffer.push(b'z');
        self.flush_buffer()?;
        self.out = match std::mem::replace(&mut self.out, Out::Gone) {
            Out::Plain(out) => Out::Deflating(Box::new(ZlibEncoder::new(out, Compression::new(level.min(9).into())))),
            other => other,
        };
        Ok(())
    }

    fn end_deflate(&mut self) -> Result<()> {
        self.flush_buffer()?;
        self.out = match std::mem::replace(&mut self.out, Out::Gone) {
            Out::Deflating(encoder) => Out::Plain(encoder.finish()?),
            other => other,
        };
        Ok(())
    }

    fn put_pair(&mut self, tag: &[u8], pair: &Pair<'_>) -> Result<()> {
        match pair.value {
            Some(value) => self.put_line(tag, &[pair.key, b"=", value]),
            None => self.put_line(tag, &[pair.key]),
        }
    }

    fn put_line(&mut self, tag: &[u8], parts: &[&[u8]]) -> Result<()> {
        if parts.iter().any(|part| part.contains(&b'\n')) {
            return Err(Error::usage("a line of text cannot hold a newline"));
        }
        self.buffer.extend_from_slice(tag);
        parts.iter().for_each(|part| self.buffer.extend_from_slice(part));
        self.buffer.push(b'\n');
        Ok(())
    }
}

fn gone() -> Error {
    Error::usage("the output is gone after an earlier error")
}

impl<W: Write> RecordWriter<crate::pynytprof::Pynytprof, W> for Writer<W> {
    fn write(&mut self, record: &Record<'_>) -> Result<()> {
        self.write(record)
    }

    fn finish(self) -> Result<W> {
        self.finish()
    }
}

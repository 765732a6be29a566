//! Writes the dialect: what was read comes out byte for byte, compressed data with the same content.

use std::io::Write;

use traceloom_core::{Describe, Error, RecordWriter, Result};

use super::{
    item,
    raw::Form,
    record::{Header, Record},
};
use crate::{output::Output, raw::Tag};

/// Starts a file with its first line.
pub fn create<W: Write>(out: W, header: &Header) -> Result<Writer<W>> {
    let mut out = Output::new(out);
    out.buffer.extend_from_slice(&header.head);
    Ok(Writer { out, form: Form::Raw })
}

/// Writes one file, record by record, in the order that [`Record`] describes.
///
/// A chunk is written with the length that its record says: the caller knows what will follow.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: Output<W>,
    form: Form,
}

impl<W: Write> Writer<W> {
    /// Writes one record.
    pub fn write(&mut self, record: &Record<'_>) -> Result<()> {
        match record {
            Record::Comment(text) => self.out.put_line(Tag::COMMENT, &[text])?,
            Record::Attribute(pair) => self.out.put_pair(Tag::ATTRIBUTE, pair)?,
            Record::Option(pair) => self.out.put_pair(Tag::OPTION, pair)?,
            Record::Blank => self.out.buffer.push(b'\n'),
            Record::StartDeflate(level) => self.out.start_deflate(*level)?,
            Record::EndDeflate => self.out.end_deflate()?,
            Record::Process(process) => {
                self.out.buffer.push(Tag::PID_START.0);
                if process.has_length {
                    self.out.buffer.extend_from_slice(&16u32.to_le_bytes());
                }
                self.out.buffer.extend_from_slice(&process.pid.to_le_bytes());
                self.out.buffer.extend_from_slice(&process.ppid.to_le_bytes());
                self.out.buffer.extend_from_slice(&process.time.to_le_bytes());
            }
            Record::Chunk(chunk) => {
                self.out.buffer.push(chunk.tag.0);
                self.out.buffer.extend_from_slice(&chunk.length.to_le_bytes());
                self.form = chunk.form;
            }
            Record::Token(token) => {
                let mut writer = crate::create(Vec::new(), &crate::Header::default())?;
                let head = crate::Header::default().line().len();
                writer.write(token)?;
                self.out.buffer.extend_from_slice(writer.finish()?.get(head..).unwrap_or_default());
            }
            Record::Residue(bytes) => self.out.buffer.extend_from_slice(bytes),
            other => {
                if !item::encode(self.form, other, &mut self.out.buffer) {
                    let (kind, form) = (other.kind(), self.form.as_str());
                    return Err(Error::usage(format!("a chunk of {form} cannot hold this {kind}")));
                }
            }
        }
        self.out.flush_if_full()
    }

    /// Ends the file; a compressed part that is still open is ended first.
    pub fn finish(self) -> Result<W> {
        self.out.finish()
    }
}

impl<W: Write> RecordWriter<crate::pynytprof::Pynytprof, W> for Writer<W> {
    fn write(&mut self, record: &Record<'_>) -> Result<()> {
        self.write(record)
    }

    fn finish(self) -> Result<W> {
        self.finish()
    }
}

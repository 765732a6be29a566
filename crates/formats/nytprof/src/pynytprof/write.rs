//! Writes the dialect; a file that was read is written back byte for byte, compressed data with the same contents.

use std::io::Write;

use traceloom_core::{Describe, Error, Result};

use super::{
    item,
    raw::{Form, Framing, Layout},
    record::{Header, Record},
};
use crate::{
    Dialect,
    output::{Output, end_deflate, finish, output, put_line, put_pair, start_deflate},
    raw::Tag,
};

/// Starts a file with its first line.
pub fn create<W: Write>(out: W, header: &Header) -> Result<Writer<W>> {
    // The ancestor's header may continue with texts.
    let form = if header.dialect == Dialect::Ancestor { Form::Properties } else { Form::Raw };
    Ok(Writer { out: output(out, &header.head), layout: form.into() })
}

/// Writes one file, record by record, in the order that [`Record`] describes.
///
/// A chunk is written with the length in its record: the caller knows what will follow.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: Output<W>,
    layout: Layout,
}

impl<W: Write> Writer<W> {
    /// Writes one record.
    pub fn write(&mut self, record: &Record<'_>) -> Result<()> {
        match record {
            Record::Comment(text) => put_line(&mut self.out, Tag::COMMENT, &[text])?,
            Record::Attribute(pair) => put_pair(&mut self.out, Tag::ATTRIBUTE, pair)?,
            Record::Option(pair) => put_pair(&mut self.out, Tag::OPTION, pair)?,
            Record::Blank => self.out.put_u8(b'\n'),
            Record::StartDeflate(level) => start_deflate(&mut self.out, *level)?,
            Record::EndDeflate => end_deflate(&mut self.out)?,
            Record::Process(process) => {
                self.out.put_u8(Tag::PID_START.0);
                if process.has_length {
                    self.out.put_u32(16);
                }
                self.out.put(&process.encode());
            }
            Record::Chunk(chunk) => {
                if chunk.framing != Framing::None {
                    self.out.put_u8(chunk.tag.0);
                }
                if chunk.framing == Framing::Length {
                    self.out.put_u32(chunk.length);
                }
                self.layout = chunk.layout;
            }
            Record::Token(token) => {
                let mut writer = crate::create(Vec::new(), &crate::Header::default())?;
                let head = crate::Header::default().line().len();
                writer.write(token)?;
                self.out.put(writer.finish()?.get(head..).unwrap_or_default());
            }
            Record::Residue(bytes) => self.out.put(bytes),
            other => {
                if !item::encode(self.layout, other, self.out.buffer()) {
                    let (kind, layout) = (other.kind(), self.layout);
                    return Err(Error::usage(format!("a chunk of {layout} cannot hold this {kind}")));
                }
            }
        }
        self.out.end_record()
    }

    /// Ends the file, including an open compressed part.
    pub fn finish(self) -> Result<W> {
        finish(self.out)
    }
}

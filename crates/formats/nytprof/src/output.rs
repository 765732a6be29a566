//! The bytes of both dialects on their way out: a buffer, lines of text, and the compressed part.

use std::io::Write;

use flate2::{Compression, write::ZlibEncoder};
use traceloom_core::{Error, Result};

use crate::{Pair, raw::Tag};

/// A buffer in front of an output that may become compressed.
#[derive(Debug)]
pub(crate) struct Output<W: Write> {
    /// Bytes that are still to be written; [`Output::flush_if_full`] follows each record.
    pub(crate) buffer: Vec<u8>,
    stream: Stream<W>,
}

#[derive(Debug)]
enum Stream<W: Write> {
    Plain(W),
    Deflating(Box<ZlibEncoder<W>>),
    /// Only while the one turns into the other.
    Gone,
}

const FLUSH_BYTES: usize = 64 << 10;

impl<W: Write> Output<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { buffer: Vec::new(), stream: Stream::Plain(out) }
    }

    #[inline]
    pub(crate) fn flush_if_full(&mut self) -> Result<()> {
        if self.buffer.len() >= FLUSH_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        match &mut self.stream {
            Stream::Plain(out) => out.write_all(&self.buffer)?,
            Stream::Deflating(out) => out.write_all(&self.buffer)?,
            Stream::Gone => return Err(gone()),
        }
        self.buffer.clear();
        Ok(())
    }

    /// Writes the tag of the compressed part; what follows is compressed.
    pub(crate) fn start_deflate(&mut self, level: u8) -> Result<()> {
        if matches!(self.stream, Stream::Deflating(_)) {
            return Err(Error::usage("a compressed part cannot hold another"));
        }
        self.buffer.push(Tag::START_DEFLATE.0);
        self.flush()?;
        let level = Compression::new(level.min(9).into());
        self.stream = match std::mem::replace(&mut self.stream, Stream::Gone) {
            Stream::Plain(out) => Stream::Deflating(Box::new(ZlibEncoder::new(out, level))),
            other => other,
        };
        Ok(())
    }

    pub(crate) fn end_deflate(&mut self) -> Result<()> {
        self.flush()?;
        self.stream = match std::mem::replace(&mut self.stream, Stream::Gone) {
            Stream::Deflating(encoder) => Stream::Plain(encoder.finish()?),
            other => other,
        };
        Ok(())
    }

    /// Writes all that is left; a compressed part that is still open is ended first.
    pub(crate) fn finish(mut self) -> Result<W> {
        self.end_deflate()?;
        match self.stream {
            Stream::Plain(mut out) => {
                out.flush()?;
                Ok(out)
            }
            // `end_deflate` leaves a plain output or an error.
            Stream::Deflating(_) | Stream::Gone => Err(gone()),
        }
    }

    pub(crate) fn put_pair(&mut self, tag: Tag, pair: &Pair<'_>) -> Result<()> {
        match pair.value {
            Some(value) if !pair.key.contains(&b'=') => self.put_line(tag, &[pair.key, b"=", value]),
            Some(_) => Err(Error::usage("the name of an attribute or option cannot hold an equals sign")),
            None => self.put_line(tag, &[pair.key]),
        }
    }

    /// Nothing in the format escapes a newline, so none can be written.
    pub(crate) fn put_line(&mut self, tag: Tag, parts: &[&[u8]]) -> Result<()> {
        if parts.iter().any(|part| part.contains(&b'\n')) {
            return Err(Error::usage("a line of text cannot hold a newline"));
        }
        self.buffer.push(tag.0);
        parts.iter().for_each(|part| self.buffer.extend_from_slice(part));
        self.buffer.push(b'\n');
        Ok(())
    }
}

fn gone() -> Error {
    Error::usage("the output is gone after an earlier error")
}

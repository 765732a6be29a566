//! The output of both dialects: lines of text, and the compressed part.

use std::io::{self, Write};

use flate2::{Compression, write::ZlibEncoder};
use traceloom_core::{ByteOrder, Error, Result};

use crate::{Pair, raw::Tag};

/// Buffers the bytes of records, before an output that may become compressed.
pub(crate) type Output<W> = traceloom_core::Output<Stream<W>>;

/// An output, compressed or not.
#[derive(Debug)]
pub(crate) enum Stream<W: Write> {
    Plain(W),
    Deflating(Box<ZlibEncoder<W>>),
    /// Only during the switch from one to the other.
    Gone,
}

/// Starts with bytes that are not compressed.
pub(crate) fn output<W: Write>(out: W, head: &[u8]) -> Output<W> {
    let mut output = Output::new(Stream::Plain(out), ByteOrder::Little);
    output.put(head);
    output
}

/// Writes the tag of the compressed part and starts compression.
pub(crate) fn start_deflate<W: Write>(output: &mut Output<W>, level: u8) -> Result<()> {
    if matches!(output.out_mut(), Stream::Deflating(_)) {
        return Err(Error::usage("a compressed part cannot hold another"));
    }
    output.put_u8(Tag::START_DEFLATE.0);
    output.flush()?;
    let level = Compression::new(level.min(9).into());
    let stream = output.out_mut();
    *stream = match std::mem::replace(stream, Stream::Gone) {
        Stream::Plain(out) => Stream::Deflating(Box::new(ZlibEncoder::new(out, level))),
        other => other,
    };
    Ok(())
}

/// Ends compression.
pub(crate) fn end_deflate<W: Write>(output: &mut Output<W>) -> Result<()> {
    output.flush()?;
    let stream = output.out_mut();
    *stream = match std::mem::replace(stream, Stream::Gone) {
        Stream::Deflating(encoder) => Stream::Plain(encoder.finish()?),
        other => other,
    };
    Ok(())
}

/// Writes the rest; ends an open compressed part first.
pub(crate) fn finish<W: Write>(mut output: Output<W>) -> Result<W> {
    end_deflate(&mut output)?;
    match output.finish()? {
        Stream::Plain(out) => Ok(out),
        // `end_deflate` leaves a plain output or an error.
        Stream::Deflating(_) | Stream::Gone => Err(gone().into()),
    }
}

/// Writes a line `key=value`.
pub(crate) fn put_pair<W: Write>(output: &mut Output<W>, tag: Tag, pair: &Pair<'_>) -> Result<()> {
    match pair.value {
        Some(value) if !pair.key.contains(&b'=') => put_line(output, tag, &[pair.key, b"=", value]),
        Some(_) => Err(Error::usage("the name of an attribute or option cannot hold an equals sign")),
        None => put_line(output, tag, &[pair.key]),
    }
}

/// Writes a line of text. The format cannot escape a newline, so a line that contains one is an error.
pub(crate) fn put_line<W: Write>(output: &mut Output<W>, tag: Tag, parts: &[&[u8]]) -> Result<()> {
    if parts.iter().any(|part| part.contains(&b'\n')) {
        return Err(Error::usage("a line of text cannot hold a newline"));
    }
    output.put_u8(tag.0);
    parts.iter().for_each(|part| output.put(part));
    output.put_u8(b'\n');
    Ok(())
}

impl<W: Write> Write for Stream<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Deflating(out) => out.write(bytes),
            Self::Gone => Err(gone()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Deflating(out) => out.flush(),
            Self::Gone => Err(gone()),
        }
    }
}

fn gone() -> io::Error {
    io::Error::other("the output is gone after an earlier error")
}

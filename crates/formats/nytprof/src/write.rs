//! Writes a header and records; what was read comes out byte for byte, compressed data with the same content.

use std::io::Write;

use flate2::{Compression, write::ZlibEncoder};
use traceloom_core::{Error, RecordWriter, Result};

use crate::{
    Header, Nv, Pair, Record, Str, SubCallers,
    raw::{Tag, put_integer},
};

/// Starts a file with its first line.
pub fn create<W: Write>(out: W, header: &Header) -> Result<Writer<W>> {
    let mut writer = Writer { out: Out::Plain(out), buffer: Vec::new() };
    writer.buffer.extend_from_slice(&header.line());
    Ok(writer)
}

/// Writes one profile, record by record, in the order that [`Record`] describes.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: Out<W>,
    buffer: Vec<u8>,
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
        if let Some(bytes) = record.odd_bytes() {
            self.buffer.extend_from_slice(bytes);
        } else {
            self.put(record)?;
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
            // `end_deflate` leaves a plain output or an error.
            Out::Deflating(_) | Out::Gone => Err(Error::usage("the output is gone after an earlier error")),
        }
    }

    fn flush_buffer(&mut self) -> Result<()> {
        match &mut self.out {
            Out::Plain(out) => out.write_all(&self.buffer)?,
            Out::Deflating(out) => out.write_all(&self.buffer)?,
            Out::Gone => return Err(Error::usage("the output is gone after an earlier error")),
        }
        self.buffer.clear();
        Ok(())
    }

    fn start_deflate(&mut self, level: u8) -> Result<()> {
        if matches!(self.out, Out::Deflating(_)) {
            return Err(Error::usage("a compressed part cannot hold another"));
        }
        self.buffer.push(Tag::START_DEFLATE.0);
        self.flush_buffer()?;
        let level = Compression::new(level.min(9).into());
        self.out = match std::mem::replace(&mut self.out, Out::Gone) {
            Out::Plain(out) => Out::Deflating(Box::new(ZlibEncoder::new(out, level))),
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

    #[inline]
    fn put(&mut self, record: &Record<'_>) -> Result<()> {
        match record {
            Record::TimeLine(time) => {
                self.buffer.push(Tag::TIME_LINE.0);
                self.put_all(&[time.ticks as u32, time.fid, time.line]);
            }
            Record::Discount => self.buffer.push(Tag::DISCOUNT.0),
            Record::TimeBlock(time) => {
                self.buffer.push(Tag::TIME_BLOCK.0);
                self.put_all(&[time.ticks as u32, time.fid, time.line, time.block_line, time.sub_line]);
            }
            Record::Comment(text) => self.put_line(Tag::COMMENT, &[text])?,
            Record::Attribute(pair) => self.put_pair(Tag::ATTRIBUTE, pair)?,
            Record::Option(pair) => self.put_pair(Tag::OPTION, pair)?,
            Record::StartDeflate(level) => self.start_deflate(*level)?,
            Record::EndDeflate => self.end_deflate()?,
            Record::Residue(bytes) => self.buffer.extend_from_slice(bytes),
            other => self.put_rare(other)?,
        }
        Ok(())
    }

    fn put_rare(&mut self, record: &Record<'_>) -> Result<()> {
        match record {
            Record::PidStart(start) => {
                self.buffer.push(Tag::PID_START.0);
                self.put_all(&[start.pid, start.ppid]);
                self.put_number(&start.time);
            }
            Record::PidEnd(end) => {
                self.buffer.push(Tag::PID_END.0);
                self.put_all(&[end.pid]);
                self.put_number(&end.time);
            }
            Record::NewFid(file) => {
                self.buffer.push(Tag::NEW_FID.0);
                self.put_all(&[file.fid, file.eval_fid, file.eval_line, file.flags.0, file.size, file.mtime]);
                self.put_string(&file.name)?;
            }
            Record::SubEntry(entry) => {
                self.buffer.push(Tag::SUB_ENTRY.0);
                self.put_all(&[entry.caller_fid, entry.caller_line]);
            }
            Record::SubReturn(left) => {
                self.buffer.push(Tag::SUB_RETURN.0);
                self.put_all(&[left.depth]);
                self.put_number(&left.incl_ticks);
                self.put_number(&left.excl_ticks);
                self.put_string(&left.name)?;
            }
            Record::SrcLine(source) => {
                self.buffer.push(Tag::SRC_LINE.0);
                self.put_all(&[source.fid, source.line]);
                self.put_string(&source.text)?;
            }
            Record::SubInfo(sub) => {
                self.buffer.push(Tag::SUB_INFO.0);
                self.put_all(&[sub.fid]);
                self.put_string(&sub.name)?;
                self.put_all(&[sub.first_line, sub.last_line]);
            }
            Record::SubCallers(calls) => self.put_callers(calls)?,
            _ => {}
        }
        Ok(())
    }

    fn put_callers(&mut self, calls: &SubCallers<'_>) -> Result<()> {
        self.buffer.push(Tag::SUB_CALLERS.0);
        self.put_all(&[calls.fid, calls.line]);
        self.put_string(&calls.caller)?;
        self.put_all(&[calls.count]);
        self.put_number(&calls.incl_seconds);
        self.put_number(&calls.excl_seconds);
        self.put_number(&calls.reci_seconds);
        self.put_all(&[calls.depth]);
        self.put_string(&calls.called)
    }

    fn put_pair(&mut self, tag: Tag, pair: &Pair<'_>) -> Result<()> {
        match pair.value {
            Some(value) if !pair.key.contains(&b'=') => self.put_line(tag, &[pair.key, b"=", value]),
            Some(_) => Err(Error::usage("the name of an attribute or option cannot hold an equals sign")),
            None => self.put_line(tag, &[pair.key]),
        }
    }

    /// Nothing in the format escapes a newline, so none can be written.
    fn put_line(&mut self, tag: Tag, parts: &[&[u8]]) -> Result<()> {
        if parts.iter().any(|part| part.contains(&b'\n')) {
            return Err(Error::usage("a line of text cannot hold a newline"));
        }
        self.buffer.push(tag.0);
        parts.iter().for_each(|part| self.buffer.extend_from_slice(part));
        self.buffer.push(b'\n');
        Ok(())
    }

    #[inline]
    fn put_all(&mut self, numbers: &[u32]) {
        for number in numbers {
            put_integer(*number, &mut self.buffer);
        }
    }

    fn put_number(&mut self, number: &Nv) {
        self.buffer.extend_from_slice(number.bytes());
    }

    fn put_string(&mut self, text: &Str<'_>) -> Result<()> {
        let len = u32::try_from(text.bytes.len()).map_err(|_| Error::usage("a string above 4 GiB cannot be stored"))?;
        self.buffer.push(if text.is_utf8 { Tag::STRING_UTF8.0 } else { Tag::STRING.0 });
        put_integer(len, &mut self.buffer);
        self.buffer.extend_from_slice(text.bytes);
        Ok(())
    }
}

impl<W: Write> RecordWriter<crate::Nytprof, W> for Writer<W> {
    fn write(&mut self, record: &Record<'_>) -> Result<()> {
        self.write(record)
    }

    fn finish(self) -> Result<W> {
        self.finish()
    }
}

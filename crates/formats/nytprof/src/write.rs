//! Writes a header and records; what was read comes out byte for byte, compressed data with the same content.

use std::io::Write;

use traceloom_core::{Error, RecordWriter, Result};

use crate::{
    Header, Nv, Record, Str, SubCallers,
    output::Output,
    raw::{Tag, put_integer},
};

/// Starts a file with its first line.
pub fn create<W: Write>(out: W, header: &Header) -> Result<Writer<W>> {
    let mut out = Output::new(out);
    out.buffer.extend_from_slice(&header.line());
    Ok(Writer { out })
}

/// Writes one profile, record by record, in the order that [`Record`] describes.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: Output<W>,
}

impl<W: Write> Writer<W> {
    /// Writes one record.
    pub fn write(&mut self, record: &Record<'_>) -> Result<()> {
        if let Some(bytes) = record.odd_bytes() {
            self.out.buffer.extend_from_slice(bytes);
        } else {
            self.put(record)?;
        }
        self.out.flush_if_full()
    }

    /// Ends the file; a compressed part that is still open is ended first.
    pub fn finish(self) -> Result<W> {
        self.out.finish()
    }

    #[inline]
    fn put(&mut self, record: &Record<'_>) -> Result<()> {
        match record {
            Record::TimeLine(time) => {
                self.out.buffer.push(Tag::TIME_LINE.0);
                self.put_all(&[time.ticks as u32, time.fid, time.line]);
            }
            Record::Discount => self.out.buffer.push(Tag::DISCOUNT.0),
            Record::TimeBlock(time) => {
                self.out.buffer.push(Tag::TIME_BLOCK.0);
                self.put_all(&[time.ticks as u32, time.fid, time.line, time.block_line, time.sub_line]);
            }
            Record::Comment(text) => self.out.put_line(Tag::COMMENT, &[text])?,
            Record::Attribute(pair) => self.out.put_pair(Tag::ATTRIBUTE, pair)?,
            Record::Option(pair) => self.out.put_pair(Tag::OPTION, pair)?,
            Record::StartDeflate(level) => self.out.start_deflate(*level)?,
            Record::EndDeflate => self.out.end_deflate()?,
            Record::Residue(bytes) => self.out.buffer.extend_from_slice(bytes),
            other => self.put_rare(other)?,
        }
        Ok(())
    }

    fn put_rare(&mut self, record: &Record<'_>) -> Result<()> {
        match record {
            Record::PidStart(start) => {
                self.out.buffer.push(Tag::PID_START.0);
                self.put_all(&[start.pid, start.ppid]);
                self.put_number(&start.time);
            }
            Record::PidEnd(end) => {
                self.out.buffer.push(Tag::PID_END.0);
                self.put_all(&[end.pid]);
                self.put_number(&end.time);
            }
            Record::NewFid(file) => {
                self.out.buffer.push(Tag::NEW_FID.0);
                self.put_all(&[file.fid, file.eval_fid, file.eval_line, file.flags.0, file.size, file.mtime]);
                self.put_string(&file.name)?;
            }
            Record::SubEntry(entry) => {
                self.out.buffer.push(Tag::SUB_ENTRY.0);
                self.put_all(&[entry.caller_fid, entry.caller_line]);
            }
            Record::SubReturn(left) => {
                self.out.buffer.push(Tag::SUB_RETURN.0);
                self.put_all(&[left.depth]);
                self.put_number(&left.incl_ticks);
                self.put_number(&left.excl_ticks);
                self.put_string(&left.name)?;
            }
            Record::SrcLine(source) => {
                self.out.buffer.push(Tag::SRC_LINE.0);
                self.put_all(&[source.fid, source.line]);
                self.put_string(&source.text)?;
            }
            Record::SubInfo(sub) => {
                self.out.buffer.push(Tag::SUB_INFO.0);
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
        self.out.buffer.push(Tag::SUB_CALLERS.0);
        self.put_all(&[calls.fid, calls.line]);
        self.put_string(&calls.caller)?;
        self.put_all(&[calls.count]);
        self.put_number(&calls.incl_seconds);
        self.put_number(&calls.excl_seconds);
        self.put_number(&calls.reci_seconds);
        self.put_all(&[calls.depth]);
        self.put_string(&calls.called)
    }

    #[inline]
    fn put_all(&mut self, numbers: &[u32]) {
        for number in numbers {
            put_integer(*number, &mut self.out.buffer);
        }
    }

    fn put_number(&mut self, number: &Nv) {
        self.out.buffer.extend_from_slice(number.bytes());
    }

    fn put_string(&mut self, text: &Str<'_>) -> Result<()> {
        let len = u32::try_from(text.bytes.len()).map_err(|_| Error::usage("a string above 4 GiB cannot be stored"))?;
        self.out.buffer.push(if text.is_utf8 { Tag::STRING_UTF8.0 } else { Tag::STRING.0 });
        put_integer(len, &mut self.out.buffer);
        self.out.buffer.extend_from_slice(text.bytes);
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

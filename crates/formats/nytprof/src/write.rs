//! Writes a header and records; a file that was read is written back byte for byte, compressed data with the same
//! contents.

use std::io::Write;

use traceloom_core::{Error, Result};

use crate::{
    Header, Nv, Record, Str, SubCallers,
    output::{Output, end_deflate, finish, output, put_line, put_pair, start_deflate},
    raw::{Tag, put_integer},
};

/// Starts a file with its first line.
pub fn create<W: Write>(out: W, header: &Header) -> Result<Writer<W>> {
    Ok(Writer { out: output(out, &header.line()) })
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
            self.out.put(bytes);
        } else {
            self.put(record)?;
        }
        self.out.end_record()
    }

    /// Ends the file, including an open compressed part.
    pub fn finish(self) -> Result<W> {
        finish(self.out)
    }

    #[inline]
    fn put(&mut self, record: &Record<'_>) -> Result<()> {
        match record {
            Record::TimeLine(time) => {
                self.out.put_u8(Tag::TIME_LINE.0);
                self.put_all(&[time.ticks as u32, time.fid, time.line]);
            }
            Record::Discount => self.out.put_u8(Tag::DISCOUNT.0),
            Record::TimeBlock(time) => {
                self.out.put_u8(Tag::TIME_BLOCK.0);
                self.put_all(&[time.ticks as u32, time.fid, time.line, time.block_line, time.sub_line]);
            }
            Record::Comment(text) => put_line(&mut self.out, Tag::COMMENT, &[text])?,
            Record::Attribute(pair) => put_pair(&mut self.out, Tag::ATTRIBUTE, pair)?,
            Record::Option(pair) => put_pair(&mut self.out, Tag::OPTION, pair)?,
            Record::StartDeflate(level) => start_deflate(&mut self.out, *level)?,
            Record::EndDeflate => end_deflate(&mut self.out)?,
            Record::Residue(bytes) => self.out.put(bytes),
            other => self.put_rare(other)?,
        }
        Ok(())
    }

    fn put_rare(&mut self, record: &Record<'_>) -> Result<()> {
        match record {
            Record::PidStart(start) => {
                self.out.put_u8(Tag::PID_START.0);
                self.put_all(&[start.pid, start.ppid]);
                self.put_number(&start.time);
            }
            Record::PidEnd(end) => {
                self.out.put_u8(Tag::PID_END.0);
                self.put_all(&[end.pid]);
                self.put_number(&end.time);
            }
            Record::NewFid(file) => {
                self.out.put_u8(Tag::NEW_FID.0);
                self.put_all(&[file.fid, file.eval_fid, file.eval_line, file.flags.0, file.size, file.mtime]);
                self.put_string(&file.name)?;
            }
            Record::SubEntry(entry) => {
                self.out.put_u8(Tag::SUB_ENTRY.0);
                self.put_all(&[entry.caller_fid, entry.caller_line]);
            }
            Record::SubReturn(left) => {
                self.out.put_u8(Tag::SUB_RETURN.0);
                self.put_all(&[left.depth]);
                self.put_number(&left.incl_ticks);
                self.put_number(&left.excl_ticks);
                self.put_string(&left.name)?;
            }
            Record::SrcLine(source) => {
                self.out.put_u8(Tag::SRC_LINE.0);
                self.put_all(&[source.fid, source.line]);
                self.put_string(&source.text)?;
            }
            Record::SubInfo(sub) => {
                self.out.put_u8(Tag::SUB_INFO.0);
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
        self.out.put_u8(Tag::SUB_CALLERS.0);
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
            put_integer(*number, self.out.buffer());
        }
    }

    fn put_number(&mut self, number: &Nv) {
        self.out.put(number.bytes());
    }

    fn put_string(&mut self, text: &Str<'_>) -> Result<()> {
        let len = u32::try_from(text.bytes.len()).map_err(|_| Error::usage("a string above 4 GiB cannot be stored"))?;
        self.out.put_u8(if text.is_utf8 { Tag::STRING_UTF8.0 } else { Tag::STRING.0 });
        put_integer(len, self.out.buffer());
        self.out.put(text.bytes);
        Ok(())
    }
}

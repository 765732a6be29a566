//! Writes a header and records; what was read comes out byte for byte.

use std::io::Write;

use traceloom_core::{Error, RecordWriter, Result};

use crate::{Container, Encoding, Event, Header, Record, raw::MAGIC, record::Chunk};

/// Starts a file with its header.
///
/// The writer lays records out as they are told; [`crate::Composer`] is the one that makes files from events.
pub fn create<W: Write>(out: W, header: &Header) -> Result<Writer<W>> {
    let mut writer = Writer { out, buffer: Vec::new(), carried: false };
    match header.container {
        Container::Binary => writer.put_header(header)?,
        Container::Legacy => writer.buffer.extend_from_slice(&header.head),
        // All of these travel as text.
        Container::Json | Container::JsonPartial | Container::Script | Container::Calls => {}
    }
    Ok(writer)
}

/// Writes one file, record by record, in the order that [`Record`] describes.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    buffer: Vec<u8>,
    /// What follows was decoded from bytes that have been written.
    carried: bool,
}

impl<W: Write> Writer<W> {
    /// Writes one record.
    pub fn write(&mut self, record: &Record<'_>) -> Result<()> {
        match record {
            Record::Raw(bytes) | Record::Residue(bytes) => self.buffer.extend_from_slice(bytes),
            Record::Chunk(chunk) => {
                self.carried = chunk.carried;
                if !self.carried {
                    self.put_chunk(chunk);
                }
            }
            _ if self.carried => {}
            Record::Event(event) => self.put_event(event)?,
            Record::Strings(strings) => self.buffer.extend_from_slice(strings.as_bytes()),
            Record::Resource(resource) => self.buffer.extend_from_slice(resource.bytes),
            Record::FileHeader(bytes)
            | Record::JsonEvents(bytes)
            | Record::Padding(bytes)
            | Record::Torn(bytes)
            | Record::Unread(bytes) => self.buffer.extend_from_slice(bytes),
        }
        if self.buffer.len() >= FLUSH_BYTES {
            self.flush_buffer()?;
        }
        Ok(())
    }

    /// Ends the file.
    pub fn finish(mut self) -> Result<W> {
        self.flush_buffer()?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn flush_buffer(&mut self) -> Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    fn put_header(&mut self, header: &Header) -> Result<()> {
        let version = u32::try_from(header.wtf_version & 0xffff_ffff).map_err(|_| Error::usage("version"))?;
        for word in [MAGIC, version, header.format_version] {
            self.put_u32(word);
        }
        self.buffer.truncate(header.stored_bytes);
        Ok(())
    }

    fn put_chunk(&mut self, chunk: &Chunk<'_>) {
        for word in [chunk.id, chunk.kind.0, chunk.length, chunk.start, chunk.end, chunk.part_count] {
            self.put_u32(word);
        }
        self.buffer.extend_from_slice(chunk.parts);
    }

    #[inline]
    fn put_event(&mut self, event: &Event<'_>) -> Result<()> {
        match event.args.encoding {
            Encoding::Words => {
                self.put_u32(event.wire_id);
                self.put_u32(event.time);
            }
            Encoding::Legacy => {
                let wire_id = u16::try_from(event.wire_id)
                    .map_err(|_| Error::usage(format!("wire id {} does not fit into 16 bits", event.wire_id)))?;
                self.buffer.extend_from_slice(&wire_id.to_be_bytes());
                self.buffer.extend_from_slice(&event.time.to_be_bytes());
            }
        }
        self.buffer.extend_from_slice(event.args.bytes);
        Ok(())
    }

    #[inline]
    fn put_u32(&mut self, value: u32) {
        self.buffer.extend_from_slice(&value.to_le_bytes());
    }
}

const FLUSH_BYTES: usize = 64 << 10;

impl<W: Write> RecordWriter<crate::Wtf, W> for Writer<W> {
    fn write(&mut self, record: &Record<'_>) -> Result<()> {
        self.write(record)
    }

    fn finish(self) -> Result<W> {
        self.finish()
    }
}

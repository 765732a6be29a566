//! Writes a header and records; a file that was read is written back byte for byte.

mod builtins;
mod compose;
mod encode;
mod json;
mod layout;

pub use self::{
    builtins::Builtins,
    compose::{Composer, TypeId, ZoneId},
    layout::Form,
};
pub(crate) use self::{
    encode::{EventBuffer, chunk, little_endian},
    json::with_member,
};

use std::io::Write;

use traceloom_core::{ByteOrder, Error, Output, Result};

use crate::{Container, Encoding, Event, Header, Record, raw::MAGIC, record::Chunk};

/// Starts a file with its header.
///
/// The writer writes records unchanged; use [`Composer`] to make files from events.
pub fn create<W: Write>(out: W, header: &Header) -> Result<Writer<W>> {
    let mut out = Output::new(out, ByteOrder::Little);
    match header.container {
        Container::Binary => put_header(&mut out, header),
        Container::Legacy => out.put(&header.head),
        // All of these are written as text.
        Container::Json | Container::JsonPartial | Container::Script | Container::Calls => {}
    }
    Ok(Writer { out, carried: false })
}

/// Writes one file, record by record, in the order that [`Record`] describes.
#[derive(Debug)]
pub struct Writer<W> {
    out: Output<W>,
    /// Whether the following records were decoded from bytes that have already been written.
    carried: bool,
}

impl<W: Write> Writer<W> {
    /// Writes one record.
    pub fn write(&mut self, record: &Record<'_>) -> Result<()> {
        match record {
            Record::Raw(bytes) | Record::Residue(bytes) => self.out.put(bytes),
            Record::Chunk(chunk) => {
                self.carried = chunk.carried;
                if !self.carried {
                    self.put_chunk(chunk);
                }
            }
            _ if self.carried => {}
            Record::Event(event) => self.put_event(event)?,
            Record::Strings(strings) => self.out.put(strings.as_bytes()),
            Record::Resource(resource) => self.out.put(resource.bytes),
            Record::FileHeader(bytes)
            | Record::JsonEvents(bytes)
            | Record::Padding(bytes)
            | Record::Torn(bytes)
            | Record::Unread(bytes) => self.out.put(bytes),
        }
        self.out.end_record()
    }

    /// Ends the file.
    pub fn finish(self) -> Result<W> {
        self.out.finish()
    }

    fn put_chunk(&mut self, chunk: &Chunk<'_>) {
        for word in [chunk.id, chunk.kind.0, chunk.length, chunk.start, chunk.end, chunk.part_count] {
            self.out.put_u32(word);
        }
        self.out.put(chunk.parts);
    }

    #[inline]
    fn put_event(&mut self, event: &Event<'_>) -> Result<()> {
        match event.args.encoding {
            Encoding::Words => {
                self.out.put_u32(event.wire_id);
                self.out.put_u32(event.time);
            }
            Encoding::Legacy => {
                let wire_id = u16::try_from(event.wire_id)
                    .map_err(|_| Error::usage(format!("wire id {} does not fit into 16 bits", event.wire_id)))?;
                self.out.put(&wire_id.to_be_bytes());
                self.out.put(&event.time.to_be_bytes());
            }
        }
        self.out.put(event.args.bytes);
        Ok(())
    }
}

fn put_header<W: Write>(out: &mut Output<W>, header: &Header) {
    for word in [MAGIC, header.wtf_version as u32, header.format_version] {
        out.put_u32(word);
    }
    out.buffer().truncate(header.stored_bytes);
}

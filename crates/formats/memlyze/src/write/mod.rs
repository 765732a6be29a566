//! Writes a header and records; what was read comes out byte for byte.

mod compose;

use std::io::Write;

use traceloom_core::{ByteOrder, Error, RecordWriter, Result};

pub use self::compose::{Allocated, Call, Composer};

use crate::{
    Clock, Header, Metadata, Record,
    encoding::{block, varint},
    raw::{BLOCK_PLAIN_BYTES, EventType, Packing},
};

/// Starts a file with its header; the metadata follows as records.
pub fn create<W: Write>(out: W, header: &Header) -> Result<Writer<W>> {
    let mut buffer = Vec::new();
    put_header(&mut buffer, header);
    let clock = Clock::new(header.dialect);
    Ok(Writer {
        out,
        order: header.order,
        packing: header.packing(),
        buffer,
        plain: Vec::new(),
        clock,
        block_clock: clock,
        copied: 0,
    })
}

/// Starts a file with its header and complete metadata; the header's length of it is set.
pub fn create_with_metadata<W: Write>(out: W, header: &Header, metadata: &Metadata) -> Result<Writer<W>> {
    let len = metadata.json_len();
    let metadata_len = u32::try_from(len).map_err(|_| Error::limit("bytes of metadata", len, u32::MAX.into()))?;
    let mut writer = create(out, &Header { metadata_len, ..header.clone() })?;
    writer.flush_buffer()?;
    metadata.write_json(&mut writer.out)?;
    Ok(writer)
}

/// Writes one file, record by record, in the order that [`Record`] describes.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    order: ByteOrder,
    packing: Packing,
    buffer: Vec<u8>,
    /// Events of the block that is being filled.
    plain: Vec<u8>,
    clock: Clock,
    /// The clock at the begin of that block.
    block_clock: Clock,
    /// Bytes of events that follow and are already written, as part of a block that was copied.
    copied: usize,
}

impl<W: Write> Writer<W> {
    /// Writes one record. Events that follow a [`Record::Block`] are part of it and not written again.
    #[inline]
    pub fn write(&mut self, record: &Record<'_>) -> Result<()> {
        match record {
            Record::Metadata(bytes) | Record::Residue(bytes) => {
                self.flush_block();
                self.copied = 0;
                self.buffer.extend_from_slice(bytes);
            }
            Record::Block(block) => {
                self.flush_block();
                self.copied = block.plain_len as usize;
                self.clock = Clock::at(self.clock.dialect(), block.time_us, block.run_delta);
                self.buffer.extend_from_slice(block.stored);
            }
            event => self.put_event(event),
        }
        if self.buffer.len() >= FLUSH_BYTES {
            self.flush_buffer()?;
        }
        Ok(())
    }

    /// Ends the file.
    pub fn finish(mut self) -> Result<W> {
        self.flush_block();
        self.flush_buffer()?;
        self.out.flush()?;
        Ok(self.out)
    }

    #[inline]
    fn put_event(&mut self, event: &Record<'_>) {
        if self.packing == Packing::Plain {
            return put_event(&mut self.buffer, event, self.order);
        }
        let len = event.event_len().unwrap_or(0);
        if let Some(copied) = self.copied.checked_sub(len) {
            self.copied = copied;
            self.clock.pass_record(event);
            return;
        }
        self.copied = 0;
        if self.plain.len() + len > BLOCK_PLAIN_BYTES {
            self.flush_block();
        }
        if self.plain.is_empty() {
            self.block_clock = self.clock;
        }
        put_event(&mut self.plain, event, self.order);
        self.clock.pass_record(event);
    }

    fn flush_block(&mut self) {
        if !self.plain.is_empty() {
            block::pack(&self.plain, &self.block_clock, self.order, &mut self.buffer);
            self.plain.clear();
        }
    }

    fn flush_buffer(&mut self) -> Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

const FLUSH_BYTES: usize = 64 << 10;

fn put_header(out: &mut Vec<u8>, header: &Header) {
    let order = header.order;
    out.extend_from_slice(&header.magic);
    out.extend_from_slice(&order.put_u32(header.version.0));
    out.extend_from_slice(&order.put_u64(header.start_us));
    out.extend_from_slice(&order.put_u32(header.metadata_len));
    out.extend_from_slice(&header.reserved);
    out.truncate(header.stored_bytes);
}

/// Appends an event; what is not one adds nothing.
#[inline]
fn put_event(out: &mut Vec<u8>, event: &Record<'_>, order: ByteOrder) {
    match event {
        Record::Alloc(alloc) => {
            let [delta, size, stack] = alloc.padding.0;
            out.push(EventType::ALLOC.0);
            varint::write(out, alloc.delta_us, delta);
            out.extend_from_slice(&order.put_u64(alloc.address));
            varint::write(out, alloc.size_bytes, size);
            varint::write(out, alloc.stack, stack);
            out.extend_from_slice(&order.put_u16(alloc.thread));
        }
        Record::Free(free) => {
            let [delta, ..] = free.padding.0;
            out.push(EventType::FREE.0);
            varint::write(out, free.delta_us, delta);
            out.extend_from_slice(&order.put_u64(free.address));
        }
        Record::Gc(gc) => {
            let [delta, objects, size] = gc.padding.0;
            out.push(EventType::GC.0);
            varint::write(out, gc.delta_us, delta);
            varint::write(out, gc.objects, objects);
            varint::write(out, gc.size_bytes, size);
        }
        Record::Marker(marker) => {
            let [delta, name, _] = marker.padding.0;
            out.push(EventType::MARKER.0);
            varint::write(out, marker.delta_us, delta);
            varint::write(out, marker.name, name);
        }
        Record::Metadata(_) | Record::Block(_) | Record::Residue(_) => {}
    }
}

impl<W: Write> RecordWriter<crate::Memlyze, W> for Writer<W> {
    fn write(&mut self, record: &Record<'_>) -> Result<()> {
        self.write(record)
    }

    fn finish(self) -> Result<W> {
        self.finish()
    }
}

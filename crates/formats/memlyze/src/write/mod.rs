//! Writes a header and records; a file that was read is written back byte for byte.

mod compose;

use std::io::Write;

use traceloom_core::{ByteOrder, Error, Output, Result};

pub use self::compose::{Allocated, Call, Composer};

use crate::{
    Clock, Header, Metadata, Record,
    encoding::{block, varint},
    raw::{BLOCK_PLAIN_BYTES, EventType, Packing},
};

/// Starts a file with its header; the metadata follows as records.
pub fn create<W: Write>(out: W, header: &Header) -> Result<Writer<W>> {
    let mut out = Output::new(out, header.order);
    put_header(&mut out, header);
    let clock = Clock::new(header.dialect);
    Ok(Writer { out, packing: header.packing(), plain: Vec::new(), clock, block_clock: clock, copied: 0 })
}

/// Starts a file with its header and complete metadata; sets the header's metadata length.
pub fn create_with_metadata<W: Write>(out: W, header: &Header, metadata: &Metadata) -> Result<Writer<W>> {
    let len = metadata.json_len();
    let metadata_len = u32::try_from(len).map_err(|_| Error::limit("bytes of metadata", len, u32::MAX.into()))?;
    let mut writer = create(out, &Header { metadata_len, ..header.clone() })?;
    writer.out.flush()?;
    metadata.write_json(writer.out.out_mut())?;
    Ok(writer)
}

/// Writes one file, record by record, in the order that [`Record`] describes.
#[derive(Debug)]
pub struct Writer<W> {
    out: Output<W>,
    packing: Packing,
    /// Events of the block being filled.
    plain: Vec<u8>,
    clock: Clock,
    /// The clock at the start of that block.
    block_clock: Clock,
    /// Bytes of the following events that are already written, as part of a copied block.
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
                self.out.put(bytes);
            }
            Record::Block(block) => {
                self.flush_block();
                self.copied = block.plain_len as usize;
                self.clock = Clock::at(self.clock.dialect(), block.time_us, block.run_delta);
                self.out.put(block.stored);
            }
            event => self.put_event(event),
        }
        self.out.end_record()
    }

    /// Passes on everything written so far; a partial block is ended.
    pub fn flush(&mut self) -> Result<()> {
        self.flush_block();
        self.out.flush()
    }

    /// Ends the file.
    pub fn finish(mut self) -> Result<W> {
        self.flush_block();
        self.out.finish()
    }

    #[inline]
    fn put_event(&mut self, event: &Record<'_>) {
        let order = self.out.order();
        if self.packing == Packing::Plain {
            return put_event(self.out.buffer(), event, order);
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
        put_event(&mut self.plain, event, order);
        self.clock.pass_record(event);
    }

    fn flush_block(&mut self) {
        if !self.plain.is_empty() {
            let order = self.out.order();
            block::pack(&self.plain, &self.block_clock, order, self.out.buffer());
            self.plain.clear();
        }
    }
}

fn put_header<W: Write>(out: &mut Output<W>, header: &Header) {
    out.put(&header.magic);
    out.put_u32(header.version.0);
    out.put_u64(header.start_us);
    out.put_u32(header.metadata_len);
    out.put(&header.reserved);
    out.buffer().truncate(header.stored_bytes);
}

/// Appends an event; other records add nothing.
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

//! Writes a header and records; a file that was read is written back byte for byte.

use std::io::Write;

use traceloom_core::{ByteOrder, Error, Output, Result};

use crate::{
    Block, Bookmark, Descriptor, Header, Record, Switch, Thread, Value,
    raw::{
        BLOCK_FIXED, BOOKMARK_FIXED, DESCRIPTOR_FIXED, EASY_PROFILER_SIGNATURE, Layout, SwitchOrder, VALUE_FIXED, Width,
    },
};

/// Starts a file with its header.
pub fn create<W: Write>(out: W, header: &Header) -> Result<Writer<W>> {
    let output = Output::new(out, header.layout.order);
    let mut writer = Writer { output, layout: header.layout, tally: Tally::default() };
    writer.put_header(header)?;
    writer.output.flush()?;
    Ok(writer)
}

/// Writes one file, record by record, in the order that [`Record`] describes.
#[derive(Debug)]
pub struct Writer<W> {
    output: Output<W>,
    layout: Layout,
    tally: Tally,
}

/// The numbers that a header needs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Tally {
    /// Number of descriptors, including holes.
    pub descriptors: u32,
    /// Sum of the sizes of descriptors.
    pub descriptor_bytes: u64,
    /// Number of thread sections.
    pub threads: u32,
    /// Number of switches, blocks and values.
    pub records: u32,
    /// Sum of the sizes of these records.
    pub record_bytes: u64,
    /// Number of bookmarks.
    pub bookmarks: u16,
}

impl Tally {
    /// Counts a record as [`Writer`] would write it, without writing it.
    pub fn count(&mut self, record: &Record<'_>, layout: &Layout) {
        let bytes = payload_len(record, layout).unwrap_or(0) as u64;
        match record {
            Record::Descriptor(_) | Record::Hole => {
                self.descriptors = self.descriptors.wrapping_add(1);
                self.descriptor_bytes += bytes;
            }
            Record::Thread(_) => self.threads = self.threads.wrapping_add(1),
            Record::Switch(_) | Record::Block(_) | Record::Value(_) => {
                self.records = self.records.wrapping_add(1);
                self.record_bytes += bytes;
            }
            Record::Bookmark(_) => self.bookmarks = self.bookmarks.wrapping_add(1),
            Record::Blocks(_) | Record::Mark(_) | Record::Malformed(_) | Record::Residue(_) => {}
        }
    }

    /// Puts the numbers into a header.
    pub fn fill(&self, header: &mut Header) {
        header.descriptors_count = self.descriptors;
        header.descriptors_memory_size = self.descriptor_bytes;
        header.blocks_count = self.records;
        header.memory_size = self.record_bytes;
        header.threads_count = header.layout.marks.then_some(self.threads);
        header.bookmarks_count = header.layout.marks.then_some(self.bookmarks);
        header.padding = header.layout.marks.then_some(0);
    }
}

impl<W: Write> Writer<W> {
    /// Writes one record.
    pub fn write(&mut self, record: &Record<'_>) -> Result<()> {
        self.tally.count(record, &self.layout);
        match record {
            Record::Descriptor(descriptor) => self.put_descriptor(descriptor)?,
            Record::Hole => self.put_size(0, None)?,
            Record::Thread(thread) => self.put_thread(thread)?,
            Record::Switch(switch) => self.put_switch(switch)?,
            Record::Blocks(count) => self.output.put_u32(*count),
            Record::Block(block) => self.put_block(block)?,
            Record::Value(value) => self.put_value(value)?,
            Record::Mark(mark) => self.output.put_u32(*mark),
            Record::Bookmark(bookmark) => self.put_bookmark(bookmark)?,
            Record::Malformed(bytes) => {
                self.put_size(bytes.len(), None)?;
                self.output.put(bytes);
            }
            Record::Residue(bytes) => self.output.put(bytes),
        }
        self.output.end_record()
    }

    /// The numbers so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Ends the file and returns the output.
    pub fn finish(self) -> Result<W> {
        self.output.finish()
    }

    fn put_header(&mut self, header: &Header) -> Result<()> {
        let order = self.layout.order;
        let signature_order = match (self.layout.swapped_signature, order) {
            (false, order) => order,
            (true, ByteOrder::Little) => ByteOrder::Big,
            (true, ByteOrder::Big) => ByteOrder::Little,
        };
        self.output.put(&signature_order.put_u32(EASY_PROFILER_SIGNATURE));
        self.output.put_u32(header.version.0);
        self.put_id(header.pid.unwrap_or(0), self.layout.pid, "process id")?;
        self.output.put_i64(header.cpu_frequency);
        self.output.put_u64(header.begin_time);
        self.output.put_u64(header.end_time);
        if self.layout.sizes_first {
            self.output.put_u64(header.memory_size);
            self.output.put_u64(header.descriptors_memory_size);
            self.output.put_u32(header.blocks_count);
            self.output.put_u32(header.descriptors_count);
        } else {
            self.output.put_u32(header.blocks_count);
            self.output.put_u64(header.memory_size);
            self.output.put_u32(header.descriptors_count);
            self.output.put_u64(header.descriptors_memory_size);
        }
        if self.layout.marks {
            self.output.put_u32(header.threads_count.unwrap_or(0));
            self.output.put_u16(header.bookmarks_count.unwrap_or(0));
            self.output.put_u16(header.padding.unwrap_or(0));
        }
        self.output.buffer().truncate(header.stored_bytes);
        Ok(())
    }

    fn put_descriptor(&mut self, descriptor: &Descriptor<'_>) -> Result<()> {
        let (name, file) = (&descriptor.name, &descriptor.file);
        self.put_size(DESCRIPTOR_FIXED + name.len() + file.len(), descriptor.odd_size)?;
        self.output.put_u32(descriptor.id);
        self.output.put_i32(descriptor.line);
        self.output.put_u32(descriptor.color);
        self.output.put(&[descriptor.block_type.0, descriptor.status.0]);
        let name_size = u16::try_from(name.len()).map_err(|_| too_long("descriptor's name", name.len()))?;
        self.output.put_u16(descriptor.odd_name_size.unwrap_or(name_size));
        for part in [name.text, name.tail, file.text, file.tail] {
            self.output.put(part);
        }
        Ok(())
    }

    fn put_thread(&mut self, thread: &Thread<'_>) -> Result<()> {
        self.put_id(thread.id, self.layout.thread_id, "thread id")?;
        let size = u16::try_from(thread.name.len()).map_err(|_| too_long("thread's name", thread.name.len()))?;
        self.output.put_u16(size);
        self.output.put(thread.name.text);
        self.output.put(thread.name.tail);
        self.output.put_u32(thread.switches);
        Ok(())
    }

    fn put_switch(&mut self, switch: &Switch<'_>) -> Result<()> {
        self.put_size(self.layout.switch_fixed() + switch.name.len(), switch.odd_size)?;
        match self.layout.switch {
            SwitchOrder::TimesFirst => {
                self.output.put_u64(switch.begin);
                self.output.put_u64(switch.end);
                self.put_id(switch.target, self.layout.thread_id, "thread id")?;
            }
            SwitchOrder::TargetFirst => {
                self.output.put_u64(switch.target);
                self.output.put_u64(switch.begin);
                self.output.put_u64(switch.end);
            }
        }
        self.output.put(switch.name.text);
        self.output.put(switch.name.tail);
        Ok(())
    }

    #[inline]
    fn put_block(&mut self, block: &Block<'_>) -> Result<()> {
        self.put_size(BLOCK_FIXED + block.name.len(), block.odd_size)?;
        self.output.put_u64(block.begin);
        self.output.put_u64(block.end);
        self.output.put_u32(block.descriptor);
        self.output.put(block.name.text);
        self.output.put(block.name.tail);
        Ok(())
    }

    fn put_value(&mut self, value: &Value<'_>) -> Result<()> {
        self.put_size(VALUE_FIXED + value.data.len() + value.surplus.len(), value.odd_size)?;
        self.output.put_u64(value.begin);
        self.output.put_u64(value.end);
        self.output.put_u32(value.descriptor);
        self.output.put(&value.filler);
        let data_size = u16::try_from(value.data.len()).map_err(|_| too_long("value", value.data.len()))?;
        self.output.put_u16(value.odd_data_size.unwrap_or(data_size));
        self.output.put(&[value.data_type.0, value.is_array]);
        self.output.put_u64(value.value_id);
        self.put_data(value);
        self.output.put(value.surplus);
        Ok(())
    }

    /// Writes the elements of a value, swapped if they come from a file of the other byte order.
    fn put_data(&mut self, value: &Value<'_>) {
        match value.data_type.width() {
            Some(width) if value.order != self.layout.order && value.data.len().is_multiple_of(width) => {
                let turned = value.data.chunks(width).flat_map(|element| element.iter().rev());
                self.output.buffer().extend(turned);
            }
            _ => self.output.put(value.data),
        }
    }

    fn put_bookmark(&mut self, bookmark: &Bookmark<'_>) -> Result<()> {
        self.put_size(BOOKMARK_FIXED + bookmark.text.len(), bookmark.odd_size)?;
        self.output.put_u64(bookmark.position_ns);
        self.output.put_u32(bookmark.color);
        self.output.put(bookmark.text.text);
        self.output.put(bookmark.text.tail);
        Ok(())
    }

    #[inline]
    fn put_size(&mut self, payload: usize, odd: Option<u16>) -> Result<()> {
        let size = match odd {
            Some(size) => size,
            None => u16::try_from(self.layout.size_of_payload(payload)).map_err(|_| too_long("record", payload))?,
        };
        self.output.put_u16(size);
        Ok(())
    }

    fn put_id(&mut self, id: u64, width: Width, what: &'static str) -> Result<()> {
        match width {
            Width::Absent => {}
            Width::U32 => {
                let id = u32::try_from(id).map_err(|_| {
                    Error::unsupported(format!(
                        "the {what} {id} needs 8 bytes; this version stores 4: choose 1.3.0 or later"
                    ))
                })?;
                self.output.put_u32(id);
            }
            Width::U64 => self.output.put_u64(id),
        }
        Ok(())
    }
}

fn payload_len(record: &Record<'_>, layout: &Layout) -> Option<usize> {
    Some(match record {
        Record::Descriptor(descriptor) => DESCRIPTOR_FIXED + descriptor.name.len() + descriptor.file.len(),
        Record::Switch(switch) => layout.switch_fixed() + switch.name.len(),
        Record::Block(block) => BLOCK_FIXED + block.name.len(),
        Record::Value(value) => VALUE_FIXED + value.data.len() + value.surplus.len(),
        _ => return None,
    })
}

fn too_long(what: &str, len: usize) -> Error {
    Error::unsupported(format!("a {what} of {len} bytes does not fit: sizes are stored in 16 bits"))
}

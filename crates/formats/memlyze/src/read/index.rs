//! The index of a trace, in a separate file: maps times to offsets.

use std::io::Write;

use traceloom_core::{ByteOrder, Checksum, Cursor, Limits, Options, Records, Result, Source, Window};

use super::{Reader, seek::Checkpoint};
use crate::{
    Record,
    raw::{
        BLOCK_PLAIN_BYTES, HEADER_BYTES, INDEX_ENTRY_BYTES, INDEX_HEADER_BYTES, INDEX_MAGIC, INDEX_VERSION, Packing,
    },
};

/// Reads a trace and writes its index, conventionally `TRACE.mlyze.idx`; returns the number of entries.
pub fn build_index<W: Write>(source: &Source, out: W, options: &Options) -> Result<u64> {
    let mut reader = crate::open(source.clone(), options)?;
    let mut index = IndexWriter { out, entries: 0, checksum: Checksum::new() };
    index.put_header(source)?;
    let by_block = reader.header.packing() == Packing::Blocks;
    let mut next_plain = reader.events;
    loop {
        let clock = reader.clock;
        let plain_offset = reader.block.next_offset;
        let Some(located) = reader.next()? else { break };
        let offset = located.offset;
        let checkpoint = match located.record {
            Record::Block(block) => {
                Checkpoint { offset, plain_offset, time_us: block.time_us, run_delta: block.run_delta }
            }
            _ if by_block => continue,
            record if record.event_type().is_some() && offset >= next_plain => {
                next_plain = offset.saturating_add(BLOCK_PLAIN_BYTES as u64);
                Checkpoint { offset, plain_offset: offset, time_us: clock.now_us(), run_delta: clock.run_delta() }
            }
            _ => continue,
        };
        index.put_entry(checkpoint)?;
    }
    index.finish(source.len()?)
}

struct IndexWriter<W> {
    out: W,
    entries: u64,
    checksum: Checksum,
}

impl<W: Write> IndexWriter<W> {
    fn put_header(&mut self, source: &Source) -> Result<()> {
        let mut header = [0; INDEX_HEADER_BYTES];
        let fields = INDEX_MAGIC.into_iter().chain(INDEX_VERSION.to_le_bytes());
        for (to, from) in header.iter_mut().zip(fields.chain(header_checksum(source)?.to_le_bytes())) {
            *to = from;
        }
        self.put(&header)
    }

    fn put_entry(&mut self, checkpoint: Checkpoint) -> Result<()> {
        self.entries += 1;
        for value in [checkpoint.offset, checkpoint.plain_offset, checkpoint.time_us, checkpoint.run_delta] {
            self.put(&value.to_le_bytes())?;
        }
        Ok(())
    }

    fn finish(mut self, trace_bytes: u64) -> Result<u64> {
        self.put(&trace_bytes.to_le_bytes())?;
        self.put(&self.entries.to_le_bytes())?;
        let checksum = self.checksum.value().to_le_bytes();
        self.put(&checksum)?;
        self.put(&INDEX_MAGIC)?;
        self.out.flush()?;
        Ok(self.entries)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.checksum = self.checksum.with(bytes);
        Ok(self.out.write_all(bytes)?)
    }
}

/// Ties an index to its trace: two recordings hardly ever start in the same microsecond.
fn header_checksum(source: &Source) -> Result<u32> {
    Ok(Checksum::new().with(&source.prefix(HEADER_BYTES)?).value())
}

/// Size of the trailer after the entries: length of the trace, number of entries, checksum, magic.
const TRAILER_BYTES: usize = 24;

/// An index that is queried without being loaded into memory.
#[derive(Clone, Debug)]
pub struct Index {
    source: Source,
    entries: u64,
    trace_bytes: u64,
    trace_checksum: u32,
    /// Why it cannot be used, if that is the case.
    damage: Option<&'static str>,
}

impl Index {
    /// Opens an index. [`Reader::seek`] detects one that is damaged or belongs to another trace, and works without it.
    pub fn open(source: Source, limits: &Limits) -> Result<Self> {
        let mut index = Self { source, entries: 0, trace_bytes: 0, trace_checksum: 0, damage: None };
        index.damage = index.read_ends(limits)?.err();
        Ok(index)
    }

    fn read_ends(&mut self, limits: &Limits) -> Result<Result<(), &'static str>> {
        let len = self.source.len()?;
        let ends = (INDEX_HEADER_BYTES + TRAILER_BYTES) as u64;
        let Some(entries_bytes) = len.checked_sub(ends) else { return Ok(Err("it is too short")) };
        let mut header = [0; INDEX_HEADER_BYTES];
        self.source.read_full(0, &mut header)?;
        let mut cursor = Cursor::new(&header, 0, ByteOrder::Little);
        if *cursor.array::<4>("magic")? != INDEX_MAGIC || cursor.u32("version")? != INDEX_VERSION {
            return Ok(Err("it is not an index of a known version"));
        }
        self.trace_checksum = cursor.u32("header_checksum")?;
        let mut trailer = [0; TRAILER_BYTES];
        self.source.read_full(len - TRAILER_BYTES as u64, &mut trailer)?;
        let mut cursor = Cursor::new(&trailer, len - TRAILER_BYTES as u64, ByteOrder::Little);
        self.trace_bytes = cursor.u64("trace_bytes")?;
        self.entries = cursor.u64("entries")?;
        let checksum = cursor.u32("checksum")?;
        if self.entries.checked_mul(INDEX_ENTRY_BYTES as u64) != Some(entries_bytes) {
            return Ok(Err("it is truncated"));
        }
        if self.checksum_of(len - 8, limits)? != checksum {
            return Ok(Err("its checksum is wrong"));
        }
        Ok(Ok(()))
    }

    fn checksum_of(&self, bytes: u64, limits: &Limits) -> Result<u32> {
        let mut window = Window::new(self.source.clone(), limits);
        let mut checksum = Checksum::new();
        let mut left = bytes;
        while left > 0 {
            let ahead = window.fill(1)?;
            let len = usize::try_from(left).unwrap_or(usize::MAX).min(ahead.len());
            if len == 0 {
                break;
            }
            checksum = checksum.with(window.take(len));
            left -= len as u64;
        }
        Ok(checksum.value())
    }

    /// The last checkpoint before which every event is earlier than `time_us`; the error says why the index is
    /// unusable.
    pub(super) fn before(&self, time_us: u64, reader: &Reader) -> Result<Result<Option<Checkpoint>, &'static str>> {
        if let Some(damage) = self.damage {
            return Ok(Err(damage));
        }
        let trace = reader.window.source();
        if self.trace_bytes != trace.len()? || self.trace_checksum != header_checksum(trace)? {
            return Ok(Err("it was made from another file"));
        }
        let (mut low, mut high) = (0, self.entries);
        let mut best = None;
        while low < high {
            let middle = low + (high - low) / 2;
            let checkpoint = self.entry(middle)?;
            if checkpoint.time_us < time_us {
                best = Some(checkpoint);
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(Ok(best))
    }

    fn entry(&self, number: u64) -> Result<Checkpoint> {
        let offset = INDEX_HEADER_BYTES as u64 + number * INDEX_ENTRY_BYTES as u64;
        let mut bytes = [0; INDEX_ENTRY_BYTES];
        self.source.read_full(offset, &mut bytes)?;
        let mut cursor = Cursor::new(&bytes, offset, ByteOrder::Little);
        Ok(Checkpoint {
            offset: cursor.u64("offset")?,
            plain_offset: cursor.u64("plain_offset")?,
            time_us: cursor.u64("time")?,
            run_delta: cursor.u64("run")?,
        })
    }
}

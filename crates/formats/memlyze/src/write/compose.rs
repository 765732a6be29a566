//! Writes a trace as it happens: names, stacks and threads are numbered on the fly.
//!
//! The metadata comes before the events but is complete only after the last one. So the events wait in a temporary
//! file, and memory does not grow with their number.

use std::io::Write;

use traceloom_core::{ByteOrder, Limits, Result, Store};

use super::put_event;
use crate::{
    Alloc, Clock, Free, Gc, Header, Marker, MetadataBuilder, Padding, Record, Threads, create_with_metadata,
    encoding::thorough,
    raw::{Dialect, EVENT_BYTES, Packing},
};

/// One call, by names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Call<'a> {
    /// Path of the file.
    pub file: &'a [u8],
    /// Line in the file.
    pub line: u64,
    /// Name of the function.
    pub function: &'a [u8],
}

/// Allocated memory, with its stack and thread.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Allocated {
    /// Address of the memory.
    pub address: u64,
    /// Size of the memory.
    pub size_bytes: u64,
    /// The stack, as returned by [`Composer::stack`].
    pub stack: u64,
    /// Any number that identifies the thread.
    pub thread: u64,
}

/// Collects the events of a trace. Call order: `(stack | alloc | free | gc | marker)* finish`.
///
/// Times are microseconds since the start and must not decrease; an earlier one counts as the previous time.
#[derive(Debug)]
pub struct Composer {
    events: Store,
    buffer: Vec<u8>,
    metadata: MetadataBuilder,
    threads: Threads,
    clock: Clock,
}

impl Composer {
    /// Starts a trace.
    pub fn new(limits: &Limits) -> Self {
        Self {
            events: Store::new(MAX_RESIDENT_BYTES),
            buffer: Vec::new(),
            metadata: MetadataBuilder::new(limits),
            threads: Threads::default(),
            clock: Clock::new(Dialect::Document),
        }
    }

    /// The id of a stack, the innermost call first.
    pub fn stack(&mut self, calls: &[Call<'_>]) -> Result<u64> {
        let mut frames = Vec::with_capacity(calls.len());
        for call in calls {
            let (file, function) = (self.metadata.file(call.file)?, self.metadata.function(call.function)?);
            frames.push(crate::Frame { file: Some(file), line: Some(call.line), function: Some(function) });
        }
        self.metadata.stack(&frames)
    }

    /// Memory was allocated.
    pub fn alloc(&mut self, time_us: u64, allocated: Allocated) -> Result<()> {
        let Allocated { address, size_bytes, stack, thread } = allocated;
        let thread = self.threads.number(thread)?;
        let delta_us = self.clock.memory_delta(time_us);
        let time_us = self.clock.now_us();
        let padding = Padding::default();
        self.put(&Record::Alloc(Alloc { delta_us, time_us, address, size_bytes, stack, thread, padding }))
    }

    /// Memory was freed.
    pub fn free(&mut self, time_us: u64, address: u64) -> Result<()> {
        let delta_us = self.clock.memory_delta(time_us);
        let time_us = self.clock.now_us();
        self.put(&Record::Free(Free { delta_us, time_us, address, padding: Padding::default() }))
    }

    /// The garbage collector ran.
    pub fn gc(&mut self, time_us: u64, objects: u64, size_bytes: u64) -> Result<()> {
        let delta_us = self.clock.other_delta(time_us);
        let time_us = self.clock.now_us();
        self.put(&Record::Gc(Gc { delta_us, time_us, objects, size_bytes, padding: Padding::default() }))
    }

    /// The program marked a point in time.
    pub fn marker(&mut self, time_us: u64, name: &[u8]) -> Result<()> {
        let name = self.metadata.function(name)?;
        let delta_us = self.clock.other_delta(time_us);
        let time_us = self.clock.now_us();
        self.put(&Record::Marker(Marker { delta_us, time_us, name, padding: Padding::default() }))
    }

    /// Writes the trace.
    pub fn finish<W: Write>(mut self, out: W, start_us: u64, packing: Packing) -> Result<W> {
        self.flush()?;
        let header = Header::new(start_us).packed(packing);
        let mut writer = create_with_metadata(out, &header, &self.metadata.finish()?)?;
        let (mut ahead, mut offset) = (Vec::new(), 0);
        while offset < self.events.len() {
            let more = (self.events.len() - offset).min(FLUSH_BYTES as u64) as usize;
            let left = ahead.len();
            ahead.resize(left + more, 0);
            self.events.read(offset, ahead.get_mut(left..).unwrap_or_default())?;
            offset += more as u64;
            if packing == Packing::Plain {
                // Plain events are stored unchanged.
                writer.write(&Record::Residue(&ahead))?;
                ahead.clear();
                continue;
            }
            let is_end = offset == self.events.len();
            let mut rest = ahead.as_slice();
            // Before the end, only events that are certainly complete are read; the next read completes the others.
            while is_end || rest.len() >= EVENT_BYTES {
                let Ok(event) = thorough::decode(rest, ByteOrder::Little) else { break };
                // The writer uses deltas and needs no times.
                writer.write(&event.record(0))?;
                rest = rest.get(event.len..).unwrap_or_default();
            }
            let done = ahead.len() - rest.len();
            ahead.drain(..done);
        }
        writer.finish()
    }

    fn put(&mut self, event: &Record<'_>) -> Result<()> {
        put_event(&mut self.buffer, event, ByteOrder::Little);
        if self.buffer.len() >= FLUSH_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.events.append(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

const FLUSH_BYTES: usize = 64 << 10;
/// Events beyond this size go to the temporary file.
const MAX_RESIDENT_BYTES: u64 = 1 << 20;

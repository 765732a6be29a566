//! The recording: turns allocations and frees into events, and numbers their stacks.

use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasherDefault, Hasher},
    path::PathBuf,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use traceloom_core::Result;
use traceloom_memlyze::{
    Alloc, Clock, Free, Header, Marker, Padding, Record, Writer,
    raw::{Dialect, EMPTY_METADATA, HEADER_BYTES},
};

use crate::{file::Files, journal::Journal, maps::Module, options::Options, sampling, stack::Stack, tail::Events};

/// Space reserved for metadata before the events; a file that needs more is rewritten when it is finished.
const RESERVED_METADATA: usize = (64 << 10) - HEADER_BYTES;
/// Max number of frames of all stacks; allocations with further stacks have none, so that memory stays bounded.
const MAX_KEPT_FRAMES: usize = 6 << 20;
/// Max number of marker names; further markers share the last name, for the same reason.
const MAX_MARKER_NAMES: usize = 1 << 16;
const OTHER_MARKERS: &[u8] = b"another marker";
/// The id of the stack without frames.
const NO_STACK: u64 = 0;

/// The contents of an allocation event.
pub(crate) struct Allocated<'a> {
    pub(crate) address: u64,
    pub(crate) size_bytes: u64,
    pub(crate) thread: u16,
    pub(crate) stack: &'a Stack,
}

/// The recording of this process.
pub(crate) enum State {
    Off,
    On(Box<Tracer>),
    /// A forked child of a recording process; it starts separate files with its first event.
    Forked(Options),
}

pub(crate) struct Tracer {
    pub(crate) options: Options,
    pub(crate) path: PathBuf,
    events: Writer<Events>,
    journal: Journal,
    start: Instant,
    clock: Clock,
    modules: Vec<Module>,
    /// Number of modules in the journal.
    journaled_modules: usize,
    /// Ids by the hash of the frames.
    stacks: HashMap<u64, u64, BuildHasherDefault<Hashed>>,
    next_stack: u64,
    kept_frames: usize,
    markers: HashMap<Vec<u8>, u64>,
    /// Live sampled addresses; only their frees are recorded.
    sampled: HashSet<u64>,
}

impl Tracer {
    pub(crate) fn new(options: Options, is_child: bool) -> Result<Self> {
        let Files { path, events, mut journal } = Files::create(&options.output, is_child)?;
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let header = Header { metadata_len: RESERVED_METADATA as u32, ..Header::new(since_epoch.as_micros() as u64) };
        let events = Events::new(events, &mut journal, options.packing)?;
        let mut events = traceloom_memlyze::create(events, &header)?;
        let mut metadata = EMPTY_METADATA.to_vec();
        metadata.resize(RESERVED_METADATA, b' ');
        events.write(&Record::Metadata(&metadata))?;
        events.flush()?;
        let mut journal = Journal::new(journal);
        journal.stack(&[])?;
        sampling::start(options.sample_bytes);
        let mut tracer = Self {
            path,
            events,
            journal,
            start: Instant::now(),
            clock: Clock::new(Dialect::Document),
            modules: Vec::new(),
            journaled_modules: 0,
            stacks: HashMap::default(),
            next_stack: NO_STACK + 1,
            kept_frames: 0,
            markers: HashMap::new(),
            sampled: HashSet::new(),
            options,
        };
        if tracer.options.sample_bytes > 0 {
            let text = format!("sampled every {} bytes: sizes are estimates", tracer.options.sample_bytes);
            tracer.marker(text.as_bytes())?;
        }
        Ok(tracer)
    }

    /// Records an allocation; no other thread may know the address yet.
    #[inline]
    pub(crate) fn alloc(&mut self, allocated: &Allocated<'_>) -> Result<()> {
        let stack = self.stack_id(allocated.stack)?;
        let &Allocated { address, size_bytes, thread, .. } = allocated;
        if self.options.sample_bytes > 0 && self.sampled.insert(address) {
            sampling::count_in(address);
        }
        let delta_us = self.clock.memory_delta(self.now_us());
        let (time_us, padding) = (0, Padding::default());
        self.put(&Record::Alloc(Alloc { delta_us, time_us, address, size_bytes, stack, thread, padding }))
    }

    /// Records a free; the memory must still belong to the caller.
    #[inline]
    pub(crate) fn free(&mut self, address: u64) -> Result<()> {
        if self.options.sample_bytes > 0 {
            if !self.sampled.remove(&address) {
                return Ok(());
            }
            sampling::count_out(address);
        }
        let delta_us = self.clock.memory_delta(self.now_us());
        self.put(&Record::Free(Free { delta_us, time_us: 0, address, padding: Padding::default() }))
    }

    /// Records a marker.
    pub(crate) fn marker(&mut self, name: &[u8]) -> Result<()> {
        let next = self.markers.len() as u64;
        let is_kept = self.markers.len() < MAX_MARKER_NAMES || self.markers.contains_key(name);
        let name = if is_kept { name } else { OTHER_MARKERS };
        let name = match self.markers.get(name) {
            Some(id) => *id,
            None => {
                self.journal.marker(name)?;
                self.markers.insert(name.to_vec(), next);
                next
            }
        };
        let delta_us = self.clock.other_delta(self.now_us());
        self.put(&Record::Marker(Marker { delta_us, time_us: 0, name, padding: Padding::default() }))
    }

    /// The module that contains the code at `pc`.
    pub(crate) fn module(&mut self, pc: u64) -> Option<&Module> {
        let known = self.modules.iter().position(|module| module.range.contains(&pc));
        let index = match known {
            Some(index) => index,
            None => {
                self.modules.push(Module::around(pc)?);
                self.modules.len() - 1
            }
        };
        self.modules.get(index)
    }

    /// Drops modules, which may be unloaded; they are looked up again.
    pub(crate) fn forget_modules(&mut self) {
        if !Module::are_loaded(&self.modules) {
            self.modules.clear();
            self.journaled_modules = 0;
            self.stacks.clear();
            crate::rules::forget();
        }
    }

    #[inline]
    fn stack_id(&mut self, stack: &Stack) -> Result<u64> {
        match self.stacks.get(&stack.hash) {
            Some(id) => Ok(*id),
            None => self.new_stack(stack),
        }
    }

    #[cold]
    fn new_stack(&mut self, stack: &Stack) -> Result<u64> {
        let frames = stack.frames();
        if frames.is_empty() || self.kept_frames + frames.len() > MAX_KEPT_FRAMES {
            return Ok(NO_STACK);
        }
        for pc in frames {
            self.module(*pc);
        }
        for module in &self.modules[self.journaled_modules..] {
            self.journal.module(module)?;
        }
        self.journaled_modules = self.modules.len();
        self.journal.stack(frames)?;
        self.kept_frames += frames.len();
        let id = self.next_stack;
        self.next_stack += 1;
        self.stacks.insert(stack.hash, id);
        Ok(id)
    }

    #[inline]
    fn now_us(&self) -> u64 {
        self.start.elapsed().as_micros() as u64
    }

    #[inline]
    fn put(&mut self, record: &Record<'_>) -> Result<()> {
        self.events.write(record)?;
        self.events.flush()
    }
}

/// A hasher for numbers that are already hashes.
#[derive(Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_markers_take_bounded_memory() {
        let folder = tempfile::tempdir().unwrap();
        let mut tracer = Tracer::new(Options::new(folder.path().join("a.mlyze")), false).unwrap();
        for number in 0..MAX_MARKER_NAMES + 100 {
            tracer.marker(number.to_string().as_bytes()).unwrap();
        }
        assert_eq!(tracer.markers.len(), MAX_MARKER_NAMES + 1);
        assert_eq!(tracer.markers.get(OTHER_MARKERS), Some(&(MAX_MARKER_NAMES as u64)));
    }
}

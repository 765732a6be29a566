//! Tracks: processes, threads, extra lanes of threads, and counters.

use hashbrown::HashMap;
use traceloom_core::{Loss, Result};

use super::{fields::descriptor, packets::Packets};
use traceloom_passes::{Layer, NameId, NumberedThread, Numbering, Roster, ThreadIndex};

/// Numbers and declares tracks.
#[derive(Debug)]
pub(super) struct Tracks {
    numbering: Numbering,
    next: u64,
    processes: Vec<u64>,
    threads: Vec<u64>,
    /// Tracks for rows without a thread, by trace.
    loose: HashMap<usize, u64>,
    /// Lanes of the current layer of the current thread.
    lanes: Vec<u64>,
    counters: HashMap<CounterKey, u64>,
}

/// The identity of a counter.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct CounterKey {
    /// The track that it belongs to.
    pub(super) parent: u64,
    /// Its name.
    pub(super) name: NameId,
    /// Distinguishes counters of one name.
    pub(super) value_id: Option<u64>,
    /// The index of the element, if the value is an array.
    pub(super) idx: Option<u32>,
}

/// The unit of a counter.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unit {
    Bytes,
    Count,
    Unknown,
}

impl Tracks {
    /// Declares processes and the selected threads.
    pub(super) fn new(roster: &Roster, packets: &mut Packets<'_>, loss: &mut Loss) -> Result<Self> {
        let numbering = Numbering::new(roster, loss);
        let mut tracks = Self {
            numbering,
            next: 1,
            processes: Vec::new(),
            threads: Vec::new(),
            loose: HashMap::new(),
            lanes: Vec::new(),
            counters: HashMap::new(),
        };
        for number in 0..tracks.numbering.processes.len() {
            let uuid = tracks.uuid();
            let process = &tracks.numbering.processes[number];
            packets.track(|wire| {
                wire.uint(descriptor::UUID, uuid);
                wire.message(descriptor::PROCESS, |wire| {
                    wire.uint(descriptor::PROCESS_PID, process.pid.into());
                    wire.text(descriptor::PROCESS_NAME, &process.name);
                });
            })?;
            tracks.processes.push(uuid);
        }
        for (index, thread) in (0..).zip(roster.threads()) {
            let numbered = tracks.numbering.thread(ThreadIndex(index));
            let uuid = tracks.uuid();
            if thread.is_taken {
                tracks.declare_thread(uuid, numbered, &thread.label(), packets)?;
            }
            tracks.threads.push(uuid);
        }
        Ok(tracks)
    }

    /// The track of a thread, or of its process if only rows without a duration refer to the thread.
    #[inline]
    pub(super) fn thread(&self, index: ThreadIndex) -> u64 {
        self.threads.get(index.index()).or(self.processes.first()).copied().unwrap_or_default()
    }

    /// The track for rows of a trace without a thread.
    pub(super) fn loose(&mut self, trace: usize, packets: &mut Packets<'_>) -> Result<u64> {
        if let Some(uuid) = self.loose.get(&trace) {
            return Ok(*uuid);
        }
        let thread = NumberedThread { tid: self.numbering.fresh(), process: self.numbering.first_process(trace) };
        let uuid = self.uuid();
        self.declare_thread(uuid, thread, "(no thread)", packets)?;
        self.loose.insert(trace, uuid);
        Ok(uuid)
    }

    /// The track of the first process of a trace.
    pub(super) fn process(&self, trace: usize) -> u64 {
        self.processes[self.numbering.first_process(trace)]
    }

    /// Switches to another layer or thread.
    pub(super) fn turn_to(&mut self, thread: ThreadIndex, layer: Layer) {
        self.lanes.clear();
        if layer == Layer::Stack {
            self.lanes.push(self.thread(thread));
        }
    }

    /// The track of a declared lane.
    #[inline]
    pub(super) fn lane(&self, lane: usize) -> u64 {
        self.lanes.get(lane).copied().unwrap_or_default()
    }

    /// Declares the lanes up to this one.
    #[inline]
    pub(super) fn need_lane(
        &mut self,
        lane: usize,
        thread: ThreadIndex,
        layer: Layer,
        packets: &mut Packets<'_>,
    ) -> Result<u64> {
        while self.lanes.len() <= lane {
            let (uuid, parent) = (self.uuid(), self.thread(thread));
            packets.track(|wire| {
                wire.uint(descriptor::UUID, uuid);
                wire.uint(descriptor::PARENT_UUID, parent);
                wire.text(descriptor::NAME, layer.name());
            })?;
            self.lanes.push(uuid);
        }
        Ok(self.lane(lane))
    }

    /// The track of a counter.
    pub(super) fn counter(
        &mut self,
        key: CounterKey,
        name: impl FnOnce() -> Result<String>,
        unit: Unit,
        packets: &mut Packets<'_>,
    ) -> Result<u64> {
        if let Some(uuid) = self.counters.get(&key) {
            return Ok(*uuid);
        }
        let (uuid, name) = (self.uuid(), name()?);
        packets.track(|wire| {
            wire.uint(descriptor::UUID, uuid);
            wire.uint(descriptor::PARENT_UUID, key.parent);
            wire.text(descriptor::NAME, &name);
            wire.message(descriptor::COUNTER, |wire| match unit {
                Unit::Bytes => wire.uint(descriptor::COUNTER_UNIT, descriptor::UNIT_SIZE_BYTES),
                Unit::Count => wire.uint(descriptor::COUNTER_UNIT, descriptor::UNIT_COUNT),
                Unit::Unknown => {}
            });
        })?;
        self.counters.insert(key, uuid);
        Ok(uuid)
    }

    fn declare_thread(&self, uuid: u64, thread: NumberedThread, name: &str, packets: &mut Packets<'_>) -> Result<()> {
        packets.track(|wire| {
            wire.uint(descriptor::UUID, uuid);
            wire.uint(descriptor::PARENT_UUID, self.processes[thread.process]);
            wire.message(descriptor::THREAD, |wire| {
                wire.uint(descriptor::THREAD_PID, self.numbering.processes[thread.process].pid.into());
                wire.uint(descriptor::THREAD_TID, thread.tid.into());
                wire.text(descriptor::THREAD_NAME, name);
            });
        })
    }

    fn uuid(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }
}

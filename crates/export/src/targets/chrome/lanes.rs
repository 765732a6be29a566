//! Where events go: Chrome has only processes and threads, so every further layer of a thread becomes a separate
//! thread.

use hashbrown::HashMap;
use traceloom_core::{Loss, Result};

use super::events::{Events, Lane};
use traceloom_passes::{Layer, NameId, Numbering, Ordered, Roster, ThreadIndex};

/// Assigns a process and a thread to everything.
#[derive(Debug)]
pub(super) struct Lanes {
    numbering: Numbering,
    /// Lanes of the current layer and thread.
    lanes: Vec<Lane>,
    /// Distinct counters with the same name in one process, numbered from 1.
    counters: HashMap<(u32, NameId, Option<u32>), Vec<Difference>>,
}

/// Distinguishes counters with the same name: their thread, and the producer's number.
type Difference = (Option<i64>, Option<u64>);

impl Lanes {
    /// Names the processes and the selected threads.
    pub(super) fn new(roster: &Roster, events: &mut Events<'_>, loss: &mut Loss) -> Result<Self> {
        let lanes = Self { numbering: Numbering::new(roster, loss), lanes: Vec::new(), counters: HashMap::new() };
        for process in &lanes.numbering.processes {
            events.metadata("process_name", Lane { pid: process.pid, tid: 0 }, &process.name)?;
        }
        for (index, thread) in (0..).zip(roster.threads()).filter(|(_, thread)| thread.is_taken) {
            events.metadata("thread_name", lanes.thread(ThreadIndex(index)), &thread.label())?;
        }
        Ok(lanes)
    }

    /// A thread.
    pub(super) fn thread(&self, index: ThreadIndex) -> Lane {
        let thread = self.numbering.thread(index);
        Lane { pid: self.numbering.processes[thread.process].pid, tid: thread.tid }
    }

    /// The first process of a trace.
    pub(super) fn process(&self, trace: usize) -> Lane {
        let process = &self.numbering.processes[self.numbering.first_process(trace)];
        Lane { pid: process.pid, tid: process.pid }
    }

    /// Switches to another layer or thread.
    pub(super) fn turn_to(&mut self, span: &Ordered) {
        self.lanes.clear();
        if span.layer == Layer::Stack {
            self.lanes.push(self.thread(span.thread));
        }
    }

    /// A lane of the layer; it gets a name when it is first used.
    #[inline]
    pub(super) fn need(
        &mut self,
        lane: usize,
        span: &Ordered,
        roster: &Roster,
        events: &mut Events<'_>,
    ) -> Result<Lane> {
        match self.lanes.get(lane) {
            Some(lane) => Ok(*lane),
            None => self.add_up_to(lane, span, roster, events),
        }
    }

    #[cold]
    fn add_up_to(&mut self, lane: usize, span: &Ordered, roster: &Roster, events: &mut Events<'_>) -> Result<Lane> {
        while self.lanes.len() <= lane {
            let fresh = Lane { pid: self.thread(span.thread).pid, tid: self.numbering.fresh() };
            let name = format!("{} ({})", roster.thread(span.thread).label(), span.layer.name());
            events.metadata("thread_name", fresh, &name)?;
            self.lanes.push(fresh);
        }
        Ok(self.lanes[lane])
    }

    /// The number of a counter among those with the same name, from 0: Chrome distinguishes them only by process and
    /// name.
    pub(super) fn counter(
        &mut self,
        (pid, name, idx): (u32, NameId, Option<u32>),
        thread_id: Option<i64>,
        value_id: Option<u64>,
    ) -> usize {
        let known = self.counters.entry((pid, name, idx)).or_default();
        let key = (thread_id, value_id);
        known.iter().position(|other| *other == key).unwrap_or_else(|| {
            known.push(key);
            known.len() - 1
        })
    }
}

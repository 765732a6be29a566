//! Threads and their extra lanes as sections.

use hashbrown::{HashMap, HashSet};
use traceloom_core::Loss;

use traceloom_passes::{Layer, Roster, ThreadIndex};

/// A section.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) tid: u64,
    /// Empty if the thread has none.
    pub(super) name: String,
}

/// Sections by purpose.
#[derive(Debug, Default)]
pub(super) struct Sections {
    pub(super) list: Vec<Section>,
    by_thread: HashMap<(ThreadIndex, u8, usize), u32>,
    whole: Option<u32>,
    tids: HashSet<u64>,
    next_tid: u64,
}

impl Sections {
    /// A section for each selected thread.
    pub(super) fn new(roster: &Roster, loss: &mut Loss) -> Self {
        let mut sections = Self { next_tid: 1, ..Self::default() };
        for (index, thread) in (0..).zip(roster.threads()).filter(|(_, thread)| thread.is_taken) {
            let tid = thread.tid.filter(|tid| sections.tids.insert(*tid));
            if tid.is_none() && thread.tid.is_some() {
                loss.lose("thread numbers shared by several traces", || thread.label());
            }
            let name = thread.name.clone().unwrap_or_default();
            let number = sections.add(tid, name);
            sections.by_thread.insert((ThreadIndex(index), Layer::Stack as u8, 0), number);
            if thread.kind.is_some() || thread.location.is_some() {
                loss.lose("kinds and locations of threads", || thread.label());
            }
        }
        for process in roster.processes.iter().skip(1) {
            loss.lose("which process a thread belongs to", || format!("processes {}", process.id));
        }
        sections
    }

    /// The section of a thread, or of one of its extra lanes.
    pub(super) fn of(&mut self, thread: ThreadIndex, layer: Layer, lane: usize, roster: &Roster) -> u32 {
        if let Some(number) = self.by_thread.get(&(thread, layer as u8, lane)) {
            return *number;
        }
        let name = format!("{} ({})", roster.thread(thread).label(), layer.name());
        let number = self.add(None, name);
        self.by_thread.insert((thread, layer as u8, lane), number);
        number
    }

    /// The section for rows without a thread.
    pub(super) fn whole(&mut self) -> u32 {
        match self.whole {
            Some(number) => number,
            None => {
                let number = self.add(None, "process".to_owned());
                *self.whole.insert(number)
            }
        }
    }

    fn add(&mut self, tid: Option<u64>, name: String) -> u32 {
        let tid = tid.unwrap_or_else(|| {
            while !self.tids.insert(self.next_tid) {
                self.next_tid += 1;
            }
            self.next_tid
        });
        self.list.push(Section { tid, name });
        self.list.len() as u32 - 1
    }
}

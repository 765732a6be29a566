//! Threads as zones.

use hashbrown::HashMap;
use traceloom_core::Loss;

use traceloom_passes::{Roster, ThreadIndex};

/// A zone to be created.
#[derive(Clone, Debug, Default)]
pub(super) struct Zone {
    pub(super) name: String,
    pub(super) kind: Option<String>,
    pub(super) location: Option<String>,
}

/// Zones by purpose.
#[derive(Debug)]
pub(super) struct Zones {
    pub(super) list: Vec<Zone>,
    /// The zone of each thread.
    threads: Vec<u32>,
    /// Zones for spans that overlap in a thread.
    lanes: HashMap<(ThreadIndex, usize), u32>,
    /// Zones for rows without a thread, by trace.
    whole: HashMap<usize, u32>,
}

impl Zones {
    /// A zone for each selected thread.
    pub(super) fn new(roster: &Roster, loss: &mut Loss) -> Self {
        let mut zones =
            Self { list: Vec::new(), threads: Vec::new(), lanes: HashMap::default(), whole: HashMap::default() };
        for thread in roster.threads() {
            zones.threads.push(zones.list.len() as u32);
            if !thread.is_taken {
                continue;
            }
            let (kind, location) = (thread.kind.clone(), thread.location.clone());
            zones.list.push(Zone { name: thread.label(), kind, location });
            // Zones are numbered within the file; a thread without a name is named by its number.
            let number = zones.list.len() as u64;
            if thread.name.is_some() && thread.tid.is_some_and(|tid| tid != number) {
                loss.lose("thread numbers", || thread.label());
            }
        }
        for process in roster.processes.iter().skip(1) {
            loss.lose("which process a thread belongs to", || format!("processes {}", process.id));
        }
        zones
    }

    /// The zone of a thread, or of a lane for overlapping spans.
    pub(super) fn of(&mut self, thread: ThreadIndex, lane: usize) -> u32 {
        let own = self.threads.get(thread.index()).copied().unwrap_or(0);
        if lane == 0 {
            return own;
        }
        let list = &mut self.list;
        *self.lanes.entry((thread, lane)).or_insert_with(|| {
            let mut zone = list.get(own as usize).cloned().unwrap_or_default();
            zone.name += " (overlapping or too deep)";
            list.push(zone);
            list.len() as u32 - 1
        })
    }

    /// The zone for rows without a thread.
    pub(super) fn whole(&mut self, trace: usize, roster: &Roster) -> u32 {
        let list = &mut self.list;
        *self.whole.entry(trace).or_insert_with(|| {
            let process = roster.processes.iter().find(|process| process.trace == trace);
            let name = process.and_then(|process| process.name.clone()).unwrap_or_else(|| "process".to_owned());
            list.push(Zone { name, ..Zone::default() });
            list.len() as u32 - 1
        })
    }
}

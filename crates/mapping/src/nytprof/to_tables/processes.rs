//! Processes, each with a single thread.

use traceloom_core::{Limits, Result};
use traceloom_model::{
    Halt, Tables,
    processes::Process,
    threads::Thread,
    trackers::{Clock, Extent, Symbol},
};
use traceloom_nytprof::{PidEnd, PidStart};

use super::clock::unix_ns;

/// Processes in the order in which they start; the index of a process is the id of its row and of its thread's row.
#[derive(Debug, Default)]
pub(super) struct Processes {
    entries: Vec<ProcessEntry>,
}

#[derive(Clone, Copy, Debug, Default)]
struct ProcessEntry {
    pid: Option<u32>,
    ppid: u32,
    start: Option<f64>,
    end: Option<f64>,
    /// How long its virtual clock ran.
    virtual_ns: i64,
}

impl Processes {
    pub(super) fn begin(&mut self, start: &PidStart<'_>, limits: &Limits) -> Result<()> {
        limits.check_entries("processes", self.entries.len() as u64 + 1)?;
        let start_time = Some(start.time.value()).filter(|time| time.is_finite());
        let entry =
            ProcessEntry { pid: Some(start.pid), ppid: start.ppid, start: start_time, ..ProcessEntry::default() };
        self.entries.push(entry);
        Ok(())
    }

    /// Ends the last process with this pid that has no end.
    pub(super) fn end(&mut self, end: &PidEnd<'_>) {
        // Processes follow each other in the file, so it is at the end of the list unless the file is unusual.
        const LOOK_BACK: usize = 1024;
        let open = |entry: &&mut ProcessEntry| entry.pid == Some(end.pid) && entry.end.is_none();
        if let Some(entry) = self.entries.iter_mut().rev().take(LOOK_BACK).find(open) {
            entry.end = Some(end.time.value()).filter(|time| time.is_finite());
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Starts a process for events that are in no process that the file names.
    pub(super) fn begin_unnamed(&mut self) {
        self.entries.push(ProcessEntry::default());
    }

    /// The number of the current process.
    pub(super) fn current(&self) -> u32 {
        self.entries.len().saturating_sub(1) as u32
    }

    /// Records how far the virtual clock of the current process ran.
    pub(super) fn ran(&mut self, virtual_ns: i64) {
        if let Some(entry) = self.entries.last_mut() {
            entry.virtual_ns = entry.virtual_ns.max(virtual_ns);
        }
    }

    /// Start of its virtual clock in nanoseconds since 1970; the origin if the file does not state it.
    pub(super) fn start_ns(&self, process: u32, origin_ns: i128) -> i128 {
        self.entries.get(process as usize).and_then(|entry| entry.start).map_or(origin_ns, unix_ns)
    }

    /// Pushes both tables and adds all times to the extent.
    pub(super) fn push(
        &self,
        name: Option<Symbol>,
        clock: &mut Clock,
        origin_ns: i128,
        extent: &mut Extent,
        tables: &mut Tables<'_>,
    ) -> Result<(), Halt> {
        for (entry, number) in self.entries.iter().zip(0..) {
            let start_ns = self.start_ns(number, origin_ns);
            let start_ts_ns = entry.start.map(|_| clock.ts_ns(start_ns));
            let end_ts_ns = entry.end.map(|end| clock.ts_ns(unix_ns(end)));
            let last_ns = Some(entry.virtual_ns).filter(|ran_ns| *ran_ns > 0);
            // A saturated clock would have run further.
            let beyond = i128::from(entry.virtual_ns == i64::MAX);
            let last_ts_ns = last_ns.map(|ran_ns| clock.ts_ns(start_ns + i128::from(ran_ns) + beyond));
            [start_ts_ns, end_ts_ns, last_ts_ns].into_iter().flatten().for_each(|ts_ns| extent.add(ts_ns));
            let id = i64::from(number);
            tables.push(Process {
                id,
                pid: entry.pid.map(u64::from),
                ppid: entry.pid.map(|_| entry.ppid.into()),
                name: name.map(Into::into),
                start_ts_ns,
                end_ts_ns,
            })?;
            tables.push(Thread { id, tid: None, process_id: id, name: None, kind: None, location: None })?;
        }
        Ok(())
    }
}

//! The process and thread numbers that other tools require: present, positive and unique.

use hashbrown::HashSet;
use traceloom_core::Loss;

use crate::{Process, Roster, Thread, ThreadIndex, Trace};

/// A process with its number.
#[derive(Clone, Debug)]
pub struct NumberedProcess {
    /// Process number.
    pub pid: u32,
    /// The program, or the trace that the process is in.
    pub name: String,
    /// The trace, as an index into [`Roster::traces`].
    pub trace: usize,
}

/// A thread with its number.
#[derive(Clone, Copy, Debug)]
pub struct NumberedThread {
    /// Thread number.
    pub tid: u32,
    /// The process, as an index into [`Numbering::processes`].
    pub process: usize,
}

/// Numbers from 1 to `i32::MAX`: those of the trace if they are valid, and generated ones if not.
#[derive(Debug)]
pub struct Numbering {
    /// All processes; each trace has at least one.
    pub processes: Vec<NumberedProcess>,
    threads: Vec<NumberedThread>,
    /// The first process of each trace, for rows that belong to no thread.
    firsts: Vec<usize>,
    taken: HashSet<u32>,
    /// Where the search for a free number continues.
    next: u32,
}

impl Numbering {
    /// Numbers all processes and threads of the roster.
    pub fn new(roster: &Roster, loss: &mut Loss) -> Self {
        let mut numbering =
            Self { processes: Vec::new(), threads: Vec::new(), firsts: Vec::new(), taken: HashSet::new(), next: 1 };
        // Numbers from the traces are claimed first, so that no generated number takes the place of a real one.
        let pids: Vec<Option<u32>> = roster.processes.iter().map(|process| numbering.claim(process.pid)).collect();
        let tids: Vec<Option<u32>> = (0..)
            .zip(roster.threads())
            .map(|(index, thread)| {
                let process = roster.process_number_of(ThreadIndex(index));
                numbering.claim_thread(thread, process.and_then(|process| pids[process]))
            })
            .collect();
        numbering.number_processes(roster, pids, loss);
        numbering.number_threads(roster, tids, loss);
        numbering
    }

    /// The number of a thread; that of the first process if nothing is known about the thread.
    pub fn thread(&self, index: ThreadIndex) -> NumberedThread {
        let unknown = || NumberedThread { tid: self.processes.first().map_or(1, |process| process.pid), process: 0 };
        self.threads.get(index.index()).copied().unwrap_or_else(unknown)
    }

    /// The process of a thread of a trace; the first one if nothing is known about the thread.
    pub fn process_of(&self, index: ThreadIndex, trace: usize) -> usize {
        self.threads.get(index.index()).map_or_else(|| self.first_process(trace), |thread| thread.process)
    }

    /// The first process of a trace.
    pub fn first_process(&self, trace: usize) -> usize {
        self.firsts.get(trace).copied().unwrap_or(0)
    }

    /// A number that is not in use.
    pub fn fresh(&mut self) -> u32 {
        while !self.taken.insert(self.next) {
            self.next = self.next.saturating_add(1);
        }
        self.next
    }

    fn number_processes(&mut self, roster: &Roster, pids: Vec<Option<u32>>, loss: &mut Loss) {
        for (process, pid) in roster.processes.iter().zip(pids) {
            let pid = pid.unwrap_or_else(|| self.give("process numbers", process.pid, loss));
            let name = process_name(process, &roster.traces[process.trace]);
            self.processes.push(NumberedProcess { pid, name, trace: process.trace });
        }
        let mut firsts = vec![None; roster.traces.len()];
        for (number, process) in roster.processes.iter().enumerate() {
            firsts[process.trace].get_or_insert(number);
        }
        for (trace, (facts, first)) in roster.traces.iter().zip(firsts).enumerate() {
            let first = first.unwrap_or_else(|| {
                let pid = self.fresh();
                self.processes.push(NumberedProcess { pid, name: trace_name(facts), trace });
                self.processes.len() - 1
            });
            self.firsts.push(first);
        }
    }

    fn number_threads(&mut self, roster: &Roster, tids: Vec<Option<u32>>, loss: &mut Loss) {
        for ((index, thread), tid) in (0..).zip(roster.threads()).zip(tids) {
            let process = roster.process_number_of(ThreadIndex(index)).unwrap_or(self.firsts[thread.trace]);
            let tid = tid.unwrap_or_else(|| self.give("thread numbers", thread.tid, loss));
            self.threads.push(NumberedThread { tid, process });
        }
    }

    fn claim(&mut self, number: Option<u64>) -> Option<u32> {
        let number = number.and_then(|number| i32::try_from(number).ok()).filter(|number| *number > 0)? as u32;
        self.taken.insert(number).then_some(number)
    }

    /// The main thread of a process has the same number as the process.
    fn claim_thread(&mut self, thread: &Thread, pid: Option<u32>) -> Option<u32> {
        let is_main = pid.is_some() && thread.tid == pid.map(u64::from);
        if is_main { pid } else { self.claim(thread.tid) }
    }

    fn give(&mut self, what: &'static str, replaced: Option<u64>, loss: &mut Loss) -> u32 {
        let number = self.fresh();
        if let Some(replaced) = replaced {
            loss.lose(what, || format!("{replaced}, which is now {number}"));
        }
        number
    }
}

fn process_name(process: &Process, trace: &Trace) -> String {
    process.name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| trace_name(trace))
}

fn trace_name(trace: &Trace) -> String {
    let path: &std::path::Path = trace.path.as_ref();
    path.file_name().map_or_else(|| trace.format.clone(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use traceloom_model::{processes, threads};

    use super::*;
    use crate::{
        Options, Target,
        fixture::{Synthetic, pass},
    };

    #[test]
    fn everybody_has_a_number_and_none_has_that_of_another() {
        let trace = |tids: &'static [Option<u64>]| {
            Synthetic::new(move |tables| {
                for (id, tid) in (0..).zip(tids) {
                    let (name, kind, location) = (None, None, None);
                    tables.push(threads::Thread { id, tid: *tid, process_id: 0, name, kind, location })?;
                }
                let (ppid, name, start_ts_ns, end_ts_ns) = (None, None, None, None);
                tables.push(processes::Process { id: 0, pid: Some(42), ppid, name, start_ts_ns, end_ts_ns })
            })
        };
        let mut both = trace(&[Some(42), Some(1), Some(1), None, Some(0), Some(u64::MAX)]);
        both.traces.extend(trace(&[Some(1), Some(42)]).traces);
        both.traces[1].0 = 8;
        let options = Options::default();
        let roster = pass(&both, &options, &Target::EMPTY).roster;
        let mut loss = Loss::default();
        let numbering = Numbering::new(&roster, &mut loss);
        let pids: Vec<u32> = numbering.processes.iter().map(|process| process.pid).collect();
        let tids: Vec<u32> = numbering.threads.iter().map(|thread| thread.tid).collect();
        assert_eq!((pids[0], &tids[..2]), (42, [42, 1].as_slice()));
        let mut all: Vec<u32> = tids.iter().chain(&pids[1..]).copied().collect();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]) && all[0] > 0, "{all:?}");
        let counts: Vec<_> = loss.entries().map(|(what, count, _)| (what, count)).collect();
        assert_eq!(counts, [("process numbers", 1), ("thread numbers", 5)]);
    }
}

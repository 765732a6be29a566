//! Threads as processes: the format has no threads, and its processes follow one after the other.

use traceloom_core::Result;
use traceloom_nytprof::{Nv, PidEnd, PidStart, Record};

use super::{header::line, stream::Stream};
use traceloom_passes::{Numbering, Pass, ThreadIndex};

/// A process to be written.
#[derive(Clone, Debug)]
pub(super) struct Process {
    pub(super) thread: Option<ThreadIndex>,
    pid: u32,
    ppid: u32,
    /// Start of the process, in output time.
    begin_ns: Option<u64>,
    end_ns: Option<u64>,
}

/// All processes, in file order.
#[derive(Debug)]
pub(super) struct Processes {
    pub(super) list: Vec<Process>,
    unix_origin_ns: i64,
}

/// The current process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Current {
    number: usize,
    /// Start of its clock, in output time.
    pub(super) begin_ns: u64,
    start: f64,
    /// How far its clock has advanced.
    pub(super) ran_seconds: f64,
}

impl Processes {
    /// One process per selected thread; at least one, because a file without a process would be refused.
    pub(super) fn new(pass: &mut Pass<'_>) -> Self {
        let Pass { roster, timeline, loss, .. } = pass;
        let numbering = Numbering::new(roster, loss);
        let mut threads_of = vec![0_u32; numbering.processes.len()];
        (0..roster.threads().len()).for_each(|index| {
            threads_of[numbering.thread(ThreadIndex(index as u32)).process] += 1;
        });
        let mut list = Vec::new();
        for (index, _) in (0..).zip(roster.threads()).filter(|(_, thread)| thread.is_taken) {
            let index = ThreadIndex(index);
            let number = numbering.thread(index);
            let (own, pid) = (roster.process_of(index), numbering.processes[number.process].pid);
            let ppid = own.and_then(|own| own.ppid).and_then(|ppid| u32::try_from(ppid).ok()).unwrap_or(0);
            let is_only = threads_of[number.process] == 1;
            let at = |ts_ns: i64| timeline.at(ts_ns);
            list.push(Process {
                thread: Some(index),
                pid: if is_only { pid } else { number.tid },
                ppid: if is_only { ppid } else { pid },
                begin_ns: own.and_then(|own| own.start_ts_ns).filter(|_| is_only).map(at),
                end_ns: own.and_then(|own| own.end_ts_ns).filter(|_| is_only).map(at),
            });
        }
        if list.is_empty() {
            list.push(Process { thread: None, pid: 1, ppid: 0, begin_ns: None, end_ns: None });
        }
        Self { list, unix_origin_ns: timeline.unix_origin_ns().unwrap_or(0) }
    }

    /// Names of threads, which the format can hold only in an attribute.
    pub(super) fn names(&self, pass: &mut Pass<'_>) -> Vec<(String, String)> {
        let Pass { roster, loss, .. } = pass;
        let mut names = Vec::new();
        for process in &self.list {
            let Some(thread) = process.thread.map(|index| roster.thread(index)) else { continue };
            if thread.kind.is_some() || thread.location.is_some() {
                loss.lose("kinds and locations of threads", || thread.label());
            }
            if let Some(name) = thread.name.as_deref().filter(|name| !name.is_empty()) {
                names.push((format!("thread.{}", process.pid), line(name, loss)));
            }
        }
        names
    }

    /// Starts a process before its first call, whatever the trace says.
    pub(super) fn begin(&self, number: usize, first_ns: Option<u64>, stream: &mut Stream<'_>) -> Result<Current> {
        let Process { pid, ppid, begin_ns, .. } = self.list[number];
        let mut start = seconds(self.unix_origin_ns, begin_ns.unwrap_or(0));
        let origin = seconds(self.unix_origin_ns, 0);
        // A time of day has a resolution of a quarter of a microsecond, so use the value that a reader computes from
        // it.
        let mut begin_ns = u64::try_from(nanoseconds(start) - nanoseconds(origin)).ok();
        if begin_ns.is_none_or(|begin_ns| first_ns.is_some_and(|first_ns| first_ns < begin_ns)) {
            (start, begin_ns) = (origin, Some(0));
        }
        let time = Nv::from(start);
        stream.put(&Record::PidStart(PidStart { pid, ppid, time, odd_bytes: None }))?;
        Ok(Current { number, begin_ns: begin_ns.unwrap_or(0), start, ran_seconds: 0.0 })
    }

    /// Ends a process.
    pub(super) fn end(&self, current: &Current, stream: &mut Stream<'_>) -> Result<()> {
        let Process { pid, end_ns, .. } = self.list[current.number];
        let ran = current.start + current.ran_seconds;
        let time = Nv::from(end_ns.map_or(ran, |end_ns| seconds(self.unix_origin_ns, end_ns).max(ran)));
        stream.put(&Record::PidEnd(PidEnd { pid, time, odd_bytes: None }))
    }
}

/// A time of day in seconds, rounded.
fn seconds(origin_ns: i64, ns: u64) -> f64 {
    let sum = i128::from(origin_ns) + i128::from(ns);
    (sum.div_euclid(1_000_000_000)) as f64 + sum.rem_euclid(1_000_000_000) as f64 / 1e9
}

/// The inverse, as readers compute it.
fn nanoseconds(seconds: f64) -> i128 {
    (seconds.trunc() as i128) * 1_000_000_000 + (seconds.fract() * 1e9).round() as i128
}

//! The traces, processes and threads of a source, each with a small number.

use arrow_array::RecordBatch;
use hashbrown::{HashMap, HashSet};
use traceloom_core::{Error, Limits, Result, Slice};
use traceloom_model::{Filter, Table, TableSource, Wanted, select};

use crate::pour;

select! {
    struct Traces of traces {
        trace_id, path, format, producer, clock, start_native_ns, unix_origin_ns, first_ts_ns, last_ts_ns,
    }
}

select! {
    struct Processes of processes { trace_id, id, pid, ppid, name, start_ts_ns, end_ts_ns }
}

select! {
    struct Threads of threads { trace_id, id, tid, process_id, name, kind, location }
}

/// A file.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The `trace_id` of all its rows.
    pub trace_id: u64,
    /// Path of the file.
    pub path: String,
    /// The id of the format.
    pub format: String,
    /// The program that wrote the file.
    pub producer: Option<String>,
    /// `tsc`, `monotonic`, `wall` or `count`.
    pub clock: String,
    /// The origin on the producer's clock.
    pub start_native_ns: i64,
    /// The origin in nanoseconds since 1970.
    pub unix_origin_ns: Option<i64>,
    /// The first timestamp.
    pub first_ts_ns: Option<i64>,
    /// The last timestamp, including ends.
    pub last_ts_ns: Option<i64>,
}

/// A process.
#[derive(Clone, Debug)]
pub struct Process {
    /// The trace, as an index into [`Roster::traces`].
    pub trace: usize,
    /// The `id` in `processes`.
    pub id: i64,
    /// Process id.
    pub pid: Option<u64>,
    /// Process id of the parent.
    pub ppid: Option<u64>,
    /// Name of the program.
    pub name: Option<String>,
    /// Start of the process.
    pub start_ts_ns: Option<i64>,
    /// End of the process.
    pub end_ts_ns: Option<i64>,
}

/// A thread.
#[derive(Clone, Debug, Default)]
pub struct Thread {
    /// The trace, as an index into [`Roster::traces`].
    pub trace: usize,
    /// The `id` in `threads`.
    pub id: i64,
    /// Thread id from the system or the producer.
    pub tid: Option<u64>,
    /// The process, if the trace has it.
    pub process_id: Option<i64>,
    /// Name of the thread.
    pub name: Option<String>,
    /// Kind of thread, as the format calls it.
    pub kind: Option<String>,
    /// Where the thread runs.
    pub location: Option<String>,
    /// Whether the thread is in the slice.
    pub is_taken: bool,
}

impl Thread {
    /// The thread's name, or a name made from its number.
    pub fn label(&self) -> String {
        match (&self.name, self.tid) {
            (Some(name), _) if !name.is_empty() => name.clone(),
            (_, Some(tid)) => format!("thread {tid}"),
            _ => format!("thread #{}", self.id),
        }
    }
}

/// The index of a thread in a [`Roster`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ThreadIndex(pub u32);

impl ThreadIndex {
    /// The number of the index, counted from 0.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Traces, processes and threads.
///
/// Batches of `threads` may arrive after those that refer to them, so a thread gets its number when it is first
/// mentioned, and its name when its row arrives.
#[derive(Debug, Default)]
pub struct Roster {
    /// All traces, in the order of the source.
    pub traces: Vec<Trace>,
    /// All processes.
    pub processes: Vec<Process>,
    threads: Vec<Thread>,
    /// The earliest start of a span of each trace, if it is negative.
    early: Vec<i64>,
    trace_numbers: HashMap<u64, usize>,
    process_numbers: HashMap<(usize, i64), usize>,
    thread_numbers: HashMap<(usize, i64), u32>,
    /// The threads in the slice; `None` for all.
    taken: Option<HashSet<(u64, i64)>>,
    last_trace: Option<(u64, usize)>,
    last_thread: Option<((usize, i64), ThreadIndex)>,
    max: usize,
}

impl Roster {
    /// An empty roster. If the slice names threads, it first reads all threads to find them.
    pub fn new(source: &dyn TableSource, slice: &Slice, limits: &Limits) -> Result<Self> {
        let mut roster = Self { max: limits.entries, ..Self::default() };
        if slice.threads.is_empty() {
            return Ok(roster);
        }
        let mut all = Self { max: limits.entries, ..Self::default() };
        pour(source, &Filter::default(), Self::wanted(), |table, batch| all.take(table, batch))?;
        let takes = |thread: &&Thread| {
            slice.keeps_thread(thread.tid.unwrap_or(thread.id as u64), thread.name.as_deref().unwrap_or("").as_bytes())
        };
        let key = |thread: &Thread| (all.traces[thread.trace].trace_id, thread.id);
        roster.taken = Some(all.threads.iter().filter(takes).map(key).collect());
        Ok(roster)
    }

    /// The tables that the roster is made from.
    pub fn wanted() -> Wanted {
        Wanted::nothing()
            .and(Table::Traces, Traces::COLUMNS)
            .and(Table::Processes, Processes::COLUMNS)
            .and(Table::Threads, Threads::COLUMNS)
    }

    /// A filter for the threads in the slice.
    pub fn filter(&self) -> Filter {
        let threads = self.taken.as_ref().map(|taken| {
            let ids: HashSet<i64> = taken.iter().map(|(_, id)| *id).collect();
            ids.into_iter().collect()
        });
        Filter { threads, ..Filter::default() }
    }

    /// Adds a batch of one of its tables; ignores others.
    pub fn take(&mut self, table: Table, batch: &RecordBatch) -> Result<()> {
        match table {
            Table::Traces => self.take_traces(&Traces::of(batch)?),
            Table::Processes => self.take_processes(&Processes::of(batch)?),
            Table::Threads => self.take_threads(&Threads::of(batch)?),
            _ => Ok(()),
        }
    }

    /// All threads that were mentioned, in the order of their indices.
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// A thread.
    pub fn thread(&self, index: ThreadIndex) -> &Thread {
        &self.threads[index.index()]
    }

    /// The trace of a thread.
    pub fn trace_of(&self, index: ThreadIndex) -> &Trace {
        &self.traces[self.thread(index).trace]
    }

    /// The process of a thread, as an index into [`Roster::processes`], if the trace has it.
    pub fn process_number_of(&self, index: ThreadIndex) -> Option<usize> {
        let thread = self.thread(index);
        self.process_numbers.get(&(thread.trace, thread.process_id?)).copied()
    }

    /// The process of a thread, if the trace has it.
    pub fn process_of(&self, index: ThreadIndex) -> Option<&Process> {
        self.processes.get(self.process_number_of(index)?)
    }

    /// Whether rows of a thread are in the slice; rows without a thread belong to all threads.
    #[inline]
    pub fn takes_thread(&mut self, trace_id: u64, thread_id: Option<i64>) -> Result<bool> {
        match thread_id {
            Some(thread_id) => {
                let index = self.index(trace_id, thread_id)?;
                Ok(self.thread(index).is_taken)
            }
            None => Ok(true),
        }
    }

    /// Records a timestamp that may be earlier than the trace's first one.
    #[inline]
    pub fn note(&mut self, index: ThreadIndex, ts_ns: i64) {
        if ts_ns < 0 {
            let trace = self.threads[index.index()].trace;
            let early = &mut self.early[trace];
            *early = ts_ns.min(*early);
        }
    }

    /// The earliest timestamp of a trace; 0 if none is negative.
    pub fn earliest(&self, trace: usize) -> i64 {
        let first = self.traces[trace].first_ts_ns.unwrap_or(0);
        first.min(self.early.get(trace).copied().unwrap_or(0)).min(0)
    }

    /// The number of a trace.
    #[inline]
    pub fn trace_number(&mut self, trace_id: u64) -> Result<usize> {
        match self.last_trace {
            Some((id, number)) if id == trace_id => Ok(number),
            _ => self.find_trace(trace_id),
        }
    }

    fn find_trace(&mut self, trace_id: u64) -> Result<usize> {
        check(self.traces.len(), self.max)?;
        let (traces, early) = (&mut self.traces, &mut self.early);
        let number = *self.trace_numbers.entry(trace_id).or_insert_with(|| {
            traces.push(Trace { trace_id, ..Trace::default() });
            early.push(0);
            traces.len() - 1
        });
        self.last_trace = Some((trace_id, number));
        Ok(number)
    }

    /// The index of a thread, from the ids in a row.
    #[inline]
    pub fn index(&mut self, trace_id: u64, thread_id: i64) -> Result<ThreadIndex> {
        let trace = self.trace_number(trace_id)?;
        match self.last_thread {
            Some((key, index)) if key == (trace, thread_id) => Ok(index),
            _ => self.find_thread(trace, thread_id),
        }
    }

    fn find_thread(&mut self, trace: usize, id: i64) -> Result<ThreadIndex> {
        check(self.threads.len(), self.max)?;
        let Self { threads, thread_numbers, taken, traces, .. } = self;
        let number = *thread_numbers.entry((trace, id)).or_insert_with(|| {
            let trace_id = traces[trace].trace_id;
            let is_taken = taken.as_ref().is_none_or(|taken| taken.contains(&(trace_id, id)));
            threads.push(Thread { trace, id, is_taken, ..Thread::default() });
            threads.len() as u32 - 1
        });
        self.last_thread = Some(((trace, id), ThreadIndex(number)));
        Ok(ThreadIndex(number))
    }

    fn take_traces(&mut self, view: &Traces<'_>) -> Result<()> {
        for row in 0..view.rows {
            let number = self.trace_number(view.trace_id.get(row))?;
            self.traces[number] = Trace {
                trace_id: view.trace_id.get(row),
                path: view.path.get(row).to_owned(),
                format: view.format.get(row).to_owned(),
                producer: view.producer.get(row).map(str::to_owned),
                clock: view.clock.get(row).to_owned(),
                start_native_ns: view.start_native_ns.get(row),
                unix_origin_ns: view.unix_origin_ns.get(row),
                first_ts_ns: view.first_ts_ns.get(row),
                last_ts_ns: view.last_ts_ns.get(row),
            };
        }
        Ok(())
    }

    fn take_processes(&mut self, view: &Processes<'_>) -> Result<()> {
        for row in 0..view.rows {
            let trace = self.trace_number(view.trace_id.get(row))?;
            check(self.processes.len(), self.max)?;
            self.process_numbers.entry((trace, view.id.get(row))).or_insert(self.processes.len());
            self.processes.push(Process {
                trace,
                id: view.id.get(row),
                pid: view.pid.get(row),
                ppid: view.ppid.get(row),
                name: view.name.get(row).map(str::to_owned),
                start_ts_ns: view.start_ts_ns.get(row),
                end_ts_ns: view.end_ts_ns.get(row),
            });
        }
        Ok(())
    }

    fn take_threads(&mut self, view: &Threads<'_>) -> Result<()> {
        for row in 0..view.rows {
            let index = self.index(view.trace_id.get(row), view.id.get(row))?;
            let thread = &mut self.threads[index.index()];
            thread.tid = view.tid.get(row);
            thread.process_id = Some(view.process_id.get(row));
            thread.name = view.name.get(row).map(str::to_owned);
            thread.kind = view.kind.get(row).map(str::to_owned);
            thread.location = view.location.get(row).map(str::to_owned);
        }
        Ok(())
    }
}

fn check(held: usize, max: usize) -> Result<()> {
    if held < max {
        return Ok(());
    }
    Err(Error::limit("processes and threads", held as u64 + 1, max as u64))
}

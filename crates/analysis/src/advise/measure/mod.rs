//! One pass over the tables: sums by name, thread, site and time, in bounded memory.

pub(super) mod clock;
pub(super) mod logs;
pub(super) mod memory;
pub(super) mod spans;
pub(super) mod sums;
pub(super) mod values;

use traceloom_model::{select, sink};
use traceloom_passes::{Interner, StackRows, StackTable};

use self::{
    logs::{LogRows, Logs},
    memory::{AllocationRows, FreeRows, Memory},
    spans::{FRAMES, SpanRows, Spans},
    sums::{CallRows, LineRows, Sums},
    values::{CounterRows, Values},
};
use crate::{
    group::whole,
    threads::{ThreadRows, Threads},
};

select! { struct Switches of switches { thread_id, dur_ns } }
select! { struct Extents of traces { first_ts_ns, last_ts_ns } }
select! { struct FrameRows of frames { trace_id, id, function, file, line } }

/// All measurements of one trace.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    pub(super) names: Interner,
    pub(super) threads: Threads,
    pub(super) spans: Spans,
    pub(super) sums: Sums,
    pub(super) logs: Logs,
    pub(super) values: Values,
    pub(super) memory: Memory,
    pub(super) stacks: StackTable<Place>,
    /// The id of the trace that the stacks belong to.
    pub(super) stack_trace: u64,
    pub(super) extent_ns: u64,
}

/// A place in a program.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) struct Place {
    pub(super) function: String,
    /// `file:line`.
    pub(super) source: Option<String>,
}

impl Measured {
    pub(super) fn name(&self, number: u32) -> &str {
        if number == FRAMES { "frame" } else { self.names.get(number).unwrap_or_default() }
    }

    /// The length of the trace, at least 1.
    pub(super) fn extent(&self) -> f64 {
        self.extent_ns.max(1) as f64
    }

    /// Self time of all names that do not wait, on all threads.
    pub(super) fn busy_ns(&self) -> f64 {
        self.threads.list.iter().map(|thread| thread.busy_ns as f64).sum::<f64>().max(1.0)
    }

    fn switches(&mut self, view: &Switches<'_>) {
        for row in 0..view.rows {
            let thread = self.threads.at(0, view.thread_id.get(row));
            thread.switches += 1;
            thread.off_cpu_ns = thread.off_cpu_ns.saturating_add(whole(view.dur_ns.get(row)));
        }
    }

    fn traces(&mut self, view: &Extents<'_>) {
        for row in 0..view.rows {
            let extent = view.first_ts_ns.get(row).zip(view.last_ts_ns.get(row));
            self.extent_ns += extent.map_or(0, |(first, last)| whole(last.saturating_sub(first)));
        }
    }

    fn frames(&mut self, view: &FrameRows<'_>) {
        for row in 0..view.rows {
            let line = view.line.get(row).map_or_else(String::new, |line| format!(":{line}"));
            let place = Place {
                function: view.function.get(row).to_owned(),
                source: view.file.get(row).map(|file| format!("{file}{line}")),
            };
            self.stack_trace = view.trace_id.get(row);
            self.stacks.take_frame(self.stack_trace, view.id.get(row), place);
        }
    }
}

sink! {
    impl for Measured as measured {
        AllocationRows(rows) => measured.memory.add(rows),
        CallRows(rows) => measured.sums.add_calls(rows, &mut measured.names),
        CounterRows(rows) => measured.values.add(rows, &mut measured.names),
        FrameRows(rows) => measured.frames(rows),
        FreeRows(rows) => measured.memory.add_frees(rows),
        LineRows(rows) => measured.sums.add_lines(rows, &mut measured.names),
        LogRows(rows) => measured.logs.add(rows, &mut measured.names),
        SpanRows(rows) => measured.spans.add(rows, &mut measured.names, &mut measured.threads),
        StackRows(rows) => measured.stacks.take(rows),
        Switches(rows) => measured.switches(rows),
        ThreadRows(rows) => measured.threads.name(0, rows, |_| true),
        Extents(rows) => measured.traces(rows),
    }
}

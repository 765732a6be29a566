//! One pass over the tables: sums by name, thread, site and time, in bounded memory.

pub(super) mod clock;
pub(super) mod logs;
pub(super) mod memory;
pub(super) mod spans;
pub(super) mod sums;
pub(super) mod values;

use arrow_array::RecordBatch;
use traceloom_core::Result;
use traceloom_model::{Columns, Flow, Table, TableSink, select};
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

impl TableSink for Measured {
    fn wants(&self, table: Table) -> Columns {
        match table {
            Table::Allocations => AllocationRows::COLUMNS,
            Table::Calls => CallRows::COLUMNS,
            Table::Counters => CounterRows::COLUMNS,
            Table::Frames => FrameRows::COLUMNS,
            Table::Frees => FreeRows::COLUMNS,
            Table::LineTimes => LineRows::COLUMNS,
            Table::Logs => LogRows::COLUMNS,
            Table::Spans => SpanRows::COLUMNS,
            Table::Stacks => StackRows::COLUMNS,
            Table::Switches => Switches::COLUMNS,
            Table::Threads => ThreadRows::COLUMNS,
            Table::Traces => Extents::COLUMNS,
            _ => Columns::NONE,
        }
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> Result<Flow> {
        let Self { names, threads, .. } = self;
        match table {
            Table::Allocations => self.memory.add(&AllocationRows::of(&batch)?),
            Table::Calls => self.sums.add_calls(&CallRows::of(&batch)?, names),
            Table::Counters => self.values.add(&CounterRows::of(&batch)?, names),
            Table::Frames => self.frames(&FrameRows::of(&batch)?),
            Table::Frees => self.memory.add_frees(&FreeRows::of(&batch)?),
            Table::LineTimes => self.sums.add_lines(&LineRows::of(&batch)?, names),
            Table::Logs => self.logs.add(&LogRows::of(&batch)?, names),
            Table::Spans => self.spans.add(&SpanRows::of(&batch)?, names, threads),
            Table::Stacks => self.stacks.take(&StackRows::of(&batch)?),
            Table::Switches => self.switches(&Switches::of(&batch)?),
            Table::Threads => threads.name(0, &ThreadRows::of(&batch)?, |_| true),
            Table::Traces => self.traces(&Extents::of(&batch)?),
            _ => {}
        }
        Ok(Flow::Continue)
    }
}

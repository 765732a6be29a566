//! Several traces as one set of tables.

use traceloom_core::Result;
use traceloom_model::{Filter, Flow, Table, TableSink, TableSource};

use crate::Trace;

/// Traces, one after the other.
#[derive(Debug, Default)]
pub struct TraceSet {
    traces: Vec<Trace>,
}

impl TraceSet {
    /// These traces; one that comes twice is taken once, because its ids would.
    pub fn new(traces: impl IntoIterator<Item = Trace>) -> Self {
        let mut set = Self::default();
        for trace in traces {
            if set.traces.iter().all(|known| known.id != trace.id) {
                set.traces.push(trace);
            }
        }
        set
    }

    /// The traces.
    pub fn traces(&self) -> &[Trace] {
        &self.traces
    }
}

impl TableSource for TraceSet {
    fn pour(&self, filter: &Filter, sink: &mut dyn TableSink) -> Result<()> {
        let mut sink = Remembering { sink, is_stopped: false };
        for trace in &self.traces {
            trace.pour(filter, &mut sink)?;
            if sink.is_stopped {
                break;
            }
        }
        Ok(())
    }
}

/// A stop ends not only the trace at hand.
struct Remembering<'s> {
    sink: &'s mut dyn TableSink,
    is_stopped: bool,
}

impl TableSink for Remembering<'_> {
    fn wants(&self, table: Table) -> traceloom_model::Columns {
        self.sink.wants(table)
    }

    fn batch(&mut self, table: Table, batch: arrow_array::RecordBatch) -> traceloom_core::Result<Flow> {
        let flow = self.sink.batch(table, batch)?;
        self.is_stopped |= flow == Flow::Stop;
        Ok(flow)
    }
}

//! Traces that are still being written: rows arrive as bytes do.

use traceloom_core::Result;
use traceloom_model::{Filter, Halt, Table, TableSink, Tables, trackers::Strings};

use crate::{FORMATS, Trace};

/// Reads a growing file of one format.
pub(crate) trait Grow: Send {
    /// Makes rows of the bytes written since the last call.
    fn advance(&mut self, tables: &mut Tables<'_>) -> Result<(), Halt>;

    /// Makes rows of spans that never ended, after the last byte.
    fn finish(&mut self, tables: &mut Tables<'_>) -> Result<(), Halt>;
}

/// Reads a growing trace; the cost of each call depends only on what is new.
///
/// The rows are those of the whole file, with the same ids, except that spans come in the order in which they end, and
/// that tables that only a whole file can fill stay empty.
pub struct Growing {
    grow: Box<dyn Grow>,
    trace_id: u64,
    strings: Strings,
}

impl Growing {
    /// Starts at the beginning of a trace; `None` if its format can only be read as a whole.
    pub fn new(trace: &Trace) -> Result<Option<Self>> {
        let mapping = FORMATS.iter().find(|mapping| mapping.format.id == trace.format());
        let Some(grow) = mapping.and_then(|mapping| mapping.grow) else { return Ok(None) };
        let grow = grow(&trace.opened.source, &trace.options.read)?;
        Ok(Some(Self { grow, trace_id: trace.id, strings: Strings::default() }))
    }

    /// Sends the rows written since the last call to the sink.
    pub fn advance(&mut self, sink: &mut dyn TableSink) -> Result<()> {
        self.pass_on(sink, |grow, tables| grow.advance(tables))
    }

    /// Sends spans that never ended to the sink; the file is complete.
    pub fn finish(mut self, sink: &mut dyn TableSink) -> Result<()> {
        self.pass_on(sink, |grow, tables| grow.finish(tables))
    }

    fn pass_on(
        &mut self,
        sink: &mut dyn TableSink,
        work: impl FnOnce(&mut dyn Grow, &mut Tables<'_>) -> Result<(), Halt>,
    ) -> Result<()> {
        let mut tables = Tables::new(self.trace_id, Filter::default(), sink);
        // Rows refer to names by their numbers, which must not change.
        std::mem::swap(&mut tables.strings, &mut self.strings);
        let outcome = work(&mut *self.grow, &mut tables)
            .and_then(|()| Table::ALL.into_iter().try_for_each(|table| tables.flush(table)));
        std::mem::swap(&mut tables.strings, &mut self.strings);
        outcome.or_else(Halt::into_result)
    }
}

impl std::fmt::Debug for Growing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Growing").field("trace_id", &self.trace_id).finish_non_exhaustive()
    }
}

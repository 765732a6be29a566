//! A trace that is still written: its rows come as its bytes do.

use traceloom_core::Result;
use traceloom_model::{Filter, Halt, Table, TableSink, Tables, trackers::Strings};

use crate::{FORMATS, Trace};

/// What a mapper does for a file that grows.
pub(crate) trait Grow: Send {
    /// Makes rows of what was written since the last time.
    fn advance(&mut self, tables: &mut Tables<'_>) -> Result<(), Halt>;

    /// Makes rows of what never ended, after the last byte.
    fn finish(&mut self, tables: &mut Tables<'_>) -> Result<(), Halt>;
}

/// Reads a trace that grows; each call costs what is new.
///
/// The rows are those that the whole file has, with the same ids, except that spans come in the order of their ends, and
/// that tables which only a whole file can fill stay empty.
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

    /// Hands over what was written since the last time.
    pub fn advance(&mut self, sink: &mut dyn TableSink) -> Result<()> {
        self.pass_on(sink, |grow, tables| grow.advance(tables))
    }

    /// Hands over spans that never ended; nothing is written any more.
    pub fn finish(mut self, sink: &mut dyn TableSink) -> Result<()> {
        self.pass_on(sink, |grow, tables| grow.finish(tables))
    }

    fn pass_on(
        &mut self,
        sink: &mut dyn TableSink,
        work: impl FnOnce(&mut dyn Grow, &mut Tables<'_>) -> Result<(), Halt>,
    ) -> Result<()> {
        let mut tables = Tables::new(self.trace_id, Filter::default(), sink);
        // Rows refer to names by their numbers, which stay.
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

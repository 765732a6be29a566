//! Log records with the spans around them.

use traceloom_core::{Arena, Limits, Result, Sorter, Store, spill_row};

use super::{
    Output,
    fields::log,
    ids::{Ancestors, span_id},
    logs::Found,
};
use crate::wire::Wire;
use traceloom_passes::{Layer, Ordered, Pass, ThreadIndex};

spill_row! {
    /// A log record, and where its bytes are.
    #[derive(Debug, Eq, PartialEq)]
    struct Line {
        thread: u32,
        ts_ns: i64,
        offset: u64,
        len: u64,
    } by (thread, ts_ns, offset)
}

/// Log records waiting to be sorted into the order of spans.
#[derive(Debug)]
pub(super) struct Waiting {
    lines: Sorter<Line>,
    records: Store,
}

impl Waiting {
    pub(super) fn new(limits: &Limits) -> Self {
        let limit = limits.tree_bytes;
        Self { lines: Sorter::new(&Arena::new(limit)), records: Store::new(limit / 4) }
    }

    /// Keeps a record that has a thread and a time; returns false if it lacks one.
    pub(super) fn keep(&mut self, found: &Found, record: &Wire) -> Result<bool> {
        let (Some(thread), Some(ts_ns)) = (found.thread, found.ts_ns) else { return Ok(false) };
        let offset = self.records.append(&record.bytes)?;
        self.lines.push(Line { thread: thread.0, ts_ns, offset, len: record.len() as u64 })?;
        Ok(true)
    }

    /// Writes the records, thread by thread.
    pub(super) fn write(self, pass: &Pass<'_>, output: &mut Output<'_>) -> Result<()> {
        let Self { lines, mut records } = self;
        let (roster, mut ancestors) = (&pass.roster, Ancestors::default());
        let mut spans = pass.spans.iter(roster)?.peekable();
        let mut wire = Wire::default();
        for line in lines.finish()?.iter()? {
            let line = line?;
            while let Some(span) = spans.next_if(|span| span.as_ref().map_or(true, |span| begins_before(span, &line))) {
                ancestors.enter(&span?, roster);
            }
            wire.bytes.resize(line.len as usize, 0);
            records.read(line.offset, &mut wire.bytes)?;
            let thread = ThreadIndex(line.thread);
            if let Some((tree, id)) = ancestors.around(thread, line.ts_ns) {
                wire.bytes(log::TRACE_ID, &tree.trace_id(roster.trace_of(thread).trace_id));
                wire.bytes(log::SPAN_ID, &span_id(Layer::Stack, id));
            }
            output.batches.turn_to(output.numbering.process_of(thread, roster.thread(thread).trace))?;
            output.batches.add(&wire)?;
        }
        Ok(())
    }
}

/// Spans of other layers of a thread come after its stack, and enclose nothing.
fn begins_before(span: &Ordered, line: &Line) -> bool {
    span.thread.0 < line.thread
        || span.thread.0 == line.thread && span.layer == Layer::Stack && span.ts_ns <= line.ts_ns
}

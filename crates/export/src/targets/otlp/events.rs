//! Events inside of spans, kept until their span is written.

use traceloom_core::{Arena, ByteOrder, Cursor, Loss, Result};
use traceloom_model::{Table, TableSource, events};

use super::{
    Clock, Rows,
    attributes::{Attributes, put_text},
    fields::{event, span},
};
use crate::wire::Wire;
use traceloom_passes::{Gathered, Options, Owned, OwnedSorter, Owner};

/// Bytes of events in one span; readers hold a span in memory.
const MOST_BYTES: usize = 16 << 20;

/// Events, to be asked for by their span.
#[derive(Debug)]
pub(super) struct SpanEvents {
    events: Owned,
    /// How many there are that no span was asked for.
    left: u64,
}

impl SpanEvents {
    /// Lays out the events that are in spans; the others are counted as lost.
    pub(super) fn new(
        source: &dyn TableSource,
        gathered: &mut Gathered,
        options: &Options,
        clock: &Clock,
        loss: &mut Loss,
    ) -> Result<Self> {
        let limit = options.limits.tree_bytes;
        let mut sorter = OwnedSorter::new(&Arena::new(limit), limit / 4);
        let mut left = 0;
        let rest = gathered.rest();
        let Gathered { roster, names, args, .. } = gathered;
        let mut attributes = Attributes::beside(&["category"], names)?;
        let (mut wire, mut record) = (Wire::default(), Vec::new());
        rest.pour(source, &[Table::Events], |_, batch| {
            let view = events::View::of(batch);
            for row in 0..view.rows {
                let (ts_ns, id) = (view.ts_ns.get(row), view.id.get(row));
                let rows = Rows { roster, options };
                let Some(found) = rows.find(view.trace_id.get(row), view.thread_id.get(row), Some(ts_ns))? else {
                    continue;
                };
                let Some(span_id) = view.span_id.get(row) else {
                    loss.lose("events outside of spans", || format!("events {id}"));
                    continue;
                };
                wire.clear();
                wire.fixed64(event::TIME_UNIX_NANO, clock.at(found.trace, ts_ns));
                wire.text(event::NAME, view.name.get(row));
                put_text(&mut wire, event::ATTRIBUTES, "category", view.category.get(row));
                attributes.add(args, (Table::Events, found.trace, id), names, event::ATTRIBUTES, &mut wire)?;
                record.clear();
                record.extend_from_slice(&(wire.len() as u64).to_le_bytes());
                record.extend_from_slice(&wire.bytes);
                sorter.add(Owner::new(Table::Spans, found.trace, span_id), &record)?;
                left += 1;
            }
            Ok(())
        })?;
        Ok(Self { events: sorter.finish()?, left })
    }

    /// Puts the events of a span into it.
    #[inline]
    pub(super) fn put(&mut self, trace: usize, id: i64, out: &mut Wire, loss: &mut Loss) -> Result<()> {
        if self.left == 0 {
            return Ok(());
        }
        let (left, begin, mut dropped) = (&mut self.left, out.len(), 0_u64);
        self.events.visit(Owner::new(Table::Spans, trace, id), |records| {
            let mut cursor = Cursor::new(records, 0, ByteOrder::Little);
            while !cursor.is_empty() {
                let len = cursor.u64("length")? as usize;
                let message = cursor.take(len, "event")?;
                *left = left.saturating_sub(1);
                if out.len() - begin + len > MOST_BYTES {
                    dropped += 1;
                } else {
                    out.bytes(span::EVENTS, message);
                }
            }
            Ok(())
        })?;
        if dropped > 0 {
            out.uint(span::DROPPED_EVENTS_COUNT, dropped.min(u32::MAX.into()));
            loss.lose_many("events of spans that have too many", dropped, || format!("spans {id}"));
        }
        Ok(())
    }

    /// Counts the events whose span is not among those written.
    pub(super) fn finish(self, loss: &mut Loss) {
        loss.lose_many("events of spans that are not shown", self.left, || "rows of events".to_owned());
    }
}

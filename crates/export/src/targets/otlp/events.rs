//! Events inside spans, kept until their span is written.

use traceloom_core::{Arena, ByteOrder, Cursor, Loss, Result};
use traceloom_model::Table;

use super::{
    Clock,
    attributes::{Attributes, put_text},
    fields::{event, span},
};
use crate::wire::Wire;
use traceloom_passes::{EventRows, Found, Owned, OwnedSorter, Owner, Pass};

/// Maximum size of the events in one span, because readers hold a span in memory.
const MAX_BYTES: usize = 16 << 20;

/// Events, looked up by their span.
#[derive(Debug)]
pub(super) struct SpanEvents {
    events: Owned,
    /// Number of events whose span was not looked up.
    left: u64,
}

impl SpanEvents {
    /// Encodes the events that are in spans; the others are counted as lost.
    pub(super) fn new(pass: &mut Pass<'_>, clock: &Clock) -> Result<Self> {
        let limit = pass.options.limits.tree_bytes;
        let mut sorter = OwnedSorter::new(&Arena::new(limit), limit / 4);
        let mut left = 0;
        let rest = pass.rest();
        let mut attributes = Attributes::new(event::ATTRIBUTES, &["category"], &mut pass.names)?;
        let (mut wire, mut record) = (Wire::default(), Vec::new());
        rest.pour(&[Table::Events], |_, batch| {
            let rows = EventRows::of(batch)?;
            for row in 0..rows.rows {
                let Some(Found { owner, ts_ns, .. }) = pass.find(&rows.point(row))? else { continue };
                let Some(span_id) = rows.span_id.get(row) else {
                    pass.loss.lose("events outside spans", || owner.to_string());
                    continue;
                };
                wire.clear();
                wire.fixed64(event::TIME_UNIX_NANO, clock.at(ts_ns));
                wire.text(event::NAME, rows.name.get(row));
                put_text(&mut wire, event::ATTRIBUTES, "category", rows.category.get(row));
                attributes.add(owner, &mut pass.args, &mut pass.names, &mut wire)?;
                record.clear();
                record.extend_from_slice(&(wire.len() as u64).to_le_bytes());
                record.extend_from_slice(&wire.bytes);
                sorter.add(Owner::new(Table::Spans, owner.trace(), span_id), &record)?;
                left += 1;
            }
            Ok(())
        })?;
        Ok(Self { events: sorter.finish()?, left })
    }

    /// Adds the events of a span to it.
    #[inline]
    pub(super) fn put(&mut self, owner: Owner, out: &mut Wire, loss: &mut Loss) -> Result<()> {
        if self.left == 0 {
            return Ok(());
        }
        let (left, begin, mut dropped) = (&mut self.left, out.len(), 0_u64);
        self.events.visit(owner, |records| {
            let mut cursor = Cursor::new(records, 0, ByteOrder::Little);
            while !cursor.is_empty() {
                let len = cursor.u64("length")? as usize;
                let message = cursor.take(len, "event")?;
                *left = left.saturating_sub(1);
                if out.len() - begin + len > MAX_BYTES {
                    dropped += 1;
                } else {
                    out.bytes(span::EVENTS, message);
                }
            }
            Ok(())
        })?;
        if dropped > 0 {
            out.uint(span::DROPPED_EVENTS_COUNT, dropped.min(u32::MAX.into()));
            loss.lose_many("events beyond the limit per span", dropped, || owner.to_string());
        }
        Ok(())
    }

    /// Counts the events whose span was not written.
    pub(super) fn finish(self, loss: &mut Loss) {
        loss.lose_many("events of spans that are not shown", self.left, || "rows of events".to_owned());
    }
}

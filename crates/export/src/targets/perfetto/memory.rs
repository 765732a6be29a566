//! Allocations as two counters: bytes in use, and how many pieces they are.

use std::cmp::Ordering;

use traceloom_bytes::{Arena, Cursor, Entry, Loss, Result};
use traceloom_model::{Columns, Table, TableSource, Wanted, allocations, frees};

use super::{
    DESCRIPTOR, Place,
    fields::event,
    packets::Packets,
    tracks::{CounterKey, Tracks, Unit},
};
use crate::{Gathered, Sorter, pour, span_is_taken};

/// A change of what is in use.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Change {
    trace: u32,
    ts_ns: i64,
    size_bytes: u64,
    is_free: bool,
}

impl Ord for Change {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.trace, self.ts_ns).cmp(&(other.trace, other.ts_ns))
    }
}

impl PartialOrd for Change {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Entry for Change {
    const BYTES: usize = 21;

    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.trace.to_le_bytes());
        bytes.extend_from_slice(&self.ts_ns.to_le_bytes());
        bytes.extend_from_slice(&self.size_bytes.to_le_bytes());
        bytes.push(self.is_free.into());
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self {
            trace: cursor.u32("trace")?,
            ts_ns: cursor.i64("time")?,
            size_bytes: cursor.u64("size")?,
            is_free: cursor.u8("kind")? != 0,
        })
    }
}

/// Writes the counters.
pub(super) fn write(
    source: &dyn TableSource,
    gathered: &mut Gathered,
    place: &Place<'_>,
    tracks: &mut Tracks,
    packets: &mut Packets<'_>,
    loss: &mut Loss,
) -> Result<()> {
    if gathered.rows(Table::Allocations) == 0 && gathered.rows(Table::Frees) == 0 {
        return Ok(());
    }
    let changes = read(source, gathered, place, loss)?;
    let mut curve = Curve::default();
    let mut changes = changes.iter()?.peekable();
    while let Some(change) = changes.next().transpose()? {
        curve.add(&change);
        let is_last = match changes.peek() {
            Some(Ok(next)) => next.cmp(&change).is_ne(),
            _ => true,
        };
        if is_last && span_is_taken(&place.options.slice, change.ts_ns, Some(0)) {
            curve.write(&change, gathered, place, tracks, packets)?;
        }
    }
    Ok(())
}

fn read(
    source: &dyn TableSource,
    gathered: &mut Gathered,
    place: &Place<'_>,
    loss: &mut Loss,
) -> Result<crate::Sorted<Change>> {
    let mut sorter = Sorter::new(&Arena::new(place.options.limits.tree_bytes));
    let all = DESCRIPTOR.wanted();
    let wanted = [Table::Allocations, Table::Frees]
        .into_iter()
        .fold(Wanted::nothing(), |wanted: Wanted, table| wanted.and(table, all.columns(table)));
    debug_assert_ne!(wanted.columns(Table::Frees), Columns::NONE);
    let filter = gathered.filter().clone();
    let roster = &mut gathered.roster;
    pour(source, &filter, wanted, |table, batch| {
        if table == Table::Frees {
            return count_lost_frees(&frees::View::of(batch), loss);
        }
        let view = allocations::View::of(batch);
        for row in 0..view.rows {
            let trace_id = view.trace_id.get(row);
            if let Some(thread_id) = view.thread_id.get(row) {
                let index = roster.index(trace_id, thread_id)?;
                if !roster.thread(index).is_taken {
                    continue;
                }
            }
            let trace = roster.trace_number(trace_id)? as u32;
            let (ts_ns, size_bytes) = (view.ts_ns.get(row), view.size_bytes.get(row));
            loss.lose("addresses and call stacks of allocations", || format!("allocations {}", view.id.get(row)));
            sorter.push(Change { trace, ts_ns, size_bytes, is_free: false })?;
            if let Some(ts_ns) = view.freed_ts_ns.get(row) {
                sorter.push(Change { trace, ts_ns, size_bytes, is_free: true })?;
            }
        }
        Ok(())
    })?;
    sorter.finish()
}

/// What gave back an allocation shows in the curve; what gave back nothing that is known does not.
fn count_lost_frees(view: &frees::View<'_>, loss: &mut Loss) -> Result<()> {
    for row in (0..view.rows).filter(|row| view.allocation_id.get(*row).is_none()) {
        loss.lose("frees of unknown memory", || format!("frees {}", view.id.get(row)));
    }
    Ok(())
}

/// What is in use.
#[derive(Debug, Default)]
struct Curve {
    trace: Option<u32>,
    bytes: i128,
    pieces: i64,
}

impl Curve {
    fn add(&mut self, change: &Change) {
        if self.trace.replace(change.trace) != Some(change.trace) {
            (self.bytes, self.pieces) = (0, 0);
        }
        let sign = if change.is_free { -1 } else { 1 };
        self.bytes += i128::from(change.size_bytes) * sign;
        self.pieces += sign as i64;
    }

    fn write(
        &self,
        change: &Change,
        gathered: &mut Gathered,
        place: &Place<'_>,
        tracks: &mut Tracks,
        packets: &mut Packets<'_>,
    ) -> Result<()> {
        let trace = change.trace as usize;
        let bytes = i64::try_from(self.bytes).unwrap_or(i64::MAX);
        for (label, unit, value) in
            [("memory in use", Unit::Bytes, bytes), ("live allocations", Unit::Count, self.pieces)]
        {
            let name = gathered.names.intern(label)?;
            let key = CounterKey { parent: tracks.process(trace), name, value_id: None, idx: None };
            let track = tracks.counter(key, || Ok(label.to_owned()), unit, packets)?;
            packets.begin(event::TYPE_COUNTER, track);
            packets.event.int(event::COUNTER_VALUE, value);
            packets.finish(place.timeline.at(trace, change.ts_ns))?;
        }
        Ok(())
    }
}

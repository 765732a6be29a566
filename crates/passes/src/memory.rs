//! Memory in use over time, from allocations and their fates.

use traceloom_core::{Arena, Loss, Result, Sorted, Sorter, spill_row};
use traceloom_model::{Table, select};

use crate::{Pass, span_is_taken};

select! {
    /// Allocations and their lifetimes.
    pub struct AllocationTimes of allocations { trace_id, id, ts_ns, thread_id, size_bytes, freed_ts_ns }
}

select! {
    /// Frees and the allocations that they free.
    pub struct FreeRows of frees { id, allocation_id }
}

/// Memory in use from a point in time on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct InUse {
    /// The trace, as an index into [`crate::Roster::traces`].
    pub trace: usize,
    /// The point in time.
    pub ts_ns: i64,
    /// Bytes in use.
    pub bytes: i64,
    /// Number of allocations in use.
    pub pieces: i64,
}

/// Calls `tell` with the memory in use, trace by trace, at each time at which it changes.
///
/// The target declares [`AllocationTimes`] and [`FreeRows`]. The address and the stack of each allocation are counted
/// as lost, and so are frees of memory whose allocation is unknown.
pub fn memory_in_use(pass: &mut Pass<'_>, mut tell: impl FnMut(InUse) -> Result<()>) -> Result<()> {
    if pass.rows(Table::Allocations) == 0 && pass.rows(Table::Frees) == 0 {
        return Ok(());
    }
    let changes = read(pass)?;
    let mut sum = Sum::default();
    let mut changes = changes.iter()?.peekable();
    while let Some(change) = changes.next().transpose()? {
        sum.add(&change);
        let is_last = match changes.peek() {
            Some(Ok(next)) => next.cmp(&change).is_ne(),
            _ => true,
        };
        if is_last && span_is_taken(&pass.options.slice, change.ts_ns, Some(0)) {
            tell(sum.at(&change))?;
        }
    }
    Ok(())
}

spill_row! {
    /// A change of the memory in use.
    #[derive(Debug, Eq, PartialEq)]
    struct Change {
        trace: u32,
        ts_ns: i64,
        size_bytes: u64,
        is_free: bool,
    } by (trace, ts_ns)
}

fn read(pass: &mut Pass<'_>) -> Result<Sorted<Change>> {
    let mut sorter = Sorter::new(&Arena::new(pass.options.limits.tree_bytes));
    let rest = pass.rest();
    let Pass { roster, loss, .. } = pass;
    rest.pour(&[Table::Allocations, Table::Frees], |table, batch| {
        if table == Table::Frees {
            return count_lost_frees(&FreeRows::of(batch)?, loss);
        }
        let rows = AllocationTimes::of(batch)?;
        for row in 0..rows.rows {
            let trace_id = rows.trace_id.get(row);
            if !roster.takes_thread(trace_id, rows.thread_id.get(row))? {
                continue;
            }
            let trace = roster.trace_number(trace_id)? as u32;
            let (ts_ns, size_bytes) = (rows.ts_ns.get(row), rows.size_bytes.get(row));
            loss.lose("addresses and call stacks of allocations", || format!("allocations {}", rows.id.get(row)));
            sorter.push(Change { trace, ts_ns, size_bytes, is_free: false })?;
            if let Some(ts_ns) = rows.freed_ts_ns.get(row) {
                sorter.push(Change { trace, ts_ns, size_bytes, is_free: true })?;
            }
        }
        Ok(())
    })?;
    sorter.finish()
}

/// A free of an allocation is part of the memory curve; a free of unknown memory is not.
pub(crate) fn count_lost_frees(rows: &FreeRows<'_>, loss: &mut Loss) -> Result<()> {
    for row in (0..rows.rows).filter(|row| rows.allocation_id.get(*row).is_none()) {
        loss.lose("frees of unknown memory", || format!("frees {}", rows.id.get(row)));
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Sum {
    trace: Option<u32>,
    bytes: i128,
    pieces: i64,
}

impl Sum {
    fn add(&mut self, change: &Change) {
        if self.trace.replace(change.trace) != Some(change.trace) {
            (self.bytes, self.pieces) = (0, 0);
        }
        let sign = if change.is_free { -1 } else { 1 };
        self.bytes += i128::from(change.size_bytes) * i128::from(sign);
        self.pieces += sign;
    }

    fn at(&self, change: &Change) -> InUse {
        let bytes = i64::try_from(self.bytes).unwrap_or(i64::MAX);
        InUse { trace: change.trace as usize, ts_ns: change.ts_ns, bytes, pieces: self.pieces }
    }
}

//! Sets of tables that several targets show.

use traceloom_model::{Columns, Selection, Table};

use crate::{
    AllocationSites, AllocationTimes, ArgRows, COUNTERS, EVENTS, FrameRows, FreeRows, LOGS, LinkRows, SpanRows,
    SpanSites, StackRows, SwitchRows,
};

/// A table that a target shows, and the columns that the target reads.
#[derive(Debug)]
pub struct Need {
    /// The table.
    pub table: Table,
    /// The columns.
    pub columns: Columns,
}

impl Need {
    /// The columns that a type of [`traceloom_model::select!`] reads.
    pub const fn of<S: Selection>() -> Self {
        Self { table: S::TABLE, columns: S::COLUMNS }
    }

    /// A table that the target shows without reading it: [`crate::Roster`] reads it, or other tables hold the same
    /// data.
    pub const fn shown(table: Table) -> Self {
        Self { table, columns: Columns::NONE }
    }
}

/// Traces, processes and threads, which [`crate::Roster`] reads.
pub const ROSTER: &[Need] = &[Need::shown(Table::Traces), Need::shown(Table::Processes), Need::shown(Table::Threads)];

/// Spans, and switches as one of their layers.
pub const LAYERS: &[Need] = &[Need::of::<SpanRows<'_>>(), Need::of::<SpanSites<'_>>(), Need::of::<SwitchRows<'_>>()];

/// Rows with a single timestamp.
pub const POINTS: &[Need] = &[EVENTS, COUNTERS, LOGS];

/// Memory in use over time.
pub const MEMORY: &[Need] = &[Need::of::<AllocationTimes<'_>>(), Need::of::<FreeRows<'_>>()];

/// Allocations by call stack.
pub const HEAP: &[Need] = &[
    Need::of::<AllocationSites<'_>>(),
    Need::of::<FreeRows<'_>>(),
    Need::of::<StackRows<'_>>(),
    Need::of::<FrameRows<'_>>(),
];

/// The tables that timeline tools can show.
pub const TIMELINE: &[&[Need]] =
    &[ROSTER, LAYERS, POINTS, MEMORY, &[Need::of::<LinkRows<'_>>(), Need::of::<ArgRows<'_>>()]];

//! The parts of a file that a sink needs.

use traceloom_model::{Table, Tables};

/// How much of the file has to be read, and in how much detail.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) reads_descriptors: bool,
    pub(super) reads_records: bool,
    pub(super) reads_times: bool,
    pub(super) wants_self: bool,
    pub(super) wants_spans: bool,
    pub(super) wants_span_names: bool,
    pub(super) wants_events: bool,
    pub(super) wants_values: bool,
    pub(super) wants_switches: bool,
    pub(super) wants_extent: bool,
}

/// The columns that need the times of all records.
pub(super) const EXTENT: &[&str] = &["first_ts_ns", "last_ts_ns"];

impl Plan {
    pub(super) fn of(tables: &Tables<'_>) -> Self {
        let wants = |table| tables.wants(table);
        let wants_extent = tables.wants_any(Table::Traces, EXTENT);
        let wants_args = wants(Table::Args);
        let timed = [Table::Counters, Table::Events, Table::Spans, Table::Switches];
        let reads_records = wants_extent
            || wants_args
            || timed.into_iter().any(wants)
            || [Table::Findings, Table::Threads].into_iter().any(wants);
        Self {
            reads_descriptors: reads_records || wants(Table::Definitions),
            reads_records,
            reads_times: reads_records || wants(Table::Traces),
            wants_self: tables.wants_any(Table::Spans, &["self_ns"]),
            wants_spans: wants(Table::Spans),
            wants_span_names: tables.wants_any(Table::Spans, &["name"]),
            wants_events: wants(Table::Events),
            wants_values: wants_args || wants(Table::Counters),
            wants_switches: wants(Table::Switches),
            wants_extent,
        }
    }
}

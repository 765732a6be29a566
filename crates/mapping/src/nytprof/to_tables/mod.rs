//! NYTProf records to tables.
//!
//! One walk over the file does everything; rows that depend on the whole file (spans, sums, files, processes) are
//! pushed at the end. The id of a span is the number of its return, that of a file is its number in the stream, and
//! that of a process and its thread is the position of the process in the file.

mod calls;
pub(crate) mod clock;
mod header;
mod layout;
pub(crate) mod names;
mod processes;
mod spans;
mod stop;
pub(crate) mod sums;
mod walk;

use traceloom_core::{Arena, Findings, Records};
use traceloom_model::{
    Halt, Table, Tables,
    trackers::{Clock, Extent},
};
use traceloom_nytprof::Reader;

use self::{header::Head, spans::Rows, walk::Walk};
use crate::{shared::report_clock, trace::Input};

pub(crate) fn to_tables(input: &Input<'_>, tables: &mut Tables<'_>) -> Result<Findings, Halt> {
    let plan = Plan::of(tables, input.options.merge_evals);
    let mut options = input.options.read.clone();
    if tables.wants(Table::Findings) {
        options = options.thorough();
    }
    let mut reader = traceloom_nytprof::open(input.source.clone(), &options)?;
    if plan.reads_records {
        return read_all(input, plan, reader, tables);
    }
    if tables.wants(Table::Traces) {
        let head = if plan.reads_head { Head::read(&mut reader)? } else { Head::default() };
        head.push(input, reader.header(), Extent::default(), tables)?;
    }
    Ok(reader.into_findings())
}

/// How much of the file has to be read, and how thoroughly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// The records up to the first process.
    pub(super) reads_head: bool,
    /// All records.
    pub(super) reads_records: bool,
    /// Calls as they happen, each with its position in the tree.
    pub(super) lays_out: bool,
    /// Names of calls as they happen.
    pub(super) wants_names: bool,
    /// Subs, from the loader.
    pub(super) loads: bool,
    /// Line times, from the loader.
    pub(super) adds_up: bool,
    pub(super) merges_evals: bool,
    pub(super) wants_args: bool,
    pub(super) wants_calls: bool,
    pub(super) wants_sources: bool,
    pub(super) wants_attributes: bool,
}

impl Plan {
    fn of(tables: &Tables<'_>, merges_evals: bool) -> Self {
        let any = |of: &[Table]| of.iter().any(|table| tables.wants(*table));
        let lays_out = any(&[Table::Spans, Table::Frames, Table::Stacks]);
        let wants_subs = tables.wants_any(Table::Spans, &["definition_id", "file", "line"]);
        let wants_calls = tables.wants(if merges_evals { Table::CallsMerged } else { Table::Calls });
        let adds_up = tables.wants(Table::LineTimes);
        let others =
            [Table::Attributes, Table::Files, Table::Findings, Table::Processes, Table::Sources, Table::Threads];
        let wants_defined = any(&[Table::Args, Table::Definitions, Table::Frames]);
        let loads = wants_defined || wants_subs || adds_up || wants_calls && merges_evals;
        let wants_extent = tables.wants_any(Table::Traces, &["first_ts_ns", "last_ts_ns"]);
        let facts = ["producer", "clock", "clock_hz", "start_native_ns", "unix_origin_ns"];
        Self {
            reads_head: tables.wants_any(Table::Traces, &facts),
            reads_records: lays_out || loads || wants_calls || wants_extent || any(&others),
            lays_out,
            wants_names: any(&[Table::Frames, Table::Stacks])
                || tables.wants_any(Table::Spans, &["name", "definition_id", "file", "line"]),
            loads,
            adds_up,
            merges_evals,
            wants_args: tables.wants(Table::Args),
            wants_calls,
            wants_sources: tables.wants(Table::Sources),
            wants_attributes: tables.wants(Table::Attributes),
        }
    }
}

fn read_all(input: &Input<'_>, plan: Plan, mut reader: Reader, tables: &mut Tables<'_>) -> Result<Findings, Halt> {
    let arena = Arena::new(input.options.read.limits.tree_bytes);
    let mut walk = Walk::new(plan, input, &arena, tables)?;
    reader.walk(
        #[inline(always)]
        |located| walk.take(&located.record),
    )?;
    walk.finish()?;
    let clock = push_rest(input, walk, &reader, &arena)?;
    let mut findings = reader.into_findings();
    report_clock(&clock, &mut findings)?;
    Ok(findings)
}

/// Pushes the rows that depend on the whole file.
fn push_rest(input: &Input<'_>, walk: Walk<'_, '_>, reader: &Reader, arena: &Arena) -> Result<Clock, Halt> {
    let Walk { plan, tables, head, files, names, processes, recorder, loader, mut args, application, .. } = walk;
    let profile = loader.map(|loader| loader.finish());
    let origin_ns = head.origin_ns().unwrap_or(0);
    let mut clock = Clock::new(origin_ns);
    let mut extent = Extent::default();
    let application = application.map(|name| tables.strings.intern(&name));
    processes.push(application, &mut clock, origin_ns, &mut extent, tables)?;
    head.push(input, reader.header(), extent, tables)?;
    files.push(&mut args, tables)?;
    let mut defined = Vec::new();
    if let Some(profile) = &profile {
        sums::push_subs(profile, &files, &mut args, tables)?;
        defined = sums::defined(profile, &names, &files);
    }
    if let Some(calls) = recorder.calls {
        // Call times that do not fit are those of a process that does not fit, which has already been reported.
        let mut rows = Rows { names: &names, defined: &defined, processes: &processes, origin_ns, clock };
        rows.push(calls, arena, &input.options.read.limits, tables)?;
    }
    let Some(mut profile) = profile else { return Ok(clock) };
    if plan.merges_evals {
        profile.merge_evals();
        if plan.wants_calls {
            sums::push_merged_calls(&profile, &files, tables)?;
        }
    }
    if tables.wants(Table::LineTimes) {
        sums::push_line_times(&profile, &files, tables)?;
    }
    Ok(clock)
}

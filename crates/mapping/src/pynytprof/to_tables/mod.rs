//! Pynytprof records to tables.
//!
//! Sums of lines and edges become rows directly. The lists of visits that the tracer writes instead of subs become
//! consecutive spans. The id of a sub or a file is its number in the file.

mod declared;
mod rows;

use traceloom_core::{Findings, Records};
use traceloom_model::{Halt, Table, Tables, trackers::Clock};
use traceloom_nytprof::pynytprof::open;

use self::{declared::Declared, rows::Rows};
use crate::{
    shared::{Args, report_clock},
    trace::Input,
};

pub(crate) fn to_tables(input: &Input<'_>, tables: &mut Tables<'_>) -> Result<Findings, Halt> {
    let plan = Plan::of(tables);
    let (source, options) = (input.source, &input.options.read);
    let mut declared = Declared::new(source.len()?, &options.limits, &mut tables.strings);
    let mut reader = open(source.clone(), options)?;
    if plan.reads_head || plan.reads_declared {
        declared.read(&mut reader, plan.reads_declared, &mut tables.strings)?;
    }
    let mut clock = Clock::new(0);
    declared.push_process(input, &reader, &mut clock, tables)?;
    let mut args = Args::default();
    declared.push(&mut args, tables)?;
    let mut findings = reader.into_findings();
    if plan.reads_figures {
        // The second read reports the same findings again.
        let mut reader = open(source.clone(), options)?;
        clock = Rows::new(&declared, args, input.options.merge_evals, tables).push(&mut reader, tables)?;
        findings = reader.into_findings();
    }
    report_clock(&clock, &mut findings)?;
    Ok(findings)
}

/// How much of the file has to be read.
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// The records up to the process.
    reads_head: bool,
    /// All records, for their declarations.
    reads_declared: bool,
    /// All records again, for their sums.
    reads_figures: bool,
}

impl Plan {
    fn of(tables: &Tables<'_>) -> Self {
        let any = |of: &[Table]| of.iter().any(|table| tables.wants(*table));
        // Problems with times are only known once the rows are made.
        let figures = [
            Table::Args,
            Table::Attributes,
            Table::Calls,
            Table::CallsMerged,
            Table::Findings,
            Table::LineTimes,
            Table::Sources,
            Table::Spans,
        ];
        let others = [Table::Args, Table::Definitions, Table::Files, Table::Processes];
        let names = [
            (Table::Calls, &["caller", "callee", "file"][..]),
            (Table::CallsMerged, &["caller", "callee", "file"]),
            (Table::LineTimes, &["file_id", "file"]),
            (Table::Spans, &["file"]),
        ];
        let wants_names = names.into_iter().any(|(table, columns)| tables.wants_any(table, columns));
        let wants_extent = tables.wants_any(Table::Traces, &["first_ts_ns", "last_ts_ns"]);
        let facts = ["producer", "start_native_ns", "unix_origin_ns"];
        Self {
            reads_head: tables.wants_any(Table::Traces, &facts),
            reads_declared: wants_names || wants_extent || any(&others),
            reads_figures: any(&figures),
        }
    }
}

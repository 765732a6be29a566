//! Brings traces of one run onto one axis of time.
//!
//! A log of CNanoLog pairs the processor's counter with the time of day; a capture of EasyProfiler has the same counter
//! and no time of day. What both were running on is then known to a tick.

use std::{path::PathBuf, sync::Arc};

use arrow_array::RecordBatch;
use traceloom_core::{Error, Result};
use traceloom_mapping::Trace;
use traceloom_model::{Columns, Filter, Flow, Table, TableSink, TableSource, traces::View};

use crate::{Options, shift::Moved};

/// The user's word on when a trace began.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Offset {
    /// The trace, as it was named.
    pub path: PathBuf,
    /// What is added to all of its times.
    pub offset_ns: i64,
}

/// A trace whose times were moved.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Alignment {
    /// The trace.
    pub trace_id: u64,
    /// Where it is.
    pub path: PathBuf,
    /// What was added to all of its times.
    pub shift_ns: i64,
    /// The trace whose axis it is on now; none where the user said so.
    pub with: Option<PathBuf>,
    /// The time of day of its origin, from that trace.
    unix_origin_ns: Option<i64>,
}

impl Alignment {
    pub(crate) fn moved(&self) -> Moved {
        Moved { shift_ns: self.shift_ns, unix_origin_ns: self.unix_origin_ns }
    }
}

/// Finds out which traces to move, and by how much.
pub(crate) fn align(traces: &[Arc<Trace>], options: &Options) -> Result<Vec<Alignment>> {
    let mut alignments = Vec::new();
    for offset in &options.offsets {
        let trace = traces.iter().find(|trace| trace.path == offset.path);
        let trace = trace.ok_or_else(|| {
            Error::usage("an offset is given for it, and it is not among the traces").in_file(&offset.path)
        })?;
        alignments.retain(|known: &Alignment| known.trace_id != trace.id);
        let (path, shift_ns) = (trace.path.clone(), offset.offset_ns);
        alignments.push(Alignment { trace_id: trace.id, path, shift_ns, with: None, unix_origin_ns: None });
    }
    // The facts cost a pass over the files: not without hope.
    let has = |format: &str| traces.iter().any(|trace| trace.format() == format);
    if options.is_aligned && COUNTING.iter().all(|format| has(format)) {
        by_counter(traces, &mut alignments)?;
    }
    Ok(alignments)
}

/// The formats that have the processor's counter; the first knows the time of day as well.
const COUNTING: [&str; 2] = ["cnanolog", "easyprofiler"];
/// Both programs measure the counter's frequency, each a little wrong.
const TOLERANCE: f64 = 0.01;

fn by_counter(traces: &[Arc<Trace>], alignments: &mut Vec<Alignment>) -> Result<()> {
    let facts: Vec<Option<Counter>> = traces.iter().map(|trace| Counter::of(trace)).collect::<Result<_>>()?;
    let clocks = || {
        traces
            .iter()
            .zip(&facts)
            .filter_map(|(trace, fact)| Some((trace, (*fact)?)))
            .filter(|(_, fact)| fact.unix_origin_ns.is_some())
    };
    for (trace, fact) in traces.iter().zip(&facts) {
        let Some(fact) = fact.filter(|fact| fact.unix_origin_ns.is_none()) else { continue };
        if alignments.iter().any(|known| known.trace_id == trace.id) {
            continue;
        }
        let found = clocks()
            .find_map(|(clock, reference)| Some((clock, reference.unix_origin_ns?, fact.shift_ns(&reference)?)));
        if let Some((clock, unix_origin_ns, shift_ns)) = found {
            // The clock may have been moved by the user.
            let moved = alignments.iter().find(|known| known.trace_id == clock.id).map_or(0, |known| known.shift_ns);
            let (path, with) = (trace.path.clone(), Some(clock.path.clone()));
            let (shift_ns, unix_origin_ns) = (shift_ns.saturating_add(moved), unix_origin_ns.checked_sub(moved));
            alignments.push(Alignment { trace_id: trace.id, path, shift_ns, with, unix_origin_ns });
        }
    }
    Ok(())
}

/// A trace on the processor's counter.
#[derive(Clone, Copy, Debug)]
struct Counter {
    hz: u64,
    start_ticks: u64,
    first_ts_ns: i64,
    last_ts_ns: i64,
    unix_origin_ns: Option<i64>,
}

impl Counter {
    fn of(trace: &Trace) -> Result<Option<Self>> {
        if !COUNTING.contains(&trace.format()) {
            return Ok(None);
        }
        let mut row = Row(None);
        trace.pour(&Filter::default(), &mut row)?;
        Ok(row.0)
    }

    /// What brings this trace onto the axis of the other; none where they cannot be of one run.
    ///
    /// Counters of two machines differ by anything: traces of one run overlap.
    fn shift_ns(&self, reference: &Self) -> Option<i64> {
        let ratio = self.hz as f64 / reference.hz as f64;
        if (ratio - 1.0).abs() > TOLERANCE {
            return None;
        }
        let ticks = i128::from(self.start_ticks) - i128::from(reference.start_ticks);
        let shift = i64::try_from(ticks * 1_000_000_000 / i128::from(reference.hz)).ok()?;
        let (first, last) = (self.first_ts_ns.saturating_add(shift), self.last_ts_ns.saturating_add(shift));
        (first <= reference.last_ts_ns && reference.first_ts_ns <= last).then_some(shift)
    }
}

/// Reads the one row of the table of traces.
struct Row(Option<Counter>);

impl TableSink for Row {
    fn wants(&self, table: Table) -> Columns {
        if table == Table::Traces { Columns::ALL } else { Columns::NONE }
    }

    fn batch(&mut self, _: Table, batch: RecordBatch) -> traceloom_core::Result<Flow> {
        let view = View::of(&batch);
        if view.rows > 0 && view.clock.get(0) == "tsc" {
            self.0 = (|| {
                Some(Counter {
                    hz: view.clock_hz.get(0).filter(|hz| *hz > 0)?,
                    start_ticks: view.start_ticks.get(0)?,
                    first_ts_ns: view.first_ts_ns.get(0)?,
                    last_ts_ns: view.last_ts_ns.get(0)?,
                    unix_origin_ns: view.unix_origin_ns.get(0),
                })
            })();
        }
        Ok(Flow::Stop)
    }
}

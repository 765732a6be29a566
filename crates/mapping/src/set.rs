//! Several traces as one set of tables, on one time axis.

use std::{path::PathBuf, str::FromStr, sync::Arc};

use traceloom_core::{Error, Result, parse_duration};
use traceloom_model::{Columns, Filter, Flow, Kept, Table, TableSink, TableSource};
use traceloom_passes::{Axis, Shifted, TraceFacts};

use crate::Trace;

/// Traces, one after the other, with times on their common axis.
#[derive(Debug, Default)]
pub struct TraceSet {
    traces: Vec<Arc<Trace>>,
    axis: Axis,
}

/// How traces are placed on one axis.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AxisOptions {
    /// Offsets set by the user.
    pub offsets: Vec<Offset>,
    /// Whether traces without an offset are placed automatically; otherwise they keep their times.
    pub is_automatic: bool,
}

impl Default for AxisOptions {
    fn default() -> Self {
        Self { offsets: Vec::new(), is_automatic: true }
    }
}

/// The offset of one trace.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Offset {
    /// The path of the trace, as given by the user.
    pub path: PathBuf,
    /// Added to all times of the trace.
    pub offset_ns: i64,
}

/// Reads `game.prof=+1.5s`.
impl FromStr for Offset {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::usage(format!("invalid offset `{text}`; expected something like `game.prof=+1.5s`"));
        let (path, time) = text.rsplit_once('=').ok_or_else(wrong)?;
        Ok(Self { path: path.into(), offset_ns: parse_duration(time.strip_prefix('+').unwrap_or(time))? })
    }
}

impl TraceSet {
    /// Places these traces automatically.
    pub fn new(traces: impl IntoIterator<Item = Trace>) -> Result<Self> {
        Self::aligned(traces, &AxisOptions::default())
    }

    /// Places these traces; duplicates are dropped, because their ids would collide.
    pub fn aligned(traces: impl IntoIterator<Item = Trace>, options: &AxisOptions) -> Result<Self> {
        let mut known: Vec<Arc<Trace>> = Vec::new();
        for trace in traces {
            if known.iter().all(|known| known.id != trace.id) {
                known.push(Arc::new(trace));
            }
        }
        let axis = axis(&known, options)?;
        Ok(Self { traces: known, axis })
    }

    /// The traces, each with the times in its file.
    pub fn traces(&self) -> &[Arc<Trace>] {
        &self.traces
    }

    /// The axis; its numbers are indices of [`TraceSet::traces`].
    pub fn axis(&self) -> &Axis {
        &self.axis
    }

    /// The traces, each with its times on the axis.
    pub fn placed(&self) -> impl Iterator<Item = Shifted<&Trace>> {
        let traces = self.traces.iter().zip(self.axis.placements());
        traces.map(|(trace, placement)| Shifted { source: trace.as_ref(), placement: *placement })
    }
}

/// A file is opened for its facts only if it could move.
fn axis(traces: &[Arc<Trace>], options: &AxisOptions) -> Result<Axis> {
    let mut facts = vec![TraceFacts::default(); traces.len()];
    if options.is_automatic && traces.len() > 1 {
        for (facts, trace) in facts.iter_mut().zip(traces) {
            *facts = TraceFacts::read(&trace.quiet())?.first().copied().unwrap_or_default();
        }
        for number in TraceFacts::may_share_counters(&facts) {
            TraceFacts::read_extents(&mut facts[number..=number], &traces[number].quiet())?;
        }
    }
    for Offset { path, offset_ns } in &options.offsets {
        let number = traces.iter().position(|trace| trace.path == *path);
        let unknown = || Error::usage("has an offset but is not among the traces").in_file(path);
        facts[number.ok_or_else(unknown)?].user_offset_ns = Some(*offset_ns);
    }
    Ok(Axis::new(&facts))
}

impl TableSource for TraceSet {
    fn pour(&self, filter: &Filter, sink: &mut dyn TableSink) -> Result<()> {
        pour_in_turn(self.placed(), filter, sink).map(drop)
    }

    /// Only for a single trace: the data of many traces together would have no bound.
    fn keep(&self) -> Kept {
        if let [trace] = self.traces.as_slice() { trace.keep() } else { Kept::default() }
    }
}

/// Sends traces one after the other until the sink stops; returns whether it did.
pub fn pour_in_turn(
    traces: impl Iterator<Item = impl TableSource>,
    filter: &Filter,
    sink: &mut dyn TableSink,
) -> Result<Flow> {
    let mut sink = Remembering { sink, is_stopped: false };
    for trace in traces {
        trace.pour(filter, &mut sink)?;
        if sink.is_stopped {
            return Ok(Flow::Stop);
        }
    }
    Ok(Flow::Continue)
}

/// A stop ends the whole set, not only the current trace.
struct Remembering<'s> {
    sink: &'s mut dyn TableSink,
    is_stopped: bool,
}

impl TableSink for Remembering<'_> {
    fn wants(&self, table: Table) -> Columns {
        self.sink.wants(table)
    }

    fn batch(&mut self, table: Table, batch: arrow_array::RecordBatch) -> Result<Flow> {
        let flow = self.sink.batch(table, batch)?;
        self.is_stopped |= flow == Flow::Stop;
        Ok(flow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_read() {
        let read = |text: &str| text.parse::<Offset>().ok().map(|offset| (offset.path, offset.offset_ns));
        assert_eq!(read("a=b.prof=+1.5s"), Some(("a=b.prof".into(), 1_500_000_000)));
        assert_eq!(read("x.prof=-2ms"), Some(("x.prof".into(), -2_000_000)));
        assert_eq!(read("x.prof=-7ns"), Some(("x.prof".into(), -7)));
        assert!(read("x.prof").is_none() && read("x.prof=").is_none());
    }
}

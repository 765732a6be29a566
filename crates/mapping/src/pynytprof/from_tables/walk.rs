//! Sums spans.

use traceloom_core::Result;

use super::figures::{Figures, Own, Visits};
use crate::nytprof::from_tables::{
    RUNTIME,
    stack::{Open, REACHES_OUT, Stack},
    sums::{Edge, Place, Sums},
};
use traceloom_passes::{FRAMES_AND_RANGES, Layer, NameId, Pass};

/// An open call.
#[derive(Clone, Copy, Debug)]
struct Call {
    name: NameId,
    /// Its location, if known and wanted.
    place: Option<Place>,
    /// Whether the trace has no sums of calls.
    is_wanted: bool,
}

/// Sums of calls, and of the lines where subs are.
struct Adder {
    calls: Sums,
    lines: Sums,
    runtime: NameId,
}

/// Adds the spans of traces that have no sums.
pub(super) fn add(pass: &mut Pass<'_>, own: &Own, figures: &mut Figures) -> Result<()> {
    let Pass { roster, names, looks, spans, loss, options, .. } = pass;
    let (runtime, max) = (names.intern(RUNTIME)?, options.limits.entries);
    let mut adder = Adder { calls: Sums::new(max), lines: Sums::new(max), runtime };
    let (mut stack, mut current) = (Stack::default(), None);
    for span in spans.iter(roster)? {
        let span = span?;
        if current.replace(span.thread) != Some(span.thread) {
            stack.finish(|over, around| adder.leave(&over, around))?;
        }
        if span.layer != Layer::Stack {
            span.lose(FRAMES_AND_RANGES, loss);
            continue;
        }
        span.lose("single calls", loss);
        let trace = roster.thread(span.thread).trace;
        stack.advance(&span, |over, around| adder.leave(&over, around))?;
        let look = looks.get(span.look)?;
        let place = match (look.file, look.line) {
            (Some(file), Some(line)) if !own.lines[trace] => Some(Place { fid: figures.file(file)?, line }),
            _ => None,
        };
        let call = Call { name: look.name, place, is_wanted: !own.calls[trace] };
        adder.enter(&call);
        if stack.begin(&span, call) {
            span.lose(REACHES_OUT, loss);
        }
    }
    stack.finish(|over, around| adder.leave(&over, around))?;
    for (edge, sum) in adder.calls.finish() {
        let visits = Visits { count: sum.count, times_ns: [sum.incl_ns, sum.excl_ns] };
        figures.add_edge(edge.caller, edge.callee, visits, loss)?;
    }
    for (edge, sum) in adder.lines.finish() {
        let visits = Visits { count: sum.count, times_ns: [sum.incl_ns, sum.excl_ns] };
        figures.add_line((edge.place.fid, edge.place.line), visits, loss)?;
    }
    Ok(())
}

impl Adder {
    fn enter(&mut self, call: &Call) {
        if call.is_wanted {
            self.calls.enter(call.name);
        }
        if call.place.is_some() {
            self.lines.enter(call.name);
        }
    }

    fn leave(&mut self, over: &Open<Call>, around: &[Open<Call>]) -> Result<()> {
        let Call { name, place, is_wanted } = over.item;
        if is_wanted {
            let caller = around.last().map_or(self.runtime, |outer| outer.item.name);
            self.calls.leave(Edge { callee: name, place: Place::default(), caller }, over.times_ns())?;
        }
        match place {
            Some(place) => self.lines.leave(Edge { callee: name, place, caller: name }, over.times_ns()),
            None => Ok(()),
        }
    }
}

//! Spans, added up.

use traceloom_core::{Limits, Loss, Result};

use super::figures::{Figures, Own};
use crate::nytprof::from_tables::{
    RUNTIME,
    stack::{Open, Stack},
    sums::{Edge, Place, Sums},
};
use traceloom_passes::{Gathered, Layer, NameId};

/// A call that is open.
#[derive(Clone, Copy, Debug)]
struct Call {
    name: NameId,
    /// Where it is, if that is known and wanted.
    place: Option<Place>,
    /// Whether the trace has no sums of calls.
    is_wanted: bool,
}

/// Sums of calls and of the lines that subs are at.
struct Adder {
    calls: Sums,
    lines: Sums,
    runtime: NameId,
}

/// Adds the spans of traces that have no sums of their own.
pub(super) fn add(
    gathered: &mut Gathered,
    own: &Own,
    figures: &mut Figures,
    limits: &Limits,
    loss: &mut Loss,
) -> Result<()> {
    let Gathered { roster, names, looks, spans, .. } = gathered;
    let runtime = names.intern(RUNTIME)?;
    let mut adder = Adder { calls: Sums::new(limits.entries), lines: Sums::new(limits.entries), runtime };
    let (mut stack, mut current) = (Stack::default(), None);
    for span in spans.iter(roster)? {
        let span = span?;
        if current.replace(span.thread) != Some(span.thread) {
            stack.finish(|over, around| adder.leave(&over, around))?;
        }
        if span.layer != Layer::Stack {
            loss.lose("frames and ranges of time", || format!("spans {}", span.id));
            continue;
        }
        loss.lose("single calls", || format!("spans {}", span.id));
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
            loss.lose("ends of spans that reach out of the one around them", || format!("spans {}", span.id));
        }
    }
    stack.finish(|over, around| adder.leave(&over, around))?;
    for (edge, sum) in adder.calls.finish() {
        figures.add_edge(edge.caller, edge.callee, sum.count, [sum.incl_ns, sum.excl_ns], loss)?;
    }
    for (edge, sum) in adder.lines.finish() {
        figures.add_line((edge.place.fid, edge.place.line), sum.count, [sum.incl_ns, sum.excl_ns], loss)?;
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

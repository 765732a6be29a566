//! Spans and switches as complete events.

use traceloom_core::{Loss, Result};
use traceloom_model::Table;

use super::{
    events::{Events, Lane},
    lanes::Lanes,
};
use traceloom_passes::{Flows, Gathered, Layer, Look, NamePool, Nest, Timeline};

/// Perfetto does not take slices that are more than 512 deep.
const MOST_DEEP: usize = 500;

/// Writes all slices.
pub(super) fn write(
    gathered: &mut Gathered,
    timeline: &Timeline,
    flows: &Flows,
    lanes: &mut Lanes,
    events: &mut Events<'_>,
    loss: &mut Loss,
) -> Result<()> {
    let Gathered { roster, names, looks, spans, args, .. } = gathered;
    let mut nest = Nest::deep(MOST_DEEP);
    let mut colours = Colours::default();
    let (mut current, mut trace) = (None, 0);
    for span in spans.iter(roster)? {
        let span = span?;
        if current.replace((span.thread, span.layer)) != Some((span.thread, span.layer)) {
            nest.finish(|_, _, ()| Ok(()))?;
            trace = roster.thread(span.thread).trace;
            lanes.turn_to(span.thread, span.layer);
        }
        let placed = nest.begin(&span, (), |_, _, ()| Ok(()))?;
        if timeline.is_far(trace, span.ts_ns, span.end_ns) {
            loss.lose("times too far away", || format!("spans {}", span.id));
        }
        if placed.end_ns != span.end_ns {
            loss.lose("ends of spans of which too many overlap", || format!("spans {}", span.id));
        }
        let lane = lanes.need(placed.lane, span.thread, span.layer, roster, events)?;
        let look = looks.get(span.look)?;
        colours.count(span.look.index(), &look, span.id, loss);
        let ts_ns = timeline.at(trace, span.ts_ns);
        // A span that was never closed begins and has no end.
        events.begin(if span.dur_ns.is_some() { 'X' } else { 'B' }, lane, ts_ns);
        if span.dur_ns.is_some() {
            events.duration(timeline.at(trace, placed.end_ns).saturating_sub(ts_ns));
        }
        put_look(&look, names, events)?;
        events.json.key("args").begin_object();
        let table = if span.layer == Layer::Switches { Table::Switches } else { Table::Spans };
        events.args(args, (table, trace, span.id), names)?;
        if let Some(tid) = span.target_tid {
            events.json.key("target_tid").unsigned(tid);
        }
        put_source(look.file, look.line, names, events)?;
        events.json.end_object();
        events.end()?;
        for end in flows.of(trace, &span) {
            put_flow(end.id, end.arrives, lane, ts_ns, events)?;
        }
    }
    Ok(())
}

fn put_look(look: &Look, names: &mut NamePool, events: &mut Events<'_>) -> Result<()> {
    events.json.key("name").string(names.get(look.name)?);
    events.json.key("cat").string(names.get(look.category)?);
    Ok(())
}

/// The place in the source, as one more argument.
pub(super) fn put_source(
    file: Option<traceloom_passes::NameId>,
    line: Option<u32>,
    names: &mut NamePool,
    events: &mut Events<'_>,
) -> Result<()> {
    let Some(file) = file else { return Ok(()) };
    let file = names.get(file)?;
    match line {
        Some(line) => events.json.key("(source)").string(&format!("{file}:{line}")),
        None => events.json.key("(source)").string(file),
    };
    Ok(())
}

/// An end of an arrow belongs to the slice that is open at its time: it follows the slice right away.
fn put_flow(id: u64, arrives: bool, lane: Lane, ts_ns: u64, events: &mut Events<'_>) -> Result<()> {
    events.begin(if arrives { 'f' } else { 's' }, lane, ts_ns);
    events.json.key("name").string("flow").key("cat").string("flow").key("id").unsigned(id);
    if arrives {
        events.json.key("bp").string("e");
    }
    events.end()
}

/// Looks whose colour was counted as lost.
#[derive(Debug, Default)]
struct Colours(Vec<bool>);

impl Colours {
    fn count(&mut self, index: usize, look: &Look, id: i64, loss: &mut Loss) {
        if look.color.is_none() {
            return;
        }
        if self.0.len() <= index {
            self.0.resize(index + 1, false);
        }
        if !std::mem::replace(&mut self.0[index], true) {
            loss.lose("colours", || format!("spans {id}"));
        }
    }
}

//! Spans and switches as complete events.

use traceloom_core::Result;

use super::{
    Output,
    events::{Events, Lane},
};
use traceloom_passes::{
    ColorLoss, FlowEnd, Flows, Look, LookId, NameId, NamePool, Nest, Pass, TOO_FAR, TOO_MANY_OVERLAP,
};

use crate::wire::LookBytes;

/// Perfetto refuses slices that are nested more than 512 deep.
const MAX_DEPTH: usize = 500;

/// Writes all slices.
pub(super) fn write(pass: &mut Pass<'_>, flows: &Flows, output: &mut Output<'_>) -> Result<()> {
    let Pass { roster, names, looks, spans, args, timeline, loss, .. } = pass;
    let Output { lanes, events } = output;
    let mut nest = Nest::deep(MAX_DEPTH);
    let mut colors = ColorLoss::default();
    let mut texts = LookTexts::default();
    let (mut current, mut trace) = (None, 0);
    for span in spans.iter(roster)? {
        let span = span?;
        if current.replace((span.thread, span.layer)) != Some((span.thread, span.layer)) {
            nest.finish(|_, _, ()| Ok(()))?;
            trace = roster.thread(span.thread).trace;
            lanes.turn_to(&span);
        }
        let placed = nest.begin(&span, (), |_, _, ()| Ok(()))?;
        if timeline.is_far(span.ts_ns, span.end_ns) {
            span.lose(TOO_FAR, loss);
        }
        if placed.end_ns != span.end_ns {
            span.lose(TOO_MANY_OVERLAP, loss);
        }
        let lane = lanes.need(placed.lane, &span, roster, events)?;
        let ts_ns = timeline.at(span.ts_ns);
        // A span that was never closed has a start and no end.
        events.begin(if span.dur_ns.is_some() { b'X' } else { b'B' }, lane, ts_ns);
        if span.dur_ns.is_some() {
            events.duration(timeline.at(placed.end_ns).saturating_sub(ts_ns));
        }
        let has_args = span.target_tid.is_some() || args.has_any_of(span.table());
        if has_args || !texts.all.put(span.look, &mut events.json.out) {
            let look = looks.get(span.look)?;
            colors.count(&span, &look, loss);
            let start = events.json.out.len();
            texts.put_look(span.look, &look, names, events)?;
            events.json.key("args").begin_object();
            if has_args {
                events.args(span.owner(trace), args, names)?;
            }
            if let Some(tid) = span.target_tid {
                events.json.key("target_tid").unsigned(tid);
            }
            texts.put_source(span.look, &look, names, events)?;
            events.json.end_object();
            if !has_args {
                texts.all.keep(span.look, &events.json.out[start..]);
            }
        }
        events.end()?;
        for end in flows.of(trace, &span) {
            put_flow(*end, lane, ts_ns, events)?;
        }
    }
    Ok(())
}

/// Maximum size of a look whose text is cached.
const MAX_LOOK_BYTES: usize = 1 << 10;

/// The text of looks: spans share few of them, and escaping costs more than the rest of an event.
struct LookTexts {
    names: LookBytes,
    sources: LookBytes,
    /// Both, for spans without other arguments, as most are.
    all: LookBytes,
}

impl Default for LookTexts {
    fn default() -> Self {
        let [names, sources, all] = [(); 3].map(|()| LookBytes::new(MAX_LOOK_BYTES));
        Self { names, sources, all }
    }
}

impl LookTexts {
    /// Name and category.
    fn put_look(&mut self, id: LookId, look: &Look, names: &mut NamePool, events: &mut Events<'_>) -> Result<()> {
        if self.names.put(id, &mut events.json.out) {
            return Ok(());
        }
        let start = events.json.out.len();
        events.json.key("name").string(names.get(look.name)?);
        events.json.key("cat").string(names.get(look.category)?);
        self.names.keep(id, &events.json.out[start..]);
        Ok(())
    }

    /// The source location.
    fn put_source(&mut self, id: LookId, look: &Look, names: &mut NamePool, events: &mut Events<'_>) -> Result<()> {
        if look.file.is_none() {
            return Ok(());
        }
        if let Some(text) = self.sources.get(id) {
            events.json.raw(text);
            return Ok(());
        }
        let start = events.json.out.len();
        put_source(look.file, look.line, names, events)?;
        let text = &events.json.out[start..];
        self.sources.keep(id, text.strip_prefix(b",").unwrap_or(text));
        Ok(())
    }
}

/// The source location, as an additional argument.
pub(super) fn put_source(
    file: Option<NameId>,
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

/// An end of an arrow belongs to the slice that is open at its time, so it immediately follows that slice.
fn put_flow(end: FlowEnd, lane: Lane, ts_ns: u64, events: &mut Events<'_>) -> Result<()> {
    let FlowEnd { id, arrives } = end;
    events.begin(if arrives { b'f' } else { b's' }, lane, ts_ns);
    events.json.key("name").string("flow").key("cat").string("flow").key("id").unsigned(id);
    if arrives {
        events.json.key("bp").string("e");
    }
    events.end()
}

//! Spans and switches as spans.

use traceloom_core::{Loss, Result};
use traceloom_model::Table;

use super::{
    Clock,
    attributes::{Attributes, put_number, put_text},
    batches::Batches,
    events::SpanEvents,
    fields::span,
    ids::{Ancestors, Branch, span_id},
    links::Links,
};
use crate::wire::Wire;
use traceloom_passes::{Gathered, Layer, Look, LookId, NamePool, Numbering, Ordered, Thread};

/// Attributes that spans have besides their arguments.
const OWN: [&str; 7] =
    ["thread.id", "thread.name", "category", "code.file.path", "code.line.number", "color", "target_tid"];

/// Writes all spans.
pub(super) fn write(
    gathered: &mut Gathered,
    numbering: &Numbering,
    clock: &Clock,
    (events, links): (&mut SpanEvents, &Links),
    batches: &mut Batches<'_>,
    loss: &mut Loss,
) -> Result<()> {
    let Gathered { roster, names, looks, spans, args, .. } = gathered;
    let (mut ancestors, mut laid_out) = (Ancestors::default(), LaidOut::default());
    let mut attributes = Attributes::beside(&OWN, names)?;
    let (mut wire, mut of_thread) = (Wire::default(), Wire::default());
    let (mut current, mut trace) = (None, 0);
    for found in spans.iter(roster)? {
        let found = found?;
        if current.replace(found.thread) != Some(found.thread) {
            trace = roster.thread(found.thread).trace;
            of_thread.clear();
            put_thread(&mut of_thread, span::ATTRIBUTES, roster.thread(found.thread));
            batches.turn_to(numbering.thread(found.thread).process)?;
        }
        let branch = ancestors.enter(&found, roster);
        wire.clear();
        put_ids(&found, &branch, roster.traces[trace].trace_id, &mut wire);
        put_times(&found, trace, clock, &mut wire);
        count_losses(&found, &branch, trace, clock, loss);
        laid_out.put(found.look, || looks.get(found.look), names, &mut wire)?;
        wire.bytes.extend_from_slice(&of_thread.bytes);
        let table = if found.layer == Layer::Switches { Table::Switches } else { Table::Spans };
        attributes.add(args, (table, trace, found.id), names, span::ATTRIBUTES, &mut wire)?;
        match found.target_tid {
            Some(tid) => put_number(&mut wire, span::ATTRIBUTES, "target_tid", tid),
            None => events.put(trace, found.id, &mut wire, loss)?,
        }
        links.put(trace, &found, roster, names, &mut wire)?;
        batches.add(&wire)?;
    }
    Ok(())
}

/// The number and the name of a thread.
pub(super) fn put_thread(out: &mut Wire, field: u32, thread: &Thread) {
    if let Some(tid) = thread.tid {
        put_number(out, field, "thread.id", tid);
    }
    if let Some(name) = &thread.name {
        put_text(out, field, "thread.name", name);
    }
}

/// A place in the source.
pub(super) fn put_source(out: &mut Wire, field: u32, file: &str, line: Option<u32>) {
    put_text(out, field, "code.file.path", file);
    if let Some(line) = line {
        put_number(out, field, "code.line.number", line.into());
    }
}

#[inline]
fn put_ids(found: &Ordered, branch: &Branch, file: u64, wire: &mut Wire) {
    wire.bytes(span::TRACE_ID, &branch.tree.trace_id(file));
    wire.bytes(span::SPAN_ID, &span_id(found.layer, found.id));
    if let Some(parent_id) = branch.parent_id {
        wire.bytes(span::PARENT_SPAN_ID, &span_id(found.layer, parent_id));
    }
}

/// A span that was never closed has no end.
#[inline]
fn put_times(found: &Ordered, trace: usize, clock: &Clock, wire: &mut Wire) {
    wire.fixed64(span::START_TIME_UNIX_NANO, clock.at(trace, found.ts_ns));
    if found.dur_ns.is_some() {
        wire.fixed64(span::END_TIME_UNIX_NANO, clock.at(trace, found.end_ns));
    }
}

#[inline]
fn count_losses(found: &Ordered, branch: &Branch, trace: usize, clock: &Clock, loss: &mut Loss) {
    if branch.is_torn {
        loss.lose("parents of spans that begin outside of them", || format!("spans {}", found.id));
    }
    if clock.is_far(trace, found.ts_ns, found.end_ns) {
        loss.lose("times too far away", || format!("spans {}", found.id));
    }
}

/// Name, kind and attributes of each look, laid out once: where they are in `bytes`.
#[derive(Debug, Default)]
struct LaidOut {
    places: Vec<Option<(u32, u32)>>,
    bytes: Vec<u8>,
}

/// As many looks as are in memory, unless they are long.
const MOST_LOOKS: usize = 1 << 18;
const MOST_LOOK_BYTES: usize = 256;

impl LaidOut {
    #[inline]
    fn put(
        &mut self,
        id: LookId,
        look: impl FnOnce() -> Result<Look>,
        names: &mut NamePool,
        wire: &mut Wire,
    ) -> Result<()> {
        match self.places.get(id.index()).copied().flatten() {
            Some((begin, end)) => {
                wire.bytes.extend_from_slice(&self.bytes[begin as usize..end as usize]);
                Ok(())
            }
            None => self.add(id, &look()?, names, wire),
        }
    }

    #[cold]
    fn add(&mut self, id: LookId, look: &Look, names: &mut NamePool, wire: &mut Wire) -> Result<()> {
        let begin = wire.len();
        wire.text(span::NAME, names.get(look.name)?);
        wire.uint(span::KIND, span::KIND_INTERNAL);
        put_text(wire, span::ATTRIBUTES, "category", names.get(look.category)?);
        if let Some(file) = look.file {
            put_source(wire, span::ATTRIBUTES, names.get(file)?, look.line);
        }
        if let Some(color) = look.color {
            put_text(wire, span::ATTRIBUTES, "color", &format!("#{color:08x}"));
        }
        let laid_out = &wire.bytes[begin..];
        if id.index() < MOST_LOOKS && laid_out.len() <= MOST_LOOK_BYTES {
            if self.places.len() <= id.index() {
                self.places.resize(id.index() + 1, None);
            }
            let at = self.bytes.len();
            self.bytes.extend_from_slice(laid_out);
            self.places[id.index()] = Some((at as u32, self.bytes.len() as u32));
        }
        Ok(())
    }
}

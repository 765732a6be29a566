//! Spans and switches as OpenTelemetry spans.

use traceloom_core::{Loss, Result};

use super::{
    Clock, Output,
    attributes::{Attributes, put_number, put_text},
    events::SpanEvents,
    fields::span,
    ids::{Ancestors, Branch, span_id},
    links::Links,
};
use crate::wire::{LookBytes, Wire};
use traceloom_passes::{Look, NamePool, Ordered, Pass, TOO_FAR, Thread};

/// Attributes that spans have besides their arguments.
const OWN: [&str; 7] =
    ["thread.id", "thread.name", "category", "code.file.path", "code.line.number", "color", "target_tid"];

/// Writes all spans, with the events and links of each.
pub(super) fn write(
    pass: &mut Pass<'_>,
    events: &mut SpanEvents,
    links: &Links,
    output: &mut Output<'_>,
) -> Result<()> {
    let Pass { roster, names, looks, spans, args, loss, .. } = pass;
    let Output { numbering, clock, batches } = output;
    let (mut ancestors, mut laid_out) = (Ancestors::default(), LookBytes::new(MAX_LOOK_BYTES));
    let mut attributes = Attributes::new(span::ATTRIBUTES, &OWN, names)?;
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
        put_times(&found, clock, &mut wire);
        count_losses(&found, &branch, clock, loss);
        if !laid_out.put(found.look, &mut wire.bytes) {
            let begin = wire.len();
            put_look(&looks.get(found.look)?, names, &mut wire)?;
            laid_out.keep(found.look, &wire.bytes[begin..]);
        }
        wire.bytes.extend_from_slice(&of_thread.bytes);
        let owner = found.owner(trace);
        attributes.add(owner, args, names, &mut wire)?;
        match found.target_tid {
            Some(tid) => put_number(&mut wire, span::ATTRIBUTES, "target_tid", tid),
            None => events.put(owner, &mut wire, loss)?,
        }
        links.put(&found, (trace, &roster.traces[trace]), names, &mut wire)?;
        batches.add(&wire)?;
    }
    Ok(())
}

/// Maximum encoded size of a look that is cached.
const MAX_LOOK_BYTES: usize = 256;

/// Name, kind and attributes of a look.
#[cold]
fn put_look(look: &Look, names: &mut NamePool, wire: &mut Wire) -> Result<()> {
    wire.text(span::NAME, names.get(look.name)?);
    wire.uint(span::KIND, span::KIND_INTERNAL);
    put_text(wire, span::ATTRIBUTES, "category", names.get(look.category)?);
    if let Some(file) = look.file {
        put_source(wire, span::ATTRIBUTES, names.get(file)?, look.line);
    }
    if let Some(color) = look.color {
        put_text(wire, span::ATTRIBUTES, "color", &format!("#{color:08x}"));
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

/// A source location.
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
fn put_times(found: &Ordered, clock: &Clock, wire: &mut Wire) {
    wire.fixed64(span::START_TIME_UNIX_NANO, clock.at(found.ts_ns));
    if found.dur_ns.is_some() {
        wire.fixed64(span::END_TIME_UNIX_NANO, clock.at(found.end_ns));
    }
}

#[inline]
fn count_losses(found: &Ordered, branch: &Branch, clock: &Clock, loss: &mut Loss) {
    if branch.is_torn {
        found.lose("parents of spans that start outside them", loss);
    }
    if clock.is_far(found.ts_ns, found.end_ns) {
        found.lose(TOO_FAR, loss);
    }
}

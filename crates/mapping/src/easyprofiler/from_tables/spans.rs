//! Spans as blocks, and switches.

use traceloom_core::Result;
use traceloom_easyprofiler::raw::{BlockType, MAX_LEVELS};

use super::{
    Draft,
    entry::{Entry, Kind, NO_TEXT, RECORD, SWITCH},
};
use traceloom_passes::{Layer, NEVER_CLOSED, Nest, Pass, TOO_MANY_OVERLAP};

#[derive(Clone, Copy, Debug)]
struct Open {
    begin_ns: u64,
    kind: u32,
}

/// Pushes all spans, children before parents, and all switches.
pub(super) fn push(pass: &mut Pass<'_>, file: &mut Draft) -> Result<()> {
    let Pass { roster, names, looks, spans, args, timeline, loss, .. } = pass;
    let Draft { sections, entries } = file;
    let mut nest: Nest<Open> = Nest::deep(MAX_LEVELS as usize - 1);
    let (mut current, mut order) = (None, 0_u64);
    for span in spans.iter(roster)? {
        let span = span?;
        let here = (span.thread, span.layer);
        if let Some((thread, layer)) = current.replace(here).filter(|before| *before != here) {
            nest.finish(|lane, end_ns, open| {
                let section = sections.of(thread, layer, lane, roster);
                entries.push(block(&open, section, timeline.at(end_ns), &mut order))
            })?;
        }
        let look = looks.get(span.look)?;
        let begin_ns = timeline.at(span.ts_ns);
        if span.layer == Layer::Switches {
            order += 2;
            let end_ns = timeline.at(span.end_ns);
            if end_ns == 0 {
                // easy_profiler drops such a switch, and refuses a file that counts it.
                span.lose("context switches that end where the capture starts", loss);
                continue;
            }
            let section = sections.of(span.thread, Layer::Stack, 0, roster);
            let (kind, number) = (look.name.raw(), span.target_tid.unwrap_or(0));
            entries.push(Entry { section, part: SWITCH, end_ns, order, begin_ns, kind, text: NO_TEXT, number })?;
            continue;
        }
        if span.dur_ns.is_none() {
            span.lose(NEVER_CLOSED, loss);
        }
        if span.end_ns == span.ts_ns {
            // Their order does not show which contains which.
            span.lose("nesting of spans without a duration", loss);
        }
        args.lose(span.owner(roster.thread(span.thread).trace), names, loss)?;
        let (name, file, line, color) = (look.name, look.file, look.line, look.color);
        let kind = entries.kind(Kind { block_type: BlockType::BLOCK, name, file, line, color })?;
        let placed = nest.begin(&span, Open { begin_ns, kind }, |lane, end_ns, open| {
            let section = sections.of(span.thread, span.layer, lane, roster);
            entries.push(block(&open, section, timeline.at(end_ns), &mut order))
        })?;
        if placed.end_ns != span.end_ns {
            span.lose(TOO_MANY_OVERLAP, loss);
        }
    }
    let Some((thread, layer)) = current else { return Ok(()) };
    nest.finish(|lane, end_ns, open| {
        let section = sections.of(thread, layer, lane, roster);
        entries.push(block(&open, section, timeline.at(end_ns), &mut order))
    })
}

fn block(open: &Open, section: u32, end_ns: u64, order: &mut u64) -> Entry {
    *order += 1;
    let Open { begin_ns, kind } = *open;
    // Events and values at the same time come before or after all of these.
    let order = *order + (1 << 62);
    Entry { section, part: RECORD, end_ns, order, begin_ns, kind, text: NO_TEXT, number: 0 }
}

//! Spans and switches as slices.

use traceloom_core::Result;

use super::{Output, annotations::Annotations, fields::event, packets::Packets};
use traceloom_passes::{COLORS, FlowEnd, Flows, NEVER_CLOSED, Nest, Pass, TOO_FAR, TOO_MANY_OVERLAP, Timeline};

/// Perfetto does not accept slices at a depth of more than 512.
const MAX_DEPTH: usize = 500;

/// Writes all slices.
pub(super) fn write(pass: &mut Pass<'_>, flows: &Flows, output: &mut Output<'_>) -> Result<()> {
    let Pass { roster, names, looks, spans, args, timeline, loss, .. } = pass;
    let mut annotations = Annotations::default();
    let mut nest = Nest::deep(MAX_DEPTH);
    let mut ends = Ends { output, timeline: *timeline, left_open: Vec::new(), forced: 0 };
    let (mut current, mut trace) = (None, 0);
    for span in spans.iter(roster)? {
        let span = span?;
        if current != Some((span.thread, span.layer)) {
            nest.finish(|lane, end_ns, is_open| ends.put(lane, end_ns, is_open))?;
            ends.left_open.clear();
            current = Some((span.thread, span.layer));
            trace = roster.thread(span.thread).trace;
            ends.output.tracks.turn_to(span.thread, span.layer);
        }
        let placed =
            nest.begin(&span, span.dur_ns.is_none(), |lane, end_ns, is_open| ends.put(lane, end_ns, is_open))?;
        if timeline.is_far(span.ts_ns, span.end_ns) {
            span.lose(TOO_FAR, loss);
        }
        if placed.end_ns != span.end_ns {
            span.lose(TOO_MANY_OVERLAP, loss);
        }
        let Output { tracks, packets } = &mut *ends.output;
        let track = tracks.need_lane(placed.lane, span.thread, span.layer, packets)?;
        let (ts_ns, flow_ends) = (timeline.at(span.ts_ns), flows.of(trace, &span));
        let has_more = span.target_tid.is_some() || !flow_ends.is_empty() || args.has_any_of(span.table());
        if !has_more && packets.known_slice(ts_ns, track, span.look)? {
            continue;
        }
        packets.begin(event::TYPE_SLICE_BEGIN, track);
        if !packets.known_look(span.look) {
            let look = looks.get(span.look)?;
            packets.new_look(span.look, &look, names)?;
            if look.color.is_some() {
                span.lose(COLORS, loss);
            }
        }
        annotations.add(args, span.owner(trace), names, packets)?;
        if let Some(tid) = span.target_tid {
            annotations.add_uint("target_tid", tid, packets);
        }
        put_flows(flow_ends, packets);
        packets.finish(ts_ns)?;
    }
    nest.finish(|lane, end_ns, is_open| ends.put(lane, end_ns, is_open))?;
    loss.lose_many(NEVER_CLOSED, ends.forced, || "spans inside closed spans".to_owned());
    Ok(())
}

fn put_flows(ends: &[FlowEnd], packets: &mut Packets<'_>) {
    for end in ends {
        let field = if end.arrives { event::TERMINATING_FLOW_IDS } else { event::FLOW_IDS };
        packets.event.fixed64(field, end.id);
    }
}

/// Ends of slices.
///
/// Slices that were never closed have no end, and Perfetto shows them that way. An end closes the innermost slice, so a
/// slice around an unclosed one needs an end for both.
struct Ends<'a, 'o> {
    output: &'a mut Output<'o>,
    timeline: Timeline,
    /// Slices of each lane that were never closed.
    left_open: Vec<u32>,
    /// Slices that were never closed and got an end.
    forced: u64,
}

impl Ends<'_, '_> {
    #[inline]
    fn put(&mut self, lane: usize, end_ns: i64, is_open: bool) -> Result<()> {
        if is_open || self.left_open.get(lane).is_some_and(|left| *left > 0) {
            return self.put_oddly(lane, end_ns, is_open);
        }
        self.end(lane, end_ns)
    }

    #[inline]
    fn end(&mut self, lane: usize, end_ns: i64) -> Result<()> {
        self.output.packets.end(self.timeline.at(end_ns), self.output.tracks.lane(lane))
    }

    #[cold]
    fn put_oddly(&mut self, lane: usize, end_ns: i64, is_open: bool) -> Result<()> {
        if self.left_open.len() <= lane {
            self.left_open.resize(lane + 1, 0);
        }
        if is_open {
            self.left_open[lane] += 1;
            return Ok(());
        }
        for _ in 0..std::mem::take(&mut self.left_open[lane]) {
            self.forced += 1;
            self.end(lane, end_ns)?;
        }
        self.end(lane, end_ns)
    }
}

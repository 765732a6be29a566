//! Spans and switches as slices.

use traceloom_core::{Loss, Result};
use traceloom_model::Table;

use super::{annotations::Annotations, fields::event, packets::Packets, tracks::Tracks};
use traceloom_passes::{FlowEnd, Flows, Gathered, Layer, Nest, Ordered, Timeline};

/// Perfetto does not take slices that are more than 512 deep.
const MOST_DEEP: usize = 500;

/// Writes all slices.
pub(super) fn write(
    gathered: &mut Gathered,
    timeline: &Timeline,
    flows: &Flows,
    tracks: &mut Tracks,
    packets: &mut Packets<'_>,
    loss: &mut Loss,
) -> Result<()> {
    let Gathered { roster, names, looks, spans, args, .. } = gathered;
    let mut annotations = Annotations::default();
    let mut nest = Nest::deep(MOST_DEEP);
    let mut open = LeftOpen::default();
    let (mut current, mut trace) = (None, 0);
    for span in spans.iter(roster)? {
        let span = span?;
        if current != Some((span.thread, span.layer)) {
            nest.finish(|lane, end_ns, is_open| {
                open.end(lane, is_open, timeline.at(trace, end_ns), tracks, packets, loss)
            })?;
            open = LeftOpen::default();
            current = Some((span.thread, span.layer));
            trace = roster.thread(span.thread).trace;
            tracks.turn_to(span.thread, span.layer);
        }
        let placed = nest.begin(&span, span.dur_ns.is_none(), |lane, end_ns, is_open| {
            open.end(lane, is_open, timeline.at(trace, end_ns), tracks, packets, loss)
        })?;
        if timeline.is_far(trace, span.ts_ns, span.end_ns) {
            loss.lose("times too far away", || format!("spans {}", span.id));
        }
        if placed.end_ns != span.end_ns {
            loss.lose("ends of spans of which too many overlap", || format!("spans {}", span.id));
        }
        let track = tracks.need_lane(placed.lane, span.thread, span.layer, packets)?;
        packets.begin(event::TYPE_SLICE_BEGIN, track);
        if !packets.known_look(span.look) {
            let look = looks.get(span.look)?;
            packets.new_look(span.look, &look, names)?;
            if look.color.is_some() {
                loss.lose("colours", || format!("spans {}", span.id));
            }
        }
        let owner = (owner_table(&span), trace, span.id);
        annotations.add(args, owner, names, packets)?;
        if let Some(tid) = span.target_tid {
            annotations.add_uint("target_tid", tid, packets);
        }
        put_flows(flows.of(trace, &span), packets);
        packets.finish(timeline.at(trace, span.ts_ns))?;
    }
    nest.finish(|lane, end_ns, is_open| open.end(lane, is_open, timeline.at(trace, end_ns), tracks, packets, loss))
}

fn owner_table(span: &Ordered) -> Table {
    match span.layer {
        Layer::Switches => Table::Switches,
        _ => Table::Spans,
    }
}

fn put_flows(ends: &[FlowEnd], packets: &mut Packets<'_>) {
    for end in ends {
        let field = if end.arrives { event::TERMINATING_FLOW_IDS } else { event::FLOW_IDS };
        packets.event.fixed64(field, end.id);
    }
}

/// Slices that were never closed have no end, and Perfetto shows them so. An end closes the innermost slice, so one
/// that is around such a slice has to close both.
#[derive(Debug, Default)]
struct LeftOpen {
    by_lane: Vec<u32>,
}

impl LeftOpen {
    #[inline]
    fn end(
        &mut self,
        lane: usize,
        is_open: bool,
        ts_ns: u64,
        tracks: &Tracks,
        packets: &mut Packets<'_>,
        loss: &mut Loss,
    ) -> Result<()> {
        if is_open || self.by_lane.get(lane).is_some_and(|left| *left > 0) {
            return self.end_oddly(lane, is_open, ts_ns, tracks, packets, loss);
        }
        packets.end(ts_ns, tracks.lane(lane))
    }

    #[cold]
    fn end_oddly(
        &mut self,
        lane: usize,
        is_open: bool,
        ts_ns: u64,
        tracks: &Tracks,
        packets: &mut Packets<'_>,
        loss: &mut Loss,
    ) -> Result<()> {
        if self.by_lane.len() <= lane {
            self.by_lane.resize(lane + 1, 0);
        }
        if is_open {
            self.by_lane[lane] += 1;
            return Ok(());
        }
        for _ in 0..std::mem::take(&mut self.by_lane[lane]) {
            loss.lose("that spans were never closed", || format!("one that ends at {ts_ns} ns"));
            packets.end(ts_ns, tracks.lane(lane))?;
        }
        packets.end(ts_ns, tracks.lane(lane))
    }
}

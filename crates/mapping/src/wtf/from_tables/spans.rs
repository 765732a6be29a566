//! Spans as steps.

use hashbrown::HashMap;
use traceloom_core::{Loss, Result};
use traceloom_wtf::raw::MAX_LEVELS;

use super::{
    Draft, is_ours,
    signature::Class,
    step::{BEGINS, BETWEEN, ENDS, Moment, Step, Steps, What},
    value::{Items, source_items},
    zones::Zones,
};
use traceloom_passes::{
    ColorLoss, Datum, Layer, NEVER_CLOSED, NameId, Nest, Ordered, Pass, Placed, TOO_MANY_OVERLAP, ThreadIndex, Timeline,
};

/// The positions of spans that events refer to, by trace number and span id.
pub(super) type Places = HashMap<(usize, i64), Option<SpanBounds>>;

/// Everything inside a span is between these two moments.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpanBounds {
    pub(super) begin: Moment,
    pub(super) end: Moment,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    id: i64,
    begin: Moment,
    never_closed: bool,
}

/// Pushes the starts and ends of all spans, and learns the signatures of their names.
pub(super) fn push(pass: &mut Pass<'_>, draft: &mut Draft) -> Result<()> {
    let Pass { roster, names, looks, spans, args, timeline, loss, .. } = pass;
    let Draft { zones, signatures, places, steps } = draft;
    let mut walk = Walk { trace: 0, number: 0, last_enter_ns: None, timeline: *timeline, zones, places, steps, loss };
    let mut nest: Nest<Open> = Nest::deep(MAX_LEVELS as usize - 1);
    let (mut current, mut items, mut colors) = (None, Items::default(), ColorLoss::default());
    let (mut next_frame, mut next_range) = (0, 0);
    let alone = roster.traces.len() == 1;
    for span in spans.iter(roster)? {
        let span = span?;
        let before: Option<(ThreadIndex, Layer)> = current.replace((span.thread, span.layer));
        if before != current {
            walk.finish(&mut nest, before.map_or(span.thread, |(thread, _)| thread))?;
            walk.trace = roster.thread(span.thread).trace;
            walk.last_enter_ns = None;
        }
        let look = looks.get(span.look)?;
        colors.count(&span, &look, walk.loss);
        let owner = span.owner(walk.trace);
        if span.layer != Layer::Stack {
            let is_frame = span.layer == Layer::Frames;
            let (next, key) = if is_frame { (&mut next_frame, "number") } else { (&mut next_range, "id") };
            let mut given = None;
            if alone {
                args.visit(owner, |arg| {
                    if let (Datum::Unsigned(number), true) = (arg.value, names.get(arg.key)? == key) {
                        given = u32::try_from(number).ok();
                    }
                    Ok(())
                })?;
            }
            let number = given.unwrap_or(*next);
            *next = number.saturating_add(1);
            walk.push_flat(&span, look.name, number)?;
            continue;
        }
        let placed = walk.begin(&mut nest, &span)?;
        if placed.end_ns != span.end_ns {
            span.lose(TOO_MANY_OVERLAP, walk.loss);
        }
        let begin = walk.enter(&span, placed.lane, look.name)?;
        nest.edit_open(placed.lane, |_, open| open.begin = begin);
        items.clear();
        source_items(&look, names, &mut items)?;
        items.collect(owner, is_ours(roster, walk.trace), args, names)?;
        signatures.learn(Class::Scope, look.name, &items);
    }
    if let Some((thread, _)) = current {
        walk.finish(&mut nest, thread)?;
    }
    Ok(())
}

struct Walk<'a> {
    trace: usize,
    /// Number of steps so far; even, so that events fit between them.
    number: u64,
    /// When the last scope of the thread started: ends with the same timestamp come after it.
    last_enter_ns: Option<i64>,
    timeline: Timeline,
    zones: &'a mut Zones,
    places: &'a mut Places,
    steps: &'a mut Steps,
    loss: &'a mut Loss,
}

impl Walk<'_> {
    fn begin(&mut self, nest: &mut Nest<Open>, span: &Ordered) -> Result<Placed> {
        let moment = Moment { ts_ns: span.ts_ns, zone: 0, phase: BEGINS, number: 0 };
        let open = Open { id: span.id, begin: moment, never_closed: span.dur_ns.is_none() };
        nest.begin(span, open, |lane, end_ns, open| {
            if open.never_closed {
                self.lose_open(open.id);
            }
            let zone = self.zones.of(span.thread, lane);
            self.leave(&open, end_ns, zone)
        })
    }

    fn enter(&mut self, span: &Ordered, lane: usize, name: NameId) -> Result<Moment> {
        self.last_enter_ns = Some(span.ts_ns);
        let zone = self.zones.of(span.thread, lane);
        let moment = self.moment(span.ts_ns, zone, BEGINS);
        let detail = span.look.index() as u64;
        self.push(Step { moment, what: What::Enter, trace: self.trace as u32, id: span.id, name, detail })?;
        Ok(moment)
    }

    fn leave(&mut self, open: &Open, end_ns: i64, zone: u32) -> Result<()> {
        let end = self.end(open, end_ns, zone);
        let name = NameId::from_raw(0);
        self.push(Step { moment: end, what: What::Leave, trace: self.trace as u32, id: open.id, name, detail: 0 })
    }

    fn end(&mut self, open: &Open, end_ns: i64, zone: u32) -> Moment {
        let phase = if self.last_enter_ns == Some(end_ns) { BEGINS } else { ENDS };
        let end = self.moment(end_ns, zone, phase);
        if let Some(place) = self.places.get_mut(&(self.trace, open.id)) {
            *place = Some(SpanBounds { begin: open.begin, end });
        }
        end
    }

    /// Ends open scopes at the end of a thread. A scope that was never closed stays open, unless one around it ends.
    fn finish(&mut self, nest: &mut Nest<Open>, thread: ThreadIndex) -> Result<()> {
        let mut left: Vec<(usize, i64, Open)> = Vec::new();
        nest.finish(|lane, end_ns, open| {
            left.push((lane, end_ns, open));
            Ok(())
        })?;
        for (index, (lane, end_ns, open)) in left.iter().enumerate() {
            let zone = self.zones.of(thread, *lane);
            let mut around = left.iter().skip(index + 1).take_while(|(other, ..)| other == lane);
            if open.never_closed && around.all(|(_, _, open)| open.never_closed) {
                self.end(open, *end_ns, zone);
                continue;
            }
            if open.never_closed {
                self.lose_open(open.id);
            }
            self.leave(open, *end_ns, zone)?;
        }
        Ok(())
    }

    fn lose_open(&mut self, id: i64) {
        self.loss.lose(NEVER_CLOSED, || format!("spans {id}"));
    }

    /// A frame or a range, with this number.
    fn push_flat(&mut self, span: &Ordered, name: NameId, number: u32) -> Result<()> {
        let zone = self.zones.of(span.thread, 0);
        let (begin, end) = match span.layer {
            Layer::Frames => (What::FrameStart, What::FrameEnd),
            _ => (What::RangeBegin, What::RangeEnd),
        };
        let moment = self.moment(span.ts_ns, zone, BETWEEN);
        let step = Step { moment, what: begin, trace: self.trace as u32, id: span.id, name, detail: number.into() };
        self.push(step)?;
        if span.dur_ns.is_some() {
            let moment = self.moment(span.end_ns, zone, BETWEEN);
            self.push(Step { moment, what: end, ..step })?;
        }
        Ok(())
    }

    fn moment(&mut self, ts_ns: i64, zone: u32, phase: u8) -> Moment {
        self.number += 2;
        Moment { ts_ns: self.timeline.at(ts_ns).cast_signed(), zone, phase, number: self.number }
    }

    fn push(&mut self, step: Step) -> Result<()> {
        self.steps.sorter.push(step)
    }
}

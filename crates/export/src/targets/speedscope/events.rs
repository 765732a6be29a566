//! Starts and ends of spans.

use traceloom_core::{Loss, Result, text::number::push_u64};

use super::{Output, out::Out};
use traceloom_passes::{Layer, NEVER_CLOSED, Nest, Ordered, Pass, TOO_FAR, TOO_MANY_OVERLAP, ThreadIndex, Timeline};

/// The page uses floating-point numbers, which are exact up to this one.
const EXACT: u64 = 1 << 53;

/// Writes a profile per layer of each thread.
///
/// Spans that overlap are in parallel lanes, each of which is a separate profile. One walk writes one lane of all
/// threads, so nothing has to be kept in memory; nearly all traces have only one lane.
pub(super) fn write(pass: &mut Pass<'_>, output: &mut Output<'_>) -> Result<()> {
    let mut lane = 0;
    while write_lane(lane, pass, output)? {
        lane += 1;
    }
    Ok(())
}

/// Writes one lane of all layers; returns whether there is another lane.
fn write_lane(wanted: usize, pass: &mut Pass<'_>, output: &mut Output<'_>) -> Result<bool> {
    let Pass { roster, looks, spans, timeline, loss, .. } = pass;
    let Output { frames, out } = output;
    let mut nest = Nest::default();
    let mut profile = Profile { wanted, is_begun: false, start: 0, end: 0, out, timeline: *timeline };
    let (mut current, mut has_more) = (None, false);
    for span in spans.iter(roster)? {
        let span = span?;
        if current.replace((span.thread, span.layer)) != Some((span.thread, span.layer)) {
            nest.finish(|lane, end_ns, frame| profile.end(lane, end_ns, frame))?;
            profile.finish();
        }
        let frame = frames.of_look(span.look, looks)?;
        let placed = nest.begin(&span, frame, |lane, end_ns, frame| profile.end(lane, end_ns, frame))?;
        has_more |= placed.lane > wanted;
        if placed.lane == wanted {
            profile.count_losses(&span, placed.end_ns, loss);
            profile.begin(&span, frame, |thread, layer| {
                let label = roster.thread(thread).label();
                let is_plain = layer == Layer::Stack && wanted == 0;
                if is_plain { label } else { format!("{label} ({})", layer.name()) }
            })?;
        }
    }
    nest.finish(|lane, end_ns, frame| profile.end(lane, end_ns, frame))?;
    profile.finish();
    Ok(has_more)
}

/// The profile being written.
struct Profile<'a, 'o> {
    wanted: usize,
    is_begun: bool,
    start: u64,
    end: u64,
    out: &'a mut Out<'o>,
    timeline: Timeline,
}

impl Profile<'_, '_> {
    #[inline]
    fn begin(&mut self, span: &Ordered, frame: u32, name: impl FnOnce(ThreadIndex, Layer) -> String) -> Result<()> {
        let at = self.timeline.at(span.ts_ns);
        if !self.is_begun {
            self.is_begun = true;
            (self.start, self.end) = (at, at);
            let json = &mut self.out.json;
            json.begin_object().key("type").string("evented").key("name").string(&name(span.thread, span.layer));
            json.key("unit").string("nanoseconds").key("events").begin_array();
        }
        self.event(br#"{"type":"O","frame":"#, frame, at)
    }

    #[inline]
    fn end(&mut self, lane: usize, end_ns: i64, frame: u32) -> Result<()> {
        if lane != self.wanted {
            return Ok(());
        }
        // Times never decrease after rounding, so an end never precedes its start.
        let at = self.timeline.at(end_ns).max(self.end);
        self.event(br#"{"type":"C","frame":"#, frame, at)
    }

    #[inline]
    fn event(&mut self, begin: &[u8], frame: u32, at: u64) -> Result<()> {
        self.end = at;
        let out = &mut self.out.json.raw(begin).out;
        push_u64(out, frame.into());
        out.extend_from_slice(br#","at":"#);
        push_u64(out, at);
        out.push(b'}');
        self.out.flush_when_full()
    }

    fn finish(&mut self) {
        if std::mem::take(&mut self.is_begun) {
            let json = &mut self.out.json;
            json.end_array().key("startValue").unsigned(self.start).key("endValue").unsigned(self.end).end_object();
        }
    }

    fn count_losses(&self, span: &Ordered, end_ns: i64, loss: &mut Loss) {
        if span.dur_ns.is_none() {
            span.lose(NEVER_CLOSED, loss);
        }
        if let Some(tid) = span.target_tid {
            loss.lose("which thread ran instead", || format!("thread {tid} in switches {}", span.id));
        }
        if end_ns != span.end_ns {
            span.lose(TOO_MANY_OVERLAP, loss);
        }
        if self.timeline.is_far(span.ts_ns, span.end_ns) {
            span.lose(TOO_FAR, loss);
        } else if self.timeline.at(span.end_ns) > EXACT {
            span.lose("last digits of large times", loss);
        }
    }
}

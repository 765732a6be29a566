//! Closes a trace: its data is removed, and the numbers of other traces stay the same.

use super::{Arrows, Contents, LoadState, Scene, Track, Values};

impl Scene {
    /// Whether the user closed a trace.
    pub(crate) fn is_closed(&self, trace: u32) -> bool {
        self.traces.get(trace as usize).is_some_and(|trace| trace.state == LoadState::Closed)
    }

    /// Removes the data of a trace.
    pub(crate) fn close(&mut self, trace: u32) {
        let Some(info) = self.traces.get_mut(trace as usize) else { return };
        info.state = LoadState::Closed;
        (info.first_ns, info.last_ns) = (i64::MAX, i64::MIN);
        (info.memory, info.contents, info.findings, info.forgotten_logs) = (None, Contents::default(), 0, 0);
        self.forget_names(trace);
        let tracks = &mut self.tracks;
        self.lanes.retain(|key| tracks.get(key.thread_id as usize).is_none_or(|track| track.trace != trace));
        for track in tracks.iter_mut().filter(|track| track.trace == trace) {
            *track = Track::new(trace, track.thread_id);
        }
        for counter in self.counters.iter_mut().filter(|counter| counter.trace == trace) {
            counter.values = Values::new(matches!(counter.values, Values::Texts(_)));
        }
        if self.logs.has_trace(trace) {
            self.logs = self.logs.kept(|site, _| site.trace != trace);
        }
        self.links.retain(|link| link.trace != trace);
        self.arrows = Arrows::of(self);
        self.align();
        self.revision += 1;
    }

    /// Names stay, but no longer count the rows of the trace.
    fn forget_names(&mut self, trace: u32) {
        let Self { lanes, tracks, names, .. } = self;
        for (key, lane) in lanes.iter() {
            if tracks.get(key.thread_id as usize).is_some_and(|track| track.trace == trace) {
                (0..lane.len() as u32).for_each(|index| names.uncount(lane.name(index), lane.dur_ns(index)));
            }
        }
        let own = tracks.iter().filter(|track| track.trace == trace);
        let points = own.flat_map(Track::points).flat_map(|points| points.iter());
        points.for_each(|point| names.uncount_event(point.name));
    }
}

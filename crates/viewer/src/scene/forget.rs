//! Drops the oldest data of a growing trace.

use super::{Link, Points, Scene};

impl Scene {
    /// Drops data of a trace before a time: ended spans, events, values, log lines; the file still has them.
    pub(crate) fn forget_before(&mut self, trace: u32, before_ns: i64) {
        let Self { traces, tracks, names, lanes, .. } = self;
        lanes.for_each_mut(|key, lane| {
            let Some(track) = tracks.get_mut(key.thread_id as usize).filter(|track| track.trace == trace) else {
                return;
            };
            lane.forget_before(before_ns, |name, dur_ns| {
                names.uncount(name, dur_ns);
                track.spans = track.spans.saturating_sub(1);
            });
        });
        for track in tracks.iter_mut().filter(|track| track.trace == trace) {
            for points in [&mut track.events, &mut track.bookmarks] {
                points.forget_before(before_ns, |name| names.uncount_event(name));
            }
        }
        for counter in self.counters.iter_mut().filter(|counter| counter.trace == trace) {
            counter.values.forget_before(before_ns);
        }
        self.links.retain(|link| link.trace != trace || link.ts_ns >= before_ns);
        let lines = self.logs.len();
        if self.logs.has_trace(trace) {
            // Only the first lines, so that the numbers of the others in the file follow from their count.
            let mut is_new = false;
            self.logs = self.logs.kept(|site, ts_ns| {
                let is_own = site.trace == trace;
                is_new |= is_own && ts_ns.is_none_or(|ts_ns| ts_ns >= before_ns);
                is_new || !is_own
            });
        }
        if let Some(trace) = traces.get_mut(trace as usize) {
            trace.first_ns = trace.first_ns.max(before_ns);
            trace.forgotten_logs += lines - self.logs.len();
        }
        self.revision += 1;
    }

    /// Approximate bytes of everything that can be dropped.
    pub(crate) fn resident_bytes(&self) -> usize {
        let points = self.tracks.iter().map(|track| track.points().map(Points::resident_bytes).iter().sum());
        let values = self.counters.iter().map(|counter| counter.values.resident_bytes());
        let links = self.links.capacity() * size_of::<Link>();
        self.lanes.resident_bytes() + self.logs.resident_bytes() + links + points.chain(values).sum::<usize>()
    }
}

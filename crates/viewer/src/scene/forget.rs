//! Forgets the oldest spans of a trace that grows.

use super::Scene;

impl Scene {
    /// Forgets the spans of a trace that ended before a time; the file still has them.
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
        if let Some(trace) = traces.get_mut(trace as usize) {
            trace.first_ns = trace.first_ns.max(before_ns);
        }
        self.revision += 1;
    }
}

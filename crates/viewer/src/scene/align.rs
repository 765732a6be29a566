//! Brings traces of one run onto one axis.
//!
//! A log that pairs the processor's counter with the time of day tells when a capture with the same counter began.

use super::{Scene, TraceInfo};

/// A trace on the processor's counter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Processor {
    pub(crate) hz: u64,
    pub(crate) start_ticks: u64,
}

/// Programs measure the frequency of the counter, each a little wrong.
const TOLERANCE: f64 = 0.01;

impl Scene {
    /// Moves traces that do not know the time of day to where another one says they belong; what was moved stays.
    pub(crate) fn align(&mut self) {
        for number in 0..self.traces.len() {
            let trace = &self.traces[number];
            if trace.unix_origin_ns.is_some() || trace.offset_ns != 0 {
                continue;
            }
            let Some((shift_ns, offset_ns, unix_origin_ns)) = self.traces.iter().find_map(|other| {
                let unix_origin_ns = other.unix_origin_ns?;
                Some((shift_ns(trace, other)?, other.offset_ns, unix_origin_ns))
            }) else {
                continue;
            };
            let trace = &mut self.traces[number];
            trace.offset_ns = shift_ns.saturating_add(offset_ns);
            trace.unix_origin_ns = unix_origin_ns.checked_add(shift_ns);
        }
    }
}

/// How much later the origin of a trace is than that of another; none where they cannot be of one run.
fn shift_ns(trace: &TraceInfo, other: &TraceInfo) -> Option<i64> {
    let (own, reference) = (trace.processor?, other.processor?);
    let ratio = own.hz as f64 / reference.hz as f64;
    if ratio.is_nan() || (ratio - 1.0).abs() > TOLERANCE {
        return None;
    }
    let ticks = i128::from(own.start_ticks) - i128::from(reference.start_ticks);
    let shift_ns = i64::try_from(ticks * 1_000_000_000 / i128::from(reference.hz)).ok()?;
    // Counters of two machines differ by anything: traces of one run overlap.
    let (first_ns, last_ns) = (trace.first_ns.saturating_add(shift_ns), trace.last_ns.saturating_add(shift_ns));
    (first_ns <= other.last_ns && other.first_ns <= last_ns).then_some(shift_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(start_ticks: u64, unix_origin_ns: Option<i64>) -> TraceInfo {
        TraceInfo {
            processor: Some(Processor { hz: 2_000_000_000, start_ticks }),
            unix_origin_ns,
            first_ns: 0,
            last_ns: 1_000,
            ..TraceInfo::loading("trace".as_ref())
        }
    }

    #[test]
    fn a_capture_of_the_same_run_is_moved_to_the_log() {
        let traces = vec![trace(5_200, None), trace(5_000, Some(7_000)), trace(90_000, None)];
        let mut scene = Scene { traces, ..Scene::default() };
        scene.align();
        let moved: Vec<_> = scene.traces.iter().map(|trace| (trace.offset_ns, trace.unix_origin_ns)).collect();
        assert_eq!(moved, [(100, Some(7_100)), (0, Some(7_000)), (0, None)]);
        scene.align();
        assert_eq!(scene.traces[0].offset_ns, 100);
    }

    #[test]
    fn another_counter_is_another_machine() {
        let mut other = trace(5_200, None);
        other.processor = Some(Processor { hz: 2_100_000_000, start_ticks: 5_200 });
        let mut scene = Scene { traces: vec![other, trace(5_000, Some(7_000))], ..Scene::default() };
        scene.align();
        assert_eq!(scene.traces[0].offset_ns, 0);
    }
}

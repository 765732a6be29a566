//! Bytes in use by all traces together, over time.

use std::iter::Peekable;

use traceloom_passes::{AllocationChanges, MemoryCurve, MemoryStep};

use super::{Curve, owners::Owners};

/// The curves of all traces, on one axis.
#[derive(Debug)]
pub(super) struct Usage {
    traces: Vec<Traced>,
    max_bytes: usize,
}

#[derive(Debug)]
struct Traced {
    trace_id: u64,
    curve: MemoryCurve,
    owners: Owners,
}

/// The moment of peak usage.
#[derive(Debug, Default)]
pub(super) struct Peak {
    pub(super) ts_ns: i64,
    /// The last event of each trace up to that moment.
    pub(super) events: Vec<(u64, i64)>,
}

impl Usage {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { traces: Vec::new(), max_bytes }
    }

    /// Adds a row of a site.
    #[inline]
    pub(super) fn add(&mut self, rows: &AllocationChanges<'_>, row: usize, site: usize) {
        let trace_id = rows.trace_id.get(row);
        // Traces arrive one after the other.
        if self.traces.last().is_none_or(|known| known.trace_id != trace_id) {
            self.start(trace_id);
        }
        let Some(Traced { curve, owners, .. }) = self.traces.last_mut() else { return };
        curve.add(rows, row);
        if curve.is_coarse() { owners.give_up() } else { owners.add(rows, row, site) }
    }

    #[cold]
    fn start(&mut self, trace_id: u64) {
        let mut owners = Owners::default();
        if self.traces.iter().any(|known| known.trace_id == trace_id) {
            // The events of one id are in two curves, so neither has all.
            owners.give_up();
        }
        self.traces.push(Traced { trace_id, curve: MemoryCurve::new(self.max_bytes), owners });
    }

    pub(super) fn is_coarse(&self) -> bool {
        self.traces.iter().any(|traced| traced.curve.is_coarse())
    }

    /// Bytes and number of the blocks in use at the peak, by the number of their site; `None` if that takes a second
    /// pass.
    pub(super) fn alive(&self, peak: &Peak, sites: usize) -> Option<Vec<(u64, u64)>> {
        if self.traces.iter().any(|traced| !traced.owners.is_complete()) {
            return None;
        }
        let mut alive = vec![(0_u64, 0_u64); sites];
        for (Traced { curve, owners, .. }, (_, last)) in self.traces.iter().zip(&peak.events) {
            let mut used_bytes = 0;
            for step in curve.steps().take_while(|step| step.event <= *last) {
                let (site, is_free) = owners.of(step.event)?;
                let (bytes, count) = alive.get_mut(site)?;
                *bytes = bytes.wrapping_add(step.used_bytes.wrapping_sub(used_bytes));
                *count = if is_free { count.wrapping_sub(1) } else { *count + 1 };
                used_bytes = step.used_bytes;
            }
        }
        Some(alive)
    }

    /// The last event of the peak.
    pub(super) fn peak(&self) -> Peak {
        let (mut max_bytes, mut last_ns, mut peak_ns, mut until_peak, mut peak_event) = (0, 0, 0, 0, -1);
        for (number, step) in self.steps().enumerate() {
            last_ns = step.ts_ns.max(last_ns);
            if step.used_bytes > max_bytes {
                (max_bytes, peak_ns, until_peak, peak_event) = (step.used_bytes, last_ns, number + 1, step.event);
            }
        }
        let mut events: Vec<_> = self.traces.iter().map(|traced| (traced.trace_id, -1)).collect();
        match &mut events[..] {
            [(_, event)] => *event = peak_event,
            events => self.steps().take(until_peak).for_each(|step| events[step.trace].1 = step.event),
        }
        Peak { ts_ns: peak_ns, events }
    }

    /// Usage at equal time steps.
    pub(super) fn curve(&self, first_ns: i64, last_ns: i64, points: usize) -> Vec<Curve> {
        let points = points.max(1) as i128;
        let width = (i128::from(last_ns) - i128::from(first_ns) + 1).max(1);
        let mut curve: Vec<Curve> = Vec::new();
        let mut before = 0;
        let mut number = 0;
        // Start of the next point, rounded up; one division per point, not per step.
        let start_of = |number: i128| i128::from(first_ns) + (number * width + points - 1) / points;
        let mut next_ns = start_of(1);
        for step in self.steps() {
            while number + 1 < points && i128::from(step.ts_ns) >= next_ns {
                number += 1;
                next_ns = start_of(number + 1);
            }
            while (curve.len() as i128) <= number {
                let ts_ns = (i128::from(first_ns) + curve.len() as i128 * width / points) as i64;
                curve.push(Curve { ts_ns, used_bytes: before, max_bytes: before });
            }
            if let Some(point) = curve.last_mut() {
                point.used_bytes = step.used_bytes;
                point.max_bytes = point.max_bytes.max(step.high_bytes);
            }
            before = step.used_bytes;
        }
        curve
    }

    fn steps(&self) -> Merged<impl Iterator<Item = MemoryStep>> {
        let curves = self.traces.iter().map(|traced| (traced.curve.steps().peekable(), 0));
        Merged { curves: curves.collect(), used_bytes: 0 }
    }
}

/// Merges the steps of several curves in order of time.
struct Merged<I: Iterator<Item = MemoryStep>> {
    /// Each curve with the bytes in use so far.
    curves: Vec<(Peekable<I>, u64)>,
    used_bytes: u64,
}

/// Memory in use by all traces after a step of one.
struct MergedStep {
    trace: usize,
    event: i64,
    ts_ns: i64,
    high_bytes: u64,
    used_bytes: u64,
}

impl<I: Iterator<Item = MemoryStep>> Merged<I> {
    /// The curve whose next step comes first.
    fn earliest(&mut self) -> Option<usize> {
        let heads = self.curves.iter_mut().enumerate();
        let times = heads.filter_map(|(trace, (steps, _))| Some((steps.peek()?.ts_ns, trace)));
        times.min().map(|(_, trace)| trace)
    }
}

impl<I: Iterator<Item = MemoryStep>> Iterator for Merged<I> {
    type Item = MergedStep;

    fn next(&mut self) -> Option<MergedStep> {
        let trace = if self.curves.len() == 1 { 0 } else { self.earliest()? };
        let (steps, own_bytes) = &mut self.curves[trace];
        let step = steps.next()?;
        let others_bytes = self.used_bytes.wrapping_sub(*own_bytes);
        *own_bytes = step.used_bytes;
        self.used_bytes = others_bytes.wrapping_add(step.used_bytes);
        let high_bytes = others_bytes.wrapping_add(step.high_bytes);
        Some(MergedStep { trace, event: step.event, ts_ns: step.ts_ns, high_bytes, used_bytes: self.used_bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(traces: &[&[(i64, i64, i64)]]) -> Usage {
        let mut usage = Usage::new(1 << 20);
        for (trace, changes) in traces.iter().enumerate() {
            let mut curve = MemoryCurve::new(1 << 20);
            for (event, ts_ns, bytes) in *changes {
                if *bytes > 0 {
                    curve.take(*event, *ts_ns, bytes.unsigned_abs());
                } else {
                    curve.give_back(*event, *ts_ns, bytes.unsigned_abs());
                }
            }
            usage.traces.push(Traced { trace_id: trace as u64, curve, owners: Owners::default() });
        }
        usage
    }

    #[test]
    fn the_peak_is_between_events_of_one_time() {
        let peak = usage(&[&[(0, 100, 10), (1, 100, 20), (2, 100, -10), (3, 100, 5)]]).peak();
        assert_eq!((peak.ts_ns, peak.events), (100, vec![(0, 1)]));
    }

    #[test]
    fn the_curve_has_the_extremes_of_each_stretch() {
        let curve = usage(&[&[(0, 0, 10), (1, 5, 90), (2, 6, -95), (3, 99, 1)]]).curve(0, 99, 10);
        assert_eq!(curve.len(), 10);
        assert_eq!(curve[0], Curve { ts_ns: 0, used_bytes: 5, max_bytes: 100 });
        assert_eq!((curve[5].used_bytes, curve[9].used_bytes), (5, 6));
    }

    #[test]
    fn traces_are_added_up_at_each_time() {
        let usage = usage(&[&[(0, 0, 10), (1, 20, -10)], &[(0, 5, 7), (1, 30, 4)]]);
        assert_eq!(usage.steps().map(|step| step.used_bytes).collect::<Vec<_>>(), [10, 17, 7, 11]);
        let peak = usage.peak();
        assert_eq!((peak.ts_ns, peak.events), (5, vec![(0, 0), (1, 0)]));
    }
}

//! Bytes in use, event by event.

use super::{Curve, Options};

/// What each event adds or takes away, in the order of the file.
///
/// The ids of allocations and frees number the events, so each has its place without sorting.
#[derive(Debug)]
pub(super) struct Usage {
    slots: Vec<Slot>,
    most_slots: usize,
    /// Events of one slot, as a power of two.
    shift: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// What changes, modulo 2^64: less is a large number, and sums come out right all the same.
    bytes: u64,
    ts_ns: i64,
}

impl Usage {
    pub(super) fn new(options: &Options) -> Self {
        let most_slots = (options.order_bytes / size_of::<Slot>()).max(2);
        Self { slots: Vec::new(), most_slots, shift: 0 }
    }

    /// An event takes memory.
    pub(super) fn take(&mut self, event: i64, ts_ns: i64, bytes: u64) {
        self.add(event, ts_ns, bytes);
    }

    /// An event gives it back.
    pub(super) fn give_back(&mut self, event: i64, ts_ns: i64, bytes: u64) {
        self.add(event, ts_ns, bytes.wrapping_neg());
    }

    fn add(&mut self, event: i64, ts_ns: i64, bytes: u64) {
        let Ok(event) = usize::try_from(event) else { return };
        while event >> self.shift >= self.most_slots {
            self.coarsen();
        }
        let slot = event >> self.shift;
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, Slot { bytes: 0, ts_ns: i64::MIN });
        }
        let slot = &mut self.slots[slot];
        slot.bytes = slot.bytes.wrapping_add(bytes);
        slot.ts_ns = slot.ts_ns.max(ts_ns);
    }

    fn coarsen(&mut self) {
        self.shift += 1;
        let pairs = self.slots.chunks(2).map(|pair| {
            let bytes = pair.iter().fold(0, |sum: u64, slot| sum.wrapping_add(slot.bytes));
            Slot { bytes, ts_ns: pair.iter().map(|slot| slot.ts_ns).max().unwrap_or(i64::MIN) }
        });
        self.slots = pairs.collect();
    }

    pub(super) fn is_coarse(&self) -> bool {
        self.shift > 0
    }

    /// The last event of the peak, its time and its bytes.
    pub(super) fn peak(&self) -> (i64, i64, u64) {
        let mut best = (0, 0, 0);
        let mut last_ns = 0;
        for (slot, (used, ts_ns)) in self.running().enumerate() {
            last_ns = ts_ns.max(last_ns);
            if used > best.2 {
                best = ((((slot + 1) << self.shift) - 1) as i64, last_ns, used);
            }
        }
        best
    }

    /// In use at equal steps of time.
    pub(super) fn curve(&self, first_ns: i64, last_ns: i64, points: usize) -> Vec<Curve> {
        let points = points.max(1) as i128;
        let width = (i128::from(last_ns) - i128::from(first_ns) + 1).max(1);
        let mut curve: Vec<Curve> = Vec::new();
        let mut before = 0;
        let mut number = 0;
        for (used, ts_ns) in self.running() {
            let at = (i128::from(ts_ns.max(first_ns)) - i128::from(first_ns)) * points / width;
            number = number.max(at.clamp(0, points - 1));
            while (curve.len() as i128) <= number {
                let ts_ns = (i128::from(first_ns) + curve.len() as i128 * width / points) as i64;
                curve.push(Curve { ts_ns, used_bytes: before, most_bytes: before });
            }
            if let Some(point) = curve.last_mut() {
                point.used_bytes = used;
                point.most_bytes = point.most_bytes.max(used);
            }
            before = used;
        }
        curve
    }

    fn running(&self) -> impl Iterator<Item = (u64, i64)> {
        let mut used = 0_u64;
        self.slots.iter().map(move |slot| {
            used = used.wrapping_add(slot.bytes);
            (used, slot.ts_ns)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_between_events_of_one_time() {
        let mut usage = Usage::new(&Options::default());
        usage.take(0, 100, 10);
        usage.take(1, 100, 20);
        usage.give_back(2, 100, 10);
        usage.take(3, 100, 5);
        assert_eq!(usage.peak(), (1, 100, 30));
    }

    #[test]
    fn too_many_events_are_added_together() {
        let mut usage = Usage::new(&Options { order_bytes: 64, ..Options::default() });
        (0..1000).for_each(|event| usage.take(event, event, 1));
        assert!(usage.is_coarse());
        assert_eq!(usage.peak().2, 1000);
    }

    #[test]
    fn the_curve_has_the_extremes_of_each_stretch() {
        let mut usage = Usage::new(&Options::default());
        usage.take(0, 0, 10);
        usage.take(1, 5, 90);
        usage.give_back(2, 6, 95);
        usage.take(3, 99, 1);
        let curve = usage.curve(0, 99, 10);
        assert_eq!(curve.len(), 10);
        assert_eq!(curve[0], Curve { ts_ns: 0, used_bytes: 5, most_bytes: 100 });
        assert_eq!((curve[5].used_bytes, curve[9].used_bytes), (5, 6));
    }
}

//! Memory in use after each event of one trace, in bounded memory.

use hashbrown::HashMap;
use traceloom_model::select;

select! {
    /// The columns that determine what an allocation changes, and when.
    pub struct AllocationChanges of allocations { trace_id, id, ts_ns, size_bytes, freed_ts_ns, end_id }
}

/// The change of memory in use that each event makes, in file order.
///
/// The ids of allocations and frees number the events of a trace, so each has a slot without sorting. Beyond the
/// budget, neighboring events share a slot, which keeps the extremes inside it as far as they can be known; the peak is
/// then a lower bound.
#[derive(Debug)]
pub struct MemoryCurve {
    slots: Vec<Slot>,
    /// Minimum and maximum inside each slot; empty while each event has a separate slot.
    extremes: Vec<Extremes>,
    /// Bytes freed by events that also allocate: an address that is allocated again.
    given: HashMap<usize, i64>,
    max_bytes: usize,
    /// Number of events per slot, as a power of two.
    shift: u32,
}

/// Sums wrap, so that the final result is right even if a file claims absurd sizes.
#[derive(Clone, Copy, Debug)]
struct Slot {
    sum: i64,
    /// The last time; [`NO_TIME`] if no event of the slot changes anything.
    ts_ns: i64,
}

const NO_TIME: i64 = i64::MIN;

/// In bytes, relative to the memory in use before the slot.
#[derive(Clone, Copy, Debug, Default)]
struct Extremes {
    low: i64,
    high: i64,
}

/// Memory in use after a group of events.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct MemoryStep {
    /// The last of the events.
    pub event: i64,
    /// The time of the last of the events.
    pub ts_ns: i64,
    /// The minimum within the group.
    pub low_bytes: u64,
    /// The maximum within the group.
    pub high_bytes: u64,
    /// Bytes in use after the group.
    pub used_bytes: u64,
}

impl MemoryCurve {
    /// Nothing in use; the curve may take up to `max_bytes`.
    pub fn new(max_bytes: usize) -> Self {
        Self { slots: Vec::new(), extremes: Vec::new(), given: HashMap::new(), max_bytes, shift: 0 }
    }

    /// Adds a row: an allocation and its fate.
    #[inline]
    pub fn add(&mut self, rows: &AllocationChanges<'_>, row: usize) {
        let bytes = rows.size_bytes.get(row);
        self.take(rows.id.get(row), rows.ts_ns.get(row), bytes);
        if let (Some(end), Some(freed_ns)) = (rows.end_id.get(row), rows.freed_ts_ns.get(row)) {
            self.give_back(end, freed_ns, bytes);
        }
    }

    /// An event allocates memory.
    #[inline]
    pub fn take(&mut self, event: i64, ts_ns: i64, bytes: u64) {
        self.change(event, ts_ns, bytes.cast_signed());
    }

    /// An event frees memory; an event that also allocates frees first.
    #[inline]
    pub fn give_back(&mut self, event: i64, ts_ns: i64, bytes: u64) {
        self.change(event, ts_ns, bytes.wrapping_neg().cast_signed());
    }

    fn change(&mut self, event: i64, ts_ns: i64, bytes: i64) {
        let Ok(event) = usize::try_from(event) else { return };
        while event >> self.shift >= self.max_slots() {
            self.coarsen();
        }
        let number = event >> self.shift;
        if self.slots.len() <= number {
            self.slots.resize(number + 1, Slot { sum: 0, ts_ns: NO_TIME });
            if self.is_coarse() {
                self.extremes.resize(number + 1, Extremes::default());
            }
        }
        let slot = &mut self.slots[number];
        let before = slot.sum;
        slot.sum = before.wrapping_add(bytes);
        slot.ts_ns = slot.ts_ns.max(ts_ns);
        match self.extremes.get_mut(number) {
            Some(extremes) => {
                extremes.low = extremes.low.min(slot.sum);
                extremes.high = extremes.high.max(slot.sum);
            }
            None if before != 0 || !self.given.is_empty() => self.note_given(number, before, bytes),
            None => {}
        }
    }

    /// Records an event that both frees and allocates.
    fn note_given(&mut self, number: usize, before: i64, bytes: i64) {
        match self.given.get_mut(&number) {
            Some(given) if bytes < 0 => *given = given.wrapping_sub(bytes),
            Some(_) => {}
            None if before > 0 && bytes < 0 => _ = self.given.insert(number, bytes.wrapping_neg()),
            None if before < 0 && bytes > 0 => _ = self.given.insert(number, before.wrapping_neg()),
            None => {}
        }
    }

    fn max_slots(&self) -> usize {
        let slot_bytes = if self.is_coarse() { size_of::<Slot>() + size_of::<Extremes>() } else { size_of::<Slot>() };
        (self.max_bytes / slot_bytes).max(2)
    }

    /// Merges each pair of slots.
    #[cold]
    fn coarsen(&mut self) {
        let pairs = (0..self.slots.len()).step_by(2).map(|number| {
            let (one, low, high) = self.slot(number);
            let Some(_) = self.slots.get(number + 1) else { return (one, Extremes { low, high }) };
            let (other, next_low, next_high) = self.slot(number + 1);
            let [next_low, next_high] = [next_low, next_high].map(|next| one.sum.wrapping_add(next));
            let sum = one.sum.wrapping_add(other.sum);
            let extremes = Extremes { low: low.min(next_low), high: high.max(next_high) };
            (Slot { sum, ts_ns: one.ts_ns.max(other.ts_ns) }, extremes)
        });
        (self.slots, self.extremes) = pairs.collect();
        self.given = HashMap::new();
        self.shift += 1;
    }

    /// A slot, and the minimum and maximum inside it.
    fn slot(&self, number: usize) -> (Slot, i64, i64) {
        let slot = self.slots[number];
        match self.extremes.get(number) {
            Some(extremes) => (slot, extremes.low, extremes.high),
            None => {
                let given = if self.given.is_empty() { None } else { self.given.get(&number) };
                (slot, given.map_or(slot.sum.min(0), |given| given.wrapping_neg()), slot.sum.max(0))
            }
        }
    }

    /// Whether events share slots, so that a peak inside a slot may have been missed.
    pub fn is_coarse(&self) -> bool {
        self.shift > 0
    }

    /// Memory in use after each event that changes it, in file order.
    pub fn steps(&self) -> impl Iterator<Item = MemoryStep> {
        let mut used = 0_u64;
        let changed = (0..self.slots.len()).filter(|number| self.slots[*number].ts_ns != NO_TIME);
        changed.map(move |number| {
            let (slot, low, high) = self.slot(number);
            let [low_bytes, high_bytes, used_bytes] =
                [low, high, slot.sum].map(|change| used.wrapping_add(change.cast_unsigned()));
            used = used_bytes;
            // A size of 2^63 bytes or more looks like a negative change; the usage afterwards is still right.
            let (low_bytes, high_bytes) = (low_bytes.min(used_bytes), high_bytes.max(used_bytes));
            let event = (((number + 1) << self.shift) - 1) as i64;
            MemoryStep { event, ts_ns: slot.ts_ns, low_bytes, high_bytes, used_bytes }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(curve: &MemoryCurve) -> Vec<(i64, u64)> {
        curve.steps().map(|step| (step.event, step.used_bytes)).collect()
    }

    fn highest(curve: &MemoryCurve) -> Option<u64> {
        curve.steps().map(|step| step.high_bytes).max()
    }

    #[test]
    fn events_of_one_time_keep_their_order() {
        let mut curve = MemoryCurve::new(1 << 20);
        curve.take(0, 100, 10);
        curve.take(1, 100, 20);
        curve.give_back(2, 100, 10);
        curve.take(4, 100, 5);
        assert_eq!(used(&curve), [(0, 10), (1, 30), (2, 20), (4, 25)]);
        assert!(curve.steps().all(|step| step.ts_ns == 100) && !curve.is_coarse());
    }

    #[test]
    fn an_address_that_is_given_out_again_is_given_back_first() {
        for order in [[(16, 0), (0, 8)], [(0, 8), (16, 0)]] {
            let mut curve = MemoryCurve::new(1 << 20);
            curve.take(0, 7, 8);
            for (taken, given) in order {
                if taken > 0 { curve.take(1, 7, taken) } else { curve.give_back(1, 7, given) }
            }
            curve.take(2, 7, 4);
            let low: Vec<_> = curve.steps().map(|step| (step.low_bytes, step.high_bytes, step.used_bytes)).collect();
            assert_eq!(low, [(0, 8, 8), (0, 16, 16), (16, 20, 20)]);
        }
    }

    #[test]
    fn the_peak_survives_any_number_of_events() {
        let mut curve = MemoryCurve::new(1 << 16);
        for number in 0..1_000_000_i64 {
            let bytes = if number == 345_678 { 5_000 } else { 10 };
            curve.take(number * 2, number * 10, bytes);
            curve.give_back(number * 2 + 1, number * 10 + 5, bytes);
        }
        assert!(curve.is_coarse() && curve.steps().count() <= 1 << 11);
        assert_eq!(highest(&curve), Some(5_000));
        assert_eq!(curve.steps().map(|step| step.low_bytes).max(), Some(0));
        assert_eq!(curve.steps().last().map(|step| (step.ts_ns, step.used_bytes)), Some((9_999_995, 0)));
    }

    #[test]
    fn what_is_put_together_is_never_too_high() {
        // A row arrives when its allocation ends; live allocations come last.
        let rows = |curve: &mut MemoryCurve| {
            for number in 0..500_i64 {
                curve.take(number * 3, number, 7);
                curve.take(number * 3 + 1, number, 100);
                curve.give_back(number * 3 + 2, number, 100);
            }
        };
        let (mut exact, mut coarse) = (MemoryCurve::new(1 << 20), MemoryCurve::new(1 << 10));
        rows(&mut exact);
        rows(&mut coarse);
        assert!(!exact.is_coarse() && coarse.is_coarse());
        assert_eq!(highest(&exact), Some(3_600));
        assert!(highest(&coarse) <= highest(&exact) && highest(&coarse) > Some(3_500));
        assert_eq!(exact.steps().last().map(|step| step.used_bytes), coarse.steps().last().map(|step| step.used_bytes));
    }

    #[test]
    fn odd_events_do_no_harm() {
        let mut curve = MemoryCurve::new(1 << 10);
        curve.take(-5, 0, 1);
        curve.take(i64::MAX, 3, u64::MAX);
        curve.take(0, 1, u64::MAX);
        assert_eq!(curve.steps().count(), 2);
    }
}

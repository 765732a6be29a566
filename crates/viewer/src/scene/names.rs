//! Names, each stored once, with figures of all spans of a name.

use arrow_array::StringArray;
use traceloom_passes::{Interner, Translation};

/// Names by number.
#[derive(Debug, Default)]
pub(crate) struct NameTable {
    names: Interner,
    /// The color set by the producer, as 0xAARRGGBB.
    colors: Vec<Option<u32>>,
    counts: Vec<u64>,
    totals_ns: Vec<i64>,
    events: Vec<u64>,
}

impl NameTable {
    /// The number of a name.
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        let number = self.names.number(name);
        self.grow();
        number
    }

    /// The numbers of the names in a dictionary.
    pub(crate) fn numbers<'t>(&mut self, column: &'t mut Translation, values: Option<&StringArray>) -> &'t [u32] {
        let numbers = column.of(values, &mut self.names);
        self.grow();
        numbers
    }

    /// Makes room for the figures of each name.
    fn grow(&mut self) {
        let len = self.names.len();
        if len > self.counts.len() {
            self.colors.resize(len, None);
            self.counts.resize(len, 0);
            self.totals_ns.resize(len, 0);
            self.events.resize(len, 0);
        }
    }

    /// Counts a span.
    #[inline]
    pub(crate) fn count(&mut self, number: u32, dur_ns: i64, color: Option<u32>) {
        let index = number as usize;
        self.counts[index] += 1;
        self.totals_ns[index] = self.totals_ns[index].saturating_add(dur_ns);
        if color.is_some() {
            self.colors[index] = color;
        }
    }

    /// Counts an event.
    pub(crate) fn count_event(&mut self, number: u32) {
        if let Some(count) = self.events.get_mut(number as usize) {
            *count += 1;
        }
    }

    /// Uncounts a span.
    pub(crate) fn uncount(&mut self, number: u32, dur_ns: i64) {
        let index = number as usize;
        self.counts[index] = self.counts[index].saturating_sub(1);
        self.totals_ns[index] = self.totals_ns[index].saturating_sub(dur_ns);
    }

    /// Uncounts an event.
    pub(crate) fn uncount_event(&mut self, number: u32) {
        if let Some(count) = self.events.get_mut(number as usize) {
            *count = count.saturating_sub(1);
        }
    }

    /// Number of events of this name.
    pub(crate) fn events(&self, number: u32) -> u64 {
        self.events.get(number as usize).copied().unwrap_or(0)
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn get(&self, number: u32) -> &str {
        self.names.get(number).unwrap_or_default()
    }

    pub(crate) fn color(&self, number: u32) -> Option<u32> {
        self.colors.get(number as usize).copied().flatten()
    }

    /// Number of spans of this name, and their total time.
    pub(crate) fn total(&self, number: u32) -> (u64, i64) {
        let index = number as usize;
        (self.counts.get(index).copied().unwrap_or(0), self.totals_ns.get(index).copied().unwrap_or(0))
    }

    /// Names that contain a text, ignoring case, with their numbers.
    pub(crate) fn search<'s>(&'s self, text: &str) -> impl Iterator<Item = (u32, &'s str)> {
        let text = text.to_lowercase();
        let all = (0..).zip(self.names.iter());
        all.filter(move |(_, name)| name.to_lowercase().contains(&text))
    }
}

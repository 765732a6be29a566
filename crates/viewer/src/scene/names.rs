//! Names, each once, with what is known of all spans of a name.

use std::collections::HashMap;

use arrow_array::{Array, StringArray};

/// Names by number.
#[derive(Debug, Default)]
pub(crate) struct NameTable {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    /// What the producer wants, as 0xAARRGGBB.
    colors: Vec<Option<u32>>,
    counts: Vec<u64>,
    totals_ns: Vec<i64>,
    events: Vec<u64>,
}

impl NameTable {
    /// The number of a name.
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        self.colors.push(None);
        self.counts.push(0);
        self.totals_ns.push(0);
        self.events.push(0);
        number
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

    /// Counts a point in time.
    pub(crate) fn count_event(&mut self, number: u32) {
        if let Some(count) = self.events.get_mut(number as usize) {
            *count += 1;
        }
    }

    /// Points in time of this name.
    pub(crate) fn events(&self, number: u32) -> u64 {
        self.events.get(number as usize).copied().unwrap_or(0)
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn get(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }

    pub(crate) fn color(&self, number: u32) -> Option<u32> {
        self.colors.get(number as usize).copied().flatten()
    }

    /// Spans of this name, and the time of all of them.
    pub(crate) fn total(&self, number: u32) -> (u64, i64) {
        let index = number as usize;
        (self.counts.get(index).copied().unwrap_or(0), self.totals_ns.get(index).copied().unwrap_or(0))
    }

    /// Names that hold a text, whatever its case, with their numbers.
    pub(crate) fn search<'s>(&'s self, text: &str) -> impl Iterator<Item = (u32, &'s str)> {
        let text = text.to_lowercase();
        let all = self.names.iter().enumerate().map(|(number, name)| (number as u32, name.as_str()));
        all.filter(move |(_, name)| name.to_lowercase().contains(&text))
    }
}

/// The numbers of a dictionary's values; the same dictionary is looked up once.
#[derive(Debug, Default)]
pub(crate) struct Translation {
    dictionary: Option<StringArray>,
    numbers: Vec<u32>,
}

impl Translation {
    pub(crate) fn of(&mut self, values: Option<&StringArray>, names: &mut NameTable) -> &[u32] {
        let Some(values) = values else { return &[] };
        let is_same = |known: &StringArray| {
            known.len() == values.len() && known.value_data().as_ptr() == values.value_data().as_ptr()
        };
        if !self.dictionary.as_ref().is_some_and(is_same) {
            self.numbers = (0..values.len()).map(|key| names.number(values.value(key))).collect();
            // Kept, so that its address is not given to another one.
            self.dictionary = Some(values.clone());
        }
        &self.numbers
    }
}

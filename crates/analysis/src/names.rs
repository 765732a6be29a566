//! From the dictionary of a batch to names that are the same for all batches and all traces.

use arrow_array::StringArray;
use traceloom_model::trackers::{Strings, Symbol};

/// No name: the cell is NULL, or nobody asked.
pub(crate) const NONE: u32 = u32::MAX;

/// The names of an answer, each known by a number.
#[derive(Debug, Default)]
pub(crate) struct Names {
    strings: Strings,
    symbols: Vec<Symbol>,
}

impl Names {
    /// The number of a name.
    pub(crate) fn intern(&mut self, text: &str) -> u32 {
        let symbol = self.strings.intern(text);
        if symbol.index() == self.symbols.len() {
            self.symbols.push(symbol);
        }
        symbol.index() as u32
    }

    /// The name of a number; none for [`NONE`].
    pub(crate) fn get(&self, number: u32) -> Option<&str> {
        self.symbols.get(number as usize).map(|symbol| self.strings.get(*symbol))
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.symbols.len()
    }
}

/// The names of one column: from the keys of its dictionary to numbers.
///
/// A dictionary stays the same over many batches, so its texts are looked up once for all of them.
#[derive(Debug, Default)]
pub(crate) struct Mapped {
    /// Holds on to the dictionary: an address tells it apart from others only while it is in use.
    dictionary: Option<StringArray>,
    numbers: Vec<u32>,
}

impl Mapped {
    /// The number of each key.
    pub(crate) fn of(&mut self, values: Option<&StringArray>, names: &mut Names) -> &[u32] {
        if !same(self.dictionary.as_ref(), values) {
            self.numbers.clear();
            let texts = values.into_iter().flat_map(|values| values.iter());
            self.numbers.extend(texts.map(|text| names.intern(text.unwrap_or_default())));
            self.dictionary = values.cloned();
        }
        &self.numbers
    }
}

fn same(one: Option<&StringArray>, other: Option<&StringArray>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            std::ptr::eq(one.value_offsets(), other.value_offsets())
                && std::ptr::eq(one.value_data(), other.value_data())
        }
        (None, None) => true,
        _ => false,
    }
}

/// The number of a key; [`NONE`] where the cell is NULL.
#[inline]
pub(crate) fn number(numbers: &[u32], key: Option<i32>) -> u32 {
    key.and_then(|key| numbers.get(key as usize)).copied().unwrap_or(NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_of_different_dictionaries_have_one_number() {
        let mut names = Names::default();
        let (one, two) = (StringArray::from(vec!["a", "b"]), StringArray::from(vec!["b", "c"]));
        let mut column = Mapped::default();
        let first = column.of(Some(&one), &mut names).to_vec();
        assert_eq!(column.of(Some(&one.clone()), &mut names), first);
        let second = column.of(Some(&two), &mut names).to_vec();
        assert_eq!((first[1], second.len()), (second[0], 2));
        assert_eq!(column.of(None, &mut names), [0_u32; 0]);
        assert_eq!((number(&second, Some(0)), number(&second, None)), (second[0], NONE));
    }
}

//! The group of each row, by the number of its name.

use arrow_array::{Array, DictionaryArray, UInt32Array, cast::AsArray, types::Int32Type};
use datafusion::common::Result;

use traceloom_passes::PerEntry;

use super::interner::GroupNames;

/// A group that was not seen yet.
const NONE: usize = usize::MAX;

/// Groups in the order in which they were first seen; every group has at least one row.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// The number of the name of each group; NULL is a group as well.
    numbers: Vec<Option<u32>>,
    of_number: Vec<usize>,
    of_null: Option<usize>,
    /// The group of each entry of the dictionary seen last.
    of_entry: PerEntry<usize>,
    /// The group of each row of the batch seen last.
    rows: Vec<usize>,
}

/// The groups that a batch adds to.
#[derive(Debug)]
pub(super) struct Found<'a> {
    /// The group of each row.
    pub(super) rows: &'a [usize],
    /// Number of groups so far.
    pub(super) total: usize,
}

impl Groups {
    /// Whether no row was seen.
    pub(super) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Memory in use.
    pub(super) fn bytes(&self) -> usize {
        let places = self.of_number.capacity() + self.rows.capacity() + self.of_entry.entries().len();
        places * size_of::<usize>() + self.numbers.capacity() * size_of::<Option<u32>>()
    }

    /// Returns the numbers of the groups and resets them.
    pub(super) fn take(&mut self) -> UInt32Array {
        UInt32Array::from(std::mem::take(self).numbers)
    }

    /// The group of each row.
    pub(super) fn find(&mut self, names: &DictionaryArray<Int32Type>, interner: &GroupNames) -> Result<Found<'_>> {
        self.of_entry.turn_to(Some(names.values().as_string()), NONE);
        let (keys, of_entry) = (names.keys(), self.of_entry.entries());
        self.rows.clear();
        // The key of a NULL may be anything.
        self.rows.extend(keys.values().iter().map(|key| of_entry.get(*key as usize).copied().unwrap_or(NONE)));
        if names.is_nullable() || self.rows.contains(&NONE) {
            let numbers = interner.numbers(names.values())?;
            for row in 0..keys.len() {
                self.rows[row] = match names.key(row).filter(|key| names.values().is_valid(*key)) {
                    None => self.group_of_null(),
                    Some(key) => {
                        let group = self.group_of_number(numbers[key]);
                        self.of_entry.entries_mut()[key] = group;
                        group
                    }
                };
            }
        }
        Ok(Found { rows: &self.rows, total: self.numbers.len() })
    }

    fn group_of_null(&mut self) -> usize {
        *self.of_null.get_or_insert_with(|| add(&mut self.numbers, None))
    }

    fn group_of_number(&mut self, number: u32) -> usize {
        let place = number as usize;
        if place >= self.of_number.len() {
            self.of_number.resize(place + 1, NONE);
        }
        let group = &mut self.of_number[place];
        if *group == NONE {
            *group = add(&mut self.numbers, Some(number));
        }
        *group
    }
}

fn add(numbers: &mut Vec<Option<u32>>, number: Option<u32>) -> usize {
    numbers.push(number);
    numbers.len() - 1
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int32Array, StringArray};
    use datafusion::execution::memory_pool::{MemoryPool, UnboundedMemoryPool};

    use super::*;

    fn interner() -> GroupNames {
        let pool: Arc<dyn MemoryPool> = Arc::new(UnboundedMemoryPool::default());
        GroupNames::new(&pool)
    }

    fn names(entries: &[Option<&str>], keys: &[Option<i32>]) -> DictionaryArray<Int32Type> {
        let values = Arc::new(StringArray::from(entries.to_vec()));
        DictionaryArray::new(Int32Array::from(keys.to_vec()), values)
    }

    fn find(groups: &mut Groups, names: &DictionaryArray<Int32Type>, interner: &GroupNames) -> Vec<usize> {
        groups.find(names, interner).expect("names").rows.to_vec()
    }

    fn keys(of: &[i32]) -> Vec<Option<i32>> {
        of.iter().copied().map(Some).collect()
    }

    fn resolved(groups: &mut Groups, interner: &GroupNames) -> Vec<Option<String>> {
        let numbers: ArrayRef = Arc::new(groups.take());
        let names = interner.resolve(&numbers).expect("numbers of names");
        let names = names.downcast_dict::<StringArray>().expect("text");
        names.into_iter().map(|name| name.map(str::to_owned)).collect()
    }

    #[test]
    fn a_name_has_one_group_in_all_dictionaries() {
        let (mut groups, interner) = (Groups::default(), interner());
        let entries = [Some("unused"), Some("a"), Some("b"), Some("a")];
        assert_eq!(find(&mut groups, &names(&entries, &keys(&[2, 1, 3, 2])), &interner), [0, 1, 1, 0]);
        assert_eq!(find(&mut groups, &names(&[Some("c"), Some("a")], &keys(&[1, 0])), &interner), [1, 2]);
        // The same entries in other places: cached places must not be used.
        let moved = [Some("c"), Some("b"), Some("a")];
        assert_eq!(find(&mut groups, &names(&moved, &keys(&[1, 2, 0])), &interner), [0, 1, 2]);
        let moved = [Some("a"), Some("c"), Some("b")];
        assert_eq!(find(&mut groups, &names(&moved, &keys(&[1, 2, 0])), &interner), [2, 0, 1]);
        assert_eq!(
            resolved(&mut groups, &interner),
            [Some("b"), Some("a"), Some("c")].map(|name| name.map(str::to_owned))
        );
        assert!(groups.is_empty());
    }

    #[test]
    fn a_dictionary_goes_on_in_the_next_batch() {
        let (mut groups, interner) = (Groups::default(), interner());
        let all = names(&[Some("a"), Some("b"), Some("c")], &keys(&[1, 1, 0, 1, 2]));
        let part = |begin, rows| all.slice(begin, rows);
        assert_eq!(find(&mut groups, &part(0, 2), &interner), [0, 0]);
        assert_eq!(find(&mut groups, &part(2, 2), &interner), [1, 0]);
        assert_eq!(find(&mut groups, &part(3, 2), &interner), [0, 2]);
    }

    #[test]
    fn null_is_a_group_of_its_own() {
        let (mut groups, interner) = (Groups::default(), interner());
        let both = names(&[Some("a"), None], &[Some(0), None, Some(1), Some(0)]);
        assert_eq!(find(&mut groups, &both, &interner), [0, 1, 1, 0]);
        assert_eq!(find(&mut groups, &both.slice(1, 1), &interner), [1]);
        assert_eq!(groups.take().null_count(), 1);
    }
}

//! Many ids in little memory.

use std::collections::BTreeMap;

/// A set of ids as ranges: rows are usually numbered in the order in which they arrive.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    /// The last id of each range, by its first.
    ranges: BTreeMap<i64, i64>,
    len: usize,
}

impl Ids {
    /// Adds an id, which may already be in the set.
    pub(crate) fn insert(&mut self, id: i64) {
        match self.ranges.range_mut(..=id).next_back() {
            Some((_, last)) if id <= *last => return,
            Some((_, last)) if id - 1 == *last => *last = id,
            _ => {
                self.ranges.insert(id, id);
            }
        }
        self.len += 1;
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        self.ranges.iter().flat_map(|(first, last)| *first..=*last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_is_kept_once() {
        let mut ids = Ids::default();
        [5, 6, 7, 6, 1, 5, i64::MIN, 2, 4, 3, i64::MAX, i64::MAX].into_iter().for_each(|id| ids.insert(id));
        assert_eq!(ids.iter().collect::<Vec<_>>(), [i64::MIN, 1, 2, 3, 4, 5, 6, 7, i64::MAX]);
        assert_eq!((ids.len(), ids.is_empty()), (9, false));
    }

    #[test]
    fn ids_in_order_take_no_memory() {
        let mut ids = Ids::default();
        (0..100_000).for_each(|id| ids.insert(id));
        assert_eq!((ids.len(), ids.ranges.len()), (100_000, 1));
    }
}

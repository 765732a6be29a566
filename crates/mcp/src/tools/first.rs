//! Keeps the first rows of a list in some order, without the others.

use std::{cmp::Ordering, collections::BinaryHeap};

use serde_json::Value as Json;

use super::{Answer, max_rows};
use crate::inert::{Cut, kept_row};

/// The first rows by their keys, and the number of all.
pub(super) struct First<K> {
    limit: usize,
    total: u64,
    /// A heap with the last kept row on top.
    kept: BinaryHeap<Kept<K>>,
}

struct Kept<K> {
    key: K,
    row: Json,
}

impl<K: Ord> First<K> {
    /// Creates an empty list that keeps as many rows as a call asks for.
    pub(super) fn new(limit: Option<usize>) -> Self {
        Self { limit: max_rows(limit), total: 0, kept: BinaryHeap::new() }
    }

    /// Counts a row, and builds and keeps it if it is among the first so far.
    #[inline]
    pub(super) fn offer(&mut self, key: K, row: impl FnOnce() -> Json) {
        self.total += 1;
        if self.kept.len() >= self.limit {
            if self.kept.peek().is_some_and(|last| last.key <= key) {
                return;
            }
            self.kept.pop();
        }
        self.kept.push(Kept { key, row: kept_row(row()) });
    }

    /// The rows in order, and the number of all.
    pub(super) fn finish(self) -> (Vec<Json>, u64) {
        (self.kept.into_sorted_vec().into_iter().map(|kept| kept.row).collect(), self.total)
    }
}

impl<K: Ord> PartialEq for Kept<K> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<K: Ord> Eq for Kept<K> {}

impl<K: Ord> PartialOrd for Kept<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord> Ord for Kept<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

/// Some lists in one result, with the number of all rows of each.
pub(super) fn lists<const N: usize>(lists: [(&str, (Vec<Json>, u64)); N], limit: Option<usize>) -> Answer {
    let cuts = lists.iter().filter_map(|(list, (rows, total))| Cut::if_less(list, rows.len(), *total)).collect();
    let found = lists.into_iter().map(|(list, (rows, _))| (list.to_owned(), Json::from(rows)));
    let mut answer = Answer::new(Json::Object(found.collect()), limit);
    answer.cuts = cuts;
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rows_are_kept_and_all_are_counted() {
        let mut first = First::new(Some(3));
        for key in [5, 1, 4, 2, 3, 9] {
            first.offer(key, || key.into());
        }
        assert_eq!(first.finish(), (vec![1.into(), 2.into(), 3.into()], 6));
    }
}

//! Facts about a file that one of several walks finds out and all of them use.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

/// Notes that the walks over a file leave for each other. Every walk asks for the same notes, once each, so that a note
/// is dropped when the last walk has it.
#[derive(Debug)]
pub struct Notes<N> {
    walks: usize,
    /// The notes that some walks have not asked for, by offset.
    open: Mutex<HashMap<u64, Open<N>>>,
}

/// A note, and the number of walks that have asked for it.
type Open<N> = (Arc<OnceLock<N>>, usize);

impl<N: Clone> Notes<N> {
    /// Notes of this many walks.
    pub fn new(walks: usize) -> Self {
        Self { walks, open: Mutex::default() }
    }

    /// The note about an offset. The first walk that asks finds it out, while others that ask wait for it.
    pub fn get_or(&self, offset: u64, find: impl FnOnce() -> N) -> N {
        self.note(offset).get_or_init(find).clone()
    }

    fn note(&self, offset: u64) -> Arc<OnceLock<N>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let (note, asked) = open.entry(offset).or_default();
        *asked += 1;
        let (note, is_last) = (Arc::clone(note), *asked >= self.walks);
        if is_last {
            open.remove(&offset);
        }
        note
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicU64, Ordering},
        thread,
    };

    use super::*;

    #[test]
    fn one_walk_finds_a_fact_and_the_last_one_takes_it_away() {
        let notes = Notes::new(3);
        let get = |fact| notes.get_or(7, || fact);
        assert_eq!([1, 2, 3].map(get), [1; 3]);
        assert!(notes.open.lock().unwrap().is_empty());
        assert_eq!([4, 5].map(get), [4; 2]);
    }

    #[test]
    fn walks_that_ask_at_the_same_time_find_a_fact_once() {
        for walks in [1, 2, 3, 8] {
            let (notes, found) = (Notes::new(walks), AtomicU64::new(0));
            let walk =
                || (0..1_000).for_each(|offset| _ = notes.get_or(offset, || found.fetch_add(1, Ordering::Relaxed)));
            thread::scope(|scope| (0..walks).for_each(|_| drop(scope.spawn(walk))));
            assert_eq!(found.into_inner(), 1_000, "{walks}");
            assert!(notes.open.into_inner().unwrap().is_empty(), "{walks}");
        }
    }
}

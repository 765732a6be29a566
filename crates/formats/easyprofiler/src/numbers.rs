//! Small numbers for ids.

use std::hash::{BuildHasher, RandomState};

/// Numbers ids from 0 on, in the order in which they come. Takes about half the memory of a `HashMap`, because a file
/// may have a million threads.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    ids: Vec<u64>,
    /// Numbers, from the place of the hash of their id on; never full, and its length is a power of two.
    places: Vec<u32>,
    hasher: RandomState,
}

const FREE: u32 = u32::MAX;
const MIN_PLACES: usize = 16;

impl Numbers {
    /// Bytes of memory held.
    #[cfg(test)]
    pub(crate) fn held_bytes(&self) -> usize {
        self.ids.capacity() * size_of::<u64>() + self.places.capacity() * size_of::<u32>()
    }

    /// The number of an id, which may be new.
    pub(crate) fn of(&mut self, id: u64) -> u32 {
        if self.ids.len() >= self.places.len() / 4 * 3 {
            self.grow();
        }
        let next = self.ids.len() as u32;
        let number = self.put(id, next);
        if number == next {
            self.ids.push(id);
        }
        number
    }

    /// The number of an id if it has one; otherwise it gets this one.
    fn put(&mut self, id: u64, number: u32) -> u32 {
        let mask = self.places.len().wrapping_sub(1);
        let mut place = self.hasher.hash_one(id) as usize & mask;
        while let Some(taken) = self.places.get_mut(place) {
            if *taken == FREE {
                *taken = number;
            }
            if *taken == number || self.ids.get(*taken as usize) == Some(&id) {
                return *taken;
            }
            place = (place + 1) & mask;
        }
        number
    }

    #[cold]
    fn grow(&mut self) {
        let places = (self.places.len() * 2).max(MIN_PLACES);
        self.places.clear();
        self.places.resize(places, FREE);
        for number in 0..self.ids.len() as u32 {
            if let Some(id) = self.ids.get(number as usize) {
                self.put(*id, number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_keeps_its_number() {
        let mut numbers = Numbers::default();
        let ids = || (0..5_000_u64).map(|id| id.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        assert!(ids().map(|id| numbers.of(id)).eq(0..5_000));
        assert!(ids().map(|id| numbers.of(id)).eq(0..5_000));
        assert_eq!([numbers.of(u64::MAX), numbers.of(u64::MAX), numbers.of(0)], [5_000, 5_000, 0]);
    }
}

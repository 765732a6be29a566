//! A stack that moves to a temporary file when it exceeds its memory limit.
//!
//! Entries in memory are plain values; only spilled entries are packed into bytes.

use super::{Arena, SpillRow};
use crate::{ByteOrder, Cursor, Result, reserve};

/// Number of entries in a segment.
const SEGMENT: usize = 1 << 12;
/// Maximum number of segments per stack that are read back from the file for changes and stay in memory for a while.
const MAX_RECALLED: usize = 8;

/// A stack of entries, in segments so that growing it never copies entries.
///
/// Segments below the top move to the arena's file when memory runs out and return when needed. A segment keeps its
/// slot in the file, so moving back and forth does not make the file grow.
#[derive(Debug)]
pub struct Spill<T> {
    arena: Arena,
    /// The segment that grows and shrinks; empty only if the stack is.
    top: Vec<T>,
    /// Full segments below the top that are in memory.
    below: Vec<Vec<T>>,
    /// Number of segments below `below` that are only in the file.
    spilled: usize,
    slots: Vec<Option<u64>>,
    /// Segments of the file that were changed since they were written; they replace the stored ones.
    recalled: Vec<Recalled<T>>,
}

#[derive(Debug)]
struct Recalled<T> {
    index: usize,
    segment: Vec<T>,
}

impl<T: SpillRow> Spill<T> {
    const SLOT_BYTES: usize = SEGMENT * T::BYTES;

    pub(super) fn new(arena: Arena) -> Self {
        Self { arena, top: Vec::new(), below: Vec::new(), spilled: 0, slots: Vec::new(), recalled: Vec::new() }
    }

    /// Number of entries.
    pub fn len(&self) -> u64 {
        ((self.spilled + self.below.len()) * SEGMENT) as u64 + self.top.len() as u64
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.top.is_empty()
    }

    /// Adds an entry on top.
    #[inline]
    pub fn push(&mut self, entry: T) -> Result<()> {
        if self.top.len() == self.top.capacity() {
            self.make_room()?;
        }
        self.top.push(entry);
        Ok(())
    }

    /// The entry on top.
    #[inline]
    pub fn last(&self) -> Option<&T> {
        self.top.last()
    }

    /// The entry on top, mutably.
    #[inline]
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.top.last_mut()
    }

    /// Removes and returns the entry on top.
    #[inline]
    pub fn pop(&mut self) -> Result<Option<T>> {
        let entry = self.top.pop();
        if self.top.is_empty() && entry.is_some() {
            self.uncover()?;
        }
        Ok(entry)
    }

    /// Replaces the entry at this index from the bottom; does nothing if there is none.
    #[inline]
    pub fn set(&mut self, index: u64, entry: T) -> Result<()> {
        let (segment, place) = (index as usize / SEGMENT, index as usize % SEGMENT);
        let Some(resident) = segment.checked_sub(self.spilled) else {
            return self.set_spilled(segment, place, entry);
        };
        let segment = if resident == self.below.len() { Some(&mut self.top) } else { self.below.get_mut(resident) };
        if let Some(slot) = segment.and_then(|segment| segment.get_mut(place)) {
            *slot = entry;
        }
        Ok(())
    }

    /// Changes every entry, from top to bottom.
    pub fn rewrite_down(&mut self, mut change: impl FnMut(&mut T) -> Result<()>) -> Result<()> {
        let resident = self.below.iter_mut().flatten().chain(&mut self.top);
        resident.rev().try_for_each(&mut change)?;
        for index in (0..self.spilled).rev() {
            let mut segment = self.load(index)?;
            segment.iter_mut().rev().try_for_each(&mut change)?;
            self.store(index, &segment)?;
        }
        Ok(())
    }

    /// Iterates from bottom to top.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { spill: self, next: 0, resident: [].iter(), loaded: Vec::new().into_iter() }
    }

    /// Iterates to the top from the entry at this index.
    pub fn iter_from(&self, index: u64) -> Result<Iter<'_, T>> {
        let mut iter = Iter { next: index as usize / SEGMENT, ..self.iter() };
        if iter.next_segment()? {
            for _ in 0..index as usize % SEGMENT {
                iter.next_loaded();
            }
        }
        Ok(iter)
    }

    #[cold]
    fn make_room(&mut self) -> Result<()> {
        if self.top.len() < SEGMENT {
            // The bottom segment grows with its contents, so many small stacks stay small.
            let bottom = self.spilled + self.below.len() == 0;
            let room = if bottom { self.top.len().max(2).min(SEGMENT - self.top.len()) } else { SEGMENT };
            let before = held_bytes(&self.top);
            self.top.reserve_exact(room);
            self.arena.lock().resident_bytes += held_bytes(&self.top) - before;
            return Ok(());
        }
        while !self.below.is_empty() && self.arena_is_full() {
            self.spill_bottom()?;
        }
        let mut fresh = Vec::new();
        reserve(&mut fresh, SEGMENT)?;
        self.arena.lock().resident_bytes += held_bytes(&fresh);
        self.below.push(std::mem::replace(&mut self.top, fresh));
        Ok(())
    }

    fn arena_is_full(&self) -> bool {
        let shared = self.arena.lock();
        shared.resident_bytes + (SEGMENT * size_of::<T>()) as u64 > shared.limit_bytes
    }

    fn spill_bottom(&mut self) -> Result<()> {
        let segment = self.below.remove(0);
        self.store(self.spilled, &segment)?;
        self.arena.lock().resident_bytes -= held_bytes(&segment);
        self.spilled += 1;
        Ok(())
    }

    #[cold]
    fn set_spilled(&mut self, index: usize, place: usize, entry: T) -> Result<()> {
        if !self.recalled.iter().any(|recalled| recalled.index == index) {
            if self.recalled.len() == MAX_RECALLED {
                let Recalled { index, segment } = self.recalled.remove(0);
                self.arena.lock().resident_bytes -= held_bytes(&segment);
                self.store(index, &segment)?;
            }
            let segment = self.load(index)?;
            self.arena.lock().resident_bytes += held_bytes(&segment);
            self.recalled.push(Recalled { index, segment });
        }
        let recalled = self.recalled.iter_mut().find(|recalled| recalled.index == index);
        if let Some(slot) = recalled.and_then(|recalled| recalled.segment.get_mut(place)) {
            *slot = entry;
        }
        Ok(())
    }

    /// The recalled copy is dropped: the segment in memory or in the file is newer.
    fn forget_recalled(&mut self, index: usize) {
        if let Some(at) = self.recalled.iter().position(|recalled| recalled.index == index) {
            let recalled = self.recalled.remove(at);
            self.arena.lock().resident_bytes -= held_bytes(&recalled.segment);
        }
    }

    fn store(&mut self, index: usize, segment: &[T]) -> Result<()> {
        self.forget_recalled(index);
        let mut bytes = Vec::new();
        reserve(&mut bytes, Self::SLOT_BYTES)?;
        segment.iter().for_each(|entry| entry.put(&mut bytes));
        if self.slots.len() <= index {
            self.slots.resize(index + 1, None);
        }
        if let Some(slot) = self.slots.get_mut(index) {
            *slot = Some(self.arena.lock().write(*slot, &bytes, Self::SLOT_BYTES as u64)?);
        }
        Ok(())
    }

    /// Called when the top segment is empty: the segment below becomes the top, read from the file if necessary.
    #[cold]
    fn uncover(&mut self) -> Result<()> {
        let next = match self.below.pop() {
            Some(segment) => segment,
            None if self.spilled > 0 => {
                let segment = self.load(self.spilled - 1)?;
                self.arena.lock().resident_bytes += held_bytes(&segment);
                self.spilled -= 1;
                self.forget_recalled(self.spilled);
                segment
            }
            None => return Ok(()),
        };
        self.arena.lock().resident_bytes -= held_bytes(&self.top);
        self.top = next;
        Ok(())
    }

    fn load(&self, index: usize) -> Result<Vec<T>> {
        let (mut segment, mut bytes) = (Vec::new(), Vec::new());
        reserve(&mut segment, SEGMENT)?;
        if let Some(recalled) = self.recalled.iter().find(|recalled| recalled.index == index) {
            segment.extend_from_slice(&recalled.segment);
            return Ok(segment);
        }
        reserve(&mut bytes, Self::SLOT_BYTES)?;
        bytes.resize(Self::SLOT_BYTES, 0);
        if let Some(offset) = self.slots.get(index).copied().flatten() {
            self.arena.lock().read(offset, &mut bytes)?;
        }
        let mut cursor = Cursor::new(&bytes, 0, ByteOrder::Little);
        while !cursor.is_empty() {
            segment.push(T::take(&mut cursor)?);
        }
        Ok(segment)
    }
}

/// Bytes that a segment takes in memory.
fn held_bytes<T>(segment: &Vec<T>) -> u64 {
    (segment.capacity() * size_of::<T>()) as u64
}

impl<T> Spill<T> {
    /// Bytes held in memory.
    pub fn resident_bytes(&self) -> u64 {
        let recalled = self.recalled.iter().map(|recalled| &recalled.segment);
        held_bytes(&self.top) + self.below.iter().chain(recalled).map(held_bytes).sum::<u64>()
    }
}

impl<T> Drop for Spill<T> {
    fn drop(&mut self) {
        self.arena.lock().resident_bytes -= self.resident_bytes();
    }
}

/// Iterates over a [`Spill`] from bottom to top.
#[derive(Debug)]
pub struct Iter<'a, T> {
    spill: &'a Spill<T>,
    /// The segment after the current one.
    next: usize,
    /// The rest of the current segment, in one of these two fields.
    resident: std::slice::Iter<'a, T>,
    loaded: std::vec::IntoIter<T>,
}

impl<T: SpillRow> Iter<'_, T> {
    #[cold]
    fn next_segment(&mut self) -> Result<bool> {
        let index = self.next;
        self.next += 1;
        match index.checked_sub(self.spill.spilled) {
            None => self.loaded = self.spill.load(index)?.into_iter(),
            Some(resident) if resident > self.spill.below.len() => return Ok(false),
            Some(resident) => self.resident = self.spill.below.get(resident).unwrap_or(&self.spill.top).iter(),
        }
        Ok(true)
    }
}

impl<T: Copy> Iter<'_, T> {
    /// The next entry of the current segment.
    #[inline]
    fn next_loaded(&mut self) -> Option<T> {
        self.resident.next().copied().or_else(|| self.loaded.next())
    }
}

impl<T: SpillRow> Iterator for Iter<'_, T> {
    type Item = Result<T>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.next_loaded() {
                return Some(Ok(entry));
            }
            match self.next_segment() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: u64 = 5 * SEGMENT as u64 + 17;

    fn filled(arena: &Arena) -> Spill<u64> {
        let mut spill = arena.stack();
        for value in 0..COUNT {
            spill.push(value).unwrap();
        }
        spill
    }

    fn entries(spill: &Spill<u64>) -> impl Iterator<Item = u64> {
        spill.iter().map(|entry| entry.unwrap())
    }

    #[test]
    fn spilled_and_resident_stacks_agree() {
        for limit in [0, u64::MAX] {
            let arena = Arena::new(limit);
            let mut spill = filled(&arena);
            assert_eq!(arena.has_spilled(), limit == 0);
            assert_eq!(spill.len(), COUNT);
            assert!(entries(&spill).eq(0..COUNT));
            for from in [0, 1, SEGMENT as u64, 3 * SEGMENT as u64 + 5, COUNT - 1, COUNT, COUNT + 9_999] {
                assert!(spill.iter_from(from).unwrap().map(|entry| entry.unwrap()).eq(from..COUNT), "{from}");
            }
            for value in (0..COUNT).rev() {
                assert_eq!(spill.last().copied(), Some(value));
                assert_eq!(spill.pop().unwrap(), Some(value));
            }
            assert_eq!(spill.pop().unwrap(), None);
            drop(spill);
            assert_eq!(arena.resident_bytes(), 0);
        }
    }

    #[test]
    fn going_back_and_forth_keeps_order_and_file_size() {
        let arena = Arena::new(0);
        let mut spill = filled(&arena);
        let file_bytes = arena.lock().file_bytes;
        for _ in 0..3 {
            for _ in 0..4 * SEGMENT {
                spill.pop().unwrap();
            }
            for value in COUNT - 4 * SEGMENT as u64..COUNT {
                spill.push(value).unwrap();
            }
        }
        assert!(entries(&spill).eq(0..COUNT));
        assert_eq!(arena.lock().file_bytes, file_bytes);
    }

    #[test]
    fn rewriting_reaches_every_entry_from_the_top() {
        for limit in [0, u64::MAX] {
            let mut spill = filled(&Arena::new(limit));
            let mut expected = COUNT;
            spill
                .rewrite_down(|entry| {
                    expected -= 1;
                    assert_eq!(*entry, expected);
                    *entry += 1;
                    Ok(())
                })
                .unwrap();
            assert!(entries(&spill).eq(1..=COUNT));
        }
    }

    #[test]
    fn any_entry_can_be_changed_wherever_it_is() {
        for limit in [0, u64::MAX] {
            let arena = Arena::new(limit);
            let mut spill = arena.stack();
            let count = (3 * MAX_RECALLED * SEGMENT) as u64 + 17;
            for value in 0..count {
                spill.push(value).unwrap();
                // The segments are changed alternately, so that all of them are spilled and recalled.
                if value % 64 == 0 {
                    spill.set(value * 2_654_435_761 % (value + 1), 0).unwrap();
                }
            }
            for value in (0..count).rev() {
                spill.set(value, value + 7).unwrap();
            }
            spill.set(count, 1).unwrap();
            assert!(entries(&spill).eq(7..count + 7));
            spill
                .rewrite_down(|entry| {
                    *entry -= 7;
                    Ok(())
                })
                .unwrap();
            for value in (0..count).rev() {
                assert_eq!(spill.pop().unwrap(), Some(value));
            }
            drop(spill);
            assert_eq!(arena.resident_bytes(), 0);
        }
    }

    #[test]
    fn two_stacks_share_one_arena() {
        let arena = Arena::new(0);
        let (one, two) = (filled(&arena), filled(&arena));
        assert!(entries(&one).eq(entries(&two)));
        drop(one);
        drop(two);
        assert_eq!(arena.resident_bytes(), 0);
    }
}

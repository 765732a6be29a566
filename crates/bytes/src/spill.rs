//! A stack that goes to a temporary file when memory for it runs out.

use std::{
    fs::File,
    io::{Seek, SeekFrom, Write},
    sync::{Arc, Mutex, PoisonError},
};

use crate::{ReadAt, Result, reserve};

/// Entries in a segment.
const SEGMENT: usize = 1 << 12;

/// Memory and one temporary file, shared by all the stacks of a trace.
#[derive(Clone, Debug)]
pub struct Arena(Arc<Mutex<Shared>>);

#[derive(Debug)]
struct Shared {
    limit_bytes: u64,
    resident_bytes: u64,
    file: Option<File>,
    file_bytes: u64,
}

impl Arena {
    /// An arena whose stacks hold about `limit_bytes` in memory.
    pub fn new(limit_bytes: u64) -> Self {
        let shared = Shared { limit_bytes, resident_bytes: 0, file: None, file_bytes: 0 };
        Self(Arc::new(Mutex::new(shared)))
    }

    /// An empty stack.
    pub fn stack<const N: usize>(&self) -> Spill<N> {
        Spill { arena: self.clone(), segments: Vec::new(), first: 0, slots: Vec::new() }
    }

    /// Bytes held in memory now.
    pub fn resident_bytes(&self) -> u64 {
        self.lock().resident_bytes
    }

    /// Whether anything had to go to the file.
    pub fn has_spilled(&self) -> bool {
        self.lock().file.is_some()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn write(&mut self, slot: Option<u64>, bytes: &[u8], slot_bytes: u64) -> Result<u64> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        let offset = slot.unwrap_or(self.file_bytes);
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(bytes)?;
        self.file_bytes = self.file_bytes.max(offset + slot_bytes);
        Ok(offset)
    }

    fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            let file = self.file.as_ref().ok_or(std::io::ErrorKind::NotFound).map_err(std::io::Error::from)?;
            match file.read_at(offset + filled as u64, rest)? {
                0 => return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into()),
                read => filled += read,
            }
        }
        Ok(())
    }
}

/// A stack of `N`-byte entries, in segments so that growing never copies.
///
/// Leading segments go to the arena's file when memory runs out and come back when they are needed.
/// A segment keeps its slot in the file, so going back and forth does not make the file grow.
#[derive(Debug)]
pub struct Spill<const N: usize> {
    arena: Arena,
    /// Resident segments; all but the last are full.
    segments: Vec<Vec<[u8; N]>>,
    /// How many segments before them are in the file only.
    first: usize,
    slots: Vec<Option<u64>>,
}

impl<const N: usize> Spill<N> {
    const SEGMENT_BYTES: u64 = (SEGMENT * N) as u64;

    /// Number of entries.
    pub fn len(&self) -> u64 {
        let full = self.first + self.segments.len().saturating_sub(1);
        (full * SEGMENT) as u64 + self.segments.last().map_or(0, |last| last.len() as u64)
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Adds an entry on top.
    #[inline]
    pub fn push(&mut self, entry: [u8; N]) -> Result<()> {
        match self.segments.last_mut() {
            Some(top) if top.len() < top.capacity() => top.push(entry),
            _ => self.push_slow(entry)?,
        }
        Ok(())
    }

    /// The entry on top.
    #[inline]
    pub fn last(&self) -> Option<&[u8; N]> {
        self.segments.last().and_then(|segment| segment.last())
    }

    /// The entry on top, to be changed.
    #[inline]
    pub fn last_mut(&mut self) -> Option<&mut [u8; N]> {
        self.segments.last_mut().and_then(|segment| segment.last_mut())
    }

    /// Takes the entry on top.
    #[inline]
    pub fn pop(&mut self) -> Result<Option<[u8; N]>> {
        let Some(top) = self.segments.last_mut() else { return Ok(None) };
        let entry = top.pop();
        if top.is_empty() {
            self.drop_top()?;
        }
        Ok(entry)
    }

    /// Walks from the top to the bottom and changes nothing.
    pub fn iter(&self) -> Iter<'_, N> {
        Iter { spill: self, segment: self.first + self.segments.len(), left: 0, loaded: Vec::new() }
    }

    #[cold]
    fn push_slow(&mut self, entry: [u8; N]) -> Result<()> {
        // The bottom segment grows with its contents: many small stacks stay small.
        if let [only] = self.segments.as_mut_slice()
            && only.len() < SEGMENT
        {
            let more = only.len().min(SEGMENT - only.len());
            only.reserve_exact(more);
            self.arena.lock().resident_bytes += (more * N) as u64;
            only.push(entry);
            return Ok(());
        }
        while self.segments.len() > 1 && self.arena_is_full() {
            self.spill_bottom()?;
        }
        let room = if self.first + self.segments.len() == 0 { 16 } else { SEGMENT };
        let mut segment = Vec::new();
        reserve(&mut segment, room)?;
        self.arena.lock().resident_bytes += (segment.capacity() * N) as u64;
        segment.push(entry);
        self.segments.push(segment);
        Ok(())
    }

    fn arena_is_full(&self) -> bool {
        let shared = self.arena.lock();
        shared.resident_bytes + Self::SEGMENT_BYTES > shared.limit_bytes
    }

    fn spill_bottom(&mut self) -> Result<()> {
        let segment = self.segments.remove(0);
        let slot = self.slots.get(self.first).copied().flatten();
        let mut shared = self.arena.lock();
        let offset = shared.write(slot, segment.as_flattened(), Self::SEGMENT_BYTES)?;
        shared.resident_bytes -= (segment.capacity() * N) as u64;
        drop(shared);
        if self.slots.len() <= self.first {
            self.slots.resize(self.first + 1, None);
        }
        if let Some(slot) = self.slots.get_mut(self.first) {
            *slot = Some(offset);
        }
        self.first += 1;
        Ok(())
    }

    /// The top segment is empty; the one below comes back from the file if it is there.
    #[cold]
    fn drop_top(&mut self) -> Result<()> {
        if let Some(top) = self.segments.pop() {
            self.arena.lock().resident_bytes -= (top.capacity() * N) as u64;
        }
        if self.segments.is_empty() && self.first > 0 {
            let segment = self.load(self.first - 1)?;
            self.arena.lock().resident_bytes += (segment.capacity() * N) as u64;
            self.first -= 1;
            self.segments.push(segment);
        }
        Ok(())
    }

    fn load(&self, index: usize) -> Result<Vec<[u8; N]>> {
        let mut segment = Vec::new();
        reserve(&mut segment, SEGMENT)?;
        segment.resize(SEGMENT, [0; N]);
        if let Some(offset) = self.slots.get(index).copied().flatten() {
            self.arena.lock().read(offset, segment.as_flattened_mut())?;
        }
        Ok(segment)
    }
}

impl<const N: usize> Drop for Spill<N> {
    fn drop(&mut self) {
        let held: usize = self.segments.iter().map(|segment| segment.capacity() * N).sum();
        self.arena.lock().resident_bytes -= held as u64;
    }
}

/// Entries of a [`Spill`] from the top to the bottom.
#[derive(Debug)]
pub struct Iter<'a, const N: usize> {
    spill: &'a Spill<N>,
    /// The segment that `left` counts in.
    segment: usize,
    left: usize,
    loaded: Vec<[u8; N]>,
}

impl<const N: usize> Iter<'_, N> {
    fn enter_segment_below(&mut self) -> Result<bool> {
        let Some(below) = self.segment.checked_sub(1) else { return Ok(false) };
        self.segment = below;
        self.left = match below.checked_sub(self.spill.first) {
            Some(resident) => self.spill.segments.get(resident).map_or(0, Vec::len),
            None => {
                self.loaded = self.spill.load(below)?;
                self.loaded.len()
            }
        };
        Ok(true)
    }
}

impl<const N: usize> Iterator for Iter<'_, N> {
    type Item = Result<[u8; N]>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        while self.left == 0 {
            match self.enter_segment_below() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
        self.left -= 1;
        let segment = match self.segment.checked_sub(self.spill.first) {
            Some(resident) => self.spill.segments.get(resident)?,
            None => &self.loaded,
        };
        segment.get(self.left).copied().map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: u32 = 5 * SEGMENT as u32 + 17;

    fn filled(arena: &Arena) -> Spill<4> {
        let mut spill = arena.stack();
        for value in 0..COUNT {
            spill.push(value.to_le_bytes()).unwrap();
        }
        spill
    }

    fn top_down(spill: &Spill<4>) -> impl Iterator<Item = u32> {
        spill.iter().map(|entry| u32::from_le_bytes(entry.unwrap()))
    }

    #[test]
    fn spilled_and_resident_stacks_agree() {
        for limit in [0, u64::MAX] {
            let arena = Arena::new(limit);
            let mut spill = filled(&arena);
            assert_eq!(arena.has_spilled(), limit == 0);
            assert_eq!(spill.len(), u64::from(COUNT));
            assert!(top_down(&spill).eq((0..COUNT).rev()));
            for value in (0..COUNT).rev() {
                assert_eq!(spill.last().copied().map(u32::from_le_bytes), Some(value));
                assert_eq!(spill.pop().unwrap().map(u32::from_le_bytes), Some(value));
            }
            assert_eq!(spill.pop().unwrap(), None);
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
            for value in COUNT - 4 * SEGMENT as u32..COUNT {
                spill.push(value.to_le_bytes()).unwrap();
            }
        }
        assert!(top_down(&spill).eq((0..COUNT).rev()));
        assert_eq!(arena.lock().file_bytes, file_bytes);
    }

    #[test]
    fn two_stacks_share_one_arena() {
        let arena = Arena::new(0);
        let (one, two) = (filled(&arena), filled(&arena));
        assert!(top_down(&one).eq(top_down(&two)));
        drop(one);
        drop(two);
        assert_eq!(arena.resident_bytes(), 0);
    }
}

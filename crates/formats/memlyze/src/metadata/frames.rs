//! Frames, each stored once, in twelve bytes, because metadata may hold millions of them.

use std::hash::{BuildHasher, RandomState};

use traceloom_core::{Error, Result, reserve};

use crate::Frame;

/// The distinct frames of a file. Call order: `(intern* forget_hashes get*)*`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frames {
    packed: Vec<[u32; 3]>,
    /// Numbers that need more than 31 bits; real files have none.
    wide: Vec<u64>,
    /// Rows of `packed`, each near the slot given by its hash; [`EMPTY`] if there is none.
    slots: Vec<u32>,
    /// Random, so that no file can be made to put all rows close together.
    hasher: RandomState,
}

const EMPTY: u32 = u32::MAX;
/// Represents a number that the file does not have.
const ABSENT: u32 = u32::MAX;
/// Marks an index into `wide`.
const WIDE: u32 = 1 << 31;

impl Frames {
    /// The row of a frame; a new one if the frame is new.
    pub(crate) fn intern(&mut self, frame: &Frame) -> Result<u32> {
        let packed = [self.pack(frame.file)?, self.pack(frame.line)?, self.pack(frame.function)?];
        if self.packed.len().saturating_mul(2) >= self.slots.len() {
            self.grow()?;
        }
        let place = self.place_of(&packed);
        match self.slots.get_mut(place) {
            Some(slot) if *slot == EMPTY => {
                let row = u32::try_from(self.packed.len()).ok().filter(|row| *row != EMPTY);
                *slot = row.ok_or_else(|| Error::limit("frames", self.packed.len() as u64, EMPTY.into()))?;
                reserve(&mut self.packed, 1)?;
                self.packed.push(packed);
                Ok(*slot)
            }
            Some(slot) => Ok(*slot),
            None => Ok(EMPTY),
        }
    }

    /// Frees the memory that only [`Frames::intern`] needs.
    pub(crate) fn forget_hashes(&mut self) {
        self.slots = Vec::new();
    }

    pub(crate) fn get(&self, row: u32) -> Frame {
        let [file, line, function] = self.packed.get(row as usize).copied().unwrap_or([ABSENT; 3]);
        Frame { file: self.unpack(file), line: self.unpack(line), function: self.unpack(function) }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Frame> {
        (0..self.packed.len()).map(|row| self.get(row as u32))
    }

    fn pack(&mut self, number: Option<u64>) -> Result<u32> {
        let Some(number) = number else { return Ok(ABSENT) };
        if let Some(small) = u32::try_from(number).ok().filter(|small| *small < WIDE) {
            return Ok(small);
        }
        let place = self.wide.len() as u64;
        if place >= u64::from(ABSENT - WIDE) {
            return Err(Error::limit("numbers above 31 bits in frames", place, (ABSENT - WIDE).into()));
        }
        reserve(&mut self.wide, 1)?;
        self.wide.push(number);
        Ok(WIDE | place as u32)
    }

    fn unpack(&self, packed: u32) -> Option<u64> {
        match packed {
            ABSENT => None,
            WIDE.. => self.wide.get((packed - WIDE) as usize).copied(),
            small => Some(small.into()),
        }
    }

    /// The slot of the frame, or the empty slot for it; at least half of the slots are empty.
    fn place_of(&self, packed: &[u32; 3]) -> usize {
        let mask = self.slots.len().wrapping_sub(1);
        let mut place = self.hasher.hash_one(packed) as usize & mask;
        while let Some(row) = self.slots.get(place).filter(|row| **row != EMPTY) {
            if self.packed.get(*row as usize) == Some(packed) {
                break;
            }
            place = (place + 1) & mask;
        }
        place
    }

    fn grow(&mut self) -> Result<()> {
        let wanted = (self.packed.len() + 1).saturating_mul(4).next_power_of_two().max(64);
        let mut slots = Vec::new();
        reserve(&mut slots, wanted)?;
        slots.resize(wanted, EMPTY);
        self.slots = slots;
        for row in 0..self.packed.len() {
            let Some(packed) = self.packed.get(row) else { break };
            let place = self.place_of(packed);
            if let Some(slot) = self.slots.get_mut(place) {
                *slot = row as u32;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_frames_have_one_row_also_after_a_pause() {
        let mut frames = Frames::default();
        let frame = |number: u64| Frame { file: Some(number % 7), line: Some(number), function: None };
        for round in 0..3 {
            for number in 0..1000 {
                assert_eq!(frames.intern(&frame(number)).unwrap(), number as u32, "{round}");
                assert_eq!(frames.get(number as u32), frame(number));
            }
            frames.forget_hashes();
        }
        assert_eq!(frames.iter().count(), 1000);
    }

    #[test]
    fn large_numbers_and_none_come_back() {
        let mut frames = Frames::default();
        let numbers = [None, Some(0), Some((1 << 31) - 1), Some(1 << 31), Some(u64::from(u32::MAX)), Some(u64::MAX)];
        for file in numbers {
            for function in numbers {
                let frame = Frame { file, line: file, function };
                let row = frames.intern(&frame).unwrap();
                assert_eq!(frames.get(row), frame);
            }
        }
    }
}

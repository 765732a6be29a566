//! Pseudo-random numbers that are the same in every run.

/// A small generator (SplitMix64): a failure can be reproduced from its seed.
#[derive(Clone, Debug)]
pub struct Noise(u64);

impl Noise {
    /// Starts a sequence.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `end`; 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        self.number().checked_rem(end as u64).unwrap_or(0) as usize
    }
}

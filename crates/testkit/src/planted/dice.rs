//! Random numbers as the families need them.

use crate::Noise;

/// Random numbers of one trace.
#[derive(Debug)]
pub struct Dice {
    noise: Noise,
    /// How much durations vary in this trace.
    spread: f64,
    has_tail: bool,
}

impl Dice {
    /// The same numbers for the same seed.
    pub fn new(seed: u64) -> Self {
        let mut dice = Self { noise: Noise::new(seed), spread: 0.1, has_tail: false };
        dice.noise.number();
        dice.spread = dice.between(0.02, 0.15);
        dice.has_tail = dice.chance(0.3);
        dice
    }

    /// A number from 0 up to but not including 1.
    pub fn share(&mut self) -> f64 {
        (self.noise.number() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Between two numbers.
    pub fn between(&mut self, from: f64, to: f64) -> f64 {
        from + self.share() * (to - from)
    }

    /// A whole number in a range, including both ends.
    pub fn whole(&mut self, from: i64, to: i64) -> i64 {
        from + self.noise.below((to - from + 1) as usize) as i64
    }

    /// True with a probability.
    pub fn chance(&mut self, share: f64) -> bool {
        self.share() < share
    }

    /// One of several.
    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.noise.below(of.len())]
    }

    /// A normally distributed number.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.share()).sum::<f64>() - 6.0
    }

    /// A duration around a mean, with the noise of this trace.
    pub fn around(&mut self, mean_ns: f64) -> i64 {
        let factor = (self.normal() * self.spread).exp();
        let tail = if self.has_tail { -self.share().max(1e-9).ln() * self.spread } else { 0.0 };
        (mean_ns * (factor + tail)).max(1.0) as i64
    }

    /// Some of the words, in random order.
    pub fn words(&mut self, count: usize, of: &[&str]) -> Vec<String> {
        let mut words: Vec<&str> = of.to_vec();
        let mut chosen = Vec::new();
        while chosen.len() < count && !words.is_empty() {
            chosen.push(words.swap_remove(self.noise.below(words.len())).to_owned());
        }
        chosen
    }
}

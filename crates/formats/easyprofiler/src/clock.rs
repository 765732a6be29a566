//! Converts ticks to nanoseconds, bit for bit like easy_profiler's reader.

use crate::Header;

/// Converts the times of one file.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    factor: Option<f64>,
    begin_ns: u64,
    first_kept: u64,
}

impl Clock {
    /// The clock that a header describes.
    pub fn new(header: &Header) -> Self {
        // easy_profiler stores the frequency signed and divides by it unsigned.
        let frequency = header.cpu_frequency as u64;
        let factor = (frequency != 0).then(|| 1e9 / frequency as f64);
        let mut clock = Self { factor, begin_ns: 0, first_kept: 0 };
        clock.begin_ns = clock.ns(header.begin_time);
        clock.first_kept = clock.first_tick_at(clock.begin_ns);
        clock
    }

    /// A stored time in nanoseconds.
    #[inline]
    pub fn ns(&self, ticks: u64) -> u64 {
        match self.factor {
            Some(factor) => scale(ticks, factor),
            None => ticks,
        }
    }

    /// Start of the capture; 0 in a live capture.
    pub fn begin_ns(&self) -> u64 {
        self.begin_ns
    }

    /// Whether easy_profiler keeps a block that ends at `end`.
    #[inline]
    pub fn keeps_block(&self, end: u64) -> bool {
        end >= self.first_kept
    }

    /// The first tick of the capture: records that ended before are not part of it.
    pub fn first_kept(&self) -> u64 {
        self.first_kept
    }

    /// Whether easy_profiler keeps a switch that ends at `end`.
    #[inline]
    pub fn keeps_switch(&self, end: u64) -> bool {
        self.ns(end) > self.begin_ns
    }

    /// Start and end in nanoseconds; the start is not before that of the capture.
    ///
    /// A record that ended before the start of the capture keeps its times: easy_profiler drops it.
    #[inline]
    pub fn span(&self, begin: u64, end: u64) -> (u64, u64) {
        let (begin, end) = (self.ns(begin), self.ns(end));
        if end >= self.begin_ns { (begin.max(self.begin_ns), end) } else { (begin, end) }
    }

    /// The smallest tick that converts to `ns` or more; the conversion never decreases.
    pub fn first_tick_at(&self, ns: u64) -> u64 {
        let (mut low, mut high) = (0, u64::MAX);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.ns(middle) >= ns { high = middle } else { low = middle + 1 }
        }
        low
    }
}

/// Both operations in f64 and a truncating cast: anything more exact would differ from easy_profiler.
#[inline]
fn scale(ticks: u64, factor: f64) -> u64 {
    // Machines convert signed numbers in one instruction and unsigned ones in ten; if both can hold the value, they
    // agree.
    let ns = ticks.cast_signed() as f64 * factor;
    if ticks <= i64::MAX as u64 && ns < i64::MAX as f64 {
        (ns as i64).cast_unsigned()
    } else {
        scale_large(ticks, factor)
    }
}

#[cold]
#[inline(never)]
fn scale_large(ticks: u64, factor: f64) -> u64 {
    (ticks as f64 * factor) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_conversion_is_the_plain_one() {
        let factors = [1e9 / 2_445_284_000.0, 1e9 / 1e7, 1e9, 1e-3, 1e9 / u64::MAX as f64];
        let ticks = (0..64).flat_map(|bit| [1u64 << bit, (1 << bit) - 1, (1 << bit) + (1 << bit) / 3]);
        for ticks in ticks.chain([u64::MAX, i64::MAX as u64, i64::MAX as u64 + 1]) {
            for factor in factors {
                assert_eq!(scale(ticks, factor), scale_large(ticks, factor), "{ticks} * {factor}");
            }
        }
    }
}

//! Human-readable sizes.

use std::fmt;

pub(crate) use traceloom_core::Nanoseconds;

/// A size in bytes with a unit.
pub(crate) struct Bytes(pub(crate) u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0 as f64;
        match self.0 {
            bytes @ 0..10_000 => write!(f, "{bytes} B"),
            // Sizes that would be rounded up to 1000 belong to the next unit.
            10_000..999_950 => write!(f, "{:.1} kB", bytes / 1e3),
            999_950..999_950_000 => write!(f, "{:.1} MB", bytes / 1e6),
            999_950_000..999_950_000_000 => write!(f, "{:.1} GB", bytes / 1e9),
            _ => write!(f, "{:.1} TB", bytes / 1e12),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_size_has_four_digits_before_the_point() {
        let text = |bytes| Bytes(bytes).to_string();
        assert_eq!([text(9_999), text(10_000)], ["9999 B", "10.0 kB"]);
        assert_eq!([text(999_949), text(999_950)], ["999.9 kB", "1.0 MB"]);
        assert_eq!([text(1_134_800), text(26_642_824)], ["1.1 MB", "26.6 MB"]);
        assert_eq!([text(999_949_999), text(5_000_000_000)], ["999.9 MB", "5.0 GB"]);
    }
}

//! Times and sizes as people write and read them.

use std::fmt;

/// A stretch of time in nanoseconds, open on either side.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Range {
    pub(crate) from_ns: Option<i64>,
    pub(crate) to_ns: Option<i64>,
}

/// Reads `1.5s..1.7s`; either side may be left out.
pub(crate) fn parse_range(text: &str) -> Result<Range, String> {
    let (from, to) = text.split_once("..").ok_or_else(|| format!("`{text}` is no stretch: write `1.5s..1.7s`"))?;
    let side = |text: &str| if text.is_empty() { Ok(None) } else { parse_time(text).map(Some) };
    let range = Range { from_ns: side(from)?, to_ns: side(to)? };
    match (range.from_ns, range.to_ns) {
        (Some(from), Some(to)) if from > to => Err(format!("`{text}` ends before it begins")),
        _ => Ok(range),
    }
}

static UNITS: &[(&str, i64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Reads `1.5s`, `250ms`, `10us`, `0` into nanoseconds; a number alone is seconds.
///
/// The digits behind the point are taken as they stand, so `0.000000001s` is exactly one nanosecond.
pub(crate) fn parse_time(text: &str) -> Result<i64, String> {
    let wrong = || format!("`{text}` is no time: write `1.5s`, `250ms`, `10us` or `300ns`");
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let end = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
    let (number, unit) = digits.split_at_checked(end).ok_or_else(wrong)?;
    let unit = if unit.is_empty() { "s" } else { unit };
    let (_, scale) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return Err(wrong());
    }
    let parse = |digits: &str| if digits.is_empty() { Some(0) } else { digits.parse::<i64>().ok() };
    let mut ns = parse(whole).and_then(|whole| whole.checked_mul(*scale)).ok_or_else(wrong)?;
    let mut place = *scale;
    for digit in fraction.chars() {
        place /= 10;
        ns = ns.checked_add(i64::from(digit.to_digit(10).ok_or_else(wrong)?) * place).ok_or_else(wrong)?;
    }
    Ok(if negative { -ns } else { ns })
}

/// A time in the unit that fits it, to the nanosecond.
pub(crate) struct Nanoseconds(pub(crate) u64);

impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, scale) = match self.0 {
            0..1_000 => ("ns", 1),
            1_000..1_000_000 => ("µs", 1_000),
            1_000_000..1_000_000_000 => ("ms", 1_000_000),
            _ => ("s", 1_000_000_000),
        };
        let digits = [1, 1_000, 1_000_000, 1_000_000_000].iter().position(|known| *known == scale).unwrap_or(0) * 3;
        let fraction = format!("{:0digits$}", self.0 % scale);
        match fraction.trim_end_matches('0') {
            "" => write!(f, "{} {unit}", self.0 / scale),
            fraction => write!(f, "{}.{fraction} {unit}", self.0 / scale),
        }
    }
}

/// A size in bytes with a unit.
pub(crate) struct Bytes(pub(crate) u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes @ 0..10_000 => write!(f, "{bytes} B"),
            bytes @ 10_000..10_000_000 => write!(f, "{:.1} kB", bytes as f64 / 1e3),
            bytes @ 10_000_000..10_000_000_000 => write!(f, "{:.1} MB", bytes as f64 / 1e6),
            bytes => write!(f, "{:.1} GB", bytes as f64 / 1e9),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_exactly() {
        let ns = parse_time;
        assert_eq!(ns("1.5s"), Ok(1_500_000_000));
        assert_eq!(ns("0.000000001"), Ok(1));
        assert_eq!(ns("-250ms"), Ok(-250_000_000));
        assert_eq!(ns(".5us"), Ok(500));
        assert_eq!(ns("2m"), Ok(120_000_000_000));
        assert_eq!(ns("1.5h"), Ok(5_400_000_000_000));
        for wrong in ["", "s", ".", "1d", "1.2.3s", "--1s", "99999999999s"] {
            assert!(ns(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_stretch_may_be_open() {
        let range = |from_ns, to_ns| Ok(Range { from_ns, to_ns });
        assert_eq!(parse_range("1s..2s"), range(Some(1_000_000_000), Some(2_000_000_000)));
        assert_eq!(parse_range("..5ms"), range(None, Some(5_000_000)));
        assert_eq!(parse_range("-1s.."), range(Some(-1_000_000_000), None));
        for wrong in ["", "1s", "2s..1s", "1s...2s"] {
            assert!(parse_range(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_are_shown_to_the_nanosecond() {
        let text = |ns| Nanoseconds(ns).to_string();
        assert_eq!(text(0), "0 ns");
        assert_eq!(text(1_000), "1 µs");
        assert_eq!(text(1_234_567), "1.234567 ms");
        assert_eq!(text(60_000_000_001), "60.000000001 s");
    }
}

//! Time ranges, and parsing and formatting of times.

use std::{fmt, str::FromStr};

use crate::{Error, Result};

/// A half-open time range in nanoseconds: it includes its start but not its end.
///
/// Either side may be open. Adjacent ranges partition a trace: every timestamp is in exactly one of `..t` and `t..`.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct TimeRange {
    from_ns: Option<i64>,
    to_ns: Option<i64>,
}

impl TimeRange {
    /// All of time.
    pub const ALL: Self = Self { from_ns: None, to_ns: None };

    /// A range from one timestamp to another; `None` leaves that side open.
    pub const fn new(from_ns: Option<i64>, to_ns: Option<i64>) -> Self {
        Self { from_ns, to_ns }
    }

    /// A range from one timestamp to another.
    pub const fn between(from_ns: i64, to_ns: i64) -> Self {
        Self::new(Some(from_ns), Some(to_ns))
    }

    /// The range from one timestamp to another, including the last; the end is open if no timestamp is later.
    pub const fn including(first_ns: i64, last_ns: i64) -> Self {
        Self::new(Some(first_ns), last_ns.checked_add(1))
    }

    /// The start; `None` if the range has no start.
    pub const fn from_ns(&self) -> Option<i64> {
        self.from_ns
    }

    /// The end, which is not included; `None` if the range has no end.
    pub const fn to_ns(&self) -> Option<i64> {
        self.to_ns
    }

    /// Whether the range covers all of time.
    pub const fn is_all(&self) -> bool {
        self.from_ns.is_none() && self.to_ns.is_none()
    }

    /// Whether the range contains no timestamp.
    pub fn is_empty(&self) -> bool {
        self.to_ns.is_some_and(|to| self.from_ns.unwrap_or(i64::MIN) >= to)
    }

    /// Whether a timestamp is in the range.
    #[inline]
    pub fn contains(&self, ts_ns: i64) -> bool {
        self.from_ns.is_none_or(|from| from <= ts_ns) && self.is_before_end(ts_ns)
    }

    /// Whether an interval overlaps the range; an interval of zero length is a single timestamp.
    #[inline]
    pub fn overlaps(&self, begin_ns: i64, end_ns: i64) -> bool {
        let reaches = |from: i64| from < end_ns || from <= begin_ns;
        self.is_before_end(begin_ns) && self.from_ns.is_none_or(reaches)
    }

    /// Whether a span overlaps the range; a span without a duration never ends.
    #[inline]
    pub fn overlaps_span(&self, ts_ns: i64, dur_ns: Option<i64>) -> bool {
        match dur_ns {
            Some(dur_ns) => self.overlaps(ts_ns, ts_ns.saturating_add(dur_ns)),
            None => self.is_before_end(ts_ns),
        }
    }

    /// Whether a timestamp is before the end of the range; it may also be before the start.
    #[inline]
    pub fn is_before_end(&self, ts_ns: i64) -> bool {
        self.to_ns.is_none_or(|to| ts_ns < to)
    }

    /// Moves a timestamp outside the range to the nearest edge.
    #[inline]
    pub fn clamp(&self, ts_ns: i64) -> i64 {
        let ts_ns = self.from_ns.map_or(ts_ns, |from| ts_ns.max(from));
        self.to_ns.map_or(ts_ns, |to| ts_ns.min(to))
    }

    /// The intersection of two ranges.
    #[must_use]
    pub fn and(&self, other: Self) -> Self {
        let later = |one: Option<i64>, two: Option<i64>| one.max(two);
        let earlier = |one: Option<i64>, two: Option<i64>| match (one, two) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        Self::new(later(self.from_ns, other.from_ns), earlier(self.to_ns, other.to_ns))
    }

    /// The range moved by `shift_ns`.
    #[must_use]
    pub fn shifted(&self, shift_ns: i64) -> Self {
        let shift = |side: Option<i64>| side.map(|ns| ns.saturating_add(shift_ns));
        Self::new(shift(self.from_ns), shift(self.to_ns))
    }
}

/// Reads `1.5s..1.7s`; either side may be left out.
impl FromStr for TimeRange {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::usage(format!("invalid range `{text}`; expected something like `1.5s..1.7s`"));
        let (from, to) = text.split_once("..").ok_or_else(wrong)?;
        let side = |text: &str| if text.is_empty() { Ok(None) } else { parse_duration(text).map(Some) };
        let range = Self::new(side(from)?, side(to)?);
        match (range.from_ns, range.to_ns) {
            (Some(from), Some(to)) if from > to => {
                Err(Error::usage(format!("the range `{text}` ends before it starts")))
            }
            _ => Ok(range),
        }
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

/// Parses `1.5s`, `250ms`, `10us`, `0` into nanoseconds; a number without a unit is in seconds.
///
/// Decimals are exact: `0.000000001s` is one nanosecond.
pub fn parse_duration(text: &str) -> Result<i64> {
    let wrong = || Error::usage(format!("invalid time `{text}`; expected something like `1.5s`, `250ms` or `10us`"));
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

/// A duration printed in a suitable unit, to the nanosecond.
#[derive(Clone, Copy, Debug)]
pub struct Nanoseconds(pub u64);

impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_in_unit(f, self.0, ["ns", "µs", "ms", "s"])
    }
}

/// A frequency printed in a suitable unit, to the hertz.
#[derive(Clone, Copy, Debug)]
pub struct Hertz(pub u64);

impl fmt::Display for Hertz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_in_unit(f, self.0, ["Hz", "kHz", "MHz", "GHz"])
    }
}

/// Writes a number with all of its digits, in the largest unit that it reaches; each is 1000 of the one before.
fn write_in_unit(f: &mut fmt::Formatter<'_>, value: u64, units: [&str; 4]) -> fmt::Result {
    let (step, scale) = match value {
        0..1_000 => (0, 1),
        1_000..1_000_000 => (1, 1_000),
        1_000_000..1_000_000_000 => (2, 1_000_000),
        _ => (3, 1_000_000_000),
    };
    let (unit, digits) = (units[step], 3 * step);
    let fraction = format!("{:0digits$}", value % scale);
    match fraction.trim_end_matches('0') {
        "" => write!(f, "{} {unit}", value / scale),
        fraction => write!(f, "{}.{fraction} {unit}", value / scale),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_have_all_of_their_digits() {
        let text = |hertz| Hertz(hertz).to_string();
        assert_eq!([text(60), text(32_768)], ["60 Hz", "32.768 kHz"]);
        assert_eq!([text(10_000_000), text(2_445_334_000)], ["10 MHz", "2.445334 GHz"]);
    }

    #[test]
    fn adjacent_ranges_partition_every_moment() {
        for cut in [i64::MIN, -1, 0, 5, i64::MAX] {
            let (left, right) = (TimeRange::new(None, Some(cut)), TimeRange::new(Some(cut), None));
            for ts in [i64::MIN, -2, -1, 0, 4, 5, 6, i64::MAX] {
                assert_eq!(usize::from(left.contains(ts)) + usize::from(right.contains(ts)), 1, "{ts} cut at {cut}");
                assert_eq!(left.overlaps(ts, ts), left.contains(ts), "a moment is an interval that takes no time");
            }
        }
        assert!(TimeRange::including(0, i64::MAX).contains(i64::MAX));
        assert!(!TimeRange::between(3, 3).contains(3) && TimeRange::between(3, 3).is_empty());
    }

    #[test]
    fn an_interval_overlaps_when_some_of_it_is_inside() {
        let range = TimeRange::between(10, 20);
        for (begin, end, expected) in [
            (0, 10, false),
            (0, 11, true),
            (10, 10, true),
            (19, 30, true),
            (20, 30, false),
            (20, 20, false),
            (0, 99, true),
        ] {
            assert_eq!(range.overlaps(begin, end), expected, "{begin}..{end}");
        }
        assert!(range.overlaps_span(0, None) && !range.overlaps_span(20, None));
        assert!(TimeRange::ALL.is_all() && TimeRange::ALL.contains(i64::MIN) && TimeRange::ALL.overlaps_span(7, None));
        assert_eq!((range.clamp(5), range.clamp(15), range.clamp(25)), (10, 15, 20));
    }

    #[test]
    fn ranges_meet_and_move() {
        let range = TimeRange::between(10, 20);
        assert_eq!(range.and(TimeRange::new(Some(12), None)), TimeRange::between(12, 20));
        assert_eq!(range.and(TimeRange::new(None, Some(15))), TimeRange::between(10, 15));
        assert_eq!(range.and(TimeRange::ALL), range);
        assert_eq!(range.shifted(-5), TimeRange::between(5, 15));
        assert_eq!(TimeRange::ALL.shifted(-5), TimeRange::ALL);
    }

    #[test]
    fn durations_are_read_exactly() {
        let ns = |text| parse_duration(text).ok();
        assert_eq!(ns("1.5s"), Some(1_500_000_000));
        assert_eq!(ns("0.000000001"), Some(1));
        assert_eq!(ns("-250ms"), Some(-250_000_000));
        assert_eq!(ns(".5us"), Some(500));
        assert_eq!(ns("2m"), Some(120_000_000_000));
        assert_eq!(ns("1.5h"), Some(5_400_000_000_000));
        for wrong in ["", "s", ".", "1d", "1.2.3s", "--1s", "99999999999s"] {
            assert!(ns(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_range_is_read_with_open_sides() {
        let range = |text: &str| text.parse::<TimeRange>().ok();
        assert_eq!(range("1s..2s"), Some(TimeRange::between(1_000_000_000, 2_000_000_000)));
        assert_eq!(range("..5ms"), Some(TimeRange::new(None, Some(5_000_000))));
        assert_eq!(range("-1s.."), Some(TimeRange::new(Some(-1_000_000_000), None)));
        for wrong in ["", "1s", "2s..1s", "1s...2s"] {
            assert!(range(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn durations_are_shown_to_the_nanosecond() {
        let text = |ns| Nanoseconds(ns).to_string();
        assert_eq!(text(0), "0 ns");
        assert_eq!(text(1_000), "1 µs");
        assert_eq!(text(1_234_567), "1.234567 ms");
        assert_eq!(text(60_000_000_001), "60.000000001 s");
    }
}

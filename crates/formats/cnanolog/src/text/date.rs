//! Dates and times of day.

use traceloom_core::civil;

use crate::{Moment, printf};

/// Seconds east of Greenwich at a Unix time.
pub type Zone = fn(i64) -> i32;

/// The default time zone of the program.
pub fn utc(_: i64) -> i32 {
    0
}

/// Formats times; the text of the last second is cached, because most entries share it with the previous one.
#[derive(Clone, Debug)]
pub struct Stamp {
    zone: Zone,
    second: Option<i64>,
    /// `YYYY-MM-DD HH:MM:SS`
    text: Vec<u8>,
}

impl Stamp {
    /// Times in a zone.
    pub fn new(zone: Zone) -> Self {
        Self { zone, second: None, text: Vec::new() }
    }

    /// `YYYY-MM-DD HH:MM:SS.nnnnnnnnn`
    #[inline]
    pub fn put_date_time(&mut self, moment: Moment, out: &mut Vec<u8>) {
        out.extend_from_slice(self.second(moment.sec));
        put_fraction::<10>(moment.nsec, out);
    }

    /// `HH:MM:SS.mmm`
    pub fn put_short_time(&mut self, moment: Moment, out: &mut Vec<u8>) {
        self.put_time(moment, out);
        put_fraction::<4>(moment.nsec / 1_000_000, out);
    }

    /// `YYYY-MM-DD`
    pub fn put_date(&mut self, moment: Moment, out: &mut Vec<u8>) {
        let text = self.second(moment.sec);
        let date = text.len().saturating_sub(" HH:MM:SS".len());
        out.extend_from_slice(text.get(..date).unwrap_or_default());
    }

    /// `HH:MM:SS`
    pub fn put_time(&mut self, moment: Moment, out: &mut Vec<u8>) {
        let text = self.second(moment.sec);
        let time = text.len().saturating_sub("HH:MM:SS".len());
        out.extend_from_slice(text.get(time..).unwrap_or_default());
    }

    /// `YYYY-MM-DD HH:MM:SS`
    #[inline]
    fn second(&mut self, second: i64) -> &[u8] {
        if self.second != Some(second) {
            self.render(second);
        }
        &self.text
    }

    #[cold]
    fn render(&mut self, second: i64) {
        self.second = Some(second);
        let local = second.saturating_add((self.zone)(second).into());
        let (days, rest) = (local.div_euclid(86_400), local.rem_euclid(86_400));
        let (year, month, day) = civil(days);
        let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
        self.text = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}").into_bytes();
    }
}

/// A point and the digits after it, `N` bytes in total.
#[inline]
pub(crate) fn put_fraction<const N: usize>(value: u32, out: &mut Vec<u8>) {
    let mut text = [b'.'; N];
    if let [_, digits @ ..] = text.as_mut_slice() {
        printf::fill_decimal(value, digits);
    }
    out.extend_from_slice(&text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(sec: i64) -> String {
        let mut out = Vec::new();
        Stamp::new(utc).put_date_time(Moment { sec, nsec: 5 }, &mut out);
        String::from_utf8(out).expect("digits")
    }

    #[test]
    fn dates_of_every_kind() {
        assert_eq!(shown(0), "1970-01-01 00:00:00.000000005");
        assert_eq!(shown(-1), "1969-12-31 23:59:59.000000005");
        assert_eq!(shown(951_782_400), "2000-02-29 00:00:00.000000005");
        assert_eq!(shown(1_709_251_199), "2024-02-29 23:59:59.000000005");
        assert_eq!(shown(4_107_542_400), "2100-03-01 00:00:00.000000005");
        assert_eq!(shown(-62_135_596_800), "0001-01-01 00:00:00.000000005");
        assert_eq!(shown(253_402_300_800), "10000-01-01 00:00:00.000000005");
        shown(i64::MIN);
        shown(i64::MAX);
    }

    #[test]
    fn parts_and_zones() {
        let mut stamp = Stamp::new(|_| 3600);
        let moment = Moment { sec: 86_399, nsec: 999_999_999 };
        let mut out = Vec::new();
        stamp.put_date(moment, &mut out);
        out.push(b' ');
        stamp.put_time(moment, &mut out);
        out.push(b' ');
        stamp.put_short_time(moment, &mut out);
        assert_eq!(out, b"1970-01-02 00:59:59 00:59:59.999");
    }
}

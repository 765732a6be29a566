//! Dates and times of day, without a time zone database.

/// Formats microseconds since the Unix epoch, like `2026-01-05 09:00:00.000250 UTC`.
pub fn date_time(unix_us: u64) -> String {
    let (seconds, us) = (unix_us / 1_000_000, unix_us % 1_000_000);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days as i64);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{us:06} UTC")
}

/// Year, month and day of a day counted from 1970, in the proleptic Gregorian calendar.
pub fn civil(days: i64) -> (i64, u32, u32) {
    // Years start in March, so the leap day is the last day of the year; 400 years are 146 097 days.
    let days = days.saturating_add(719_468);
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month as u32, day as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_follows_the_one_before() {
        let mut expected = (1970, 1, 1);
        for days in 0..300_000 {
            assert_eq!(civil(days), expected, "{days}");
            let (year, month, day) = expected;
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = match month {
                2 => 28 + u32::from(is_leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            expected = match (month, day == length) {
                (12, true) => (year + 1, 1, 1),
                (_, true) => (year, month + 1, 1),
                (_, false) => (year, month, day + 1),
            };
        }
    }

    #[test]
    fn moments_are_shown_to_the_microsecond() {
        assert_eq!(date_time(0), "1970-01-01 00:00:00.000000 UTC");
        assert_eq!(date_time(1_767_603_600_000_250), "2026-01-05 09:00:00.000250 UTC");
        assert_eq!(date_time(u64::MAX), "586524-01-19 08:01:49.551615 UTC");
    }
}

//! Moments as dates, without a time zone database.

/// `2026-01-05 09:00:00.000250 UTC`, from microseconds since the Unix epoch.
pub(crate) fn date_time(unix_us: u64) -> String {
    let (seconds, us) = (unix_us / 1_000_000, unix_us % 1_000_000);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{us:06} UTC")
}

/// Year, month and day, from days since 1970-01-01.
fn date(days: u64) -> (u64, u64, u64) {
    // Years begin in March here, so that the leap day is the last of its year; day 0 is 1600-03-01.
    let days = days + 135_080;
    let (era, day) = (days / 146_097, days % 146_097);
    let century = (day / 36_524).min(3);
    let day = day - century * 36_524;
    let (four_years, day) = (day / 1_461, day % 1_461);
    let year = (day / 365).min(3);
    let day = day - year * 365;
    // From March on, months repeat 31 30 31 30 31: five months have 153 days.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (1600 + 400 * era + 100 * century + 4 * four_years + year + next_year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_follows_the_one_before() {
        let mut expected = (1970, 1, 1);
        for days in 0..300_000 {
            assert_eq!(date(days), expected, "{days}");
            let (year, month, day) = expected;
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = match month {
                2 => 28 + u64::from(is_leap),
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

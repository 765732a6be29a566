//! Human-readable numbers.

/// A time with three digits: `58.2 ms`.
pub fn time(ns: f64) -> String {
    match ns.abs() {
        below if below < 999.5 => format!("{ns:.0} ns"),
        below if below < 999.5e3 => format!("{} µs", digits(ns / 1e3)),
        below if below < 999.5e6 => format!("{} ms", digits(ns / 1e6)),
        below if below < 600e9 => format!("{} s", digits(ns / 1e9)),
        below if below < 7200e9 => format!("{} min", digits(ns / 60e9)),
        _ => format!("{} h", digits(ns / 3600e9)),
    }
}

/// A size with three digits: `2.79 MB`.
pub fn bytes(bytes: f64) -> String {
    match bytes.abs() {
        below if below < 999.5 => format!("{bytes:.0} B"),
        below if below < 999.5e3 => format!("{} kB", digits(bytes / 1e3)),
        below if below < 999.5e6 => format!("{} MB", digits(bytes / 1e6)),
        _ => format!("{} GB", digits(bytes / 1e9)),
    }
}

/// A share between 0 and 1 as a percentage.
pub fn percent(share: f64) -> String {
    format!("{} %", digits(share.clamp(0.0, 1.0) * 100.0))
}

/// A factor, such as `1.7 times`.
pub fn times(ratio: f64) -> String {
    match ratio {
        below if below < 9.95 => format!("{below:.1} times"),
        _ => format!("{ratio:.0} times"),
    }
}

/// A number with three digits, without trailing zeros after the decimal point.
pub fn digits(value: f64) -> String {
    let behind = match value.abs() {
        below if below < 9.995 => 2,
        below if below < 99.95 => 1,
        _ => 0,
    };
    let text = format!("{value:.behind$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A number with its noun: `1 frame`, `2 frames`.
pub fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!(
            [58_160_000.0, 999.0, 999_600.0, 2.094e9, 72_000e9].map(time),
            ["58.2 ms", "999 ns", "1 ms", "2.09 s", "20 h"]
        );
        assert_eq!([2048.0, 379_000.0, 2_791_700.0].map(bytes), ["2.05 kB", "379 kB", "2.79 MB"]);
        assert_eq!(
            (percent(0.296), percent(54.0), times(19.1), times(1.68)),
            ("29.6 %".into(), "100 %".into(), "19 times".into(), "1.7 times".into())
        );
        assert_eq!((counted(1, "frame"), counted(3, "frame")), ("1 frame".to_owned(), "3 frames".to_owned()));
    }
}

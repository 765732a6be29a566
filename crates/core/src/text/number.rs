//! Formats decimal numbers without the overhead of `fmt`.

/// The numbers from 0 to 99, two digits each.
static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut number = 0;
    while number < pairs.len() {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
};

/// Appends an unsigned number.
#[inline]
pub fn push_u64(out: &mut Vec<u8>, mut number: u64) {
    let len = number.checked_ilog10().unwrap_or(0) as usize + 1;
    let start = out.len();
    // The digits are laid out where they stay: copying a number of bytes that only the program knows takes longer.
    out.extend_from_slice(&[b'0'; 20]);
    let Some(digits) = out.last_chunk_mut::<20>() else { return };
    let mut end = len;
    while number >= 10 {
        digits[end - 2..end].copy_from_slice(&PAIRS[(number % 100) as usize]);
        number /= 100;
        end -= 2;
    }
    if end > 0 {
        digits[0] = b'0' + number as u8;
    }
    out.truncate(start + len);
}

/// Appends a signed number.
#[inline]
pub fn push_i64(out: &mut Vec<u8>, number: i64) {
    if number < 0 {
        out.push(b'-');
    }
    push_u64(out, number.unsigned_abs());
}

/// Appends nanoseconds as microseconds, exactly, with as many decimals as needed.
#[inline]
pub fn push_micros(out: &mut Vec<u8>, ns: i64) {
    if ns < 0 {
        out.push(b'-');
    }
    let (micros, rest) = (ns.unsigned_abs() / 1000, ns.unsigned_abs() % 1000);
    push_u64(out, micros);
    if rest > 0 {
        let digits = [b'.', b'0' + (rest / 100) as u8, b'0' + (rest / 10 % 10) as u8, b'0' + (rest % 10) as u8];
        let zeros = digits.iter().rev().take_while(|digit| **digit == b'0').count();
        out.extend_from_slice(&digits[..digits.len() - zeros]);
    }
}

/// Appends a finite number in the shortest form that reads back as the same; returns false if the number is not finite.
pub fn push_f64(out: &mut Vec<u8>, number: f64) -> bool {
    use std::io::Write;
    if number.is_finite() {
        // Writing into memory cannot fail.
        let _ = write!(out, "{number:?}");
    }
    number.is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(push: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        push(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn integers_read_as_the_standard_library_writes_them() {
        for number in [0, 1, -1, 9, 10, -10, 999, 1000, i64::MAX, i64::MIN] {
            assert_eq!(text(|out| push_i64(out, number)), number.to_string());
        }
        assert_eq!(text(|out| push_u64(out, u64::MAX)), u64::MAX.to_string());
    }

    #[test]
    fn microseconds_are_exact() {
        let cases = [
            (0, "0"),
            (1, "0.001"),
            (10, "0.01"),
            (120, "0.12"),
            (1000, "1"),
            (1_234_567, "1234.567"),
            (-1_500, "-1.5"),
            (i64::MIN, "-9223372036854775.808"),
        ];
        for (ns, expected) in cases {
            assert_eq!(text(|out| push_micros(out, ns)), expected);
        }
    }

    #[test]
    fn floats_read_back_as_they_were() {
        for number in [0.0, -0.0, 0.1, 1e300, f64::MIN_POSITIVE, 1.0] {
            let text = text(|out| assert!(push_f64(out, number)));
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), number.to_bits());
            assert!(serde_json::from_str::<f64>(&text).is_ok(), "{text}");
        }
        assert_eq!(text(|out| assert!(!push_f64(out, f64::NAN))), "");
    }
}

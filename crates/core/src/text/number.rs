//! Formats decimal numbers without the overhead of `fmt`.

/// The numbers from 0 to 999, three digits each.
static TRIPLES: [[u8; 3]; 1000] = {
    let mut triples = [[b'0'; 3]; 1000];
    let mut number = 0;
    while number < triples.len() {
        triples[number] = [b'0' + (number / 100) as u8, b'0' + (number / 10 % 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    triples
};

/// Appends an unsigned number.
#[inline]
pub fn push_u64(out: &mut Vec<u8>, number: u64) {
    let (millions, rest) = (number / 1_000_000, (number % 1_000_000) as usize);
    let (thousands, ones) = (rest / 1000, rest % 1000);
    if millions > 0 {
        push_u64(out, millions);
        out.extend_from_slice(&TRIPLES[thousands]);
        out.extend_from_slice(&TRIPLES[ones]);
    } else if thousands > 0 {
        push_first(out, thousands);
        out.extend_from_slice(&TRIPLES[ones]);
    } else {
        push_first(out, ones);
    }
}

/// Appends a number below 1000 without leading zeros.
#[inline]
fn push_first(out: &mut Vec<u8>, number: usize) {
    let [hundreds, tens, ones] = TRIPLES[number];
    let (digits, len) = match number {
        0..10 => ([ones, 0, 0], 1),
        10..100 => ([tens, ones, 0], 2),
        _ => ([hundreds, tens, ones], 3),
    };
    // Copying a number of bytes that only the program knows takes longer.
    let end = out.len() + len;
    out.extend_from_slice(&digits);
    out.truncate(end);
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
    let (micros, rest) = (ns.unsigned_abs() / 1000, (ns.unsigned_abs() % 1000) as usize);
    push_u64(out, micros);
    if rest > 0 {
        push_decimals(out, rest);
    }
}

/// Appends a point and as many decimals as a number of thousandths below 1 needs, but at least one.
#[inline]
fn push_decimals(out: &mut Vec<u8>, thousandths: usize) {
    let [first, second, third] = TRIPLES[thousandths];
    let zeros = usize::from(thousandths.is_multiple_of(10)) + usize::from(thousandths.is_multiple_of(100));
    out.extend_from_slice(&[b'.', first, second, third]);
    out.truncate(out.len() - zeros);
}

/// Appends a finite number in the shortest form that reads back as the same; returns false if the number is not finite.
pub fn push_f64(out: &mut Vec<u8>, number: f64) -> bool {
    use std::io::Write;
    if let Some(thousandths) = thousandths(number) {
        push_thousandths(out, number < 0.0, thousandths);
        return true;
    }
    if number.is_finite() {
        // Writing into memory cannot fail.
        let _ = write!(out, "{number:?}");
    }
    number.is_finite()
}

/// The absolute value in thousandths, if that is exactly what the number means: two decimal numbers of at most fifteen digits
/// are never the same double, so no shorter form exists.
#[inline]
fn thousandths(number: f64) -> Option<u64> {
    const FIFTEEN_DIGITS: f64 = 1e15;
    let scaled = (number.abs() * 1000.0).round();
    let is_exact = scaled < FIFTEEN_DIGITS && scaled / 1000.0 == number.abs();
    // Zero may have a sign.
    (is_exact && scaled > 0.0).then_some(scaled as u64)
}

fn push_thousandths(out: &mut Vec<u8>, is_negative: bool, thousandths: u64) {
    if is_negative {
        out.push(b'-');
    }
    push_u64(out, thousandths / 1000);
    push_decimals(out, (thousandths % 1000) as usize);
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
        for number in [0, 1, -1, 9, 10, -10, 99, 100, 999, 1000, 999_999, 1_000_000, 12_003_004_005, i64::MAX, i64::MIN]
        {
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
    fn short_floats_have_the_form_of_the_standard_library() {
        let scaled = (-2_000..2_000).map(|number| f64::from(number) / 1000.0);
        let large = [12_345_678.9, 999_999_999_999.999, 1e12, 1e15, 1e16, 0.1 + 0.2, 1e-5, 123.456_7, 0.000_5, -0.0];
        for number in scaled.chain(large) {
            assert_eq!(text(|out| assert!(push_f64(out, number))), format!("{number:?}"));
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

//! Base64, for the JSON container.

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The decoded bytes; `None` if the text is not base64.
pub(crate) fn from_base64(text: &[u8]) -> Option<Vec<u8>> {
    let text = text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(text);
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 3);
    for group in text.chunks(4) {
        let mut bits = 0;
        for letter in group {
            let value = match letter {
                b'A'..=b'Z' => letter - b'A',
                b'a'..=b'z' => letter - b'a' + 26,
                b'0'..=b'9' => letter - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(value);
        }
        let (shift, keep) = match group.len() {
            4 => (8, 3),
            3 => (14, 2),
            2 => (20, 1),
            _ => return None,
        };
        bytes.extend((bits << shift).to_be_bytes().iter().take(keep));
    }
    Some(bytes)
}

/// Appends bytes as base64.
pub(crate) fn put_base64(out: &mut Vec<u8>, bytes: &[u8]) {
    for group in bytes.chunks(3) {
        let bits =
            group.iter().enumerate().fold(0_u32, |bits, (place, byte)| bits | u32::from(*byte) << (16 - 8 * place));
        for place in 0..4 {
            let value = (bits >> (18 - 6 * place)) as usize & 63;
            let letter = BASE64.get(value).copied().unwrap_or(b'=');
            out.push(if place <= group.len() { letter } else { b'=' });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_goes_both_ways() {
        for len in 0..20 {
            let bytes: Vec<u8> = (0..len).map(|n: u8| n.wrapping_mul(37)).collect();
            let mut text = Vec::new();
            put_base64(&mut text, &bytes);
            assert_eq!(text.len() % 4, 0);
            assert_eq!(from_base64(&text).as_deref(), Some(bytes.as_slice()));
        }
        assert_eq!(from_base64(b"A"), None);
        assert_eq!(from_base64(b"AA*A"), None);
    }
}

//! The failing input of a target as text, because some CI machines keep only the log.

use std::{fs, path::Path};

/// Max size of an input that is shown in the log.
const MAX_BYTES: usize = 16 << 10;
const LINE_BYTES: usize = 75;
const _: () = assert!(LINE_BYTES.is_multiple_of(3), "a line before the last would be padded");

/// The file as base64, or why it is not shown.
pub(super) fn show(path: &Path) -> String {
    match fs::read(path) {
        Ok(bytes) if bytes.len() <= MAX_BYTES => {
            let lines: Vec<String> = bytes.chunks(LINE_BYTES).map(base64).collect();
            format!("the input has {} bytes; decode it with `base64 -d`:\n{}", bytes.len(), lines.join("\n"))
        }
        Ok(bytes) => format!("the input has {} bytes, too many to be shown", bytes.len()),
        Err(error) => format!("{}: {error}", path.display()),
    }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let at = |index: usize| u32::from(three.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            let value = bits >> (18 - 6 * digit) & 63;
            text.push(if digit <= three.len() { char::from(ALPHABET[value as usize]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_everybody() {
        let cases =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("\u{7f}?", "fz8=")];
        for (bytes, text) in cases {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0xfb]), "//77");
    }
}

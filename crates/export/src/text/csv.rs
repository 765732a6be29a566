//! CSV cells.

/// Appends a text as a cell, quoted if necessary.
///
/// A spreadsheet treats a text that starts with one of `= + - @`, a tab or a carriage return as a formula and runs it.
/// Such a text gets an apostrophe in front, which spreadsheets do not show; then this returns `true`, because the
/// output differs.
pub fn push_text(out: &mut Vec<u8>, text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_formula = matches!(bytes.first(), Some(b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r'));
    let quotes =
        is_formula || bytes.iter().any(|byte| matches!(byte, b'"' | b',' | b'\n' | b'\r')) || has_edge_space(bytes);
    if !quotes {
        out.extend_from_slice(bytes);
        return false;
    }
    out.push(b'"');
    if is_formula {
        out.push(b'\'');
    }
    for part in bytes.split_inclusive(|byte| *byte == b'"') {
        out.extend_from_slice(part);
        if part.ends_with(b"\"") {
            out.push(b'"');
        }
    }
    out.push(b'"');
    is_formula
}

fn has_edge_space(bytes: &[u8]) -> bool {
    bytes.first() == Some(&b' ') || bytes.last() == Some(&b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_have_to_be() {
        let cases = [
            ("a b", "a b", false),
            ("a,b", "\"a,b\"", false),
            ("a\"b\"", "\"a\"\"b\"\"\"", false),
            ("a\nb", "\"a\nb\"", false),
            (" a", "\" a\"", false),
            ("=1+1", "\"'=1+1\"", true),
            ("@x\"", "\"'@x\"\"\"", true),
            ("", "", false),
        ];
        for (text, expected, is_formula) in cases {
            let mut out = Vec::new();
            assert_eq!(push_text(&mut out, text), is_formula);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}

//! Writes JSON: strings in quotes, and objects with one member changed.

use traceloom_core::json::{Parser, Token};

/// The text of an object with one member set to another value.
pub(crate) fn with_member(object: &[u8], name: &str, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(object.len() + name.len() + value.len() + 4);
    if let Some((start, end)) = member_span(object, name) {
        out.extend_from_slice(object.get(..start).unwrap_or_default());
        out.extend_from_slice(value);
        out.extend_from_slice(object.get(end..).unwrap_or_default());
        return out;
    }
    let rest = object.trim_ascii_start().strip_prefix(b"{").unwrap_or(b"}");
    out.push(b'{');
    put_string(&mut out, name.as_bytes());
    out.push(b':');
    out.extend_from_slice(value);
    if rest.trim_ascii_start().first() != Some(&b'}') {
        out.push(b',');
    }
    out.extend_from_slice(rest);
    out
}

fn member_span(object: &[u8], name: &str) -> Option<(usize, usize)> {
    let mut parser = Parser::of(object, 0);
    if parser.next().ok()? != Token::ObjectStart {
        return None;
    }
    while parser.next().ok()? == Token::Key {
        let is_wanted = parser.text() == name.as_bytes();
        let token = parser.next().ok()?;
        let start = parser.token_start() as usize;
        parser.skip(token).ok()?;
        if is_wanted {
            return Some((start, parser.offset() as usize));
        }
    }
    None
}

/// Appends a string in quotes; what is not UTF-8 is replaced.
pub(crate) fn put_string(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    for c in String::from_utf8_lossy(text).chars() {
        match c {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\n' => out.extend_from_slice(b"\\n"),
            '\r' => out.extend_from_slice(b"\\r"),
            '\t' => out.extend_from_slice(b"\\t"),
            '\u{8}' => out.extend_from_slice(b"\\b"),
            '\u{c}' => out.extend_from_slice(b"\\f"),
            '\0'..='\u{1f}' => out.extend_from_slice(format!("\\u{:04x}", c as u32).as_bytes()),
            _ => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

/// Appends a string in quotes, or null.
pub(crate) fn put_text(out: &mut Vec<u8>, text: Option<&[u8]>) {
    match text {
        Some(text) => put_string(out, text),
        None => out.extend_from_slice(b"null"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_set() {
        let set = |text: &str| String::from_utf8(with_member(text.as_bytes(), "t", b"7")).unwrap();
        assert_eq!(set("{}"), r#"{"t":7}"#);
        assert_eq!(set(r#"{"a":{"t":1}}"#), r#"{"t":7,"a":{"t":1}}"#);
        assert_eq!(set(r#"{"a":1, "t": [1,2] ,"b":3}"#), r#"{"a":1, "t": 7 ,"b":3}"#);
    }

    #[test]
    fn strings_come_back() {
        let text = "a\"\\\n\r\t\u{8}\u{c}\u{1}é😀/";
        let mut out = Vec::new();
        put_string(&mut out, text.as_bytes());
        let mut parser = Parser::of(&out, 0);
        assert_eq!(parser.next().unwrap(), Token::String);
        assert_eq!(parser.text(), text.as_bytes());
    }
}

//! Writes JSON piece by piece.

use super::number::{push_f64, push_i64, push_u64};

/// Appends a quoted string.
///
/// Besides what JSON requires, it escapes text that would end a script or start a comment in an HTML page that embeds
/// the JSON, or that would control a terminal.
pub fn push_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    push_escaped(out, text);
    out.push(b'"');
}

/// Bytes that need no escape, whatever follows them.
static PLAIN: [bool; 256] = {
    let mut plain = [true; 256];
    let mut byte = 0;
    while byte < plain.len() {
        plain[byte] = !matches!(byte as u8, 0..0x20 | b'"' | b'<' | b'\\' | 0x7f | 0xc2 | 0xe2);
        byte += 1;
    }
    plain
};

/// Appends the text between the quotes.
#[inline]
pub fn push_escaped(out: &mut Vec<u8>, text: &str) {
    if text.bytes().all(|byte| PLAIN[usize::from(byte)]) {
        out.extend_from_slice(text.as_bytes());
    } else {
        push_odd(out, text);
    }
}

/// Checks every byte and the bytes that follow it.
fn push_odd(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    let mut copied = 0;
    for (index, byte) in bytes.iter().enumerate() {
        let short: &[u8] = match byte {
            b'"' => b"\\\"",
            // Perfetto's reader takes a quote after a backslash as part of the text, even if the backslash itself is
            // escaped.
            b'\\' if index + 1 == bytes.len() => b"\\u005c",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            0..0x20 | 0x7f => b"",
            // The C1 control characters.
            0xc2 if matches!(bytes.get(index + 1), Some(0x80..0xa0)) => b"",
            b'<' if matches!(bytes.get(index + 1), Some(b'/' | b'!')) => b"\\u003c",
            // The line and paragraph separators, which older JavaScript treats as the end of a line.
            0xe2 if matches!(bytes.get(index + 1..index + 3), Some([0x80, 0xa8 | 0xa9])) => b"",
            _ => continue,
        };
        out.extend_from_slice(&bytes[copied..index]);
        copied = index + 1;
        match (byte, short) {
            (0xe2, _) => {
                out.extend_from_slice(if bytes[index + 2] == 0xa8 { b"\\u2028" } else { b"\\u2029" });
                copied = index + 3;
            }
            (0xc2, _) => {
                push_control(out, bytes[index + 1]);
                copied = index + 2;
            }
            (control, []) => push_control(out, *control),
            (_, short) => out.extend_from_slice(short),
        }
    }
    out.extend_from_slice(&bytes[copied..]);
}

fn push_control(out: &mut Vec<u8>, control: u8) {
    out.extend_from_slice(b"\\u00");
    super::push_hex(out, &[control]);
}

/// Writes objects and arrays, with commas where they are needed.
#[derive(Debug, Default)]
pub struct Writer {
    /// Text that was written and not yet taken.
    pub out: Vec<u8>,
    needs_comma: bool,
}

impl Writer {
    /// Starts an object.
    pub fn begin_object(&mut self) -> &mut Self {
        self.open(b'{')
    }

    /// Ends an object.
    #[inline]
    pub fn end_object(&mut self) -> &mut Self {
        self.close(b'}')
    }

    /// Starts an array.
    pub fn begin_array(&mut self) -> &mut Self {
        self.open(b'[')
    }

    /// Ends an array.
    pub fn end_array(&mut self) -> &mut Self {
        self.close(b']')
    }

    /// The key of the next value.
    pub fn key(&mut self, key: &str) -> &mut Self {
        self.comma();
        push_string(&mut self.out, key);
        self.out.push(b':');
        self.needs_comma = false;
        self
    }

    /// A string.
    pub fn string(&mut self, text: &str) -> &mut Self {
        self.comma();
        push_string(&mut self.out, text);
        self
    }

    /// A signed number.
    pub fn int(&mut self, number: i64) -> &mut Self {
        self.comma();
        push_i64(&mut self.out, number);
        self
    }

    /// An unsigned number.
    pub fn unsigned(&mut self, number: u64) -> &mut Self {
        self.comma();
        push_u64(&mut self.out, number);
        self
    }

    /// A floating-point number; one that is not finite is written as a string.
    pub fn float(&mut self, number: f64) -> &mut Self {
        self.comma();
        if !push_f64(&mut self.out, number) {
            push_string(&mut self.out, &number.to_string());
        }
        self
    }

    /// True or false.
    pub fn bool(&mut self, value: bool) -> &mut Self {
        self.raw(if value { b"true" } else { b"false" })
    }

    /// Null.
    pub fn null(&mut self) -> &mut Self {
        self.raw(b"null")
    }

    /// A value that is already JSON.
    #[inline]
    pub fn raw(&mut self, json: &[u8]) -> &mut Self {
        self.comma();
        self.out.extend_from_slice(json);
        self
    }

    /// Ends a value that has a line to itself: the next value needs no comma.
    pub fn end_line(&mut self) -> &mut Self {
        self.out.push(b'\n');
        self.needs_comma = false;
        self
    }

    /// Starts over: the next value needs no comma.
    #[inline]
    pub fn restart(&mut self) -> &mut Self {
        self.needs_comma = false;
        self
    }

    fn open(&mut self, bracket: u8) -> &mut Self {
        self.comma();
        self.out.push(bracket);
        self.needs_comma = false;
        self
    }

    #[inline]
    fn close(&mut self, bracket: u8) -> &mut Self {
        self.out.push(bracket);
        self.needs_comma = true;
        self
    }

    #[inline]
    fn comma(&mut self) {
        if self.needs_comma {
            self.out.push(b',');
        }
        self.needs_comma = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_reads_back_and_ends_no_script() {
        let all: String = (0..0x300).filter_map(char::from_u32).collect();
        for text in [
            "",
            "plain",
            "\"\\\n\r\t\0\u{1f}",
            "C:\\dir\\",
            "</script><!-- <a>",
            "\u{2028}\u{2029}\u{e2}€",
            "a\u{feff}\u{1f600}",
            &all,
        ] {
            let mut out = Vec::new();
            push_string(&mut out, text);
            assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
            let json = String::from_utf8(out).unwrap();
            assert!(!json.contains("</") && !json.contains("<!") && !json.contains('\u{2028}'), "{json}");
            assert!(!json.contains(char::is_control), "{json}");
        }
    }

    #[test]
    fn commas_stand_between_values_only() {
        let mut json = Writer::default();
        json.begin_object().key("a").begin_array().int(-1).float(0.5).float(f64::NAN).end_array();
        json.key("b").begin_object().end_object().key("c").null().key("d").bool(true).key("e").string("x").end_object();
        assert_eq!(String::from_utf8(json.out).unwrap(), r#"{"a":[-1,0.5,"NaN"],"b":{},"c":null,"d":true,"e":"x"}"#);
    }
}

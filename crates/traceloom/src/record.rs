//! Records of any format, with their fields as text or JSON.

use std::{fmt, ops::ControlFlow};

use traceloom_core::{Describe, FieldValue, Fields, Result, Text, text::json};

/// The header or a record of a trace, with its position in the decompressed bytes.
///
/// [`Display`](fmt::Display) writes its kind and its fields. [`Trace::reader`](crate::Trace::reader) returns typed
/// records.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    /// Offset of the first byte.
    pub offset: u64,
    /// Length in bytes.
    pub len: u64,
    contents: &'a dyn Describe,
}

impl<'a> Record<'a> {
    pub(crate) fn new(offset: u64, len: u64, contents: &'a dyn Describe) -> Self {
        Self { offset, len, contents }
    }

    /// The kind of the record, in one word.
    pub fn kind(&self) -> &'static str {
        self.contents.kind()
    }

    /// Visits every field, in file order.
    pub fn describe(&self, fields: &mut dyn Fields) {
        self.contents.describe(fields);
    }

    /// The fields as ` name=value name=value`.
    pub fn fields(&self) -> RecordFields<'a> {
        RecordFields { contents: self.contents, marks: ["", ""] }
    }

    /// Appends one JSON object; text that is not UTF-8 becomes `NAME_hex`.
    pub fn push_json(&self, out: &mut Vec<u8>) {
        let mut fields = JsonFields { json: json::Writer::default(), depth: 0 };
        std::mem::swap(&mut fields.json.out, out);
        let head = fields.json.begin_object().key("offset").unsigned(self.offset).key("len").unsigned(self.len);
        head.key("kind").string(self.kind());
        self.contents.describe(&mut fields);
        fields.json.end_object();
        std::mem::swap(&mut fields.json.out, out);
    }
}

impl fmt::Display for Record<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.kind(), self.fields())
    }
}

impl fmt::Debug for Record<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Record({} {self})", self.offset)
    }
}

/// Shows the fields of a record as text.
#[derive(Clone, Copy)]
pub struct RecordFields<'a> {
    contents: &'a dyn Describe,
    marks: [&'a str; 2],
}

impl<'a> RecordFields<'a> {
    /// Puts marks around each name and its `=`, such as the color codes of a terminal.
    #[must_use]
    pub fn marked(self, before: &'a str, after: &'a str) -> Self {
        Self { marks: [before, after], ..self }
    }
}

impl fmt::Display for RecordFields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = TextFields { out: f, marks: self.marks, depth: 0, outcome: Ok(()) };
        self.contents.describe(&mut fields);
        fields.outcome
    }
}

impl fmt::Debug for RecordFields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RecordFields({self})")
    }
}

struct TextFields<'f, 'o> {
    out: &'f mut fmt::Formatter<'o>,
    marks: [&'f str; 2],
    /// Number of open lists.
    depth: usize,
    outcome: fmt::Result,
}

impl TextFields<'_, '_> {
    fn put(&mut self, name: &str, value: impl fmt::Display) {
        let [before, after] = self.marks;
        self.outcome = self.outcome.and_then(|()| {
            if self.depth == 0 {
                write!(self.out, " {before}{name}={after}{value}")
            } else {
                write!(self.out, " {value}")
            }
        });
    }
}

impl Fields for TextFields<'_, '_> {
    fn field(&mut self, name: &'static str, value: FieldValue<'_>) {
        match value {
            FieldValue::Unsigned(value) => self.put(name, value),
            FieldValue::Signed(value) => self.put(name, value),
            FieldValue::Hex(value) => self.put(name, format_args!("{value:#x}")),
            FieldValue::Float(value) => self.put(name, value),
            FieldValue::Flag(value) => self.put(name, value),
            FieldValue::Text(value) => self.put(name, format_args!("\"{}\"", Text(value))),
            FieldValue::Word(value) => self.put(name, value),
            FieldValue::Bytes(value) => self.put(name, Hex(value)),
        }
    }

    fn list(&mut self, name: &'static str) {
        self.put(name, '[');
        self.depth += 1;
    }

    fn end(&mut self) {
        self.outcome = self.outcome.and_then(|()| self.out.write_str(" ]"));
        self.depth = self.depth.saturating_sub(1);
    }
}

struct JsonFields {
    json: json::Writer,
    /// Number of open lists.
    depth: usize,
}

impl JsonFields {
    /// The writer, after writing the name if the value has one; list elements have none.
    fn named(&mut self, name: &str) -> &mut json::Writer {
        if self.depth == 0 {
            self.json.key(name);
        }
        &mut self.json
    }

    fn hex_text(&mut self, name: &str, value: &[u8]) -> &mut json::Writer {
        self.named(&format!("{name}_hex")).string(&Hex(value).to_string())
    }
}

impl Fields for JsonFields {
    fn field(&mut self, name: &'static str, value: FieldValue<'_>) {
        match value {
            FieldValue::Unsigned(value) => self.named(name).unsigned(value),
            FieldValue::Signed(value) => self.named(name).int(value),
            FieldValue::Hex(value) => self.named(name).string(&format!("{value:#x}")),
            FieldValue::Float(value) => self.named(name).float(value),
            FieldValue::Flag(value) => self.named(name).bool(value),
            FieldValue::Text(value) => match std::str::from_utf8(value) {
                Ok(text) => self.named(name).string(text),
                Err(_) => self.hex_text(name, value),
            },
            FieldValue::Word(value) => self.named(name).string(value),
            FieldValue::Bytes(value) => self.hex_text(name, value),
        };
    }

    fn list(&mut self, name: &'static str) {
        self.named(name).begin_array();
        self.depth += 1;
    }

    fn end(&mut self) {
        self.json.end_array();
        self.depth = self.depth.saturating_sub(1);
    }
}

struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The return type of a visitor: nothing, [`ControlFlow`] to stop early, or a `Result` of either.
pub trait IntoFlow {
    /// Whether to continue.
    fn into_flow(self) -> Result<ControlFlow<()>>;
}

impl IntoFlow for () {
    fn into_flow(self) -> Result<ControlFlow<()>> {
        Ok(ControlFlow::Continue(()))
    }
}

impl IntoFlow for ControlFlow<()> {
    fn into_flow(self) -> Result<ControlFlow<()>> {
        Ok(self)
    }
}

impl<F: IntoFlow> IntoFlow for Result<F> {
    fn into_flow(self) -> Result<ControlFlow<()>> {
        self.and_then(F::into_flow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Odd;

    impl Describe for Odd {
        fn kind(&self) -> &'static str {
            "odd"
        }

        fn describe(&self, fields: &mut dyn Fields) {
            fields.unsigned("count", 3);
            fields.text("name", b"a\"b");
            fields.text("raw", b"\xff");
            fields.float("ratio", f64::NAN);
            fields.list("empty");
            fields.end();
            fields.list("pairs");
            fields.signed("", -1);
            fields.list("");
            fields.end();
            fields.flag("", true);
            fields.end();
            fields.hex("color", 255);
        }
    }

    #[test]
    fn fields_are_shown_as_text_and_as_json() {
        let record = Record::new(7, 9, &Odd);
        let text = r#"odd count=3 name="a"b" raw="\xff" ratio=NaN empty=[ ] pairs=[ -1 [ ] true ] color=0xff"#;
        assert_eq!(record.to_string(), text);
        let marked = record.fields().marked("<", ">").to_string();
        assert!(marked.starts_with(" <count=>3 <name=>"), "{marked}");
        let mut json = b"before ".to_vec();
        record.push_json(&mut json);
        let expected = concat!(
            r#"before {"offset":7,"len":9,"kind":"odd","count":3,"name":"a\"b","raw_hex":"ff","ratio":"NaN","#,
            r#""empty":[],"pairs":[-1,[],true],"color":"0xff"}"#
        );
        assert_eq!(String::from_utf8(json).unwrap(), expected);
    }
}

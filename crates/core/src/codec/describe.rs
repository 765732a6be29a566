//! How a record lists its fields for display.

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub enum FieldValue<'a> {
    /// A number.
    Unsigned(u64),
    /// A number that may be negative.
    Signed(i64),
    /// A number that people read in hexadecimal: colors, addresses, marks.
    Hex(u64),
    /// A floating-point number.
    Float(f64),
    /// A boolean.
    Flag(bool),
    /// Text as stored; it need not be UTF-8.
    Text(&'a [u8]),
    /// A name that Traceloom gives, such as that of a constant.
    Word(&'a str),
    /// Raw bytes.
    Bytes(&'a [u8]),
}

/// Receives the fields of a record, in file order.
pub trait Fields {
    /// A field.
    fn field(&mut self, name: &'static str, value: FieldValue<'_>);
    /// Starts the list `name`: everything until [`Fields::end`] is an element of it, and the elements' names are not
    /// shown.
    fn list(&mut self, name: &'static str);
    /// Ends a list.
    fn end(&mut self);

    /// A field with a [`FieldValue::Unsigned`].
    fn unsigned(&mut self, name: &'static str, value: u64) {
        self.field(name, FieldValue::Unsigned(value));
    }
    /// A field with a [`FieldValue::Signed`].
    fn signed(&mut self, name: &'static str, value: i64) {
        self.field(name, FieldValue::Signed(value));
    }
    /// A field with a [`FieldValue::Hex`].
    fn hex(&mut self, name: &'static str, value: u64) {
        self.field(name, FieldValue::Hex(value));
    }
    /// A field with a [`FieldValue::Float`].
    fn float(&mut self, name: &'static str, value: f64) {
        self.field(name, FieldValue::Float(value));
    }
    /// A field with a [`FieldValue::Flag`].
    fn flag(&mut self, name: &'static str, value: bool) {
        self.field(name, FieldValue::Flag(value));
    }
    /// A field with a [`FieldValue::Text`].
    fn text(&mut self, name: &'static str, value: &[u8]) {
        self.field(name, FieldValue::Text(value));
    }
    /// A field with a [`FieldValue::Word`].
    fn word(&mut self, name: &'static str, value: &str) {
        self.field(name, FieldValue::Word(value));
    }
    /// A field with a [`FieldValue::Bytes`].
    fn bytes(&mut self, name: &'static str, value: &[u8]) {
        self.field(name, FieldValue::Bytes(value));
    }
}

/// A record or header that can list its fields.
pub trait Describe {
    /// The kind of record, in one word.
    fn kind(&self) -> &'static str;

    /// Lists every field, so that nothing of the record is lost.
    fn describe(&self, fields: &mut dyn Fields);
}

/// Stored text for people: unchanged if it is UTF-8, otherwise with the invalid bytes escaped.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a>(pub &'a [u8]);

impl std::fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                // A control character could rewrite the terminal.
                if c.is_control() { write!(f, "{}", c.escape_default())? } else { write!(f, "{c}")? }
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

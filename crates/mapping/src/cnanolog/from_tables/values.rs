//! Arguments, converted to the types of the format.

use traceloom_cnanolog::{
    Arg as Stored,
    raw::{ArgType, SLOTS_DOCUMENT, SLOTS_LIBRARY},
};
use traceloom_core::{Loss, Result};
use traceloom_passes::{Args, Datum, NamePool, Owner, lose_arg};

/// The arguments of one entry.
#[derive(Debug, Default)]
pub(super) struct Values {
    list: Vec<Held>,
    /// The bytes of all strings.
    texts: Vec<u8>,
    types: Vec<ArgType>,
    max_bytes: usize,
    is_cut: bool,
    is_document: bool,
}

/// Maximum size of all texts of an entry; everything else in the entry fits in the rest of its 64 KiB.
pub(super) const MAX_TEXTS: usize = 64_000;

#[derive(Clone, Copy, Debug)]
enum Held {
    Char(u8),
    Double(f64),
    Int32(i32),
    Int64(i64),
    Pointer(u64),
    /// Start and end offsets.
    String(usize, usize),
    Uint32(u32),
    Uint64(u64),
}

/// Numbers of this magnitude and above lose their sign when packed.
const WIDE: u64 = 1 << 56;

impl Values {
    /// An empty list, in one of the two dialects.
    pub(super) fn new(is_document: bool) -> Self {
        Self { is_document, ..Self::default() }
    }

    /// Maximum number of values.
    fn slots(&self) -> usize {
        if self.is_document { SLOTS_DOCUMENT } else { SLOTS_LIBRARY }
    }

    /// Empties the list; keeps at most `max_bytes` of the texts that follow.
    pub(super) fn clear(&mut self, max_bytes: usize) {
        self.list.clear();
        self.texts.clear();
        self.types.clear();
        (self.max_bytes, self.is_cut) = (max_bytes, false);
    }

    /// Whether the end of a text was cut off.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn types(&self) -> &[ArgType] {
        &self.types
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Stored<'_>> + Clone {
        self.list.iter().map(|held| match *held {
            Held::Char(value) => Stored::Char(value),
            Held::Double(value) => Stored::Double(value),
            Held::Int32(value) => Stored::Int32(value),
            Held::Int64(value) => Stored::Int64(value),
            Held::Pointer(value) => Stored::Pointer(value),
            Held::String(from, to) => Stored::String(self.texts.get(from..to).unwrap_or_default()),
            Held::Uint32(value) => Stored::Uint32(value),
            Held::Uint64(value) => Stored::Uint64(value),
        })
    }

    pub(super) fn push_text(&mut self, text: &[u8]) {
        let from = self.texts.len();
        let most = self.max_bytes.saturating_sub(from).min(text.len());
        // A UTF-8 character has at most three bytes after its first.
        let is_within = |end: &usize| text.get(*end).is_some_and(|byte| byte & 0xc0 == 0x80);
        let end = (0..=3).map(|back| most.saturating_sub(back)).find(|end| !is_within(end)).unwrap_or(most);
        let kept = text.get(..end).unwrap_or_default();
        self.is_cut |= kept.len() < text.len();
        self.texts.extend_from_slice(kept);
        self.push(Held::String(from, self.texts.len()), ArgType::STRING);
    }

    pub(super) fn push_unsigned(&mut self, number: u64) {
        self.push(Held::Uint64(number), ArgType::UINT64);
    }

    /// Adds a value of this type, named as in this format or any other; returns the conversion that prints it.
    pub(super) fn push_datum(&mut self, value: Datum<'_>, kind: &str) -> &'static str {
        match (value, kind) {
            (Datum::Int(number), "i32") if i32::try_from(number).is_ok() => {
                self.push(Held::Int32(number as i32), ArgType::INT32);
                "%d"
            }
            (Datum::Int(number), _) if number.unsigned_abs() < WIDE || self.is_document => {
                self.push(Held::Int64(number), ArgType::INT64);
                "%d"
            }
            (Datum::Int(number @ 0..), _) => {
                self.push_unsigned(number.unsigned_abs());
                "%u"
            }
            (Datum::Int(number), _) => {
                self.push_text(number.to_string().as_bytes());
                "%s"
            }
            // The documented dialect has no characters; early versions of the library stored them as integers.
            (Datum::Unsigned(number), "char") if self.is_document => {
                self.push(Held::Int32(number as u8 as i8 as i32), ArgType::INT32);
                "%c"
            }
            (Datum::Unsigned(number), "char") => {
                self.push(Held::Char(number as u8), ArgType::CHAR);
                "%c"
            }
            (Datum::Unsigned(number), "ptr") => {
                self.push(Held::Pointer(number), ArgType::POINTER);
                "%p"
            }
            (Datum::Unsigned(number), "u32") if u32::try_from(number).is_ok() => {
                self.push(Held::Uint32(number as u32), ArgType::UINT32);
                "%u"
            }
            (Datum::Unsigned(number), _) => {
                self.push_unsigned(number);
                "%u"
            }
            (Datum::Float(number), _) => {
                self.push(Held::Double(number), ArgType::DOUBLE);
                "%.17g"
            }
            (Datum::Text(text), _) => {
                self.push_text(text.as_bytes());
                "%s"
            }
            (Datum::Bytes(bytes), "str") => {
                self.push_text(bytes);
                "%s"
            }
            (Datum::Bytes(bytes), _) => {
                let mut hex = Vec::new();
                traceloom_core::text::push_hex(&mut hex, bytes);
                self.push_text(&hex);
                "%s"
            }
            (Datum::Null, _) => {
                self.push_text(b"null");
                "%s"
            }
        }
    }

    fn push(&mut self, held: Held, kind: ArgType) {
        self.list.push(held);
        self.types.push(kind);
    }
}

/// The values of an entry, and the format that prints them.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) values: Values,
    pub(super) format: String,
}

impl Line {
    pub(super) fn new(is_document: bool) -> Self {
        Self { values: Values::new(is_document), format: String::new() }
    }

    /// Adds the arguments of a row.
    pub(super) fn put_args(&mut self, owner: Owner, args: &mut Args, names: &NamePool, loss: &mut Loss) -> Result<()> {
        let Self { values, format } = self;
        args.visit(owner, |arg| {
            if values.len() >= values.slots() {
                lose_arg(owner, &arg, names, loss);
                return Ok(());
            }
            format.push(' ');
            // Keys and kinds that did not fit in memory are not shown.
            push_escaped(format, names.resident(arg.key).unwrap_or("?"));
            if let Some(idx) = arg.idx {
                format.push_str(&format!("[{idx}]"));
            }
            format.push('=');
            format.push_str(values.push_datum(arg.value, names.resident(arg.kind).unwrap_or("")));
            Ok(())
        })
    }
}

/// Appends a text so that it prints unchanged.
pub(super) fn push_escaped(format: &mut String, text: &str) {
    format.push_str(&text.replace('%', "%%"));
}

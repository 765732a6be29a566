//! Argument bytes: the packed and the raw form, and how they are distinguished.

pub(crate) mod packing;

use traceloom_core::ByteOrder;

use self::packing::{is_packed_value, load, nibble, split_string, value_bytes};
use crate::raw::ArgType;

pub use self::packing::{put_packed, put_raw};

/// One argument of an entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arg<'a> {
    /// One byte of text.
    Char(u8),
    /// A floating-point number.
    Double(f64),
    /// Signed, four bytes.
    Int32(i32),
    /// Signed, eight bytes.
    Int64(i64),
    /// An address; the library also stores bool and unknown types this way.
    Pointer(u64),
    /// Text as stored; it need not be UTF-8. A NULL string is stored as an empty one.
    String(&'a [u8]),
    /// Unsigned, four bytes.
    Uint32(u32),
    /// Unsigned, eight bytes.
    Uint64(u64),
}

impl Arg<'_> {
    /// The type of the argument.
    pub const fn arg_type(&self) -> ArgType {
        match self {
            Self::Char(_) => ArgType::CHAR,
            Self::Double(_) => ArgType::DOUBLE,
            Self::Int32(_) => ArgType::INT32,
            Self::Int64(_) => ArgType::INT64,
            Self::Pointer(_) => ArgType::POINTER,
            Self::String(_) => ArgType::STRING,
            Self::Uint32(_) => ArgType::UINT32,
            Self::Uint64(_) => ArgType::UINT64,
        }
    }
}

/// How the arguments of an entry are stored.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Form {
    /// No arguments, no bytes.
    Empty,
    /// Nibbles with byte counts, then the numbers in as few bytes as possible, then the strings.
    Packed,
    /// One after the other in full width.
    Raw,
    /// Strings only: both forms have the same bytes.
    Same,
}

impl Form {
    /// The name of the form, for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "none",
            Self::Packed => "packed",
            Self::Raw => "raw",
            Self::Same => "same",
        }
    }
}

/// The argument types of a site, with precomputed facts for decoding.
#[derive(Clone, Copy, Debug)]
pub struct Types<'a> {
    pub(crate) codes: &'a [ArgType],
    /// Number of arguments that are not strings.
    pub(crate) numbers: usize,
}

impl<'a> Types<'a> {
    /// The types of some arguments.
    pub fn new(codes: &'a [ArgType]) -> Self {
        Self { codes, numbers: codes.iter().filter(|code| **code != ArgType::STRING).count() }
    }

    /// Detects the form of `data` and returns the arguments; `None` if neither form fits.
    pub fn decode(&self, data: &'a [u8], order: ByteOrder, prefer: Form) -> Option<Args<'a>> {
        self.decode_padded(Padded { data, padded: data }, order, prefer)
    }

    #[inline]
    pub(crate) fn decode_padded(&self, bytes: Padded<'a>, order: ByteOrder, prefer: Form) -> Option<Args<'a>> {
        if self.codes.is_empty() {
            return bytes.data.is_empty().then(|| self.args(Form::Empty, bytes, 0, order));
        }
        if self.numbers > 0
            && prefer != Form::Raw
            && let Some(strings) = self.packed_strings(bytes, order)
        {
            return Some(self.args(Form::Packed, bytes, strings, order));
        }
        self.decode_otherwise(bytes, order, prefer)
    }

    fn decode_otherwise(&self, bytes: Padded<'a>, order: ByteOrder, prefer: Form) -> Option<Args<'a>> {
        if self.fits_raw(bytes.data, order) {
            let form = if self.numbers == 0 { Form::Same } else { Form::Raw };
            return Some(self.args(form, bytes, 0, order));
        }
        if prefer != Form::Raw {
            return None;
        }
        self.packed_strings(bytes, order).map(|strings| self.args(Form::Packed, bytes, strings, order))
    }

    #[inline]
    fn args(&self, form: Form, bytes: Padded<'a>, strings_at: usize, order: ByteOrder) -> Args<'a> {
        let nibble_bytes = if form == Form::Packed { self.numbers.div_ceil(2) } else { 0 };
        // Raw arguments end with the data; packed numbers are bounded by their nibbles, which were checked.
        let all = if form == Form::Packed { bytes.padded } else { bytes.data };
        let (nibbles, numbers) = all.split_at_checked(nibble_bytes).unwrap_or_default();
        let strings = bytes.data.get(strings_at..).unwrap_or_default();
        Args { codes: self.codes, form, nibbles, index: 0, numbers, strings, order }
    }

    /// Whether `data` is valid in both forms, and the forms differ.
    pub fn is_ambiguous(&self, data: &[u8], order: ByteOrder) -> bool {
        self.numbers > 0 && self.fits_packed(data, order).is_some() && self.fits_raw(data, order)
    }

    /// Whether every argument fits in full width with no bytes left over.
    pub(crate) fn fits_raw(&self, data: &[u8], order: ByteOrder) -> bool {
        let mut left = data;
        for code in self.codes {
            let taken = match code.width() {
                Some(width) => left.get(width..),
                None if *code == ArgType::STRING => split_string(left, order).map(|(_, rest)| rest),
                None => None,
            };
            match taken {
                Some(rest) => left = rest,
                None => return false,
            }
        }
        left.is_empty()
    }

    /// The offset of the strings, if the library's packer could have written `data`.
    ///
    /// Stricter than CNanoLog itself, which does not require the fewest bytes and so misreads raw data.
    pub(crate) fn fits_packed(&self, data: &[u8], order: ByteOrder) -> Option<usize> {
        self.packed_strings(Padded { data, padded: data }, order)
    }

    #[inline]
    fn packed_strings(&self, bytes: Padded<'_>, order: ByteOrder) -> Option<usize> {
        // On a big-endian machine, the packer stores the wrong end of every number, so nothing can be read.
        if order == ByteOrder::Big && self.numbers > 0 {
            return None;
        }
        let mut at = self.numbers.div_ceil(2);
        let nibbles = bytes.data.get(..at)?;
        let mut index = 0;
        let mut fits = true;
        for code in self.codes {
            if *code == ArgType::STRING {
                continue;
            }
            let nibble = nibble(nibbles, index)?;
            index += 1;
            let magnitude = load(bytes.padded.get(at..)?, value_bytes(nibble))?;
            at += value_bytes(nibble);
            // No early return: nearly all entries fit, and the branch for one that does not is hard to predict.
            fits &= is_packed_value(*code, nibble, magnitude);
        }
        fits &= index % 2 == 0 || nibble(nibbles, index) == Some(0);
        let mut strings = bytes.data.get(at..).filter(|_| fits)?;
        for _ in index..self.codes.len() {
            (_, strings) = split_string(strings, order)?;
        }
        strings.is_empty().then_some(at)
    }
}

/// Argument bytes, alone and with the bytes that happen to follow them, so that a number can be loaded at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Padded<'a> {
    pub(crate) data: &'a [u8],
    pub(crate) padded: &'a [u8],
}

/// The arguments of one entry, in order; nothing is allocated.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a> {
    codes: &'a [ArgType],
    form: Form,
    nibbles: &'a [u8],
    index: usize,
    numbers: &'a [u8],
    strings: &'a [u8],
    order: ByteOrder,
}

impl<'a> Args<'a> {
    /// The detected form.
    pub fn form(&self) -> Form {
        self.form
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (value, rest) = self.numbers.split_first_chunk::<N>()?;
        self.numbers = rest;
        Some(*value)
    }

    fn next_raw(&mut self, code: ArgType) -> Option<Arg<'a>> {
        let order = self.order;
        Some(match code {
            ArgType::INT32 => Arg::Int32(order.i32(self.take()?)),
            ArgType::INT64 => Arg::Int64(order.i64(self.take()?)),
            ArgType::UINT32 => Arg::Uint32(order.u32(self.take()?)),
            ArgType::UINT64 => Arg::Uint64(order.u64(self.take()?)),
            ArgType::DOUBLE => Arg::Double(order.f64(self.take()?)),
            ArgType::POINTER => Arg::Pointer(order.u64(self.take()?)),
            ArgType::CHAR => Arg::Char(self.take::<1>()?[0]),
            _ => {
                let (text, rest) = split_string(self.numbers, order)?;
                self.numbers = rest;
                Arg::String(text)
            }
        })
    }

    #[inline]
    fn next_packed(&mut self, code: ArgType) -> Option<Arg<'a>> {
        if code == ArgType::STRING {
            let (text, rest) = split_string(self.strings, self.order)?;
            self.strings = rest;
            return Some(Arg::String(text));
        }
        let nibble = nibble(self.nibbles, self.index)?;
        self.index += 1;
        let bytes = value_bytes(nibble);
        let magnitude = load(self.numbers, bytes)?;
        self.numbers = self.numbers.get(bytes..)?;
        let is_negative = nibble > 8;
        Some(match code {
            ArgType::INT32 if is_negative => Arg::Int32((magnitude as i32).wrapping_neg()),
            ArgType::INT32 => Arg::Int32(magnitude as i32),
            ArgType::INT64 if is_negative => Arg::Int64((magnitude as i64).wrapping_neg()),
            ArgType::INT64 => Arg::Int64(magnitude as i64),
            ArgType::UINT32 => Arg::Uint32(magnitude as u32),
            ArgType::UINT64 => Arg::Uint64(magnitude),
            ArgType::DOUBLE => Arg::Double(f64::from_bits(magnitude)),
            ArgType::POINTER => Arg::Pointer(magnitude),
            _ => Arg::Char(magnitude as u8),
        })
    }
}

impl<'a> Iterator for Args<'a> {
    type Item = Arg<'a>;

    #[inline]
    fn next(&mut self) -> Option<Arg<'a>> {
        let (code, rest) = self.codes.split_first()?;
        self.codes = rest;
        if self.form == Form::Packed { self.next_packed(*code) } else { self.next_raw(*code) }
    }
}

/// Whether the packed bytes hold an i64 whose sign the packer dropped; INT64_MIN is unambiguous.
pub(crate) fn has_lost_sign(types: &Types<'_>, args: &Args<'_>) -> bool {
    if args.form != Form::Packed {
        return false;
    }
    let numbers = types.codes.iter().filter(|code| **code != ArgType::STRING);
    let signless =
        numbers.enumerate().any(|(index, code)| *code == ArgType::INT64 && nibble(args.nibbles, index) == Some(8));
    signless
        && args
            .clone()
            .any(|arg| matches!(arg, Arg::Int64(value) if value.unsigned_abs() >> 56 != 0 && value != i64::MIN))
}

#[cfg(test)]
mod tests {
    use super::packing::{original_takes_for_packed, put_packed, put_raw, survives_packing};
    use super::*;

    fn codes(args: &[Arg<'_>]) -> Vec<ArgType> {
        args.iter().map(Arg::arg_type).collect()
    }

    fn packed(args: &[Arg<'_>]) -> Vec<u8> {
        let mut out = Vec::new();
        put_packed(args.iter().copied(), &mut out);
        out
    }

    #[test]
    fn both_forms_give_back_what_was_put() {
        let args = [
            Arg::Int32(i32::MIN),
            Arg::String(b"one"),
            Arg::Int64(-(1 << 55)),
            Arg::Uint32(0),
            Arg::Double(-0.5),
            Arg::Char(233),
            Arg::String(b""),
            Arg::Pointer(u64::MAX),
            Arg::Uint64(1 << 56),
        ];
        let codes = codes(&args);
        let types = Types::new(&codes);
        let mut raw = Vec::new();
        put_raw(args.into_iter(), ByteOrder::Little, &mut raw);
        for (bytes, form) in [(packed(&args), Form::Packed), (raw, Form::Raw)] {
            let decoded = types.decode(&bytes, ByteOrder::Little, Form::Packed).expect("it was written by us");
            assert_eq!(decoded.form(), form);
            assert_eq!(decoded.collect::<Vec<_>>(), args);
        }
        let mut big = Vec::new();
        put_raw(args.into_iter(), ByteOrder::Big, &mut big);
        let decoded = types.decode(&big, ByteOrder::Big, Form::Packed).expect("it was written by us");
        assert_eq!(decoded.collect::<Vec<_>>(), args);
    }

    #[test]
    fn the_strict_test_refuses_what_the_packer_never_writes() {
        let one = |code, bytes: &[u8]| Types::new(&[code]).fits_packed(bytes, ByteOrder::Little).is_some();
        assert!(one(ArgType::INT32, &[0x01, 0x00]));
        assert!(!one(ArgType::INT32, &[0x09, 0x00]), "negative zero");
        assert!(!one(ArgType::INT32, &[0x02, 0x01, 0x00]), "not the fewest bytes");
        assert!(!one(ArgType::INT32, &[0x11, 0x01]), "unused nibble");
        assert!(!one(ArgType::INT32, &[0x05, 1, 1, 1, 1, 1]), "five bytes");
        assert!(!one(ArgType::INT32, &[0x04, 0, 0, 0, 0x80]), "2^31 does not fit");
        assert!(one(ArgType::INT32, &[0x0c, 0, 0, 0, 0x80]));
        assert!(!one(ArgType::UINT32, &[0x09, 1]));
        assert!(!one(ArgType::DOUBLE, &[0x07, 0, 0, 0, 0, 0, 0, 0]));
        assert!(!one(ArgType::CHAR, &[0x02, 0, 1]));
        assert!(!one(ArgType::NONE, &[0x01, 0]));
    }

    #[test]
    fn the_lost_sign_is_noticed() {
        let types = [ArgType::INT64];
        let types = Types::new(&types);
        for (value, lost) in [(1 << 56, true), (-(1 << 56), true), (i64::MIN, false), (5, false)] {
            let bytes = packed(&[Arg::Int64(value)]);
            let args = types.decode(&bytes, ByteOrder::Little, Form::Packed).expect("it was written by us");
            assert_eq!(args.form(), Form::Packed);
            assert_eq!(has_lost_sign(&types, &args), lost);
            assert_eq!(survives_packing(&Arg::Int64(value)), value == 5);
        }
        let min = packed(&[Arg::Int64(i64::MIN)]);
        let args = types.decode(&min, ByteOrder::Little, Form::Packed).expect("it was written by us");
        assert_eq!(args.collect::<Vec<_>>(), [Arg::Int64(i64::MIN)]);
    }

    #[test]
    fn a_raw_entry_of_the_burst_is_raw() {
        let types = [ArgType::INT32, ArgType::INT32];
        let types = Types::new(&types);
        // CNanoLog's looser test takes this as packed: nibbles 4 and 3.
        let bytes = [0x34, 0, 0, 0, 9, 0, 0, 0];
        assert!(original_takes_for_packed(types.codes, &bytes));
        let args = types.decode(&bytes, ByteOrder::Little, Form::Packed).expect("raw fits");
        assert_eq!(args.form(), Form::Raw);
    }
}

//! C's printf, exactly, for arguments with known types.
//!
//! A format is parsed once and rendered often, into the caller's buffer; nothing is allocated per argument. If the call
//! in the log is undefined in C (an argument whose type does not match the conversion, too few arguments, an unknown
//! conversion), the result shows what is known instead of what a machine would have printed by chance.

mod float;
mod integer;
mod spec;

use crate::args::{Arg, Args};

pub(crate) use self::{
    integer::{fill_decimal, put_decimal},
    spec::{Conversion, Count, Length, Piece, Spec},
};

/// Maximum size of a rendered message, because a format may repeat wide fields without end.
pub(crate) const MAX_BYTES: usize = 8 << 20;

/// A parsed format string.
#[derive(Clone, Debug)]
pub struct Program {
    pieces: Vec<Piece>,
    is_positional: bool,
}

impl Program {
    /// Parses a format; every byte string is valid.
    pub fn parse(format: &[u8]) -> Self {
        let pieces = spec::parse(format);
        let is_positional = pieces.iter().any(|piece| matches!(piece, Piece::Conversion(spec) if spec.is_positional()));
        Self { pieces, is_positional }
    }

    pub(crate) fn conversions(&self) -> impl Iterator<Item = &Spec> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Conversion(spec) => Some(spec),
            Piece::Literal { .. } => None,
        })
    }

    /// Appends the message to `out`; `format` is the text that was parsed.
    #[inline]
    pub fn render(&self, format: &[u8], args: Args<'_>, out: &mut Vec<u8>) {
        self.render_within(format, args, MAX_BYTES, out);
    }

    /// The same, cut off after `most` bytes; returns false if it was cut.
    #[inline]
    pub(crate) fn render_within(&self, format: &[u8], args: Args<'_>, most: usize, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        let mut left = args;
        for piece in &self.pieces {
            match piece {
                Piece::Literal { from, to } => {
                    out.extend_from_slice(format.get(*from as usize..*to as usize).unwrap_or_default());
                }
                Piece::Conversion(spec) => {
                    let source = if self.is_positional { Source::Positional(args) } else { Source::InOrder(&mut left) };
                    if !render_spec(spec, source, out) {
                        out.extend_from_slice(format.get(spec.from as usize..spec.to as usize).unwrap_or_default());
                    }
                    if out.len() - start > most {
                        out.truncate(start + most);
                        return false;
                    }
                }
            }
        }
        true
    }
}

/// The source of a conversion's arguments.
enum Source<'s, 'a> {
    InOrder(&'s mut Args<'a>),
    Positional(Args<'a>),
}

impl<'a> Source<'_, 'a> {
    #[inline]
    fn take(&mut self, position: Option<u8>) -> Option<Arg<'a>> {
        match self {
            Self::InOrder(args) => args.next(),
            Self::Positional(args) => args.nth(usize::from(position?).checked_sub(1)?),
        }
    }

    fn count(&mut self, position: Option<u8>) -> Option<i64> {
        match self {
            Self::InOrder(args) => args.next().and_then(integer_value),
            Self::Positional(args) => {
                let mut args = *args;
                args.nth(usize::from(position?).checked_sub(1)?).and_then(integer_value)
            }
        }
    }
}

fn integer_value(arg: Arg<'_>) -> Option<i64> {
    match arg {
        Arg::Int32(value) => Some(value.into()),
        Arg::Int64(value) => Some(value),
        Arg::Uint32(value) => Some((value as i32).into()),
        Arg::Uint64(value) | Arg::Pointer(value) => Some(value as i64),
        Arg::Char(value) => Some((value as i8).into()),
        Arg::Double(_) | Arg::String(_) => None,
    }
}

/// The flags, width and precision of one conversion, with `*` filled in.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Field {
    pub(crate) left: bool,
    pub(crate) plus: bool,
    pub(crate) space: bool,
    pub(crate) alternate: bool,
    pub(crate) zero: bool,
    pub(crate) width: usize,
    pub(crate) precision: Option<usize>,
}

/// Renders one conversion; returns false if that is impossible and its text has to be shown instead.
#[inline]
fn render_spec(spec: &Spec, mut source: Source<'_, '_>, out: &mut Vec<u8>) -> bool {
    if spec.is_plain
        && let Source::InOrder(args) = &mut source
    {
        match (spec.conversion, args.next()) {
            (_, None) => return false,
            (Conversion::Decimal, Some(Arg::Int32(value))) => {
                integer::put_decimal(value.unsigned_abs().into(), value < 0, out);
            }
            (Conversion::String, Some(Arg::String(text))) => out.extend_from_slice(text),
            (_, Some(arg)) => render_arg(spec, &Field::default(), arg, out),
        }
        return true;
    }
    match spec.conversion {
        Conversion::Percent => out.push(b'%'),
        Conversion::Invalid => return false,
        _ => match (resolve(spec, &mut source), source.take(spec.position)) {
            (Some(field), Some(arg)) => render_arg(spec, &field, arg, out),
            _ => return false,
        },
    }
    true
}

/// Wider fields are shown as text, because no one writes them on purpose.
const MAX_WIDTH: i64 = 60_000;

fn resolve(spec: &Spec, source: &mut Source<'_, '_>) -> Option<Field> {
    let mut field = spec.flags;
    let width = match spec.width {
        Count::None => 0,
        Count::Fixed(width) => width.into(),
        Count::Argument(position) => source.count(position)?,
    };
    field.left |= width < 0;
    let precision = match spec.precision {
        Count::None => -1,
        Count::Fixed(precision) => precision.into(),
        Count::Argument(position) => source.count(position)?,
    };
    let width = i64::try_from(width.unsigned_abs()).ok()?;
    if width > MAX_WIDTH || precision > MAX_WIDTH {
        return None;
    }
    field.width = width as usize;
    field.precision = usize::try_from(precision).ok();
    Some(field)
}

/// Renders an argument; if the conversion does not match, it is shown according to its type.
fn render_arg(spec: &Spec, field: &Field, arg: Arg<'_>, out: &mut Vec<u8>) {
    match (spec.conversion, arg, integer_value(arg)) {
        (Conversion::Written, _, _) => {}
        (Conversion::String, Arg::String(text), _) => {
            let shown = field.precision.map_or(text, |most| text.get(..most).unwrap_or(text));
            pad(shown, field, out);
        }
        (conversion, Arg::Double(value), _) if conversion.is_float() => float::put(value, conversion, field, out),
        (Conversion::Character, _, Some(value)) => put_character(value, spec.length, field, out),
        (conversion, arg, Some(_)) if conversion.is_integer() => {
            integer::put(arg, conversion, spec.length, field, out);
        }
        (Conversion::Pointer, arg, Some(value)) => {
            let value = match arg {
                Arg::Int32(value) => (value as u32).into(),
                Arg::Uint32(value) => value.into(),
                _ => value as u64,
            };
            integer::put_pointer(value, field, out);
        }
        (_, arg, _) => put_natural(field, arg, out),
    }
}

fn put_character(value: i64, length: Length, field: &Field, out: &mut Vec<u8>) {
    if length != Length::Long {
        return pad(&[value as u8], field, out);
    }
    let wide = u32::try_from(value).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
    pad(wide.encode_utf8(&mut [0; 4]).as_bytes(), field, out);
}

/// The conversion is for another type: the argument is shown according to its type, in the same width.
fn put_natural(field: &Field, arg: Arg<'_>, out: &mut Vec<u8>) {
    let field = Field { left: field.left, width: field.width, ..Field::default() };
    match arg {
        Arg::Char(value) => pad(&[value], &field, out),
        Arg::Double(value) => float::put(value, Conversion::Fixed { upper: false }, &field, out),
        Arg::Pointer(value) => integer::put_pointer(value, &field, out),
        Arg::String(text) => pad(text, &field, out),
        Arg::Int32(_) | Arg::Int64(_) => integer::put(arg, Conversion::Decimal, Length::None, &field, out),
        Arg::Uint32(_) | Arg::Uint64(_) => integer::put(arg, Conversion::Unsigned, Length::None, &field, out),
    }
}

/// Appends a double as `%.*f` does.
pub(crate) fn put_fixed_point(value: f64, precision: usize, out: &mut Vec<u8>) {
    let field = Field { precision: Some(precision), ..Field::default() };
    float::put(value, Conversion::Fixed { upper: false }, &field, out);
}

/// Appends an address as `%p` does.
pub(crate) fn put_address(value: u64, out: &mut Vec<u8>) {
    integer::put_pointer(value, &Field::default(), out);
}

/// Appends text in a field of spaces.
pub(crate) fn pad(text: &[u8], field: &Field, out: &mut Vec<u8>) {
    let fill = field.width.saturating_sub(text.len());
    if !field.left {
        out.resize(out.len() + fill, b' ');
    }
    out.extend_from_slice(text);
    if field.left {
        out.resize(out.len() + fill, b' ');
    }
}

/// A number as printed.
struct Number<'a> {
    /// Sign, or `0x` and the like.
    prefix: &'a [u8],
    /// Zeros before the digits.
    zeros: usize,
    digits: &'a [u8],
    /// Whether zeros fill the field.
    zero_fill: bool,
}

/// Appends a number in a field of spaces or zeros.
fn pad_number(number: &Number<'_>, field: &Field, out: &mut Vec<u8>) {
    let Number { prefix, zeros, digits, zero_fill } = *number;
    let len = prefix.len() + zeros + digits.len();
    let fill = field.width.saturating_sub(len);
    let (before, zeros) = match (field.left, zero_fill) {
        (true, _) => (0, zeros),
        (false, true) => (0, zeros + fill),
        (false, false) => (fill, zeros),
    };
    out.resize(out.len() + before, b' ');
    out.extend_from_slice(prefix);
    out.resize(out.len() + zeros, b'0');
    out.extend_from_slice(digits);
    if field.left {
        out.resize(out.len() + fill, b' ');
    }
}

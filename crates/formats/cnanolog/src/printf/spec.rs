//! Parses a format string.

use super::Field;

/// A part of a format.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece {
    Literal { from: u32, to: u32 },
    Conversion(Spec),
}

/// A width or precision.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Count {
    None,
    Fixed(u32),
    /// `*`, or `*m$` with its position.
    Argument(Option<u8>),
}

/// A length modifier, by the width that it specifies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Length {
    None,
    /// `hh`
    Char,
    /// `h`
    Short,
    /// `l`, `ll`, `j`, `z`, `t`, `q`: all eight bytes.
    Long,
    /// `L`
    LongDouble,
}

/// How a conversion formats its argument.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Conversion {
    Binary {
        upper: bool,
    },
    Character,
    Decimal,
    Exponent {
        upper: bool,
    },
    Fixed {
        upper: bool,
    },
    General {
        upper: bool,
    },
    Hex {
        upper: bool,
    },
    HexFloat {
        upper: bool,
    },
    Invalid,
    Octal,
    Percent,
    Pointer,
    String,
    Unsigned,
    /// `%n`: stores a count and prints nothing.
    Written,
}

impl Conversion {
    pub(crate) const fn is_float(self) -> bool {
        matches!(self, Self::Exponent { .. } | Self::Fixed { .. } | Self::General { .. } | Self::HexFloat { .. })
    }

    pub(crate) const fn is_upper(self) -> bool {
        match self {
            Self::Binary { upper }
            | Self::Exponent { upper }
            | Self::Fixed { upper }
            | Self::General { upper }
            | Self::Hex { upper }
            | Self::HexFloat { upper } => upper,
            _ => false,
        }
    }

    pub(crate) const fn is_integer(self) -> bool {
        matches!(self, Self::Binary { .. } | Self::Decimal | Self::Hex { .. } | Self::Octal | Self::Unsigned)
    }
}

/// One conversion and its position in the format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spec {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) conversion: Conversion,
    pub(crate) length: Length,
    pub(crate) flags: Field,
    pub(crate) width: Count,
    pub(crate) precision: Count,
    pub(crate) position: Option<u8>,
    /// No flag, width, precision or narrowing: the common case, which uses only its argument.
    pub(crate) is_plain: bool,
}

impl Spec {
    pub(crate) fn is_positional(&self) -> bool {
        let has_position = |count| matches!(count, Count::Argument(Some(_)));
        self.position.is_some() || has_position(self.width) || has_position(self.precision)
    }
}

/// Parses a format; everything that is not a conversion is literal.
pub(crate) fn parse(format: &[u8]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut literal = 0;
    let mut at = 0;
    while let Some(offset) = format.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'%')) {
        let from = at + offset;
        if literal < from {
            pieces.push(Piece::Literal { from: literal as u32, to: from as u32 });
        }
        let spec = parse_spec(format, from);
        at = spec.to as usize;
        literal = at;
        pieces.push(Piece::Conversion(spec));
    }
    if literal < format.len() {
        pieces.push(Piece::Literal { from: literal as u32, to: format.len() as u32 });
    }
    pieces
}

fn parse_spec(format: &[u8], from: usize) -> Spec {
    let mut scanner = Scanner { format, at: from + 1 };
    let position = scanner.position();
    let mut flags = Field::default();
    while let Some(byte) = scanner.peek() {
        match byte {
            b'-' => flags.left = true,
            b'+' => flags.plus = true,
            b' ' => flags.space = true,
            b'#' => flags.alternate = true,
            b'0' => flags.zero = true,
            // Grouping and native digits have no effect in the C locale.
            b'\'' | b'I' => {}
            _ => break,
        }
        scanner.at += 1;
    }
    let has_flags = scanner.at > from + 1;
    let width = scanner.count().unwrap_or(Count::None);
    let precision = match scanner.peek() {
        Some(b'.') => {
            scanner.at += 1;
            scanner.count().unwrap_or(Count::Fixed(0))
        }
        _ => Count::None,
    };
    let length = scanner.length();
    let (conversion, length) = scanner.conversion(length);
    let is_plain = !has_flags
        && position.is_none()
        && (width, precision) == (Count::None, Count::None)
        && !matches!(length, Length::Char | Length::Short)
        && !matches!(conversion, Conversion::Invalid | Conversion::Percent);
    Spec { from: from as u32, to: scanner.at as u32, conversion, length, flags, width, precision, position, is_plain }
}

struct Scanner<'a> {
    format: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.format.get(self.at).copied()
    }

    fn number(&mut self) -> Option<u32> {
        let start = self.at;
        let mut value = 0u32;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            value = value.saturating_mul(10).saturating_add((digit - b'0').into());
            self.at += 1;
        }
        (self.at > start).then_some(value)
    }

    /// `n$`, if present.
    fn position(&mut self) -> Option<u8> {
        let start = self.at;
        let number = self.number();
        if let (Some(number @ 1..), Some(b'$')) = (number, self.peek()) {
            self.at += 1;
            return Some(number.min(u8::MAX.into()) as u8);
        }
        self.at = start;
        None
    }

    fn count(&mut self) -> Option<Count> {
        if self.peek() == Some(b'*') {
            self.at += 1;
            return Some(Count::Argument(self.position()));
        }
        self.number().map(Count::Fixed)
    }

    fn length(&mut self) -> Length {
        let (length, bytes) = match (self.peek(), self.format.get(self.at + 1)) {
            (Some(b'h'), Some(b'h')) => (Length::Char, 2),
            (Some(b'h'), _) => (Length::Short, 1),
            (Some(b'l'), Some(b'l')) => (Length::Long, 2),
            (Some(b'l' | b'j' | b'z' | b't' | b'q' | b'Z'), _) => (Length::Long, 1),
            (Some(b'L'), _) => (Length::LongDouble, 1),
            _ => (Length::None, 0),
        };
        self.at += bytes;
        length
    }

    fn conversion(&mut self, length: Length) -> (Conversion, Length) {
        let Some(byte) = self.peek() else { return (Conversion::Invalid, length) };
        let conversion = match byte {
            b'd' | b'i' => Conversion::Decimal,
            b'u' => Conversion::Unsigned,
            b'o' => Conversion::Octal,
            b'x' | b'X' => Conversion::Hex { upper: byte == b'X' },
            b'b' | b'B' => Conversion::Binary { upper: byte == b'B' },
            b'f' | b'F' => Conversion::Fixed { upper: byte == b'F' },
            b'e' | b'E' => Conversion::Exponent { upper: byte == b'E' },
            b'g' | b'G' => Conversion::General { upper: byte == b'G' },
            b'a' | b'A' => Conversion::HexFloat { upper: byte == b'A' },
            b'c' | b'C' => Conversion::Character,
            b's' | b'S' => Conversion::String,
            b'p' => Conversion::Pointer,
            b'n' => Conversion::Written,
            b'%' => Conversion::Percent,
            // The byte is part of the text shown, unless it starts another conversion.
            _ => Conversion::Invalid,
        };
        self.at += 1;
        (conversion, if byte == b'C' { Length::Long } else { length })
    }
}

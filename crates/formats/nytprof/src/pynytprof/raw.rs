//! Numbers and layouts of the dialect, shared by the reader and the writer. All numbers are little-endian.

use std::fmt;

use crate::raw::{get_integer, put_integer};

/// Size of the process record: tag, two numbers, a time.
pub const PROCESS_BYTES: usize = 17;
/// The same with a length after the tag, as written by the latest C writer.
pub const LENGTH_PROCESS_BYTES: usize = 21;
/// Size of a chunk's tag and length.
pub const CHUNK_HEAD: usize = 5;
/// Size of a line's or an edge's figures.
pub const FIGURES_BYTES: usize = 28;
/// Size of a visit in a list of statements.
pub const VISIT_BYTES: usize = 17;
/// The documented unit of time.
pub const TICKS_PER_SEC: u32 = 10_000_000;

/// The required attributes, in the documented order.
pub const ATTRIBUTES: [&str; 8] =
    ["basetime", "application", "perl_version", "nv_size", "clock_mod", "ticks_per_sec", "osname", "hz"];

/// Options with the values that the tool always writes. The documentation names the first and the last.
pub const OPTIONS: [(&str, &str); 17] = [
    ("subs", "1"),
    ("blocks", "0"),
    ("leave", "1"),
    ("expand", "0"),
    ("trace", "0"),
    ("use_db_sub", "0"),
    ("compress", "0"),
    ("clock", "1"),
    ("stmts", "1"),
    ("slowops", "2"),
    ("findcaller", "0"),
    ("forkdepth", "-1"),
    ("perldb", "0"),
    ("nameevals", "1"),
    ("nameanonsubs", "1"),
    ("calls", "1"),
    ("evals", "0"),
];

traceloom_core::named_number! {
    /// The first byte of a chunk.
    pub Tag(u8, |tag, f| if tag.is_ascii_graphic() { write!(f, "{}", char::from(tag)) } else { write!(f, "{tag:#04x}") }) {
        /// Attributes, in early files.
        A = b'A',
        /// Reserved; never written.
        B = b'B',
        /// Call-graph edges.
        C = b'C',
        /// Subs.
        D = b'D',
        /// The end.
        E = b'E',
        /// Files.
        F = b'F',
        /// Version, in the binary ancestor.
        H = b'H',
        /// The process, if it has a length.
        P = b'P',
        /// Figures of lines.
        S = b'S',
        /// Strings, in early files.
        T = b'T',
    }
}

impl Tag {
    /// Whether any version of the tool wrote such a chunk, or reserved it.
    pub const fn is_known(self) -> bool {
        self.name().is_some()
    }

    /// Its position in the documented order, if it has one.
    pub const fn rank(self) -> Option<u8> {
        match self {
            Self::S => Some(1),
            Self::D => Some(2),
            Self::C => Some(3),
            Self::E => Some(4),
            _ => None,
        }
    }
}

/// The contents of a chunk.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Form {
    /// Bytes.
    Raw,
    /// `S`: file, line, calls, then two times in 8 bytes.
    Lines,
    /// `D`: number, flags, name up to a NUL.
    Subs,
    /// `D`: number, file, first and last line, name up to a NUL.
    Ranges,
    /// `D`: a list of visited lines with times in nanoseconds.
    Visits,
    /// `C`: caller, callee, calls, then two times in 8 bytes.
    Edges,
    /// `C`: file, line, callee, then two times in 8 bytes; used with [`Form::Ranges`].
    SiteCalls,
    /// `F`: file, flags, size, time of change, path up to a NUL.
    Files,
    /// `F`: file and the number of a string that is not stored.
    IndexedFiles,
    /// `A`: `key=value` up to a NUL.
    Properties,
}

impl Form {
    /// A name of a few words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Lines => "lines",
            Self::Subs => "subs",
            Self::Ranges => "subs with line ranges",
            Self::Visits => "visits",
            Self::Edges => "edges",
            Self::SiteCalls => "calls by place",
            Self::Files => "files",
            Self::IndexedFiles => "indexed files",
            Self::Properties => "properties",
        }
    }

    /// Number of integers that an item has, before its times or its name.
    pub(crate) const fn integers(self) -> usize {
        match self {
            Self::Raw | Self::Properties => 0,
            Self::Subs | Self::Visits | Self::IndexedFiles => 2,
            Self::Lines | Self::Edges | Self::SiteCalls => 3,
            Self::Ranges | Self::Files => 4,
        }
    }
}

/// How the integers of a chunk are stored.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Integers {
    /// In 4 bytes.
    #[default]
    Fixed,
    /// As in the real stream.
    Variable,
    /// Seven bits per byte: an attempt at the real encoding, which agrees up to 127.
    Septets,
}

impl Integers {
    /// Reads an integer; `None` if the bytes end early, or if no writer writes them, so that they could not be
    /// reproduced.
    pub fn get(self, bytes: &[u8]) -> Option<(u32, usize)> {
        match self {
            Self::Fixed => bytes.first_chunk().map(|bytes| (u32::from_le_bytes(*bytes), 4)),
            Self::Variable => {
                get_integer(bytes).filter(|integer| !integer.is_padded).map(|integer| (integer.value, integer.len))
            }
            Self::Septets => {
                let len = bytes.iter().take(4).position(|byte| *byte < 0x80)? + 1;
                let bits = [0x7f, 0x7f, 0x3f, 0x1f].get(len - 1)?;
                let stored = bytes.get(..len)?;
                let (first, rest) = stored.split_first()?;
                let fold = |value, byte: &u8| value << 7 | u32::from(byte & 0x7f);
                let value = rest.iter().fold(u32::from(first & bits), fold);
                let mut plain = Vec::with_capacity(len);
                self.put(value, &mut plain);
                (plain == stored).then_some((value, len))
            }
        }
    }

    /// Writes an integer.
    pub fn put(self, value: u32, out: &mut Vec<u8>) {
        let septet = |shift: u32| (value >> shift) as u8 & 0x7f;
        match (self, value) {
            (Self::Fixed, _) => out.extend_from_slice(&value.to_le_bytes()),
            (Self::Septets, 0x80..0x4000) => out.extend_from_slice(&[septet(7) | 0x80, septet(0)]),
            (Self::Septets, 0x4000..0x20_0000) => {
                out.extend_from_slice(&[septet(14) | 0xc0, septet(7) | 0x80, septet(0)]);
            }
            (Self::Septets, 0x20_0000..0x1000_0000) => {
                out.extend_from_slice(&[septet(21) | 0xe0, septet(14) | 0x80, septet(7) | 0x80, septet(0)]);
            }
            (Self::Septets | Self::Variable, _) => put_integer(value, out),
        }
    }
}

/// How the items of a chunk are stored.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Layout {
    /// The form of the items.
    pub form: Form,
    /// How their integers are stored.
    pub integers: Integers,
}

impl From<Form> for Layout {
    fn from(form: Form) -> Self {
        Self { form, integers: Integers::Fixed }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.integers {
            Integers::Fixed => "",
            Integers::Variable => "varint ",
            Integers::Septets => "septet ",
        })?;
        f.write_str(self.form.as_str())
    }
}

/// Where the time of a process record is.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum TimeField {
    /// After the process numbers, in seconds, as documented.
    #[default]
    Last,
    /// Before them, in seconds.
    FirstSeconds,
    /// Before them, as an integer in microseconds.
    FirstMicroseconds,
}

impl TimeField {
    /// All, with the documented one first.
    pub const ALL: [Self; 3] = [Self::Last, Self::FirstSeconds, Self::FirstMicroseconds];

    /// A name of a few words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Last => "last, in seconds",
            Self::FirstSeconds => "first, in seconds",
            Self::FirstMicroseconds => "first, in microseconds",
        }
    }
}

/// What precedes the items of a chunk.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Framing {
    /// Tag and length.
    #[default]
    Length,
    /// Only the tag.
    Tag,
    /// Nothing.
    None,
}

impl Framing {
    /// Number of bytes before the items.
    pub const fn head_bytes(self) -> usize {
        match self {
            Self::Length => CHUNK_HEAD,
            Self::Tag => 1,
            Self::None => 0,
        }
    }

    /// The name of the framing.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Tag => "tag",
            Self::None => "none",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_integer_comes_back_however_it_is_stored() {
        for integers in [Integers::Fixed, Integers::Variable, Integers::Septets] {
            for value in [0, 1, 127, 128, 300, 14_837, 0x3fff, 0x4000, 0xf_ffff] {
                let mut bytes = Vec::new();
                integers.put(value, &mut bytes);
                assert_eq!(integers.get(&bytes), Some((value, bytes.len())), "{integers:?} {value}");
                assert_eq!(integers.get(&bytes[..bytes.len() - 1]), None, "{integers:?} {value}");
            }
        }
        assert_eq!(Integers::Septets.get(&[0xf3, 0x75]), Some((14_837, 2)));
    }
}

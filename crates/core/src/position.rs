//! Positions in the decompressed bytes.

use std::fmt;

/// A byte offset, and the field that was being read there.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Position {
    /// Offset from the first byte of the source.
    pub offset: u64,
    /// Name of the field; empty for the whole record.
    pub field: &'static str,
}

impl Position {
    /// The position of a whole record.
    pub const fn at(offset: u64) -> Self {
        Self { offset, field: "" }
    }

    /// The same position, narrowed to one field.
    pub const fn field(self, field: &'static str) -> Self {
        Self { field, ..self }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}", self.offset)?;
        if !self.field.is_empty() {
            write!(f, ", {}", self.field)?;
        }
        Ok(())
    }
}

/// A record together with its position.
///
/// The position travels with the record because a reader cannot be queried while a record is borrowed from it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Located<T> {
    /// Offset of the record's first byte.
    pub offset: u64,
    /// Length of the record, including its length prefix.
    pub len: u64,
    /// The record.
    pub record: T,
}

//! The elements of a value, decoded by type.

use traceloom_core::{ByteOrder, Cursor, Fields};

use crate::raw::DataType;

/// One element of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Element {
    /// A boolean.
    Bool(bool),
    /// A signed number; also a character, which C leaves signed.
    Signed(i64),
    /// An unsigned number.
    Unsigned(u64),
    /// A single-precision number.
    Float(f32),
    /// A double-precision number.
    Double(f64),
}

impl Element {
    /// Splits `data` into elements; `None` if the type is unknown or its width does not divide the size.
    pub(crate) fn all(data: &[u8], data_type: DataType, order: ByteOrder) -> Option<impl Iterator<Item = Self>> {
        let width = data_type.width()?;
        Self::count(data, data_type)?;
        Some(data.chunks_exact(width).filter_map(move |bytes| Self::one(bytes, data_type, order)))
    }

    /// The number of elements, without decoding them.
    #[inline]
    pub(crate) fn count(data: &[u8], data_type: DataType) -> Option<usize> {
        let width = data_type.width()?;
        data.len().is_multiple_of(width).then(|| data.len() / width)
    }

    fn one(bytes: &[u8], data_type: DataType, order: ByteOrder) -> Option<Self> {
        let mut cursor = Cursor::new(bytes, 0, order);
        let element = match data_type {
            DataType::BOOL => Self::Bool(cursor.u8("data").ok()? != 0),
            DataType::CHAR | DataType::STRING | DataType::INT8 => {
                Self::Signed(i8::from_ne_bytes([cursor.u8("data").ok()?]).into())
            }
            DataType::UINT8 => Self::Unsigned(cursor.u8("data").ok()?.into()),
            DataType::INT16 => Self::Signed(cursor.i16("data").ok()?.into()),
            DataType::UINT16 => Self::Unsigned(cursor.u16("data").ok()?.into()),
            DataType::INT32 => Self::Signed(cursor.i32("data").ok()?.into()),
            DataType::UINT32 => Self::Unsigned(cursor.u32("data").ok()?.into()),
            DataType::INT64 => Self::Signed(cursor.i64("data").ok()?),
            DataType::UINT64 => Self::Unsigned(cursor.u64("data").ok()?),
            DataType::FLOAT => Self::Float(cursor.f32("data").ok()?),
            DataType::DOUBLE => Self::Double(cursor.f64("data").ok()?),
            _ => return None,
        };
        Some(element)
    }

    pub(crate) fn describe(self, fields: &mut dyn Fields) {
        match self {
            Self::Bool(value) => fields.flag("", value),
            Self::Signed(value) => fields.signed("", value),
            Self::Unsigned(value) => fields.unsigned("", value),
            Self::Float(value) => fields.float("", value.into()),
            Self::Double(value) => fields.float("", value),
        }
    }
}

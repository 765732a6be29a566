//! Splits a slice field by field, without ever reading past its end.

use crate::{Error, Position, Result};

/// The order of the bytes in a number.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum ByteOrder {
    /// Most significant byte first.
    Big,
    /// Least significant byte first.
    #[default]
    Little,
}

impl ByteOrder {
    /// The name of the byte order, for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Big => "big-endian",
            Self::Little => "little-endian",
        }
    }
}

macro_rules! order_numbers {
    ($($name:ident $put:ident $type:ty),*) => {
        impl ByteOrder {
            $(
                #[doc = concat!("Reads a `", stringify!($type), "` in this byte order.")]
                #[inline]
                pub fn $name(self, bytes: [u8; size_of::<$type>()]) -> $type {
                    match self {
                        Self::Little => <$type>::from_le_bytes(bytes),
                        Self::Big => <$type>::from_be_bytes(bytes),
                    }
                }

                #[doc = concat!("Encodes a `", stringify!($type), "` in this byte order.")]
                #[inline]
                pub fn $put(self, value: $type) -> [u8; size_of::<$type>()] {
                    match self {
                        Self::Little => value.to_le_bytes(),
                        Self::Big => value.to_be_bytes(),
                    }
                }
            )*
        }

        impl<'a> Cursor<'a> {
            $(
                #[doc = concat!("Takes a `", stringify!($type), "`.")]
                #[inline(always)]
                pub fn $name(&mut self, field: &'static str) -> Result<$type> {
                    let order = self.order;
                    Ok(order.$name(*self.array(field)?))
                }
            )*
        }
    };
}
order_numbers!(
    u16 put_u16 u16, u32 put_u32 u32, u64 put_u64 u64,
    i16 put_i16 i16, i32 put_i32 i32, i64 put_i64 i64,
    f32 put_f32 f32, f64 put_f64 f64
);

/// The index of the first NUL; fast for the short names that traces are full of.
#[inline]
pub fn find_nul(bytes: &[u8]) -> Option<usize> {
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The lowest set bit marks the first zero byte; the bits above it are not reliable.
        let zeros = word.wrapping_sub(0x0101_0101_0101_0101) & !word & 0x8080_8080_8080_8080;
        if zeros != 0 {
            return Some(index * 8 + zeros.trailing_zeros() as usize / 8);
        }
    }
    rest.iter().position(|byte| *byte == 0).map(|index| words.len() * 8 + index)
}

/// A slice that can only be split from the front and that knows its offset in the file.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    offset: u64,
    order: ByteOrder,
}

impl<'a> Cursor<'a> {
    /// A cursor over `bytes`, which start at `offset` in the file.
    #[inline]
    pub fn new(bytes: &'a [u8], offset: u64, order: ByteOrder) -> Self {
        Self { bytes, offset, order }
    }

    /// Number of bytes not yet taken.
    #[inline]
    pub fn left(&self) -> usize {
        self.bytes.len()
    }

    /// Whether all bytes have been taken.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The offset of the next byte in the file.
    #[inline]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The order in which numbers are read.
    #[inline]
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// Takes one byte.
    #[inline]
    pub fn u8(&mut self, field: &'static str) -> Result<u8> {
        Ok(self.array::<1>(field)?[0])
    }

    /// Takes `N` bytes.
    // If not inlined, a field read goes through memory twice, which costs more than the read itself.
    #[inline(always)]
    pub fn array<const N: usize>(&mut self, field: &'static str) -> Result<&'a [u8; N]> {
        match self.bytes.split_first_chunk::<N>() {
            Some((head, tail)) => {
                self.bytes = tail;
                self.offset += N as u64;
                Ok(head)
            }
            None => Err(self.short(N, field)),
        }
    }

    /// Takes `len` bytes.
    #[inline]
    pub fn take(&mut self, len: usize, field: &'static str) -> Result<&'a [u8]> {
        match self.bytes.split_at_checked(len) {
            Some((head, tail)) => {
                self.bytes = tail;
                self.offset += len as u64;
                Ok(head)
            }
            None => Err(self.short(len, field)),
        }
    }

    /// Takes `len` bytes as a separate cursor, so that no read can pass a declared length.
    #[inline]
    pub fn split(&mut self, len: usize, field: &'static str) -> Result<Cursor<'a>> {
        let offset = self.offset;
        Ok(Cursor { bytes: self.take(len, field)?, offset, order: self.order })
    }

    /// Takes all remaining bytes.
    #[inline]
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = std::mem::take(&mut self.bytes);
        self.offset += rest.len() as u64;
        rest
    }

    #[cold]
    fn short(&self, needed: usize, field: &'static str) -> Error {
        let position = Position::at(self.offset).field(field);
        Error::truncated(position, needed as u64, self.bytes.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::find_nul;

    #[test]
    fn the_first_nul_is_found_wherever_it_stands() {
        for len in 0..40 {
            let clean: Vec<u8> = (0..len).map(|index| [1, 0x80, 0xff][index % 3]).collect();
            assert_eq!(find_nul(&clean), None);
            for first in 0..len {
                for second in first..len {
                    let mut bytes = clean.clone();
                    (bytes[first], bytes[second]) = (0, 0);
                    assert_eq!(find_nul(&bytes), Some(first), "{bytes:?}");
                }
            }
        }
    }
}

//! Numbers in groups of seven bits, the lowest first; the top bit of a byte means that another byte follows.

use crate::raw::VARINT_BYTES;

/// A varint as stored in the file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Varint {
    pub(crate) value: u64,
    /// Size in the file.
    pub(crate) len: usize,
}

/// Why there is no varint.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fault {
    /// The bytes end before it does.
    Cut,
    /// It has more than ten bytes or more than 64 bits.
    TooLong,
}

const TOP_BITS: u64 = 0x8080_8080_8080_8080;

/// Reads a varint from the front of `bytes`.
#[inline]
pub(crate) fn read(bytes: &[u8]) -> Result<Varint, Fault> {
    if let Some(word) = bytes.first_chunk::<8>() {
        let word = u64::from_le_bytes(*word);
        let ends = !word & TOP_BITS;
        if ends != 0 {
            // Everything up to the lowest end bit; the bits above belong to the next field.
            let value = join_groups(word & (ends ^ (ends - 1)) & !TOP_BITS);
            return Ok(Varint { value, len: ends.trailing_zeros() as usize / 8 + 1 });
        }
    }
    read_by_byte(bytes)
}

/// Closes the gaps that the top bits leave between eight groups of seven bits.
#[inline]
const fn join_groups(word: u64) -> u64 {
    let pairs = (word & 0x007f_007f_007f_007f) | (word & 0x7f00_7f00_7f00_7f00) >> 1;
    let fours = (pairs & 0x0000_3fff_0000_3fff) | (pairs & 0x3fff_0000_3fff_0000) >> 2;
    (fours & 0x0fff_ffff) | (fours & 0x0fff_ffff_0000_0000) >> 4
}

#[cold]
fn read_by_byte(bytes: &[u8]) -> Result<Varint, Fault> {
    let mut value = 0;
    for (index, byte) in bytes.iter().take(VARINT_BYTES).enumerate() {
        let group = u64::from(byte & 0x7f);
        if index == VARINT_BYTES - 1 && *byte > 1 {
            return Err(Fault::TooLong);
        }
        value |= group << (7 * index);
        if *byte < 0x80 {
            return Ok(Varint { value, len: index + 1 });
        }
    }
    Err(Fault::Cut)
}

/// Size of the shortest form.
#[inline]
pub(crate) const fn len(value: u64) -> usize {
    let bits = 64 - (value | 1).leading_zeros();
    bits.div_ceil(7) as usize
}

/// Appends `value` in its shortest form and `padding` groups of zeros.
#[inline]
pub(crate) fn write(out: &mut Vec<u8>, mut value: u64, padding: u8) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    if padding == 0 {
        out.push(value as u8);
        return;
    }
    out.push(value as u8 | 0x80);
    out.extend((1..padding).map(|_| 0x80));
    out.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_and_padding_comes_back() {
        for shift in 0..64 {
            for value in [1 << shift, (1 << shift) - 1, u64::MAX >> shift] {
                for padding in 0..=VARINT_BYTES - len(value) {
                    let mut bytes = Vec::new();
                    write(&mut bytes, value, padding as u8);
                    let stored = bytes.len();
                    assert_eq!(stored, len(value) + padding);
                    for surplus in [0, 9] {
                        bytes.resize(stored + surplus, 0xff);
                        assert_eq!(read(&bytes), Ok(Varint { value, len: stored }), "{value} {padding}");
                    }
                    for cut in 0..stored {
                        assert_eq!(read(bytes.split_at(cut).0), Err(Fault::Cut), "{value} {padding} {cut}");
                    }
                }
            }
        }
    }

    #[test]
    fn more_than_64_bits_are_refused() {
        let longest = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(read(&longest), Ok(Varint { value: u64::MAX, len: 10 }));
        for last in [2, 0x7f, 0x80, 0x81, 0xff] {
            let mut bytes = longest;
            bytes[9] = last;
            assert_eq!(read(&bytes), Err(Fault::TooLong));
        }
    }
}

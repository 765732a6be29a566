//! CRC-32 as used by zlib, PNG and Ethernet, computed eight bytes at a time.

/// A running checksum of bytes that arrive in chunks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Checksum(u32);

impl Default for Checksum {
    fn default() -> Self {
        Self::new()
    }
}

impl Checksum {
    /// The checksum of no bytes.
    pub const fn new() -> Self {
        Self(!0)
    }

    /// Adds more bytes.
    #[must_use]
    pub fn with(mut self, bytes: &[u8]) -> Self {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            let low = u32::from_le_bytes([word[0], word[1], word[2], word[3]]) ^ self.0;
            let [a, b, c, d] = low.to_le_bytes();
            let [.., e, f, g, h] = *word;
            self.0 = entry(7, a)
                ^ entry(6, b)
                ^ entry(5, c)
                ^ entry(4, d)
                ^ entry(3, e)
                ^ entry(2, f)
                ^ entry(1, g)
                ^ entry(0, h);
        }
        for byte in rest {
            self.0 = self.0 >> 8 ^ entry(0, *byte ^ self.0 as u8);
        }
        self
    }

    /// The checksum of all bytes added so far.
    pub const fn value(self) -> u32 {
        !self.0
    }
}

#[inline]
#[allow(clippy::indexing_slicing, reason = "eight tables, and a byte is below their 256 entries")]
fn entry(table: usize, byte: u8) -> u32 {
    TABLES[table & 7][byte as usize]
}

static TABLES: [[u32; 256]; 8] = tables();

#[allow(clippy::indexing_slicing, reason = "evaluated when compiling; an index past the end would not compile")]
const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 0 { value >> 1 } else { value >> 1 ^ 0xedb8_8320 };
            bit += 1;
        }
        tables[0][byte] = value;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[table - 1][byte];
            tables[table][byte] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_value_in_any_pieces() {
        let bytes = b"123456789";
        for cut in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(cut);
            assert_eq!(Checksum::new().with(head).with(tail).value(), 0xcbf4_3926);
        }
        assert_eq!(Checksum::new().value(), 0);
    }
}

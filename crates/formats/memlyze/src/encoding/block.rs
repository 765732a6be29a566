//! Blocks of events, packed separately so that each can be read without the others.

use traceloom_core::{ByteOrder, Checksum, Cursor, Result};

use crate::{
    Clock,
    raw::{BLOCK_HEADER_BYTES, BLOCK_MAGIC, BLOCK_PLAIN_BYTES, BLOCK_STORED},
};

/// The head of a block.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Head {
    /// Size of the packed events.
    pub(crate) packed_len: usize,
    /// Whether the events are stored uncompressed.
    is_stored: bool,
    /// Size of the events.
    pub(crate) plain_len: usize,
    checksum: u32,
    /// Time at the event before the first.
    pub(crate) time_us: u64,
    /// Delta of the current run there.
    pub(crate) run_delta: u64,
}

impl Head {
    /// Reads a head; the error says why the bytes are not a head.
    pub(crate) fn read(bytes: &[u8], order: ByteOrder) -> Result<Self, &'static str> {
        let (magic, head) = Self::fields(bytes, order).map_err(|_| "the file ends inside the head of a block")?;
        if magic != BLOCK_MAGIC {
            return Err("its first bytes are not MLZB");
        }
        let Self { packed_len, plain_len, is_stored, .. } = head;
        if plain_len > BLOCK_PLAIN_BYTES || packed_len > plain_len || (is_stored && packed_len != plain_len) {
            return Err("its lengths are impossible");
        }
        Ok(head)
    }

    fn fields(bytes: &[u8], order: ByteOrder) -> Result<([u8; 4], Self)> {
        let mut cursor = Cursor::new(bytes, 0, order);
        let magic = *cursor.array::<4>("magic")?;
        let packed = cursor.u32("packed_length")?;
        let head = Self {
            packed_len: (packed & !BLOCK_STORED) as usize,
            is_stored: packed & BLOCK_STORED != 0,
            plain_len: cursor.u32("plain_length")? as usize,
            checksum: cursor.u32("checksum")?,
            time_us: cursor.u64("time")?,
            run_delta: cursor.u64("run")?,
        };
        Ok((magic, head))
    }

    /// Size of the whole block.
    pub(crate) const fn block_len(&self) -> usize {
        BLOCK_HEADER_BYTES + self.packed_len
    }

    /// Unpacks the events of a block into `plain`; the error says why that is impossible.
    pub(crate) fn unpack(&self, block: &[u8], plain: &mut Vec<u8>) -> Result<(), &'static str> {
        let (head, packed) = block.split_at_checked(BLOCK_HEADER_BYTES).ok_or("the block is truncated")?;
        plain.clear();
        if self.is_stored {
            plain.extend_from_slice(packed);
        } else {
            plain.resize(self.plain_len, 0);
            if decompress(packed, plain)? != self.plain_len {
                return Err("it unpacks to fewer bytes than its head declares");
            }
        }
        let times = head.get(16..).unwrap_or_default();
        if Checksum::new().with(times).with(plain).value() != self.checksum {
            return Err("its checksum is wrong");
        }
        Ok(())
    }
}

/// Appends a block that holds `plain`, whose events start at the time of `clock`.
pub(crate) fn pack(plain: &[u8], clock: &Clock, order: ByteOrder, out: &mut Vec<u8>) {
    let packed = compress(plain).filter(|packed| packed.len() < plain.len());
    let length = match &packed {
        Some(packed) => packed.len() as u32,
        None => plain.len() as u32 | BLOCK_STORED,
    };
    let [time, run] = [clock.now_us(), clock.run_delta()].map(|value| order.put_u64(value));
    let checksum = Checksum::new().with(&time).with(&run).with(plain).value();
    out.extend_from_slice(&BLOCK_MAGIC);
    for value in [length, plain.len() as u32, checksum] {
        out.extend_from_slice(&order.put_u32(value));
    }
    out.extend_from_slice(&time);
    out.extend_from_slice(&run);
    out.extend_from_slice(packed.as_deref().unwrap_or(plain));
}

#[cfg(feature = "lz4")]
fn decompress(packed: &[u8], plain: &mut [u8]) -> Result<usize, &'static str> {
    lz4_flex::block::decompress_into(packed, plain).map_err(|_| "its LZ4 data is malformed")
}

#[cfg(not(feature = "lz4"))]
fn decompress(_: &[u8], _: &mut [u8]) -> Result<usize, &'static str> {
    Err("this build has no LZ4")
}

#[cfg(feature = "lz4")]
fn compress(plain: &[u8]) -> Option<Vec<u8>> {
    Some(lz4_flex::block::compress(plain))
}

/// Without LZ4, every block is stored uncompressed, which any reader accepts.
#[cfg(not(feature = "lz4"))]
fn compress(_: &[u8]) -> Option<Vec<u8>> {
    None
}

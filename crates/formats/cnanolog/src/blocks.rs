//! Blocks of 1.2 and 1.3 logs: everything after the header is in blocks, each of which can be read without the others.

use std::io::{self, Write};

use traceloom_core::{ByteOrder, Checksum, Cursor, Result};

use crate::{
    Header,
    raw::{BLOCK_HEADER_BYTES, CNANOLOG_BLOCK_MAGIC, MAX_BLOCK_BYTES},
};

/// The head of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) plain_bytes: usize,
    /// Equal to the number of plain bytes if the contents are not compressed.
    pub(crate) stored_bytes: usize,
    checksum: u32,
}

impl Head {
    /// Reads a head; the error says why the bytes are not a head.
    pub(crate) fn read(bytes: &[u8], layout: Layout) -> Result<Self, &'static str> {
        let (magic, head) =
            Self::fields(bytes, layout.order).map_err(|_| "the file ends inside the head of a block")?;
        if magic != CNANOLOG_BLOCK_MAGIC {
            return Err("its magic is not 0x424c434b");
        }
        let Self { plain_bytes, stored_bytes, .. } = head;
        let is_possible = if layout.is_compressed { stored_bytes <= plain_bytes } else { stored_bytes == plain_bytes };
        if stored_bytes == 0 || plain_bytes > MAX_BLOCK_BYTES || !is_possible {
            return Err("its lengths are impossible");
        }
        Ok(head)
    }

    fn fields(bytes: &[u8], order: ByteOrder) -> Result<(u32, Self)> {
        let mut cursor = Cursor::new(bytes, 0, order);
        let magic = cursor.u32("magic")?;
        let plain_bytes = cursor.u32("plain_size")? as usize;
        let stored_bytes = cursor.u32("stored_size")? as usize;
        Ok((magic, Self { plain_bytes, stored_bytes, checksum: cursor.u32("crc32")? }))
    }

    /// Whether the contents can be verified: they have a checksum, or are LZ4 data of a known length.
    pub(crate) fn is_checkable(&self, layout: Layout) -> bool {
        layout.has_checksums || self.stored_bytes < self.plain_bytes
    }

    /// Unpacks the contents of a block; if that is impossible, they are zeros.
    pub(crate) fn unpack(&self, stored: &[u8], layout: Layout, plain: &mut Vec<u8>) -> Result<(), Damage> {
        plain.clear();
        plain.resize(self.plain_bytes, 0);
        if stored.len() == self.plain_bytes {
            plain.copy_from_slice(stored);
        } else if lz4_flex::block::decompress_into(stored, plain).ok() != Some(self.plain_bytes) {
            plain.fill(0);
            return Err(Damage::Malformed);
        }
        if layout.has_checksums && Checksum::new().with(plain).value() != self.checksum {
            return Err(Damage::Checksum);
        }
        Ok(())
    }

    /// The head before it was damaged, if a checksum or an intact length proves it; `plain` has room for any block.
    pub(crate) fn heal(damaged: &[u8], contents: &[u8], layout: Layout, plain: &mut [u8]) -> Option<Self> {
        let (_, old) = Self::fields(damaged, layout.order).ok()?;
        let stored_bytes = contents.len();
        let plain = if !layout.is_compressed || old.plain_bytes == stored_bytes {
            contents
        } else {
            let len = lz4_flex::block::decompress_into(contents, plain).ok()?;
            plain.get(..len).filter(|plain| plain.len() > stored_bytes)?
        };
        let is_proven = if layout.has_checksums {
            Checksum::new().with(plain).value() == old.checksum
        } else {
            old.plain_bytes == plain.len() || old.stored_bytes == stored_bytes
        };
        is_proven.then_some(Self { plain_bytes: plain.len(), stored_bytes, ..old })
    }
}

/// Damage to the contents of a block.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Damage {
    /// The contents can be read, but some are wrong.
    Checksum,
    /// The contents cannot be read.
    Malformed,
}

/// An output that packs everything into blocks if the header says so.
#[derive(Debug)]
pub(crate) struct Packer<W> {
    out: W,
    layout: Option<Layout>,
}

/// The layout of blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) order: ByteOrder,
    pub(crate) is_compressed: bool,
    pub(crate) has_checksums: bool,
}

impl<W> Packer<W> {
    /// Does not use blocks yet, because a header is not in a block.
    pub(crate) fn new(out: W) -> Self {
        Self { out, layout: None }
    }

    /// Called after the header has been written.
    pub(crate) fn begin(&mut self, header: &Header) {
        self.layout = Layout::of(header);
    }

    pub(crate) fn out_mut(&mut self) -> &mut W {
        &mut self.out
    }

    pub(crate) fn into_out(self) -> W {
        self.out
    }
}

impl<W: Write> Write for Packer<W> {
    /// Makes one block per call, because each call passes whole records.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(layout) = self.layout else { return self.out.write(bytes) };
        for plain in bytes.chunks(MAX_BLOCK_BYTES) {
            self.out.write_all(&layout.block(plain))?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Layout {
    /// The layout that a header declares; `None` if there are no blocks.
    pub(crate) fn of(header: &Header) -> Option<Self> {
        let (is_compressed, has_checksums) = (header.is_compressed(), header.has_checksums());
        (is_compressed || has_checksums).then_some(Self { order: header.order, is_compressed, has_checksums })
    }

    fn block(self, plain: &[u8]) -> Vec<u8> {
        let packed = self.is_compressed.then(|| lz4_flex::block::compress(plain));
        let stored = packed.as_deref().filter(|packed| packed.len() < plain.len()).unwrap_or(plain);
        let checksum = if self.has_checksums { Checksum::new().with(plain).value() } else { 0 };
        let mut block = Vec::with_capacity(BLOCK_HEADER_BYTES + stored.len());
        for number in [CNANOLOG_BLOCK_MAGIC, plain.len() as u32, stored.len() as u32, checksum] {
            block.extend_from_slice(&self.order.put_u32(number));
        }
        block.extend_from_slice(stored);
        block
    }
}

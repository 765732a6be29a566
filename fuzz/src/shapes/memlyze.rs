//! Memlyze: its magic, and the checksums of its blocks.

use flate2::Crc;
use traceloom_memlyze::raw::{BLOCK_HEADER_BYTES, BLOCK_MAGIC, BLOCK_STORED, MAGIC, Version};

pub(super) fn restore_magic(bytes: &mut [u8], seed: u32) {
    let Some((head, _)) = bytes.split_first_chunk_mut::<8>() else { return };
    let version = if seed.is_multiple_of(8) { Version::V1.0.to_be_bytes() } else { Version::V1.0.to_le_bytes() };
    head.split_at_mut(MAGIC.len()).0.copy_from_slice(&MAGIC);
    // Newer versions are read like this one; one mutation in eight keeps whatever version it has.
    if !seed.is_multiple_of(4) || seed.is_multiple_of(8) {
        head.split_at_mut(MAGIC.len()).1.copy_from_slice(&version);
    }
    restore_checksums(bytes);
}

/// Corrects the checksums of uncompressed blocks, because a mutation never finds a checksum by chance.
fn restore_checksums(mut bytes: &mut [u8]) {
    while let Some(start) = bytes.windows(BLOCK_MAGIC.len()).position(|ahead| ahead == BLOCK_MAGIC) {
        let block = bytes.split_at_mut(start).1;
        let Some((head, rest)) = block.split_at_mut_checked(BLOCK_HEADER_BYTES) else { return };
        let stored = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        let len = rest.len().min((stored & !BLOCK_STORED) as usize);
        if stored & BLOCK_STORED != 0 {
            let mut checksum = Crc::new();
            checksum.update(&head[16..]);
            checksum.update(&rest[..len]);
            head[4..8].copy_from_slice(&(len as u32 | BLOCK_STORED).to_le_bytes());
            head[8..12].copy_from_slice(&(len as u32).to_le_bytes());
            head[12..16].copy_from_slice(&checksum.sum().to_le_bytes());
        }
        bytes = rest;
    }
}

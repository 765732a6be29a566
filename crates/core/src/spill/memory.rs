//! Temporary files in memory, for platforms without files; all of them together have a size limit.

use std::{
    io::{self, Seek, SeekFrom, Write},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use crate::read::ReadAt;

/// Part of the 1 GiB that a page has; the rest is for the page itself.
const MAX_BYTES: u64 = 512 << 20;
/// Memory grows in chunks of this size, so existing bytes never move.
const CHUNK_BYTES: usize = 1 << 20;

/// Bytes in all temporary files.
static USED_BYTES: AtomicU64 = AtomicU64::new(0);

/// A temporary file in memory.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    chunks: Vec<Vec<u8>>,
    len: u64,
    position: u64,
}

impl Memory {
    fn grow(&mut self) -> io::Result<()> {
        let used = USED_BYTES.fetch_add(CHUNK_BYTES as u64, Relaxed) + CHUNK_BYTES as u64;
        let mut chunk = Vec::new();
        if used > MAX_BYTES || chunk.try_reserve_exact(CHUNK_BYTES).is_err() {
            USED_BYTES.fetch_sub(CHUNK_BYTES as u64, Relaxed);
            return Err(io::Error::new(io::ErrorKind::StorageFull, FULL));
        }
        chunk.resize(CHUNK_BYTES, 0);
        self.chunks.push(chunk);
        Ok(())
    }
}

const FULL: &str =
    "this page has no more memory for temporary data; open the file with the program: traceloom view FILE";

/// The chunk that holds an offset, and the index inside that chunk.
fn place(offset: u64) -> (usize, usize) {
    ((offset / CHUNK_BYTES as u64) as usize, (offset % CHUNK_BYTES as u64) as usize)
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (number, at) = place(self.position);
        while self.chunks.len() <= number && !bytes.is_empty() {
            self.grow()?;
        }
        let room = self.chunks.get_mut(number).and_then(|chunk| chunk.get_mut(at..)).unwrap_or_default();
        let written = room.len().min(bytes.len());
        room.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        self.position += written as u64;
        self.len = self.len.max(self.position);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Memory {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::End(by) => self.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

impl ReadAt for Memory {
    fn len(&self) -> io::Result<u64> {
        Ok(self.len)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let (number, at) = place(offset);
        let left = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let chunk = self.chunks.get(number).and_then(|chunk| chunk.get(at..)).unwrap_or_default();
        let read = chunk.len().min(buffer.len()).min(left);
        buffer.iter_mut().zip(chunk).take(read).for_each(|(to, from)| *to = *from);
        Ok(read)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        USED_BYTES.fetch_sub((self.chunks.len() * CHUNK_BYTES) as u64, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::read_exact;

    #[test]
    fn it_is_a_file_up_to_a_limit_that_all_of_them_share() {
        let mut memory = Memory::default();
        let bytes: Vec<u8> = (0..3 * CHUNK_BYTES / 2).map(|number| number as u8).collect();
        memory.write_all(&bytes).unwrap();
        memory.seek(SeekFrom::Start(7)).unwrap();
        memory.write_all(b"other").unwrap();
        let mut read = vec![0; bytes.len()];
        read_exact(&memory, 0, &mut read).unwrap();
        assert_eq!((&read[..7], &read[7..12], &read[12..]), (&bytes[..7], &b"other"[..], &bytes[12..]));
        assert_eq!(memory.len().unwrap(), bytes.len() as u64);
        assert_eq!(memory.read_at(bytes.len() as u64, &mut read).unwrap(), 0);

        USED_BYTES.fetch_add(MAX_BYTES - 3 * CHUNK_BYTES as u64, Relaxed);
        let mut other = Memory::default();
        other.write_all(&bytes[..CHUNK_BYTES]).unwrap();
        let error = other.write_all(b"more").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(error.to_string().contains("traceloom view"), "{error}");
        drop(memory);
        other.write_all(b"more").unwrap();
        drop(other);
        assert_eq!(USED_BYTES.load(Relaxed), MAX_BYTES - 3 * CHUNK_BYTES as u64);
    }
}

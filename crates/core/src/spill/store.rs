//! Bytes addressed by their offset: in memory up to a limit, in a temporary file above it.

use super::{Temporary, temporary};
use crate::{Result, read::read_exact, reserve};

/// Number of bytes read from the file at once.
const PAGE_BYTES: usize = 64 << 10;
/// Number of cached pages, each in the slot given by its number; reads move through the file in nearly one direction.
const PAGES: usize = 16;

/// Append-only bytes.
#[derive(Debug)]
pub struct Store {
    /// The end of the bytes, or all of them if there is no file.
    tail: Vec<u8>,
    tail_limit: usize,
    file: Option<Temporary>,
    file_bytes: u64,
    pages: Vec<Page>,
}

#[derive(Clone, Debug, Default)]
struct Page {
    number: Option<u64>,
    bytes: Vec<u8>,
}

impl Store {
    /// An empty store that keeps about `limit_bytes` in memory.
    pub fn new(limit_bytes: u64) -> Self {
        let tail_limit = usize::try_from(limit_bytes).unwrap_or(usize::MAX).max(PAGE_BYTES);
        Self { tail: Vec::new(), tail_limit, file: None, file_bytes: 0, pages: Vec::new() }
    }

    /// Number of bytes.
    pub fn len(&self) -> u64 {
        self.file_bytes + self.tail.len() as u64
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends bytes; returns the offset from which they can be read.
    pub fn append(&mut self, bytes: &[u8]) -> Result<u64> {
        if self.tail.len().saturating_add(bytes.len()) > self.tail_limit {
            self.flush()?;
        }
        let offset = self.len();
        reserve(&mut self.tail, bytes.len())?;
        self.tail.extend_from_slice(bytes);
        Ok(offset)
    }

    /// Reads bytes that were appended before.
    pub fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<()> {
        let mut done = 0;
        while done < into.len() {
            let at = offset + done as u64;
            let part = match at.checked_sub(self.file_bytes) {
                Some(in_tail) => self.tail.get(in_tail as usize..).unwrap_or_default(),
                None => self.page(at)?,
            };
            if part.is_empty() {
                return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
            }
            let len = part.len().min(into.len() - done);
            into[done..done + len].copy_from_slice(&part[..len]);
            done += len;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(temporary::create()?),
        };
        // The file's cursor is at its end, because reads are positional.
        temporary::append(file, &self.tail)?;
        self.file_bytes += self.tail.len() as u64;
        self.tail.clear();
        self.pages.clear();
        Ok(())
    }

    /// The bytes of the file from `offset` to the end of the page.
    fn page(&mut self, offset: u64) -> Result<&[u8]> {
        if self.pages.is_empty() {
            self.pages.resize(PAGES, Page::default());
        }
        let number = offset / PAGE_BYTES as u64;
        let page = &mut self.pages[number as usize % PAGES];
        if page.number != Some(number) {
            let begin = number * PAGE_BYTES as u64;
            let len = (self.file_bytes - begin).min(PAGE_BYTES as u64) as usize;
            page.number = None;
            page.bytes.resize(len, 0);
            if let Some(file) = &self.file {
                read_exact(file, begin, &mut page.bytes)?;
            }
            page.number = Some(number);
        }
        Ok(page.bytes.get(offset as usize % PAGE_BYTES..).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_read_from_memory_and_from_the_file() {
        for limit in [0, u64::MAX] {
            let mut store = Store::new(limit);
            let put: Vec<(u64, Vec<u8>)> = (0..2000_usize)
                .map(|number| {
                    let bytes = vec![number as u8; number % 300];
                    (store.append(&bytes).unwrap(), bytes)
                })
                .collect();
            assert_eq!(store.file.is_some(), limit == 0);
            for (offset, bytes) in put.iter().rev() {
                let mut read = vec![0; bytes.len()];
                store.read(*offset, &mut read).unwrap();
                assert_eq!(read, *bytes);
            }
            assert!(store.read(store.len(), &mut [0]).is_err());
        }
    }
}

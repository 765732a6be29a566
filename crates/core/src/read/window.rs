//! A bounded window that moves over a source.

use crate::{Error, Limits, Position, Result, Source, reserve};

/// A buffer over part of a source; its size does not grow with the file.
///
/// Call order: `fill(n)` makes bytes available, `bytes()` shows them, `take(n)` or `consume(n)` moves on.
#[derive(Debug)]
pub struct Window {
    source: Source,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    offset: u64,
    chunk: usize,
    longest: usize,
}

impl Window {
    /// A window at the start of `source`.
    pub fn new(source: Source, limits: &Limits) -> Self {
        Self {
            source,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            offset: 0,
            chunk: limits.window_bytes.max(1),
            longest: limits.record_bytes,
        }
    }

    /// The underlying source.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The offset in the file at which `bytes()` starts.
    #[inline]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The bytes available without reading.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Makes `wanted` bytes available and returns what is available: fewer only at the end of the source.
    #[inline]
    pub fn fill(&mut self, wanted: usize) -> Result<&[u8]> {
        if self.end - self.start < wanted {
            self.refill(wanted, wanted.max(self.chunk))?;
        }
        Ok(self.bytes())
    }

    /// Makes `wanted` bytes available and returns whether there are that many.
    #[inline]
    pub fn has(&mut self, wanted: usize) -> Result<bool> {
        if self.end - self.start < wanted {
            self.refill(wanted, wanted.max(self.chunk))?;
        }
        Ok(self.end - self.start >= wanted)
    }

    /// Makes `wanted` bytes available in steps that double, so that a wrong length costs no memory; returns how many
    /// are available.
    pub fn grow(&mut self, wanted: usize) -> Result<usize> {
        loop {
            let available = self.bytes().len();
            let step = wanted.min(available.saturating_mul(2).max(64));
            if available >= wanted || self.fill(step)?.len() < step {
                return Ok(self.bytes().len());
            }
        }
    }

    /// Makes up to `more` bytes available beyond those that are, but no more than `most` in total, and reads no further;
    /// returns whether there are more than before.
    pub fn extend(&mut self, more: usize, most: usize) -> Result<bool> {
        let available = self.bytes().len();
        let wanted = available.saturating_add(more).min(most).min(self.longest);
        if wanted > available {
            self.refill(wanted, wanted)?;
        }
        Ok(self.bytes().len() > available)
    }

    /// Makes a line available; returns its length including the newline, or the length of everything that is left.
    pub fn line_len(&mut self) -> Result<usize> {
        let mut searched = 0;
        loop {
            let bytes = self.bytes();
            if let Some(found) = bytes.iter().skip(searched).position(|byte| *byte == b'\n') {
                return Ok(searched + found + 1);
            }
            searched = bytes.len();
            if self.grow(searched + 1)? <= searched {
                return Ok(searched);
            }
        }
    }

    /// Moves past `len` bytes, or past all available bytes if there are fewer.
    #[inline]
    pub fn consume(&mut self, len: usize) {
        let len = len.min(self.end - self.start);
        self.start += len;
        self.offset += len as u64;
    }

    /// Moves past `len` bytes and returns them.
    #[inline]
    pub fn take(&mut self, len: usize) -> &[u8] {
        let taken = len.min(self.end - self.start);
        let from = self.start;
        self.start += taken;
        self.offset += taken as u64;
        self.buffer.get(from..from + taken).unwrap_or_default()
    }

    /// Moves to any offset.
    pub fn seek(&mut self, offset: u64) {
        let forward = offset.checked_sub(self.offset).and_then(|step| usize::try_from(step).ok());
        match forward.filter(|step| *step <= self.end - self.start) {
            Some(step) => self.start += step,
            None => (self.start, self.end) = (0, 0),
        }
        self.offset = offset;
    }

    #[cold]
    #[inline(never)]
    fn refill(&mut self, wanted: usize, most: usize) -> Result<()> {
        if wanted > self.longest {
            let error = Error::limit("bytes in one record", wanted as u64, self.longest as u64);
            return Err(error.at(Position::at(self.offset)));
        }
        // At the end of a file, fewer bytes than wanted may be left on every call; do not move the buffer then.
        if self.buffer.len() - self.start < wanted {
            self.make_room(wanted)?;
        }
        while self.end - self.start < wanted {
            let at = self.offset.saturating_add((self.end - self.start) as u64);
            let end = self.start.saturating_add(most).min(self.buffer.len());
            let room = self.buffer.get_mut(self.end..end).unwrap_or_default();
            let read = self.source.read_at(at, room).map_err(|e| e.at(Position::at(at)))?;
            if read == 0 {
                break;
            }
            self.end += read;
        }
        Ok(())
    }

    fn make_room(&mut self, wanted: usize) -> Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let size = wanted.max(self.chunk);
        if self.buffer.is_empty() && size == self.chunk {
            // Fresh memory from the system is already zero, so nothing is written before the bytes are read.
            self.buffer = vec![0; size];
        } else if self.buffer.len() < size {
            let more = size - self.buffer.len();
            reserve(&mut self.buffer, more)?;
            self.buffer.resize(size, 0);
        }
        Ok(())
    }
}

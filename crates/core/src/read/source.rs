//! Stored bytes, wherever they are stored.

use std::{
    fmt,
    fs::File,
    io::{self, BufWriter, Read, Write},
    path::Path,
    sync::Arc,
};

use crate::{Error, Limits, Result, spill::temporary};

/// Something that can be read at any offset.
pub trait ReadAt: Send + Sync {
    /// The current length; a file that is still being written may grow.
    fn len(&self) -> io::Result<u64>;

    /// Reads some bytes at `offset`; 0 means that there are none.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Whether there is nothing to read.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// The length before any compression was removed.
    fn stored_len(&self) -> io::Result<u64> {
        self.len()
    }

    /// Another file that belongs to this one; see [`Source::with_companion`].
    fn companion(&self) -> Option<Source> {
        None
    }
}

/// A shared handle to stored bytes; cloning it is cheap.
#[derive(Clone)]
pub struct Source(pub(super) Arc<dyn ReadAt>);

impl Source {
    /// Opens a file. A pipe or a device is spooled first; `-` is standard input.
    pub fn open(path: &Path, limits: &Limits) -> Result<Self> {
        let open = || -> Result<Self> {
            if path == Path::new("-") {
                return Self::spool(io::stdin().lock(), limits);
            }
            let file = File::open(path)?;
            let kind = file.metadata()?;
            if kind.is_dir() {
                return Err(Error::usage("this is a folder, not a trace"));
            }
            if kind.is_file() { Ok(Self::file(file)) } else { Self::spool(file, limits) }
        };
        open().map_err(|error| error.in_file(path))
    }

    /// A regular file.
    pub fn file(file: File) -> Self {
        Self(Arc::new(file))
    }

    /// Bytes in memory.
    pub fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self(Arc::new(bytes.into()))
    }

    /// Any other source.
    pub fn custom(source: impl ReadAt + 'static) -> Self {
        Self(Arc::new(source))
    }

    /// Attaches a file that belongs to these bytes, such as the journal of a log, for the reader to find.
    #[must_use]
    pub fn with_companion(self, companion: Self) -> Self {
        Self(Arc::new(Accompanied { source: self, companion }))
    }

    /// The file that belongs to this one, if there is one.
    pub fn companion(&self) -> Option<Self> {
        self.0.companion()
    }

    /// Copies a stream into an unlinked temporary file, up to [`Limits::spool_bytes`].
    pub fn spool(stream: impl Read, limits: &Limits) -> Result<Self> {
        let mut file = temporary::create()?;
        let copied = io::copy(&mut stream.take(limits.spool_bytes.saturating_add(1)), &mut file);
        let copied = copied.map_err(temporary::explain)?;
        if copied > limits.spool_bytes {
            return Err(Error::limit("input from a stream", copied, limits.spool_bytes));
        }
        Ok(Self::custom(file))
    }

    /// The bytes that `write` writes, in an unlinked temporary file.
    pub fn written(write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<Self> {
        let mut out = BufWriter::new(temporary::create()?);
        write(&mut out)?;
        let file = out.into_inner().map_err(|error| temporary::explain(error.into_error()))?;
        Ok(Self::custom(file))
    }

    /// The current length.
    pub fn len(&self) -> Result<u64> {
        Ok(self.0.len()?)
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Number of bytes to which these may unpack. The bound is the same for compression around a format and inside it:
    /// otherwise, each layer could expand as much again.
    pub fn max_unpacked(&self, limits: &Limits) -> Result<u64> {
        Ok(self.0.stored_len()?.saturating_mul(limits.ratio).max(Limits::RATIO_FREE_BYTES))
    }

    /// Reads until `buffer` is full or the bytes end; returns the number of bytes read.
    pub fn read_full(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.read_at(offset.saturating_add(filled as u64), rest)? {
                0 => break,
                read => filled += read,
            }
        }
        Ok(filled)
    }

    /// Reads at most `len` bytes from the start.
    pub fn prefix(&self, len: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        let filled = self.read_full(0, &mut bytes)?;
        bytes.truncate(filled);
        Ok(bytes)
    }

    /// Reads some bytes at `offset`; 0 means the end.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        loop {
            match self.0.read_at(offset, buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return Ok(result?),
            }
        }
    }

    /// The bytes as a stream.
    pub fn stream(&self) -> impl Read + Send + use<> {
        Stream { source: self.clone(), offset: 0 }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("len", &self.0.len().ok()).finish()
    }
}

struct Accompanied {
    source: Source,
    companion: Source,
}

impl ReadAt for Accompanied {
    fn len(&self) -> io::Result<u64> {
        self.source.0.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.source.0.read_at(offset, buffer)
    }

    fn stored_len(&self) -> io::Result<u64> {
        self.source.0.stored_len()
    }

    fn companion(&self) -> Option<Source> {
        Some(self.companion.clone())
    }
}

struct Stream {
    source: Source,
    offset: u64,
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.0.read_at(self.offset, buffer)?;
        self.offset += read as u64;
        Ok(read)
    }
}

/// Fills `into`; returns an error if the bytes end early.
pub(crate) fn read_exact(source: &impl ReadAt, offset: u64, into: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    while let Some(rest) = into.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match source.read_at(offset + filled as u64, rest) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Far above the size of any file, and far enough below the system's maximum that adding any length cannot overflow.
const MAX_FILE_BYTES: u64 = 1 << 62;

impl ReadAt for File {
    fn len(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        // The system refuses offsets that no file can have; treat them as past the end, as for bytes in memory.
        if offset >= MAX_FILE_BYTES {
            return Ok(0);
        }
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::read_at(self, buffer, offset);
        #[cfg(windows)]
        return std::os::windows::fs::FileExt::seek_read(self, buffer, offset);
        #[cfg(not(any(unix, windows)))]
        return Err(io::Error::new(io::ErrorKind::Unsupported, format!("{} bytes cannot be read here", buffer.len())));
    }
}

impl ReadAt for Vec<u8> {
    fn len(&self) -> io::Result<u64> {
        Ok(Vec::len(self) as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let tail = usize::try_from(offset).ok().and_then(|offset| self.get(offset..));
        tail.unwrap_or_default().read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_lies_beyond_the_end_of_a_file_as_of_memory() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"bytes").unwrap();
        for source in [Source::file(file), Source::bytes(*b"bytes")] {
            for offset in [5, 1 << 40, (1 << 62) - 1, 1 << 62, (1 << 63) - 1, 1 << 63, u64::MAX] {
                assert_eq!(source.read_at(offset, &mut [0; 8]).unwrap(), 0, "{offset}");
            }
        }
    }
}

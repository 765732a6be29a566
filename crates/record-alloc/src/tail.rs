//! The last events, in memory that the kernel keeps, so that none is lost when the process ends.
//!
//! The journal starts with a mapped page for them. Events are collected there and written to their file when the page
//! is full.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::FileExt,
    path::Path,
    ptr,
};

use traceloom_memlyze::raw::Packing;

use crate::file::Appended;

/// Mapped bytes of the journal: a header and the tail of the events. Entries of the journal follow.
pub(crate) const MAPPED_BYTES: usize = 64 << 10;
const MAGIC: [u8; 8] = *b"MLSTACK1";

/// The header before the tail.
#[derive(Clone, Copy)]
#[repr(C)]
struct Head {
    magic: [u8; 8],
    /// Bytes of the event file that are certainly written; the tail follows them.
    file_bytes: u64,
    tail_bytes: u64,
    /// Whether the events are compressed when the file is finished.
    is_packed: u64,
}

const TAIL_CAPACITY: usize = MAPPED_BYTES - size_of::<Head>();

/// The event file and its tail.
pub(crate) struct Events {
    file: Appended,
    head: *mut Head,
}

// SAFETY: the mapping belongs to this value alone.
unsafe impl Send for Events {}

impl Events {
    /// Maps the start of an empty journal.
    pub(crate) fn new(file: Appended, journal: &mut Appended, packing: Packing) -> io::Result<Self> {
        // Written instead of left as a hole, because a full disk must be noticed here and not when the memory is used.
        journal.write_all(&[0; MAPPED_BYTES])?;
        let (protection, descriptor) = (libc::PROT_READ | libc::PROT_WRITE, journal.descriptor);
        // SAFETY: a new mapping of a file that is that long.
        let address = unsafe { libc::mmap(ptr::null_mut(), MAPPED_BYTES, protection, libc::MAP_SHARED, descriptor, 0) };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let head = Head { magic: MAGIC, file_bytes: 0, tail_bytes: 0, is_packed: (packing == Packing::Blocks).into() };
        let events = Self { file, head: address.cast() };
        // SAFETY: the mapping is long enough and aligned to pages.
        unsafe { events.head.write(head) };
        Ok(events)
    }

    fn tail(&self) -> *mut u8 {
        // SAFETY: the tail follows the head within the mapping.
        unsafe { self.head.add(1).cast() }
    }

    /// Writes the tail to the file.
    fn drain(&mut self) -> io::Result<()> {
        // SAFETY: the head and as many bytes as it says are mapped, and only this value changes them.
        let (head, bytes) = unsafe {
            let head = &mut *self.head;
            (head, std::slice::from_raw_parts(self.tail(), (*self.head).tail_bytes as usize))
        };
        self.file.write_all(bytes)?;
        // In this order, bytes that are written twice have the same offset.
        head.tail_bytes = 0;
        head.file_bytes += bytes.len() as u64;
        Ok(())
    }
}

impl Write for Events {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // SAFETY: the head is mapped.
        let used = unsafe { (*self.head).tail_bytes } as usize;
        if bytes.len() > TAIL_CAPACITY - used {
            self.drain()?;
            let taken = bytes.len().min(TAIL_CAPACITY);
            return self.write(&bytes[..taken]);
        }
        // SAFETY: there is room for them in the mapping, which was checked above.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), self.tail().add(used), bytes.len());
            (*self.head).tail_bytes = (used + bytes.len()) as u64;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's and is not used anymore.
        unsafe { libc::munmap(self.head.cast(), MAPPED_BYTES) };
    }
}

/// Writes the tail to the event file; returns how the events are to be compressed. Can be repeated.
pub(crate) fn recover(path: &Path, journal: &mut File) -> io::Result<Packing> {
    let mut mapped = vec![0; MAPPED_BYTES];
    let is_whole = journal.read_exact(&mut mapped).is_ok() && mapped.starts_with(&MAGIC);
    let word = |index: usize| mapped[index * 8..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let tail = mapped[size_of::<Head>()..].get(..word(2) as usize);
    let (true, Some(tail)) = (is_whole, tail) else {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a journal of stacks"));
    };
    let events = OpenOptions::new().write(true).open(path)?;
    events.set_len(word(1))?;
    events.write_all_at(tail, word(1))?;
    Ok(if word(3) == 0 { Packing::Plain } else { Packing::Blocks })
}

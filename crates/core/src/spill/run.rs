//! Sorted entries that are written once, packed in memory or in the arena's file.

use super::{Arena, SpillRow};
use crate::{ByteOrder, Cursor, Result, reserve};

/// Entries that are packed together: few enough to stay in the processor's first cache while each column is packed.
const SEGMENT: usize = 1 << 9;

/// Entries in ascending order.
#[derive(Debug)]
pub(super) struct Run<T> {
    arena: Arena,
    segments: Vec<Segment<T>>,
    last: Option<T>,
    len: u64,
}

#[derive(Debug)]
struct Segment<T> {
    first: T,
    len: usize,
    bytes: Place,
}

#[derive(Debug)]
enum Place {
    Memory(Box<[u8]>),
    /// The offset and the number of bytes.
    File(u64, usize),
}

impl<T: SpillRow> Run<T> {
    pub(super) fn new(arena: &Arena) -> Self {
        Self { arena: arena.clone(), segments: Vec::new(), last: None, len: 0 }
    }

    /// Number of entries.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The last and greatest entry.
    pub(super) fn last(&self) -> Option<&T> {
        self.last.as_ref()
    }

    /// Appends entries that are not less than those already there.
    pub(super) fn extend(&mut self, entries: &[T]) -> Result<()> {
        let mut packed = Vec::new();
        for entries in entries.chunks(SEGMENT) {
            let (Some(first), Some(last)) = (entries.first(), entries.last()) else { break };
            packed.clear();
            T::pack(entries.iter().copied(), &mut packed);
            let bytes = self.place(&packed)?;
            self.segments.push(Segment { first: *first, len: entries.len(), bytes });
            self.last = Some(*last);
            self.len += entries.len() as u64;
        }
        Ok(())
    }

    fn place(&self, packed: &[u8]) -> Result<Place> {
        let mut shared = self.arena.lock();
        let bytes = packed.len() as u64;
        if shared.resident_bytes + bytes > shared.limit_bytes {
            return Ok(Place::File(shared.write(None, packed, bytes)?, packed.len()));
        }
        shared.resident_bytes += bytes;
        Ok(Place::Memory(packed.into()))
    }

    /// Reads the entries in ascending order.
    pub(super) fn read(&self) -> Result<Reader<'_, T>> {
        let mut reader = Reader { run: self, next: 0, entries: Vec::new(), taken: 0, buffer: Vec::new() };
        reader.take(0)?;
        Ok(reader)
    }
}

impl<T> Drop for Run<T> {
    fn drop(&mut self) {
        let resident = self.segments.iter().map(|segment| match &segment.bytes {
            Place::Memory(bytes) => bytes.len() as u64,
            Place::File(..) => 0,
        });
        self.arena.lock().resident_bytes -= resident.sum::<u64>();
    }
}

/// The unread rest of a run.
#[derive(Debug)]
pub(super) struct Reader<'a, T> {
    run: &'a Run<T>,
    /// The segment after the current one.
    next: usize,
    entries: Vec<T>,
    taken: usize,
    buffer: Vec<u8>,
}

impl<T: SpillRow> Reader<'_, T> {
    /// The next entries, as many as are unpacked; empty only at the end.
    #[inline]
    pub(super) fn ready(&self) -> &[T] {
        &self.entries[self.taken..]
    }

    /// Moves past some of the ready entries.
    #[inline]
    pub(super) fn take(&mut self, count: usize) -> Result<()> {
        self.taken += count;
        if self.taken < self.entries.len() { Ok(()) } else { self.load() }
    }

    #[cold]
    fn load(&mut self) -> Result<()> {
        self.entries.clear();
        self.taken = 0;
        let Some(segment) = self.run.segments.get(self.next) else { return Ok(()) };
        self.next += 1;
        let bytes = match &segment.bytes {
            Place::Memory(bytes) => bytes,
            Place::File(offset, len) => {
                self.buffer.resize(*len, 0);
                self.run.arena.lock().read(*offset, &mut self.buffer)?;
                self.buffer.as_slice()
            }
        };
        reserve(&mut self.entries, segment.len)?;
        self.entries.resize(segment.len, segment.first);
        T::unpack(&mut self.entries, |entry| entry, &mut Cursor::new(bytes, 0, ByteOrder::Little))
    }
}

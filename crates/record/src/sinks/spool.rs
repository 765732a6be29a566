//! The file where the records of a profile wait, thread by thread, until the profile is written.

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom, Write},
};

use traceloom_core::Result;
use traceloom_easyprofiler::raw::DataType;

/// Bytes of a thread that are gathered before they go to the spool.
pub(super) const GATHERED: usize = 64 << 10;
/// Max bytes of a text: sizes have 16 bits.
const MAX_TEXT: usize = 60_000;

/// Something to write to and read from; in tests, it can be full.
pub(crate) trait Storage: Read + Write + Seek + Send {}

impl Storage for File {}

/// The spool. A failed write has no effect: the next one starts at the same offset.
pub(super) struct Spool {
    storage: Box<dyn Storage>,
    end: u64,
}

impl Spool {
    /// A file without a name.
    pub(super) fn new() -> Result<Self> {
        Ok(Self::on(Box::new(tempfile::tempfile()?)))
    }

    pub(super) fn on(storage: Box<dyn Storage>) -> Self {
        Self { storage, end: 0 }
    }

    /// Writes all bytes; returns their offset.
    fn append(&mut self, bytes: &[u8]) -> io::Result<u64> {
        self.storage.seek(SeekFrom::Start(self.end))?;
        self.storage.write_all(bytes)?;
        let start = self.end;
        self.end += bytes.len() as u64;
        Ok(start)
    }
}

/// A record in the spool.
pub(super) struct Row<'a> {
    pub(super) descriptor: u32,
    pub(super) begin: u64,
    /// A value has its id here.
    pub(super) end: u64,
    /// Type, whether it is an array, and the bytes; else the bytes are a text.
    pub(super) value: Option<(DataType, bool)>,
    pub(super) bytes: &'a [u8],
}

/// Rows of one thread: those in the spool, and those still in memory.
#[derive(Default)]
pub(super) struct Rows {
    gathered: Vec<u8>,
    /// The ranges of its rows in the spool: offsets and lengths.
    extents: Vec<(u64, u64)>,
    pub(super) count: u32,
}

/// Bytes of a row before its text or data.
const ROW_FIXED: usize = 26;

impl Rows {
    /// Bytes that are not in the spool.
    pub(super) fn gathered(&self) -> usize {
        self.gathered.len()
    }

    pub(super) fn put(&mut self, row: &Row<'_>) {
        let bytes = row.bytes.get(..MAX_TEXT).unwrap_or(row.bytes);
        let (kind, is_array) = row.value.map_or((u8::MAX, false), |(data_type, is_array)| (data_type.0, is_array));
        self.gathered.extend_from_slice(&row.descriptor.to_le_bytes());
        self.gathered.extend_from_slice(&row.begin.to_le_bytes());
        self.gathered.extend_from_slice(&row.end.to_le_bytes());
        self.gathered.extend_from_slice(&[kind, is_array.into()]);
        self.gathered.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        self.gathered.extend_from_slice(bytes);
        self.count = self.count.saturating_add(1);
    }

    /// Writes the gathered rows to the spool; on error, they stay in memory.
    pub(super) fn spool(&mut self, spool: &mut Spool) -> io::Result<()> {
        let len = self.gathered.len() as u64;
        let offset = spool.append(&self.gathered)?;
        match self.extents.last_mut() {
            Some((start, before)) if *start + *before == offset => *before += len,
            _ => self.extents.push((offset, len)),
        }
        // Idle and ended threads should hold no memory.
        self.gathered = Vec::new();
        Ok(())
    }

    /// Passes all rows to `take`, in order.
    pub(super) fn read(&self, spool: &mut Spool, take: &mut dyn FnMut(&Row<'_>) -> Result<()>) -> Result<()> {
        for (offset, len) in &self.extents {
            spool.storage.seek(SeekFrom::Start(*offset))?;
            read_rows(BufReader::new(spool.storage.as_mut().take(*len)), *len, take)?;
        }
        read_rows(self.gathered.as_slice(), self.gathered.len() as u64, take)
    }
}

fn read_rows(mut from: impl Read, mut left: u64, take: &mut dyn FnMut(&Row<'_>) -> Result<()>) -> Result<()> {
    let (mut fixed, mut bytes) = ([0; ROW_FIXED], Vec::new());
    while left > 0 {
        from.read_exact(&mut fixed)?;
        let (row, data) = parse_row(&fixed);
        bytes.resize(data, 0);
        from.read_exact(&mut bytes)?;
        take(&Row { bytes: &bytes, ..row })?;
        left = left.saturating_sub((ROW_FIXED + data) as u64);
    }
    Ok(())
}

/// A row without its bytes, and the number of these bytes.
fn parse_row(fixed: &[u8; ROW_FIXED]) -> (Row<'static>, usize) {
    let [a, b, c, d, begin @ .., _, _, _, _, _, _, _, _, kind, is_array, w, x, y, z] = fixed;
    let end = fixed.get(12..20).and_then(|bytes| bytes.first_chunk()).copied().unwrap_or_default();
    let row = Row {
        descriptor: u32::from_le_bytes([*a, *b, *c, *d]),
        begin: u64::from_le_bytes(*begin),
        end: u64::from_le_bytes(end),
        value: (*kind != u8::MAX).then_some((DataType(*kind), *is_array == 1)),
        bytes: &[],
    };
    (row, u32::from_le_bytes([*w, *x, *y, *z]) as usize)
}

//! Byte records, looked up by the row that owns them.
//!
//! The records are stored one after the other in a [`Store`]; an index, sorted by owner, is in another. Both are in
//! memory only up to a limit, so a lookup reads a block of the index and a few bytes; neighbors are in the same block.

use std::fmt;

use traceloom_core::{Arena, ByteOrder, Cursor, Result, Sorter, SpillRow as _, Store, spill_row};
use traceloom_model::Table;

spill_row! {
    /// A row of a table; its trace is a number of the roster.
    #[derive(Debug, Eq, Ord, PartialEq, PartialOrd)]
    pub struct Owner {
        table: u32,
        trace: u32,
        id: i64,
    }
}

impl Owner {
    /// The row with this id.
    #[inline]
    pub fn new(table: Table, trace: usize, id: i64) -> Self {
        Self { table: table as u32, trace: trace as u32, id }
    }

    /// The table of the row.
    #[inline]
    pub fn table(self) -> Table {
        Table::ALL[self.table as usize]
    }

    /// The number of the trace in the roster.
    #[inline]
    pub fn trace(self) -> usize {
        self.trace as usize
    }

    /// The id of the row.
    #[inline]
    pub fn id(self) -> i64 {
        self.id
    }
}

/// Formatted for people: `spans 7`.
impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.table().name(), self.id)
    }
}

spill_row! {
    /// Where the bytes of one row are.
    #[derive(Debug, Eq, PartialEq)]
    struct RowBytes {
        owner: Owner,
        offset: u64,
        len: u64,
    } by (owner, offset)
}

/// Collects records as they arrive.
#[derive(Debug)]
pub struct OwnedSorter {
    places: Sorter<RowBytes>,
    /// The row whose records are arriving now.
    current: Option<RowBytes>,
    values: Store,
    limit_bytes: u64,
}

/// Bytes of one row that are read at once, unless a single record is longer.
const MAX_TOGETHER: u64 = 1 << 20;

impl OwnedSorter {
    /// An empty sorter that keeps about `limit_bytes` in memory.
    pub fn new(arena: &Arena, limit_bytes: u64) -> Self {
        Self { places: Sorter::new(arena), current: None, values: Store::new(limit_bytes), limit_bytes }
    }

    /// Adds a record of a row.
    pub fn add(&mut self, owner: Owner, record: &[u8]) -> Result<()> {
        let offset = self.values.append(record)?;
        let len = record.len() as u64;
        match &mut self.current {
            Some(place) if place.owner == owner && place.len < MAX_TOGETHER => place.len += len,
            current => {
                if let Some(done) = current.replace(RowBytes { owner, offset, len }) {
                    self.places.push(done)?;
                }
            }
        }
        Ok(())
    }

    /// Ends collecting and makes the records available.
    pub fn finish(mut self) -> Result<Owned> {
        if let Some(last) = self.current.take() {
            self.places.push(last)?;
        }
        let mut index = Store::new(self.limit_bytes);
        let (mut firsts, mut entries, mut bytes) = (Vec::new(), 0_u64, Vec::new());
        let mut owners = [false; Table::ALL.len()];
        for place in self.places.finish()?.iter()? {
            let place = place?;
            if entries.is_multiple_of(BLOCK) {
                firsts.push(place.owner);
            }
            if let Some(owns) = owners.get_mut(place.owner.table as usize) {
                *owns = true;
            }
            bytes.clear();
            place.put(&mut bytes);
            index.append(&bytes)?;
            entries += 1;
        }
        Ok(Owned {
            index,
            entries,
            firsts,
            owners,
            next: 0,
            block_number: usize::MAX,
            block: Vec::new(),
            values: self.values,
            record: Vec::new(),
        })
    }
}

/// Number of index entries that are read at once.
const BLOCK: u64 = 1024;

/// Records that can be looked up.
#[derive(Debug)]
pub struct Owned {
    index: Store,
    entries: u64,
    /// The first owner of each block of the index.
    firsts: Vec<Owner>,
    /// Which tables own records.
    owners: [bool; Table::ALL.len()],
    block_number: usize,
    block: Vec<RowBytes>,
    /// The index in the block after the last entry found: rows are looked up nearly in order.
    next: usize,
    values: Store,
    record: Vec<u8>,
}

impl Owned {
    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Whether any row of a table owns records.
    #[inline]
    pub fn owns(&self, table: Table) -> bool {
        self.owners[table as usize]
    }

    /// Visits the records of a row in order; each call of `visit` gets one or more consecutive records.
    #[inline]
    pub fn visit(&mut self, owner: Owner, mut visit: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        if !self.owners[owner.table as usize] {
            return Ok(());
        }
        if let Some(place) = self.likely(owner) {
            return self.visit_place(place, &mut visit);
        }
        // Records of one owner that did not arrive together have several entries, which may fill several blocks.
        let mut number = self.firsts.partition_point(|first| *first < owner).saturating_sub(1);
        while self.firsts.get(number).is_some_and(|first| *first <= owner) {
            self.load_block(number)?;
            let begin = self.block.partition_point(|place| place.owner < owner);
            for index in begin..self.block.len() {
                let place = self.block[index];
                if place.owner != owner {
                    return Ok(());
                }
                self.next = index + 1;
                self.visit_place(place, &mut visit)?;
            }
            number += 1;
        }
        Ok(())
    }

    /// The entry of an owner, if it is the next one and the only one.
    #[inline]
    fn likely(&mut self, owner: Owner) -> Option<RowBytes> {
        let place = *self.block.get(self.next).filter(|place| place.owner == owner)?;
        self.block.get(self.next + 1).filter(|after| after.owner != owner)?;
        self.next += 1;
        Some(place)
    }

    fn visit_place(&mut self, place: RowBytes, visit: &mut impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.record.resize(place.len as usize, 0);
        self.values.read(place.offset, &mut self.record)?;
        visit(&self.record)
    }

    #[inline]
    fn load_block(&mut self, number: usize) -> Result<()> {
        if self.block_number == number {
            return Ok(());
        }
        let begin = number as u64 * BLOCK;
        let len = self.entries.saturating_sub(begin).min(BLOCK);
        let mut bytes = vec![0; len as usize * RowBytes::BYTES];
        self.index.read(begin * RowBytes::BYTES as u64, &mut bytes)?;
        let mut cursor = Cursor::new(&bytes, 0, ByteOrder::Little);
        self.block.clear();
        while !cursor.is_empty() {
            self.block.push(RowBytes::take(&mut cursor)?);
        }
        self.block_number = number;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_records_of_one_row_come_in_order_and_not_all_at_once() {
        const RECORDS: u64 = 400_000;
        let mut sorter = OwnedSorter::new(&Arena::new(0), 0);
        let owner = |id: i64| Owner::new(Table::Events, 2, id);
        for number in 0..RECORDS {
            sorter.add(owner(7), &number.to_le_bytes()).unwrap();
        }
        sorter.add(owner(-7), b"x").unwrap();
        let mut owned = sorter.finish().unwrap();
        let (mut next, mut most) = (0, 0);
        owned
            .visit(owner(7), |records| {
                most = records.len().max(most);
                for record in records.chunks_exact(8) {
                    assert_eq!(record, u64::to_le_bytes(next));
                    next += 1;
                }
                Ok(())
            })
            .unwrap();
        assert_eq!(next, RECORDS);
        assert!(most as u64 <= MAX_TOGETHER + 8, "{most}");
        owned.visit(owner(0), |_| panic!("it owns nothing")).unwrap();
    }
}

//! The threads that allocations name.

use traceloom_memlyze::raw::Dialect;
use traceloom_model::{Halt, Table, Tables, threads::Thread};

/// Pushes each thread when an allocation first names it; its id is its number.
#[derive(Debug)]
pub(super) struct Threads {
    /// One bit for each of the 65536 threads; empty if no one wants threads.
    seen: Vec<u64>,
    /// In the growth dialect, it is the thread that took the snapshot, not the one that allocated.
    kind: Option<&'static str>,
    any: bool,
}

impl Threads {
    pub(super) fn new(dialect: Dialect, tables: &Tables<'_>) -> Self {
        let words = if tables.wants(Table::Threads) { 1 << (u16::BITS - u64::BITS.ilog2()) } else { 0 };
        Self { seen: vec![0; words], kind: (dialect == Dialect::Growth).then_some("snapshot"), any: false }
    }

    #[inline]
    pub(super) fn note(&mut self, thread: u16, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let bit = 1 << (thread % 64);
        match self.seen.get_mut(usize::from(thread / 64)) {
            Some(word) if *word & bit == 0 => {
                *word |= bit;
                self.any = true;
                tables.push(self.row(Some(thread)))
            }
            _ => Ok(()),
        }
    }

    /// A trace that names no thread gets one row.
    pub(super) fn finish(&self, tables: &mut Tables<'_>) -> Result<(), Halt> {
        if self.any { Ok(()) } else { tables.push(self.row(None)) }
    }

    fn row(&self, tid: Option<u16>) -> Thread<'static> {
        let kind = self.kind.filter(|_| tid.is_some()).map(Into::into);
        let id = tid.unwrap_or(0).into();
        Thread { id, tid: tid.map(Into::into), process_id: 0, name: None, kind, location: None }
    }
}

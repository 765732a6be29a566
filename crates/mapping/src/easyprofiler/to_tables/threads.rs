//! Threads: a section of the file starts a new one or continues an earlier one.

use std::{hash::BuildHasher, ops::Range};

use hashbrown::{DefaultHashBuilder, HashTable};
use traceloom_easyprofiler::Thread;
use traceloom_model::{Halt, Named, Tables, threads::Thread as Row};

use crate::shared::text;

/// The threads so far; the index of a thread is its id. A file may have a million, so each takes little more than its name.
#[derive(Debug, Default)]
pub(super) struct Threads {
    /// Ids, found by the tids of `list`.
    by_tid: HashTable<u32>,
    hasher: DefaultHashBuilder,
    list: Vec<KnownThread>,
    /// The names of all threads, concatenated.
    names: String,
    current: usize,
}

/// Max length of a list of selected threads that is searched per section; longer ones select all, because a filter is a hint.
const MAX_SEARCHED: usize = 1_000;

#[derive(Debug)]
struct KnownThread {
    tid: u64,
    /// A range of `names`.
    name: Range<usize>,
    last_end: u64,
}

/// The thread whose records follow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Current {
    pub(super) id: i64,
    /// Whether the sink wants its rows.
    pub(super) is_taken: bool,
    /// When its last block, event or value ended, in ticks.
    pub(super) last_end: u64,
}

impl Threads {
    /// Opens a section; `before` is the thread that ends here.
    pub(super) fn open(&mut self, thread: &Thread<'_>, before: &Current, tables: &Tables<'_>) -> Current {
        if let Some(known) = self.list.get_mut(self.current) {
            known.last_end = before.last_end;
        }
        self.current = self.number(thread.id);
        let known = &mut self.list[self.current];
        // A later section may add or change the name; a section without a name leaves it unchanged.
        if !thread.name.is_empty() {
            let name = text(thread.name.text);
            if self.names[known.name.clone()] != *name {
                let start = self.names.len();
                self.names.push_str(&name);
                known.name = start..self.names.len();
            }
        }
        let id = self.current as i64;
        let is_taken = tables.filter().threads.as_ref().is_none_or(|ids| ids.len() > MAX_SEARCHED || ids.contains(&id));
        Current { id, is_taken, last_end: known.last_end }
    }

    /// The index of a thread, which may be new.
    fn number(&mut self, tid: u64) -> usize {
        let Self { by_tid, hasher, list, .. } = self;
        let hash = hasher.hash_one(tid);
        if let Some(number) = by_tid.find(hash, |number| list[*number as usize].tid == tid) {
            return *number as usize;
        }
        list.push(KnownThread { tid, name: 0..0, last_end: 0 });
        let number = list.len() - 1;
        by_tid.insert_unique(hash, number as u32, |number| hasher.hash_one(list[*number as usize].tid));
        number
    }

    /// Number of threads so far.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is no thread yet.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Pushes the rows once all names are known.
    pub(super) fn push(&self, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let mut row = |id, tid, name: &str| {
            let name = (!name.is_empty()).then_some(name).map(Named::Text);
            tables.push(Row { id, tid, process_id: 0, name, kind: None, location: None })
        };
        if self.list.is_empty() {
            return row(0, None, "");
        }
        (0..).zip(&self.list).try_for_each(|(id, known)| row(id, Some(known.tid), &self.names[known.name.clone()]))
    }
}

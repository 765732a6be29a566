//! Threads: a section of the file opens one, or goes on with one that was there before.

use std::collections::HashMap;

use traceloom_easyprofiler::Thread;
use traceloom_model::{Halt, Tables, threads::Thread as Row, trackers::Symbol};

use crate::shared::text;

/// The threads so far; the place of one is its id.
#[derive(Debug, Default)]
pub(super) struct Threads {
    by_tid: HashMap<u64, usize>,
    list: Vec<Known>,
    current: usize,
}

#[derive(Debug)]
struct Known {
    tid: u64,
    name: Option<Symbol>,
    last_end_ns: u64,
}

/// The thread whose records follow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Current {
    pub(super) id: i64,
    /// Whether the sink looks at its rows.
    pub(super) is_taken: bool,
    /// When its last block, event or value ended.
    pub(super) last_end_ns: u64,
}

impl Threads {
    /// Opens a section; `before` is the thread that ends here.
    pub(super) fn open(&mut self, thread: &Thread<'_>, before: &Current, tables: &mut Tables<'_>) -> Current {
        if let Some(known) = self.list.get_mut(self.current) {
            known.last_end_ns = before.last_end_ns;
        }
        let next = self.list.len();
        self.current = *self.by_tid.entry(thread.id).or_insert(next);
        if self.current == next {
            self.list.push(Known { tid: thread.id, name: None, last_end_ns: 0 });
        }
        let known = &mut self.list[self.current];
        // A later section may bring a name, or another one; one that brings none leaves it.
        if !thread.name.is_empty() {
            let name = thread.name.text;
            known.name = (!name.is_empty()).then(|| tables.strings.intern(&text(name)));
        }
        let id = self.current as i64;
        Current { id, is_taken: tables.filter().takes_thread(id), last_end_ns: known.last_end_ns }
    }

    /// Whether none has come yet.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Pushes the rows, when all names are known.
    pub(super) fn push(&self, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let row = |id, tid, name: Option<Symbol>| Row {
            id,
            tid,
            process_id: 0,
            name: name.map(Into::into),
            kind: None,
            location: None,
        };
        if self.list.is_empty() {
            return tables.push(row(0, None, None));
        }
        for (id, known) in self.list.iter().enumerate() {
            tables.push(row(id as i64, Some(known.tid), known.name))?;
        }
        Ok(())
    }
}

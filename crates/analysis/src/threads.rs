//! Threads of several traces, numbered from 0.

use hashbrown::HashMap;
use traceloom_model::select;

select! {
    pub(crate) struct ThreadRows of threads { id, tid, name }
}

/// A thread with its name and sums.
#[derive(Clone, Debug, Default)]
pub(crate) struct Thread {
    pub(crate) trace: u32,
    pub(crate) tid: Option<u64>,
    pub(crate) name: Option<String>,
    pub(crate) spans: u64,
    pub(crate) busy_ns: u64,
    pub(crate) switches: u64,
    pub(crate) off_cpu_ns: u64,
}

impl Thread {
    /// The name, or else the id.
    pub(crate) fn label(&self) -> String {
        match (&self.name, self.tid) {
            (Some(name), _) if !name.is_empty() => name.clone(),
            (_, Some(tid)) => tid.to_string(),
            _ => "thread".to_owned(),
        }
    }
}

/// All threads, found by trace and id.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    pub(crate) list: Vec<Thread>,
    numbers: HashMap<(u32, i64), u32>,
    /// The last thread looked up; rows of one thread are adjacent.
    last: Option<((u32, i64), u32)>,
}

impl Threads {
    /// The number of a thread.
    #[inline]
    pub(crate) fn number(&mut self, trace: u32, thread_id: i64) -> u32 {
        match self.last {
            Some((key, number)) if key == (trace, thread_id) => number,
            _ => self.look_up(trace, thread_id),
        }
    }

    #[cold]
    fn look_up(&mut self, trace: u32, thread_id: i64) -> u32 {
        let key = (trace, thread_id);
        let number = *self.numbers.entry(key).or_insert_with(|| {
            self.list.push(Thread { trace, ..Thread::default() });
            self.list.len() as u32 - 1
        });
        self.last = Some((key, number));
        number
    }

    /// A mutable thread.
    #[inline]
    pub(crate) fn at(&mut self, trace: u32, thread_id: i64) -> &mut Thread {
        let number = self.number(trace, thread_id);
        &mut self.list[number as usize]
    }

    /// Reads the names of threads.
    pub(crate) fn name(&mut self, trace: u32, view: &ThreadRows<'_>) {
        for row in 0..view.rows {
            let thread = self.at(trace, view.id.get(row));
            thread.tid = view.tid.get(row);
            thread.name = view.name.get(row).map(str::to_owned);
        }
    }
}

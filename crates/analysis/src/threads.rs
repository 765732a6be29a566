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
    /// Number of threads that share this entry; 0 for an entry of one thread.
    pub(crate) others: u64,
}

/// Max number of threads with separate entries; all later threads share one entry.
const MAX_THREADS: usize = 1 << 14;

impl Thread {
    /// The name, or else the id.
    pub(crate) fn label(&self) -> String {
        match (&self.name, self.tid) {
            _ if self.others > 0 => format!("{} other threads", self.others),
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
        let number = match self.numbers.get(&key) {
            Some(number) => *number,
            None => self.add(key),
        };
        self.last = Some((key, number));
        number
    }

    fn add(&mut self, key: (u32, i64)) -> u32 {
        let number = self.numbers.len();
        if number == self.list.len() {
            self.list.push(Thread { trace: key.0, ..Thread::default() });
        }
        if number < MAX_THREADS {
            self.numbers.insert(key, number as u32);
        }
        number as u32
    }

    /// A mutable thread.
    #[inline]
    pub(crate) fn at(&mut self, trace: u32, thread_id: i64) -> &mut Thread {
        let number = self.number(trace, thread_id);
        &mut self.list[number as usize]
    }

    /// Reads the names of the selected threads.
    pub(crate) fn name(&mut self, trace: u32, view: &ThreadRows<'_>, is_selected: impl Fn(i64) -> bool) {
        for row in (0..view.rows).filter(|row| is_selected(view.id.get(*row))) {
            let number = self.number(trace, view.id.get(row)) as usize;
            let thread = &mut self.list[number];
            if number == MAX_THREADS {
                thread.others += 1;
                continue;
            }
            thread.tid = view.tid.get(row);
            thread.name = view.name.get(row).map(str::to_owned);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_beyond_the_limit_are_added_up() {
        let mut threads = Threads::default();
        for id in (0..2 * MAX_THREADS as i64).chain([3, 2 * MAX_THREADS as i64 - 1]) {
            threads.at(0, id).spans += 1;
        }
        let spans = |number: usize| threads.list[number].spans;
        assert_eq!(threads.list.len(), MAX_THREADS + 1);
        assert_eq!((spans(2), spans(3), spans(MAX_THREADS)), (1, 2, MAX_THREADS as u64 + 1));
    }
}

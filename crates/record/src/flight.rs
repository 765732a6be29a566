//! The flight recorder: the last records of each thread, in memory.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use crate::{
    Flight,
    clock::Timeline,
    hub::ThreadInfo,
    record::{FIXED, Kind, header, split_header},
};

/// The words of the last records, by thread.
pub(crate) struct History {
    max_words: usize,
    max_ticks: u64,
    /// By the index of the thread.
    threads: BTreeMap<u32, Kept>,
}

struct Kept {
    thread: Arc<ThreadInfo>,
    words: VecDeque<u64>,
    /// The tick of the last record.
    last: u64,
}

/// An item of the history of a thread.
pub(crate) enum Past<'a> {
    Record(&'a [u64]),
    /// The number of records that were dropped before a tick, and the tick.
    Dropped(u64, u64),
    /// Records are missing before the one that has this tick.
    Gap(u64),
}

impl History {
    pub(crate) fn new(flight: Flight, timeline: &Timeline) -> Self {
        let ticks = flight.age.map_or(u64::MAX, |age| (age.as_secs_f64() * timeline.frequency() as f64) as u64);
        Self { max_words: flight.bytes / 8, max_ticks: ticks, threads: BTreeMap::new() }
    }

    /// Keeps a record and forgets those of its thread that are too old.
    pub(crate) fn keep(&mut self, thread: &Arc<ThreadInfo>, tick: u64, words: &[u64]) {
        if !self.threads.contains_key(&thread.index) {
            self.forget_ended();
        }
        let kept = self.threads.entry(thread.index).or_insert_with(|| Kept {
            thread: thread.clone(),
            words: VecDeque::new(),
            last: 0,
        });
        kept.words.extend(words);
        kept.last = tick;
        kept.forget(self.max_words, tick.saturating_sub(self.max_ticks));
    }

    /// Notes the loss of records, in order with the records that were kept.
    pub(crate) fn dropped(&mut self, thread: &Arc<ThreadInfo>, count: u64, tick: u64) {
        // A history uses padding for this alone.
        self.keep(thread, tick, &[header(Kind::Pad, FIXED + 1, 0), tick, count]);
    }

    /// Notes that the records before the next one were overwritten.
    pub(crate) fn gap(&mut self, thread: &Arc<ThreadInfo>, tick: u64) {
        self.keep(thread, tick, &[header(Kind::Pad, FIXED + 1, 0), tick, 0]);
    }

    /// Forgets records that are too old at this tick, including those of idle threads.
    pub(crate) fn forget(&mut self, now: u64) {
        let oldest = now.saturating_sub(self.max_ticks);
        self.threads.values_mut().for_each(|kept| kept.forget(self.max_words, oldest));
        self.threads.retain(|_, kept| !kept.words.is_empty());
        self.forget_ended();
    }

    /// Threads that have ended share the space of one, so that memory does not grow with the number of threads; the
    /// thread whose last record is the oldest goes first.
    fn forget_ended(&mut self) {
        let ended = self.threads.iter().filter(|(_, kept)| kept.thread.has_ended());
        let mut ended: Vec<(u64, u32, usize)> =
            ended.map(|(index, kept)| (kept.last, *index, kept.words.len())).collect();
        let mut words: usize = ended.iter().map(|(.., words)| *words).sum();
        ended.sort_unstable();
        for (_, index, len) in ended {
            if words <= self.max_words {
                break;
            }
            words -= len;
            self.threads.remove(&index);
        }
    }

    /// Passes everything to `hand_over` in order of time.
    pub(crate) fn replay(&self, mut hand_over: impl FnMut(&Arc<ThreadInfo>, Past<'_>)) {
        let mut records = Vec::new();
        for kept in self.threads.values() {
            let mut at = 0;
            while let (Some(first), Some(tick)) = (kept.words.get(at), kept.words.get(at + 1)) {
                let (_, words, _) = split_header(*first);
                records.push((*tick, kept, at, words as usize));
                at += words as usize;
            }
        }
        records.sort_by_key(|(tick, ..)| *tick);
        let mut scratch = Vec::new();
        for (tick, kept, at, words) in records {
            scratch.clear();
            scratch.extend(kept.words.range(at..(at + words).min(kept.words.len())));
            match scratch.as_slice() {
                [first, _, 0] if split_header(*first).0 == Kind::Pad => hand_over(&kept.thread, Past::Gap(tick)),
                [first, _, count] if split_header(*first).0 == Kind::Pad => {
                    hand_over(&kept.thread, Past::Dropped(*count, tick));
                }
                record => hand_over(&kept.thread, Past::Record(record)),
            }
        }
    }
}

impl Kept {
    /// Forgets the oldest records until at most `max_words` are left, and those before `oldest`.
    fn forget(&mut self, max_words: usize, oldest: u64) {
        while let (Some(first), Some(tick)) = (self.words.front().copied(), self.words.get(1).copied()) {
            if self.words.len() <= max_words && tick >= oldest {
                break;
            }
            let (_, words, _) = split_header(first);
            self.words.drain(..(words as usize).min(self.words.len()));
        }
    }
}

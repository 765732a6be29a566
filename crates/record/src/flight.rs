//! The flight recorder: the last records of each thread, in memory.

use std::{collections::VecDeque, sync::Arc};

use crate::{Flight, clock::Timeline, hub::ThreadInfo, record::split_header};

/// The words of the last records, by thread.
pub(crate) struct History {
    max_words: usize,
    max_ticks: u64,
    threads: Vec<(Arc<ThreadInfo>, VecDeque<u64>)>,
}

impl History {
    pub(crate) fn new(flight: Flight, timeline: &Timeline) -> Self {
        let ticks = flight.age.map_or(u64::MAX, |age| (age.as_secs_f64() * timeline.frequency() as f64) as u64);
        Self { max_words: flight.bytes / 8, max_ticks: ticks, threads: Vec::new() }
    }

    /// Keeps a record and forgets those that are too old.
    pub(crate) fn keep(&mut self, thread: &Arc<ThreadInfo>, tick: u64, words: &[u64]) {
        let found = self.threads.iter().position(|(known, _)| Arc::ptr_eq(known, thread));
        let index = found.unwrap_or_else(|| {
            self.threads.push((thread.clone(), VecDeque::new()));
            self.threads.len() - 1
        });
        let Some((_, kept)) = self.threads.get_mut(index) else { return };
        kept.extend(words);
        while let (Some(first), Some(oldest)) = (kept.front().copied(), kept.get(1).copied()) {
            if kept.len() <= self.max_words && tick.saturating_sub(oldest) <= self.max_ticks {
                break;
            }
            let (_, words, _) = split_header(first);
            kept.drain(..(words as usize).min(kept.len()));
        }
    }

    /// Hands over everything in the order of time.
    pub(crate) fn replay(&self, mut hand_over: impl FnMut(&Arc<ThreadInfo>, &[u64])) {
        let mut records = Vec::new();
        for (index, (_, kept)) in self.threads.iter().enumerate() {
            let mut at = 0;
            while let (Some(first), Some(tick)) = (kept.get(at), kept.get(at + 1)) {
                let (_, words, _) = split_header(*first);
                records.push((*tick, index, at, words as usize));
                at += words as usize;
            }
        }
        records.sort_by_key(|(tick, ..)| *tick);
        let mut scratch = Vec::new();
        for (_, index, at, words) in records {
            let Some((thread, kept)) = self.threads.get(index) else { continue };
            scratch.clear();
            scratch.extend(kept.range(at..at + words));
            hand_over(thread, &scratch);
        }
    }
}

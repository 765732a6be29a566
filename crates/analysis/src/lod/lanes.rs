//! All lanes of a trace.

use std::collections::BTreeMap;

use super::Lane;

/// The key of a lane.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct LaneKey {
    /// `thread_id` of the spans.
    pub thread_id: i64,
    /// The kind of spans; spans of one thread that do not nest with each other have separate lanes.
    pub kind: u8,
    /// `depth` of the spans.
    pub depth: u32,
}

/// Lanes by thread, kind and depth.
#[derive(Debug, Default)]
pub struct Lanes {
    lanes: Vec<Lane>,
    numbers: BTreeMap<LaneKey, usize>,
    /// The lanes of the current thread by depth, because neighboring rows usually belong to one thread.
    last: Option<(i64, u8, Vec<usize>)>,
}

impl Lanes {
    /// The lane of this key, created if needed.
    #[inline]
    pub fn lane(&mut self, key: LaneKey) -> &mut Lane {
        let number = match &self.last {
            Some((thread, kind, by_depth)) if *thread == key.thread_id && *kind == key.kind => {
                by_depth.get(key.depth as usize).copied().filter(|number| *number != NONE)
            }
            _ => None,
        };
        let number = number.unwrap_or_else(|| self.find(key));
        &mut self.lanes[number]
    }

    #[cold]
    fn find(&mut self, key: LaneKey) -> usize {
        let number = *self.numbers.entry(key).or_insert(self.lanes.len());
        if number == self.lanes.len() {
            self.lanes.push(Lane::default());
        }
        if self.last.as_ref().is_none_or(|(thread, kind, _)| *thread != key.thread_id || *kind != key.kind) {
            self.last = Some((key.thread_id, key.kind, Vec::new()));
        }
        if let Some((_, _, by_depth)) = &mut self.last {
            let depth = key.depth as usize;
            if by_depth.len() <= depth {
                by_depth.resize(depth + 1, NONE);
            }
            by_depth[depth] = number;
        }
        number
    }

    /// Sorts all lanes; call after the last span.
    pub fn close(&mut self) {
        self.last = None;
        self.lanes.iter_mut().for_each(Lane::close);
    }

    /// The lanes with their keys, sorted by thread, kind and depth.
    pub fn iter(&self) -> impl Iterator<Item = (LaneKey, &Lane)> {
        self.numbers.iter().map(|(key, number)| (*key, &self.lanes[*number]))
    }

    /// The lanes of one thread, sorted by kind and depth.
    pub fn of_thread(&self, thread_id: i64) -> impl Iterator<Item = (LaneKey, &Lane)> {
        let first = LaneKey { thread_id, kind: 0, depth: 0 };
        let last = LaneKey { thread_id, kind: u8::MAX, depth: u32::MAX };
        self.numbers.range(first..=last).map(|(key, number)| (*key, &self.lanes[*number]))
    }

    /// Removes all lanes except some.
    pub fn retain(&mut self, is_kept: impl Fn(&LaneKey) -> bool) {
        self.last = None;
        let lanes = &mut self.lanes;
        self.numbers.retain(|key, number| {
            let is_kept = is_kept(key);
            if !is_kept {
                lanes[*number] = Lane::default();
            }
            is_kept
        });
    }

    /// Iterates over the lanes mutably.
    pub fn for_each_mut(&mut self, mut change: impl FnMut(LaneKey, &mut Lane)) {
        for (key, number) in &self.numbers {
            change(*key, &mut self.lanes[*number]);
        }
    }

    /// The lane of this key.
    pub fn get(&self, key: LaneKey) -> Option<&Lane> {
        self.numbers.get(&key).map(|number| &self.lanes[*number])
    }

    /// Bytes held.
    pub fn resident_bytes(&self) -> usize {
        self.lanes.iter().map(Lane::resident_bytes).sum()
    }
}

const NONE: usize = usize::MAX;

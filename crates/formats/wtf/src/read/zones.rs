//! Zones of execution, and their clocks.

use std::collections::HashMap;

use traceloom_core::{Error, Limits, Result};

/// A context in which scopes nest: a script context, a thread, a worker.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Zone {
    /// The id by which the file refers to it; `None` for the nameless zone that exists from the start.
    pub id: Option<u32>,
    /// Its name; null in the nameless zone.
    pub name: Option<Box<str>>,
    /// Its type: `script`, `native_script`, `native_gpu`, `native_browser`, or any other word.
    pub kind: Option<Box<str>>,
    /// Its origin: an address or a source file.
    pub location: Option<Box<str>>,
}

/// Timestamps decrease by more than this only when the 32-bit microseconds wrap.
const HALF_TURN: u32 = 1 << 31;
/// How late an event may be when the timestamps wrap: four and a half minutes.
const LATE: u32 = 1 << 28;
const TURN: i64 = 1 << 32;

/// How far the time of a zone has advanced.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    last: u32,
    turns: i64,
    has_begun: bool,
}

type Key = (Option<Box<str>>, Option<Box<str>>, Option<Box<str>>);

/// All zones of a file and the active one.
#[derive(Debug)]
pub(super) struct Zones {
    all: Vec<Zone>,
    progress: Vec<Progress>,
    by_id: HashMap<u32, u32>,
    by_key: HashMap<Key, u32>,
    is_first_create: bool,
    current: u32,
    now: Progress,
    /// The number of wraps at the last event in this chunk: a zone that starts here starts with the same number.
    chunk_turns: Option<Progress>,
    /// Set while the active zone was never created and has no events yet.
    pub(super) pending_unknown: Option<u32>,
    pub(super) unwraps: bool,
    /// Added to every time: the distance to the timebase of a second file header.
    pub(super) shift_us: i64,
    max_zones: usize,
}

impl Zones {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            all: vec![Zone::default()],
            progress: vec![Progress::default()],
            by_id: HashMap::new(),
            by_key: HashMap::new(),
            is_first_create: true,
            current: 0,
            now: Progress::default(),
            chunk_turns: None,
            pending_unknown: None,
            unwraps: true,
            shift_us: 0,
            max_zones: limits.entries,
        }
    }

    pub(super) fn all(&self) -> &[Zone] {
        &self.all
    }

    #[inline]
    pub(super) fn current(&self) -> u32 {
        self.current
    }

    /// The last timestamp in the active zone; 0 before the first.
    pub(super) fn last_stamp(&self) -> u32 {
        self.now.last
    }

    pub(super) fn begin_chunk(&mut self) {
        self.chunk_turns = None;
    }

    /// The first zone replaces the nameless one; identical zones are one.
    pub(super) fn create(&mut self, zone: Zone) -> Result<()> {
        let id = zone.id.unwrap_or(0);
        let key = (zone.name.clone(), zone.kind.clone(), zone.location.clone());
        if std::mem::take(&mut self.is_first_create) {
            if let Some(first) = self.all.first_mut() {
                *first = zone;
            }
            self.by_key.insert(key, 0);
            self.by_id.insert(id, 0);
            return Ok(());
        }
        let index = match self.by_key.get(&key) {
            Some(index) => *index,
            None => {
                let index = self.push(zone)?;
                self.by_key.insert(key, index);
                index
            }
        };
        self.by_id.insert(id, index);
        Ok(())
    }

    /// Makes a zone active.
    pub(super) fn set(&mut self, id: u32) {
        match self.by_id.get(&id) {
            Some(index) => {
                let index = *index;
                self.pending_unknown = None;
                self.switch(index);
            }
            None => self.pending_unknown = Some(id),
        }
    }

    /// An event is in a zone that was never created: a zone is made for it.
    pub(super) fn adopt_unknown(&mut self) -> Result<()> {
        if let Some(id) = self.pending_unknown.take() {
            let index = self.push(Zone { id: Some(id), ..Zone::default() })?;
            self.by_id.insert(id, index);
            self.switch(index);
        }
        Ok(())
    }

    fn push(&mut self, zone: Zone) -> Result<u32> {
        let index = self.all.len();
        if index >= self.max_zones {
            return Err(Error::limit("zones", index as u64 + 1, self.max_zones as u64));
        }
        self.all.push(zone);
        self.progress.push(Progress::default());
        Ok(index as u32)
    }

    fn switch(&mut self, index: u32) {
        if let Some(slot) = self.progress.get_mut(self.current as usize) {
            *slot = self.now;
        }
        if self.now.has_begun {
            self.chunk_turns = Some(self.now);
        }
        self.current = index;
        self.now = self.progress.get(index as usize).copied().unwrap_or_default();
    }

    /// The time of an event in the active zone, in microseconds from the timebase.
    #[inline]
    pub(super) fn time_us(&mut self, raw: u32) -> i64 {
        if !self.unwraps {
            return i64::from(raw) + self.shift_us;
        }
        if raw < self.now.last || raw - self.now.last > HALF_TURN || !self.now.has_begun {
            return self.time_after_jump(raw);
        }
        self.now.last = raw;
        self.now.turns * TURN + i64::from(raw) + self.shift_us
    }

    #[cold]
    fn time_after_jump(&mut self, raw: u32) -> i64 {
        let now = &mut self.now;
        let mut turns = now.turns;
        if !now.has_begun {
            *now = Progress { last: raw, turns: 0, has_begun: true };
            if let Some(other) = self.chunk_turns {
                let wraps = raw < other.last && other.last - raw > HALF_TURN;
                let late = other.turns > 0 && is_late(raw, other.last);
                now.turns = other.turns + i64::from(wraps) - i64::from(late);
            }
            turns = now.turns;
        } else if raw < now.last && now.last - raw > HALF_TURN {
            now.turns += 1;
            now.last = raw;
            turns = now.turns;
        } else if raw > now.last {
            if now.turns > 0 && is_late(raw, now.last) {
                turns -= 1;
            } else {
                now.last = raw;
            }
        }
        turns * TURN + i64::from(raw) + self.shift_us
    }
}

/// Whether a timestamp that jumps ahead is from just before the wrap, and not from after a long silence.
fn is_late(raw: u32, last: u32) -> bool {
    raw > last && last.wrapping_sub(raw) <= LATE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(raw: &[u32]) -> Vec<i64> {
        let mut zones = Zones::new(&Limits::default());
        raw.iter().map(|raw| zones.time_us(*raw)).collect()
    }

    #[test]
    fn time_goes_on_where_the_stamps_start_again() {
        let turn = TURN;
        assert_eq!(times(&[5, u32::MAX, 3, u32::MAX - 1, 4]), [5, turn - 1, turn + 3, turn - 2, turn + 4]);
        assert_eq!(times(&[100, 50, 200]), [100, 50, 200]);
        assert_eq!(times(&[5, u32::MAX - 5]), [5, turn - 6], "a long silence is no turn");
        assert_eq!(times(&[u32::MAX, 0, 1 << 31 | 9]), [turn - 1, turn, turn + (1 << 31) + 9]);
        assert_eq!(times(&[0, u32::MAX, 0, u32::MAX, 0]), [0, turn - 1, turn, turn - 1, turn]);
    }

    #[test]
    fn a_zone_that_begins_late_begins_in_the_right_turn() {
        let mut zones = Zones::new(&Limits::default());
        zones.create(Zone { id: Some(1), ..Zone::default() }).unwrap();
        zones.create(Zone { id: Some(2), name: Some("b".into()), ..Zone::default() }).unwrap();
        zones.set(1);
        zones.time_us(u32::MAX);
        zones.time_us(7);
        zones.set(2);
        assert_eq!(zones.time_us(9), TURN + 9);
        zones.set(1);
        assert_eq!(zones.time_us(10), TURN + 10);
    }

    #[test]
    fn equal_zones_are_one() {
        let mut zones = Zones::new(&Limits::default());
        let named = |id, name: &str| Zone { id: Some(id), name: Some(name.into()), ..Zone::default() };
        for (id, name) in [(1, "a"), (2, "b"), (3, "a")] {
            zones.create(named(id, name)).unwrap();
        }
        zones.set(3);
        assert_eq!((zones.current(), zones.all().len()), (0, 2));
        zones.set(9);
        assert_eq!(zones.pending_unknown, Some(9));
        zones.adopt_unknown().unwrap();
        assert_eq!((zones.current(), zones.all().len()), (2, 3));
    }
}

//! Time ranges: started and ended by id, and free to overlap and to end in another zone.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
};

use traceloom_core::{Limits, Result};

use super::{kept_text, number};
use crate::{Event, Role};

/// A time range that crosses scopes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Range {
    /// Its id in the file.
    pub id: u32,
    /// The zone in which it started, or ended if its start is missing.
    pub zone: u32,
    /// Name of the range.
    pub name: Option<Box<str>>,
    /// The value in the event, as JSON text.
    pub value: Option<Box<str>>,
    /// Start of the range; `None` if only its end was recorded.
    pub start_us: Option<i64>,
    /// End of the range; `None` if it never ended.
    pub end_us: Option<i64>,
    /// The zone in which it ended.
    pub end_zone: Option<u32>,
    /// The lowest row of its zone that was free when it started.
    pub level: u32,
}

/// Collects ranges; of several ends of one range, the last in time order counts.
#[derive(Debug)]
pub struct Ranges {
    ranges: Vec<Range>,
    /// The range that an id refers to: the last that started, or an end that waits for its start.
    by_id: HashMap<u32, usize>,
    rows: HashMap<u32, Rows>,
    limits: Limits,
}

/// The free rows of a zone.
#[derive(Debug, Default)]
struct Rows {
    free: BinaryHeap<Reverse<u32>>,
    next: u32,
}

impl Rows {
    fn take(&mut self) -> u32 {
        self.free.pop().map_or_else(
            || {
                self.next += 1;
                self.next - 1
            },
            |Reverse(row)| row,
        )
    }
}

impl Ranges {
    /// No ranges yet.
    pub fn new(limits: &Limits) -> Self {
        Self { ranges: Vec::new(), by_id: HashMap::new(), rows: HashMap::new(), limits: limits.clone() }
    }

    /// Adds the next event of the file.
    pub fn push(&mut self, event: &Event<'_>) -> Result<()> {
        match event.kind.role {
            Role::RangeBegin => self.begin(event),
            Role::RangeEnd => self.end(event),
            _ => Ok(()),
        }
    }

    /// The ranges in the order of their start.
    pub fn finish(self) -> Vec<Range> {
        self.ranges
    }

    fn begin(&mut self, event: &Event<'_>) -> Result<()> {
        let id = number(event, "id");
        let (name, value) = (kept_text(event, "name"), kept_text(event, "value"));
        let (zone, start_us) = (event.zone, Some(event.time_us));
        // Events may be stored late: an end with a later time than this start belongs to it.
        if let Some(range) = self.known(id).filter(|range| range.start_us.is_none() && range.end_us > start_us) {
            *range = Range { zone, name, value, start_us, ..range.clone() };
            return Ok(());
        }
        let level = self.rows.entry(zone).or_default().take();
        self.add(Range { id, zone, name, value, start_us, end_us: None, end_zone: None, level })
    }

    fn end(&mut self, event: &Event<'_>) -> Result<()> {
        let id = number(event, "id");
        let (zone, end_us) = (event.zone, Some(event.time_us));
        let Some(range) = self.known(id).filter(|range| range.start_us.is_some()) else {
            let (name, value, start_us) = (None, None, None);
            return self.add(Range { id, zone, name, value, start_us, end_us, end_zone: Some(zone), level: 0 });
        };
        let was_open = range.end_us.is_none();
        // An end in the range's zone takes precedence over one elsewhere.
        let order = |zone, end_us| (zone == Some(range.zone), end_us);
        if order(range.end_zone, range.end_us) <= order(Some(zone), end_us) {
            (range.end_us, range.end_zone) = (end_us, Some(zone));
        }
        let (zone, level) = (range.zone, range.level);
        if was_open {
            self.rows.entry(zone).or_default().free.push(Reverse(level));
        }
        Ok(())
    }

    fn known(&mut self, id: u32) -> Option<&mut Range> {
        self.by_id.get(&id).and_then(|index| self.ranges.get_mut(*index))
    }

    fn add(&mut self, range: Range) -> Result<()> {
        self.limits.check_entries("time ranges", self.ranges.len() as u64 + 1)?;
        self.by_id.insert(range.id, self.ranges.len());
        self.ranges.push(range);
        Ok(())
    }
}

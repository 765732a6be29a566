//! Time ranges: begun and ended by id, free to overlap and to end in another zone.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
};

use traceloom_bytes::{Limits, Result};

use super::{kept_text, number};
use crate::{Event, Role};

/// A stretch of time that crosses scopes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Range {
    /// Its id in the file.
    pub id: u32,
    /// The zone in which it began, or ended if its beginning is missing.
    pub zone: u32,
    /// Its name.
    pub name: Option<Box<str>>,
    /// What the program said about it, a JSON text.
    pub value: Option<Box<str>>,
    /// When it began; missing where only its end was recorded.
    pub start_us: Option<i64>,
    /// When it ended; missing where it never did.
    pub end_us: Option<i64>,
    /// The zone in which it ended.
    pub end_zone: Option<u32>,
    /// The lowest row of its zone that no other open range took when it began.
    pub level: u32,
}

/// Collects ranges.
#[derive(Debug)]
pub struct Ranges {
    ranges: Vec<Range>,
    open: HashMap<u32, usize>,
    rows: HashMap<u32, Rows>,
    limits: Limits,
}

/// The rows of a zone that no open range takes.
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
    /// None yet.
    pub fn new(limits: &Limits) -> Self {
        Self { ranges: Vec::new(), open: HashMap::new(), rows: HashMap::new(), limits: limits.clone() }
    }

    /// Takes the next event of the file.
    pub fn push(&mut self, event: &Event<'_>) -> Result<()> {
        match event.kind.role {
            Role::RangeBegin => self.begin(event),
            Role::RangeEnd => self.end(event),
            _ => Ok(()),
        }
    }

    /// The ranges in the order of their beginnings.
    pub fn finish(self) -> Vec<Range> {
        self.ranges
    }

    fn begin(&mut self, event: &Event<'_>) -> Result<()> {
        let id = number(event, "id");
        let level = self.rows.entry(event.zone).or_default().take();
        self.open.insert(id, self.ranges.len());
        self.add(Range {
            id,
            zone: event.zone,
            name: kept_text(event, "name"),
            value: kept_text(event, "value"),
            start_us: Some(event.time_us),
            end_us: None,
            end_zone: None,
            level,
        })
    }

    fn end(&mut self, event: &Event<'_>) -> Result<()> {
        let id = number(event, "id");
        let Some(range) = self.open.remove(&id).and_then(|index| self.ranges.get_mut(index)) else {
            return self.add(Range {
                id,
                zone: event.zone,
                name: None,
                value: None,
                start_us: None,
                end_us: Some(event.time_us),
                end_zone: Some(event.zone),
                level: 0,
            });
        };
        range.end_us = Some(event.time_us);
        range.end_zone = Some(event.zone);
        let (zone, level) = (range.zone, range.level);
        self.rows.entry(zone).or_default().free.push(Reverse(level));
        Ok(())
    }

    fn add(&mut self, range: Range) -> Result<()> {
        self.limits.check_entries("time ranges", self.ranges.len() as u64 + 1)?;
        self.ranges.push(range);
        Ok(())
    }
}

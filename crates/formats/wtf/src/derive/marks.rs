//! Marks: names for time ranges, each lasting until the next.

use traceloom_core::{Limits, Result};

use super::kept_text;
use crate::{Event, Role};

/// A named time range in a zone.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Mark {
    /// The zone.
    pub zone: u32,
    /// Name of the mark.
    pub name: Option<Box<str>>,
    /// The value in the event, as JSON text.
    pub value: Option<Box<str>>,
    /// Time of the mark.
    pub start_us: i64,
    /// Time of the next mark, or of the zone's last event.
    pub end_us: i64,
}

/// Collects marks.
#[derive(Debug)]
pub struct Marks {
    marks: Vec<Mark>,
    /// The last time in each zone.
    last: Vec<i64>,
    limits: Limits,
}

impl Marks {
    /// No marks yet.
    pub fn new(limits: &Limits) -> Self {
        Self { marks: Vec::new(), last: Vec::new(), limits: limits.clone() }
    }

    /// Adds the next event of the file.
    #[inline]
    pub fn push(&mut self, event: &Event<'_>) -> Result<()> {
        if event.kind.is_structural() {
            return Ok(());
        }
        let zone = event.zone as usize;
        if zone >= self.last.len() {
            self.last.resize(zone + 1, i64::MIN);
        }
        if let Some(last) = self.last.get_mut(zone) {
            *last = event.time_us.max(*last);
        }
        if event.kind.role == Role::Mark {
            self.limits.check_entries("marks", self.marks.len() as u64 + 1)?;
            self.marks.push(Mark {
                zone: event.zone,
                name: kept_text(event, "name"),
                value: kept_text(event, "value"),
                start_us: event.time_us,
                end_us: event.time_us,
            });
        }
        Ok(())
    }

    /// The marks by zone and time.
    pub fn finish(self) -> Vec<Mark> {
        let Self { mut marks, last, .. } = self;
        marks.sort_by_key(|mark| (mark.zone, mark.start_us));
        let mut next: Option<(u32, i64)> = None;
        for mark in marks.iter_mut().rev() {
            let zone_end = last.get(mark.zone as usize).copied().unwrap_or(mark.start_us);
            mark.end_us = next.filter(|(zone, _)| *zone == mark.zone).map_or(zone_end, |(_, start)| start);
            next = Some((mark.zone, mark.start_us));
        }
        marks
    }
}

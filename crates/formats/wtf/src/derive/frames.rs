//! Frames: the time between `wtf.timing#frameStart` and `#frameEnd` with the same number.

use std::collections::BTreeMap;

use traceloom_core::{Limits, Result};

use super::number;
use crate::{Event, Role};

/// A frame of a zone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Frame {
    /// The zone that draws.
    pub zone: u32,
    /// Number of the frame.
    pub number: u32,
    /// Start of the frame; `None` if only the end was recorded.
    pub start_us: Option<i64>,
    /// End of the frame; `None` if it never ended.
    pub end_us: Option<i64>,
}

impl Frame {
    /// Start and end, if both are known.
    pub fn span_us(&self) -> Option<(i64, i64)> {
        self.start_us.zip(self.end_us)
    }
}

/// Collects frames; of several starts or ends with one number, the last in time order counts.
#[derive(Debug)]
pub struct Frames {
    by_number: BTreeMap<(u32, u32), Frame>,
    limits: Limits,
}

impl Frames {
    /// No frames yet.
    pub fn new(limits: &Limits) -> Self {
        Self { by_number: BTreeMap::new(), limits: limits.clone() }
    }

    /// Adds the next event of the file.
    pub fn push(&mut self, event: &Event<'_>) -> Result<()> {
        let is_start = match event.kind.role {
            Role::FrameStart => true,
            Role::FrameEnd => false,
            _ => return Ok(()),
        };
        let number = number(event, "number");
        self.limits.check_entries("frames", self.by_number.len() as u64 + 1)?;
        let new = Frame { zone: event.zone, number, start_us: None, end_us: None };
        let frame = self.by_number.entry((event.zone, number)).or_insert(new);
        let side = if is_start { &mut frame.start_us } else { &mut frame.end_us };
        *side = (*side).max(Some(event.time_us));
        Ok(())
    }

    /// The frames by zone and number, including unfinished ones.
    pub fn finish(self) -> impl Iterator<Item = Frame> {
        self.by_number.into_values()
    }
}

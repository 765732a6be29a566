//! Frames that have been entered and not left: nytprofcalls dies if a sub returns and its callers never do.

use crate::{Nv, Record, Str, SubReturn};

/// The name of a frame that no record names.
const UNKNOWN: &[u8] = b"main::__UNKNOWN__";
/// Number of callers that returns may imply in addition to one per byte of the file: each may have to be ended.
const SPARE: u64 = 1 << 10;

/// An open frame.
#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    /// The time at which it was entered, if a record says so.
    entered: Option<i128>,
    /// Ticks of the subs that it called.
    called: f64,
}

/// A return that is not in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Missing {
    pub(super) depth: u32,
    incl_ticks: f64,
    excl_ticks: f64,
}

impl Missing {
    /// The record, with the name if it is known.
    pub(super) fn record<'n>(&self, name: Option<Str<'n>>) -> Record<'n> {
        Record::SubReturn(SubReturn {
            depth: self.depth,
            incl_ticks: Nv::from(self.incl_ticks),
            excl_ticks: Nv::from(self.excl_ticks),
            name: name.unwrap_or(Str::new(UNKNOWN)),
            odd_bytes: None,
        })
    }
}

/// The frames of a process.
#[derive(Debug)]
pub(super) struct Frames {
    open: Vec<Frame>,
    /// Number of callers that returns may still imply.
    spare: u64,
}

impl Frames {
    /// No frames, in a file of this size.
    pub(super) fn new(source_bytes: u64) -> Self {
        Self { open: Vec::new(), spare: SPARE.saturating_add(source_bytes) }
    }

    pub(super) fn enter(&mut self, now: i128) {
        self.open.push(Frame { entered: Some(now), called: 0.0 });
    }

    /// Leaves a frame. Returns the missing returns of deeper ones, the innermost first, or `None` if that depth is
    /// impossible.
    pub(super) fn leave(&mut self, left: &SubReturn<'_>, now: i128) -> Option<Vec<Missing>> {
        let callers = left.depth.saturating_sub(1) as usize;
        let implied = callers.saturating_sub(self.open.len()) as u64;
        self.spare = self.spare.checked_sub(implied)?;
        let missing = self.end(callers + 1, now);
        let is_implied = self.open.get(callers).is_some_and(|frame| frame.entered.is_none());
        self.spare += u64::from(is_implied);
        self.open.resize(callers, Frame::default());
        if let Some(caller) = self.open.last_mut() {
            caller.called += left.incl_ticks.value().max(0.0);
        }
        Some(missing)
    }

    /// Ends the frames from this index on, the innermost first.
    pub(super) fn end(&mut self, from: usize, now: i128) -> Vec<Missing> {
        let mut missing = Vec::new();
        while self.open.len() > from
            && let Some(frame) = self.open.pop()
        {
            let lasted = frame.entered.map(|entered| (now - entered).max(0) as f64);
            let incl_ticks = lasted.unwrap_or(0.0).max(frame.called);
            let depth = u32::try_from(self.open.len() + 1).unwrap_or(u32::MAX);
            missing.push(Missing { depth, incl_ticks, excl_ticks: incl_ticks - frame.called });
            if let Some(caller) = self.open.last_mut() {
                caller.called += incl_ticks;
            }
        }
        missing
    }
}

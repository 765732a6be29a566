//! Calls, as recorded in the stream: each when it returns, inner ones first.

use traceloom_core::{Arena, Limits, Result, Spill, spill_row};

use super::clock::VirtualClock;

spill_row! {
    /// A call that has returned, and later its position in the tree.
    #[derive(Debug)]
    pub(super) struct Call {
        pub(super) process: u32,
        /// Number of calls around it plus itself; in the end, only those around it.
        pub(super) depth: u32,
        /// The number of its name, or [`NO_NUMBER`].
        pub(super) name: u32,
        /// Its end, in the time of its process; in the end, its start.
        pub(super) time_ns: i64,
        pub(super) dur_ns: i64,
        pub(super) own_ns: i64,
        /// The call around it, or [`NO_PARENT`].
        pub(super) parent: i64,
    }
}

/// The call was entered and never left, so it has no name; its time is its start.
pub(super) const NO_NUMBER: u32 = u32::MAX;
/// The call has no parent.
pub(super) const NO_PARENT: i64 = -1;

/// A call site.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    pub(super) fid: u32,
    pub(super) line: u32,
    pub(super) at_ns: i64,
}

/// Receives the events of calls, on the clock of the current process.
///
/// The id of a row is the number of its call, in the order in which calls return.
#[derive(Debug)]
pub(super) struct Recorder {
    pub(super) clock: VirtualClock,
    pub(super) process: u32,
    /// Calls that were entered and not left; only profiles with `calls=2` record these.
    entered: Vec<Site>,
    /// All calls, if their rows are wanted.
    pub(super) calls: Option<Spill<Call>>,
    pub(super) count: i64,
    limits: Limits,
}

impl Recorder {
    pub(super) fn new(arena: Option<&Arena>, limits: &Limits) -> Self {
        Self {
            clock: VirtualClock::new(),
            process: 0,
            entered: Vec::new(),
            calls: arena.map(Arena::stack),
            count: 0,
            limits: limits.clone(),
        }
    }

    /// Enters a sub, called from this file and line.
    pub(super) fn enter(&mut self, fid: u32, line: u32) -> Result<()> {
        self.limits.check_entries("open calls", self.entered.len() as u64 + 1)?;
        self.entered.push(Site { fid, line, at_ns: self.clock.now_ns() });
        Ok(())
    }

    /// Removes the innermost call that was not left, if more than `depth` are open; returns its number and site.
    pub(super) fn abandon(&mut self, depth: u32) -> Result<Option<(i64, Site)>> {
        if self.entered.len() as u64 <= depth.into() {
            return Ok(None);
        }
        let own_depth = self.entered.len() as u32;
        let Some(site) = self.entered.pop() else { return Ok(None) };
        let call = Call { depth: own_depth, name: NO_NUMBER, time_ns: site.at_ns, ..self.blank() };
        Ok(Some((self.push(call)?, site)))
    }

    /// Leaves a sub after this time; returns the number of the call and its site, if known.
    pub(super) fn leave(&mut self, depth: u32, name: u32, dur_ns: i64, own_ns: i64) -> Result<(i64, Option<Site>)> {
        let dur_ns = dur_ns.max(0);
        let time_ns = self.clock.call(depth, dur_ns, &self.limits)?;
        let site = if self.entered.len() as u64 == u64::from(depth) { self.entered.pop() } else { None };
        let own_ns = own_ns.clamp(0, dur_ns);
        let number = self.push(Call { depth, name, time_ns, dur_ns, own_ns, ..self.blank() })?;
        Ok((number, site))
    }

    fn blank(&self) -> Call {
        let process = self.process;
        Call { process, depth: 0, name: NO_NUMBER, time_ns: 0, dur_ns: 0, own_ns: 0, parent: NO_PARENT }
    }

    fn push(&mut self, call: Call) -> Result<i64> {
        if let Some(calls) = &mut self.calls {
            calls.push(call)?;
        }
        self.count += 1;
        Ok(self.count - 1)
    }
}

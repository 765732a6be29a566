//! Puts calls into a tree and onto the time line.
//!
//! Ends come before begins and inner calls before outer ones, so the calls are gone through backwards: then the
//! call around comes first, with the time that it has for itself. An inner call ends when the virtual clock says, as
//! far as that time allows; so calls lie inside of those around them, and what is between them is what the profiler
//! measured there.

use traceloom_core::{Limits, Result, Spill, spill_row};

use super::calls::{Call, NO_NUMBER, NO_PARENT};

spill_row! {
    /// Calls that were never left, which the rows of others refer to.
    ///
    /// Those that nothing tells of but a call inside of them count on from the last call.
    #[derive(Debug)]
    pub(super) struct Unended {
        pub(super) id: i64,
        pub(super) call: Call,
    }
}

/// Takes the calls one after the other, the last one first.
#[derive(Debug)]
pub(super) struct Layout {
    limits: Limits,
    process: u32,
    /// Calls around the next one, the outermost first.
    around: Vec<Around>,
    /// The end of what comes next, where nothing is around it.
    outer_ns: i64,
    /// The number of the call that comes next.
    number: i64,
    next_id: i64,
}

#[derive(Debug)]
struct Around {
    id: i64,
    /// As the file counts.
    depth: u32,
    begin_ns: i64,
    /// The end of the next call inside.
    inner_ns: i64,
    /// What is left of its own time.
    slack_ns: i64,
    unended: Option<Call>,
}

impl Layout {
    /// For so many calls.
    pub(super) fn new(count: i64, limits: &Limits) -> Self {
        let limits = limits.clone();
        Self { limits, process: 0, around: Vec::new(), outer_ns: i64::MAX, number: count, next_id: count }
    }

    /// Gives a call its place; `unended` receives those that are complete now and have no end.
    pub(super) fn place(&mut self, call: &mut Call, unended: &mut impl FnMut(Unended) -> Result<()>) -> Result<()> {
        self.number -= 1;
        if call.process != self.process {
            self.finish(unended)?;
            (self.process, self.outer_ns) = (call.process, i64::MAX);
        }
        let depth = call.depth.max(1);
        self.close(depth, unended)?;
        self.limits.check_entries("nested calls", self.around.len() as u64 + 2)?;
        if self.around.last().map_or(0, |around| around.depth) + 1 < depth {
            self.open_unknown(depth - 1);
        }
        (call.depth, call.parent) = (self.around.len() as u32, self.parent());
        match call.name {
            NO_NUMBER => self.open(depth, self.number, *call),
            _ => self.put(depth, call),
        }
        Ok(())
    }

    /// No more calls of this process come.
    pub(super) fn finish(&mut self, unended: &mut impl FnMut(Unended) -> Result<()>) -> Result<()> {
        self.close(0, unended)
    }

    fn parent(&self) -> i64 {
        self.around.last().map_or(NO_PARENT, |around| around.id)
    }

    fn put(&mut self, depth: u32, call: &mut Call) {
        let (limit_ns, slack_ns) = self.room();
        let end_ns = call.time_ns.clamp(limit_ns.saturating_sub(slack_ns), limit_ns);
        let begin_ns = end_ns.saturating_sub(call.dur_ns);
        self.take_room(begin_ns, slack_ns.saturating_sub(limit_ns.saturating_sub(end_ns)));
        call.time_ns = begin_ns;
        let (id, slack_ns) = (self.number, call.own_ns);
        self.around.push(Around { id, depth, begin_ns, inner_ns: end_ns, slack_ns, unended: None });
    }

    /// The end of what comes next, and how much earlier it may be.
    fn room(&self) -> (i64, i64) {
        self.around.last().map_or((self.outer_ns, i64::MAX), |around| (around.inner_ns, around.slack_ns))
    }

    fn take_room(&mut self, inner_ns: i64, slack_ns: i64) {
        match self.around.last_mut() {
            Some(around) => (around.inner_ns, around.slack_ns) = (inner_ns, slack_ns),
            None => self.outer_ns = inner_ns,
        }
    }

    /// Somebody called who never returned: one call stands for all that are missing, as nothing tells them apart.
    fn open_unknown(&mut self, depth: u32) {
        let (process, own_depth) = (self.process, self.around.len() as u32);
        // It begins with the first call inside.
        let time_ns = i64::MAX;
        let parent = self.parent();
        let call = Call { process, depth: own_depth, name: NO_NUMBER, time_ns, dur_ns: 0, own_ns: 0, parent };
        self.open(depth, self.next_id, call);
        self.next_id += 1;
    }

    fn open(&mut self, depth: u32, id: i64, call: Call) {
        let (inner_ns, slack_ns) = self.room();
        let begin_ns = self.around.last().map_or(i64::MIN, |around| around.begin_ns);
        self.around.push(Around { id, depth, begin_ns, inner_ns, slack_ns, unended: Some(call) });
    }

    /// Calls of this depth and more are complete.
    fn close(&mut self, depth: u32, unended: &mut impl FnMut(Unended) -> Result<()>) -> Result<()> {
        while let Some(around) = self.around.pop_if(|around| around.depth >= depth) {
            if let Some(mut call) = around.unended {
                let Around { id, begin_ns, inner_ns, slack_ns, .. } = around;
                let earliest_ns = inner_ns.saturating_sub(slack_ns).max(begin_ns);
                call.time_ns = call.time_ns.max(earliest_ns).min(inner_ns);
                self.take_room(call.time_ns, slack_ns.saturating_sub(inner_ns.saturating_sub(call.time_ns)));
                unended(Unended { id, call })?;
            }
        }
        Ok(())
    }
}

/// Gives all calls their places and shows them, the last one first; calls without an end are shown when their begin is
/// known.
pub(super) fn lay_out(
    calls: &mut Spill<Call>,
    limits: &Limits,
    mut unended: impl FnMut(Unended) -> Result<()>,
    mut each: impl FnMut(i64, &Call) -> Result<()>,
) -> Result<()> {
    let mut layout = Layout::new(calls.len() as i64, limits);
    calls.rewrite_down(|call| {
        layout.place(call, &mut unended)?;
        each(layout.number, call)
    })?;
    layout.finish(&mut unended)
}

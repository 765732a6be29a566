//! Arranges calls in a tree and on the time axis.
//!
//! The file has ends before starts and inner calls before outer ones, so the calls are processed backward: then the
//! enclosing call comes first, with its self time. An inner call ends when the virtual clock says, as far as that self
//! time allows. So calls are inside those around them, and the gaps between them are what the profiler measured there.

use traceloom_core::{Limits, Result, Spill, spill_row};

use super::calls::{Call, NO_NUMBER, NO_PARENT};

spill_row! {
    /// Calls that were never left, which the rows of other calls refer to.
    ///
    /// Those known only because a call inside them returned are numbered after the last call.
    #[derive(Debug)]
    pub(super) struct Unended {
        pub(super) id: i64,
        pub(super) call: Call,
    }
}

/// Processes the calls one after the other, the last one first.
#[derive(Debug)]
pub(super) struct Layout {
    limits: Limits,
    process: u32,
    /// Calls around the next one, the outermost first.
    around: Vec<Around>,
    /// The end of the next call, if it has no parent.
    outer_ns: i64,
    /// The number of the next call.
    number: i64,
    next_id: i64,
}

#[derive(Debug)]
struct Around {
    id: i64,
    /// As counted in the file.
    depth: u32,
    begin_ns: i64,
    /// The end of the next call inside it.
    inner_ns: i64,
    /// Self time that is left.
    slack_ns: i64,
    unended: Option<Call>,
}

impl Layout {
    /// For this number of calls.
    pub(super) fn new(count: i64, limits: &Limits) -> Self {
        let limits = limits.clone();
        Self { limits, process: 0, around: Vec::new(), outer_ns: i64::MAX, number: count, next_id: count }
    }

    /// Places a call; `unended` receives the calls that are now complete and have no end.
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

    /// Called after the last call of a process.
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

    /// The end of the next call, and how much earlier it may be.
    fn room(&self) -> (i64, i64) {
        self.around.last().map_or((self.outer_ns, i64::MAX), |around| (around.inner_ns, around.slack_ns))
    }

    fn take_room(&mut self, inner_ns: i64, slack_ns: i64) {
        match self.around.last_mut() {
            Some(around) => (around.inner_ns, around.slack_ns) = (inner_ns, slack_ns),
            None => self.outer_ns = inner_ns,
        }
    }

    /// A caller never returned: one call represents all that are missing, because nothing distinguishes them.
    fn open_unknown(&mut self, depth: u32) {
        let (process, own_depth) = (self.process, self.around.len() as u32);
        // It starts with the first call inside it.
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

    /// Calls of this depth or deeper are complete.
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

/// Places and shows all calls, the last one first; calls without an end are shown when their start is known.
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

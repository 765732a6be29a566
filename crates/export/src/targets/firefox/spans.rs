//! Spans as markers, and as samples that are weighted with the time for which a stack was unchanged.

use traceloom_core::{Loss, Result};

use super::{
    details::Details,
    thread::{Marker, Tables},
};
use traceloom_passes::{Args, Layer, Look, Looks, NEVER_CLOSED, NamePool, Nest, Ordered, TOO_FAR, Timeline};

/// Context for writing the spans of all threads.
pub(super) struct Shared<'a> {
    pub(super) timeline: Timeline,
    pub(super) looks: &'a mut Looks,
    pub(super) names: &'a mut NamePool,
    pub(super) args: &'a mut Args,
    pub(super) loss: &'a mut Loss,
}

/// The spans of one thread.
pub(super) struct Spans<'a, 's> {
    trace: usize,
    shared: &'a mut Shared<'s>,
    details: Details,
    nest: Nest<Open>,
    /// The current stack, and since when.
    now: Option<u32>,
    since_ns: Option<u64>,
}

/// An open span: its stack, and the one below.
#[derive(Debug)]
struct Open {
    stack: u32,
    below: Option<u32>,
}

impl<'a, 's> Spans<'a, 's> {
    pub(super) fn new(trace: usize, shared: &'a mut Shared<'s>) -> Self {
        Self { trace, shared, details: Details::default(), nest: Nest::default(), now: None, since_ns: None }
    }

    /// Adds the next span of the thread.
    pub(super) fn take(&mut self, span: &Ordered, tables: &mut Tables) -> Result<()> {
        self.count_losses(span);
        let look = self.shared.looks.get(span.look)?;
        self.marker(span, &look, tables)?;
        if span.layer == Layer::Stack {
            self.begin(span, tables)?;
        }
        Ok(())
    }

    /// Ends the open spans.
    pub(super) fn finish(mut self, tables: &mut Tables) -> Result<()> {
        let mut nest = std::mem::take(&mut self.nest);
        nest.finish(|lane, end_ns, open| self.end(lane, end_ns, &open, tables))?;
        match self.since_ns {
            // The last sample means that nothing runs anymore.
            Some(since_ns) => tables.sample(None, since_ns, 0),
            None => Ok(()),
        }
    }

    fn marker(&mut self, span: &Ordered, look: &Look, tables: &mut Tables) -> Result<()> {
        let Shared { timeline, names, args, .. } = &mut *self.shared;
        if let Some(tid) = span.target_tid {
            self.details.add("target_tid", None, &tid.to_string());
        }
        self.details.args(span.owner(self.trace), args, names)?;
        if let Some(file) = look.file {
            self.details.source(names.get(file)?, look.line);
        }
        let start_ns = timeline.at(span.ts_ns);
        let end_ns = timeline.at(span.end_ns).max(start_ns);
        let marker = Marker { name: look.name, category: look.category, start_ns, end_ns: Some(end_ns) };
        tables.marker(&marker, self.details.take(), names)
    }

    fn begin(&mut self, span: &Ordered, tables: &mut Tables) -> Result<()> {
        let mut nest = std::mem::take(&mut self.nest);
        let open = Open { stack: 0, below: None };
        let placed = nest.begin(span, open, |lane, end_ns, open| self.end(lane, end_ns, &open, tables))?;
        if placed.lane == 0 {
            let below = nest.open(0).rev().nth(1).map(|open| open.stack);
            let stack = tables.stack(below, span.look, self.shared.looks)?;
            nest.edit_open(0, |_, own| *own = Open { stack, below });
            let at_ns = self.shared.timeline.at(span.ts_ns);
            self.turn_to(Some(stack), at_ns, tables)?;
        }
        self.nest = nest;
        Ok(())
    }

    fn end(&mut self, lane: usize, end_ns: i64, open: &Open, tables: &mut Tables) -> Result<()> {
        if lane > 0 {
            return Ok(());
        }
        let at_ns = self.shared.timeline.at(end_ns);
        self.turn_to(open.below, at_ns, tables)
    }

    /// Switches to another stack from now on.
    fn turn_to(&mut self, stack: Option<u32>, at_ns: u64, tables: &mut Tables) -> Result<()> {
        let since_ns = self.since_ns.unwrap_or(at_ns);
        let at_ns = at_ns.max(since_ns);
        if at_ns > since_ns {
            tables.sample(self.now, since_ns, at_ns - since_ns)?;
        }
        (self.now, self.since_ns) = (stack, Some(at_ns));
        Ok(())
    }

    fn count_losses(&mut self, span: &Ordered) {
        if span.dur_ns.is_none() {
            span.lose(NEVER_CLOSED, self.shared.loss);
        }
        if self.shared.timeline.is_far(span.ts_ns, span.end_ns) {
            span.lose(TOO_FAR, self.shared.loss);
        }
    }
}

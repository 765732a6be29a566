//! Spans as markers, and as samples that each tell how long a stack stayed.

use traceloom_core::{Loss, Result};
use traceloom_model::Table;

use super::{
    details::Details,
    thread::{Marker, Tables},
};
use traceloom_passes::{Args, Layer, Look, Looks, NamePool, Nest, Ordered, Timeline};

/// What is at hand while the spans of a thread are written.
pub(super) struct Spans<'a> {
    pub(super) trace: usize,
    pub(super) timeline: &'a Timeline,
    pub(super) looks: &'a mut Looks,
    pub(super) names: &'a mut NamePool,
    pub(super) args: &'a mut Args,
    pub(super) loss: &'a mut Loss,
    pub(super) details: Details,
    nest: Nest<Open>,
    /// The stack at the moment, and since when.
    now: Option<u32>,
    since_ns: Option<u64>,
}

/// An open span: its stack, and the one below.
#[derive(Debug)]
struct Open {
    stack: u32,
    below: Option<u32>,
}

impl<'a> Spans<'a> {
    pub(super) fn new(
        trace: usize,
        timeline: &'a Timeline,
        looks: &'a mut Looks,
        names: &'a mut NamePool,
        args: &'a mut Args,
        loss: &'a mut Loss,
    ) -> Self {
        let (details, nest, now, since_ns) = Default::default();
        Self { trace, timeline, looks, names, args, loss, details, nest, now, since_ns }
    }

    /// Takes the next span of the thread.
    pub(super) fn take(&mut self, span: &Ordered, tables: &mut Tables) -> Result<()> {
        self.count_losses(span);
        let look = self.looks.get(span.look)?;
        self.marker(span, &look, tables)?;
        if span.layer == Layer::Stack {
            self.begin(span, tables)?;
        }
        Ok(())
    }

    /// Ends what is open.
    pub(super) fn finish(mut self, tables: &mut Tables) -> Result<()> {
        let mut nest = std::mem::take(&mut self.nest);
        nest.finish(|lane, end_ns, open| self.end(lane, end_ns, &open, tables))?;
        match self.since_ns {
            // The last sample says that nothing runs any more.
            Some(since_ns) => tables.sample(None, since_ns, 0),
            None => Ok(()),
        }
    }

    fn marker(&mut self, span: &Ordered, look: &Look, tables: &mut Tables) -> Result<()> {
        let table = if span.layer == Layer::Switches { Table::Switches } else { Table::Spans };
        if let Some(tid) = span.target_tid {
            self.details.add("target_tid", None, &tid.to_string());
        }
        self.details.args_of(table, self.trace, span.id, self.args, self.names)?;
        if let Some(file) = look.file {
            self.details.source(self.names.get(file)?, look.line);
        }
        let start_ns = self.timeline.at(self.trace, span.ts_ns);
        let end_ns = self.timeline.at(self.trace, span.end_ns).max(start_ns);
        let marker = Marker { name: look.name, category: look.category, start_ns, end_ns: Some(end_ns) };
        tables.marker(&marker, self.details.take(), self.names)
    }

    fn begin(&mut self, span: &Ordered, tables: &mut Tables) -> Result<()> {
        let mut nest = std::mem::take(&mut self.nest);
        let open = Open { stack: 0, below: None };
        let placed = nest.begin(span, open, |lane, end_ns, open| self.end(lane, end_ns, &open, tables))?;
        if placed.lane == 0 {
            let below = nest.open(0).rev().nth(1).map(|open| open.stack);
            let stack = tables.stack(below, span.look, self.looks)?;
            nest.edit_open(0, |_, own| *own = Open { stack, below });
            let at_ns = self.timeline.at(self.trace, span.ts_ns);
            self.turn_to(Some(stack), at_ns, tables)?;
        }
        self.nest = nest;
        Ok(())
    }

    fn end(&mut self, lane: usize, end_ns: i64, open: &Open, tables: &mut Tables) -> Result<()> {
        if lane > 0 {
            return Ok(());
        }
        let at_ns = self.timeline.at(self.trace, end_ns);
        self.turn_to(open.below, at_ns, tables)
    }

    /// Another stack from now on.
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
            self.loss.lose("that spans were never closed", || format!("spans {}", span.id));
        }
        if self.timeline.is_far(self.trace, span.ts_ns, span.end_ns) {
            self.loss.lose("times too far away", || format!("spans {}", span.id));
        }
    }
}

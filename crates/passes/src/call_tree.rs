//! Spans summed by call stack, for targets that show no times.

use traceloom_core::{Loss, Result};

use crate::{
    FRAMES_AND_RANGES, Layer, NEVER_CLOSED, Nest, Ordered, Parent, Pass, StackTree, TOO_MANY_OVERLAP,
    frames::{Frames, check},
};

/// The sums of a stack of spans.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Calls {
    /// Number of spans with this stack.
    pub count: u64,
    /// Self time of these spans.
    pub self_ns: u64,
}

/// Distinct stacks of spans. The root of a stack is its thread, by index.
#[derive(Debug)]
pub struct CallTree {
    /// The stacks; their frames are numbers of [`Frames::all`].
    pub stacks: StackTree<Calls>,
    /// The frames.
    pub frames: Frames,
}

/// An open span: its stack, and the total time of its children.
#[derive(Debug)]
struct Open {
    node: u32,
    begin_ns: i64,
    children_ns: i64,
}

impl CallTree {
    /// Sums the spans of the traces that `takes` accepts, by their numbers in the roster.
    pub fn new(pass: &mut Pass<'_>, frames: Frames, takes: impl Fn(usize) -> bool) -> Result<Self> {
        let mut tree = Self { stacks: StackTree::default(), frames };
        let Pass { roster, looks, spans, loss, .. } = pass;
        let mut nest = Nest::default();
        let mut current = None;
        for span in spans.iter(roster)? {
            let span = span?;
            if !takes(roster.thread(span.thread).trace) {
                span.lose("spans next to the sums of calls", loss);
                continue;
            }
            if span.layer != Layer::Stack {
                span.lose(FRAMES_AND_RANGES, loss);
                continue;
            }
            if current.replace(span.thread) != Some(span.thread) {
                nest.finish(|_, end_ns, open| tree.end(&open, end_ns))?;
            }
            if span.dur_ns.is_none() {
                span.lose(NEVER_CLOSED, loss);
            }
            let frame = tree.frames.of_look(span.look, looks)?;
            tree.begin(&span, frame, &mut nest, loss)?;
        }
        nest.finish(|_, end_ns, open| tree.end(&open, end_ns))?;
        Ok(tree)
    }

    fn begin(&mut self, span: &Ordered, frame: u32, nest: &mut Nest<Open>, loss: &mut Loss) -> Result<()> {
        let open = Open { node: 0, begin_ns: span.ts_ns, children_ns: 0 };
        let placed = nest.begin(span, open, |_, end_ns, open| self.end(&open, end_ns))?;
        if placed.end_ns < span.end_ns {
            span.lose(TOO_MANY_OVERLAP, loss);
        }
        let around = nest.open(placed.lane).rev().nth(1).map(|open| open.node);
        check("distinct stacks", self.stacks.nodes().len(), self.frames.max)?;
        let node = self.stacks.child(around.map_or(Parent::Root(span.thread.0), Parent::Node), frame);
        nest.edit_open(placed.lane, |outer, own| {
            own.node = node;
            if let Some(outer) = outer {
                outer.children_ns = outer.children_ns.saturating_add(placed.end_ns.saturating_sub(span.ts_ns));
            }
        });
        Ok(())
    }

    fn end(&mut self, open: &Open, end_ns: i64) -> Result<()> {
        let own_ns = end_ns.saturating_sub(open.begin_ns).saturating_sub(open.children_ns).max(0);
        let calls = self.stacks.weight_mut(open.node);
        calls.count += 1;
        calls.self_ns = calls.self_ns.saturating_add(own_ns.unsigned_abs());
        Ok(())
    }
}

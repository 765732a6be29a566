//! Stacks of allocations.

use hashbrown::HashMap;
use traceloom_model::{allocations, frames, stacks};

use super::Tree;
use crate::names::Names;

/// Weights by stack, and what the stacks are.
#[derive(Debug, Default)]
pub(crate) struct AllocationStacks {
    /// Bytes and allocations, by trace and stack.
    weights: HashMap<(u64, Option<i64>), (u64, u64)>,
    /// The stack below and the frame on top.
    stacks: HashMap<(u64, i64), (Option<i64>, i64)>,
    frames: HashMap<(u64, i64), u32>,
}

impl AllocationStacks {
    /// Adds the rows of a batch that `takes` time and thread.
    pub(crate) fn take_rows(&mut self, view: &allocations::View<'_>, takes: impl Fn(i64, Option<i64>) -> bool) {
        for row in (0..view.rows).filter(|row| takes(view.ts_ns.get(*row), view.thread_id.get(*row))) {
            let weight = self.weights.entry((view.trace_id.get(row), view.stack_id.get(row))).or_default();
            weight.0 = weight.0.saturating_add(view.size_bytes.get(row));
            weight.1 += 1;
        }
    }

    pub(crate) fn take_stacks(&mut self, view: &stacks::View<'_>) {
        for row in 0..view.rows {
            let stack = (view.parent_id.get(row), view.frame_id.get(row));
            self.stacks.insert((view.trace_id.get(row), view.id.get(row)), stack);
        }
    }

    pub(crate) fn take_frames(&mut self, view: &frames::View<'_>, names: &mut Names) {
        for row in 0..view.rows {
            let name = names.intern(view.function.get(row));
            self.frames.insert((view.trace_id.get(row), view.id.get(row)), name);
        }
    }

    pub(crate) fn finish(&self, counts: bool, names: &mut Names, tree: &mut Tree) {
        for ((trace, stack), (bytes, count)) in &self.weights {
            let frames = self.frames_of(*trace, *stack);
            let frames = if frames.is_empty() { vec![names.intern("(unknown)")] } else { frames };
            tree.add(&frames, if counts { *count } else { *bytes }, *count);
        }
    }

    fn frames_of(&self, trace: u64, stack: Option<i64>) -> Vec<u32> {
        let mut frames = Vec::new();
        let mut at = stack;
        // A stack refers to rows before it, so this ends; the bound holds for tables that lie.
        while let Some((below, frame)) = at.and_then(|at| self.stacks.get(&(trace, at)))
            && frames.len() <= self.stacks.len()
        {
            frames.extend(self.frames.get(&(trace, *frame)));
            at = *below;
        }
        frames.reverse();
        frames
    }
}

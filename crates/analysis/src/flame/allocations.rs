//! Stacks of allocations.

use hashbrown::HashMap;
use traceloom_model::select;
use traceloom_passes::{Interner, StackRows, StackTable};

use super::{Tree, tree::Weight};

select! {
    pub(super) struct Allocations of allocations { trace_id, ts_ns, thread_id, stack_id, size_bytes }
}

select! {
    pub(super) struct Frames of frames { trace_id, id, function }
}

/// The frame of allocations without a stack.
pub(crate) const UNKNOWN: &str = "(unknown)";

/// Weights by stack, and the frames of the stacks.
#[derive(Debug, Default)]
pub(super) struct AllocationStacks {
    /// Bytes and allocations, by trace and stack.
    weights: HashMap<(u64, Option<i64>), (u64, u64)>,
    stacks: StackTable<u32>,
}

impl AllocationStacks {
    /// Adds the rows of a batch whose time and thread `takes` accepts.
    pub(super) fn take_rows(&mut self, view: &Allocations<'_>, takes: impl Fn(i64, Option<i64>) -> bool) {
        for row in (0..view.rows).filter(|row| takes(view.ts_ns.get(*row), view.thread_id.get(*row))) {
            let weight = self.weights.entry((view.trace_id.get(row), view.stack_id.get(row))).or_default();
            weight.0 = weight.0.saturating_add(view.size_bytes.get(row));
            weight.1 += 1;
        }
    }

    pub(super) fn take_stacks(&mut self, view: &StackRows<'_>) {
        self.stacks.take(view);
    }

    pub(super) fn take_frames(&mut self, view: &Frames<'_>, names: &mut Interner) {
        for row in 0..view.rows {
            self.stacks.take_frame(view.trace_id.get(row), view.id.get(row), names.number(view.function.get(row)));
        }
    }

    pub(super) fn finish(&self, counts: bool, names: &mut Interner, tree: &mut Tree) {
        for ((trace, stack), (bytes, count)) in &self.weights {
            let mut frames: Vec<u32> = self.stacks.path(*trace, *stack).copied().collect();
            if frames.is_empty() {
                frames.push(names.number(UNKNOWN));
            }
            frames.reverse();
            tree.add(&frames, Weight { own: if counts { *count } else { *bytes }, count: *count });
        }
    }
}

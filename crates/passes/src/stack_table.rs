//! The tables `stacks` and `frames`, kept until the needed stacks are known.

use hashbrown::HashMap;
use traceloom_model::select;

select! {
    /// The columns of a stack.
    pub struct StackRows of stacks { trace_id, id, parent_id, frame_id }
}

/// Stacks of several traces, with frames of any type.
#[derive(Debug)]
pub struct StackTable<F> {
    /// By trace and id: the stack below and the frame on top.
    stacks: HashMap<(u64, i64), (Option<i64>, i64)>,
    frames: HashMap<(u64, i64), F>,
}

impl<F> Default for StackTable<F> {
    fn default() -> Self {
        Self { stacks: HashMap::new(), frames: HashMap::new() }
    }
}

impl<F> StackTable<F> {
    /// Adds rows of `stacks`.
    pub fn take(&mut self, rows: &StackRows<'_>) {
        for row in 0..rows.rows {
            let stack = (rows.parent_id.get(row), rows.frame_id.get(row));
            self.stacks.insert((rows.trace_id.get(row), rows.id.get(row)), stack);
        }
    }

    /// Adds a row of `frames`.
    pub fn take_frame(&mut self, trace_id: u64, frame_id: i64, frame: F) {
        self.frames.insert((trace_id, frame_id), frame);
    }

    /// The frames of a stack, the innermost first; frames without a row are left out.
    pub fn path(&self, trace_id: u64, stack_id: Option<i64>) -> impl Iterator<Item = &F> {
        let (mut at, mut left) = (stack_id, self.stacks.len());
        let frames = std::iter::from_fn(move || {
            let (below, frame) = self.stacks.get(&(trace_id, at?))?;
            // A stack refers to earlier rows, so this ends; the bound is for invalid tables.
            left = left.checked_sub(1)?;
            at = *below;
            Some(self.frames.get(&(trace_id, *frame)))
        });
        frames.flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_are_followed_and_circles_end() {
        let mut table = StackTable::default();
        for (id, stack) in [(0, (None, 0)), (1, (Some(0), 1)), (2, (Some(1), 9)), (5, (Some(6), 1)), (6, (Some(5), 0))]
        {
            table.stacks.insert((7, id), stack);
        }
        table.take_frame(7, 0, "main");
        table.take_frame(7, 1, "make");
        let path = |stack| table.path(7, Some(stack)).copied().collect::<Vec<_>>();
        assert_eq!((path(1), path(2)), (vec!["make", "main"], vec!["make", "main"]));
        assert_eq!((path(5).len(), path(3).len(), table.path(7, None).count()), (5, 0, 0));
    }
}

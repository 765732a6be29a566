//! A tree of frames with weights.

use std::sync::Arc;

use traceloom_passes::{Interner, NO_NUMBER, Parent, StackTree};

/// Stacks, each with its self weight, and the names of their frames.
#[derive(Debug, Default)]
pub struct Tree {
    pub(super) stacks: StackTree<Weight>,
    pub(super) names: Arc<Interner>,
}

/// The weight of a stack.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Weight {
    /// Self weight, which is not in a deeper frame.
    pub(crate) own: u64,
    /// Spans or allocations.
    pub(crate) count: u64,
}

impl Weight {
    pub(crate) fn add(&mut self, other: Self) {
        self.own = self.own.saturating_add(other.own);
        self.count += other.count;
    }
}

/// One stack with its self weight.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Stack<'t> {
    /// Frames, outermost first.
    pub frames: Vec<&'t str>,
    /// Self weight, which is not in a deeper frame.
    pub own: u64,
    /// Spans or allocations.
    pub count: u64,
}

/// The name of all stacks beyond the max number; it has no number.
pub(super) const OTHER: &str = "(other)";

const OUTERMOST: Parent = Parent::Root(0);

/// Max number of frames per listed stack; the weight of deeper frames is added to the last one, because a list of all
/// stacks grows with the square of the depth.
pub const MAX_FRAMES: usize = 1_000;
/// Max number of frames of all reversed stacks, for the same reason.
const MAX_REVERSED: usize = 4_000_000;
/// Minimum number of frames kept per reversed stack, even in the largest graph.
const MIN_REVERSED: usize = 16;

impl Tree {
    /// Adds up stacks.
    pub fn of_stacks<'s>(stacks: impl Iterator<Item = Stack<'s>>) -> Self {
        let mut names = Interner::default();
        let mut tree = Self::default();
        for Stack { frames, own, count } in stacks {
            let frames: Vec<u32> = frames.into_iter().map(|name| names.number(name)).collect();
            tree.add(&frames, Weight { own, count });
        }
        tree.named(names)
    }

    /// Adds weight to a stack, given with the outermost frame first.
    pub(crate) fn add(&mut self, stack: &[u32], weight: Weight) {
        if let Parent::Node(number) = self.stacks.stack(0, stack.iter().copied()) {
            self.stacks.weight_mut(number).add(weight);
        }
    }

    /// The tree with every stack reversed: callers below callees, as many as the limit allows.
    pub fn reversed(&self) -> Self {
        let nodes = self.stacks.nodes();
        let room = (MAX_REVERSED / nodes.len().max(1)).clamp(MIN_REVERSED, MAX_FRAMES);
        let mut reversed = Self::default();
        let mut turned = Vec::new();
        for (number, node) in (0..).zip(nodes) {
            self.stacks.path(number, room, &mut turned);
            reversed.add(&turned, node.weight);
        }
        reversed.names = Arc::clone(&self.names);
        reversed
    }

    /// Adds the names of the frames.
    pub(crate) fn named(self, names: Interner) -> Self {
        Self { names: names.into(), ..self }
    }

    /// All stacks that have weight or a count, parents before children, children sorted by name; none has more than
    /// [`MAX_FRAMES`].
    pub fn stacks(&self) -> Vec<Stack<'_>> {
        let mut stacks: Vec<Stack<'_>> = Vec::new();
        self.walk(&mut |depth, frames, Weight { own, count }| match stacks.last_mut() {
            Some(last) if depth >= MAX_FRAMES => {
                last.own = last.own.saturating_add(own);
                last.count += count;
            }
            _ if own > 0 || count > 0 || frames.len() == MAX_FRAMES => {
                stacks.push(Stack { frames: frames.to_vec(), own, count });
            }
            _ => {}
        });
        stacks
    }

    /// The weight of all stacks.
    pub fn total(&self) -> u64 {
        self.stacks.nodes().iter().fold(0, |sum, node| sum.saturating_add(node.weight.own))
    }

    /// Whether [`Tree::stacks`] cuts some stacks.
    pub fn is_deep(&self) -> bool {
        let mut is_deep = false;
        self.walk(&mut |depth, _, _| is_deep |= depth >= MAX_FRAMES);
        is_deep
    }

    /// Whether there is no stack.
    pub fn is_empty(&self) -> bool {
        self.stacks.is_empty()
    }

    fn text(&self, name: u32) -> &str {
        text_of(&self.names, name)
    }

    /// Not recursive, because the file determines the depth of the tree.
    fn walk<'t>(&'t self, visit: &mut impl FnMut(usize, &[&'t str], Weight)) {
        let mut stack = Vec::new();
        let mut waiting: Vec<(usize, u32)> = self.sorted(OUTERMOST, 0);
        while let Some((depth, number)) = waiting.pop() {
            let node = &self.stacks.nodes()[number as usize];
            stack.truncate(depth);
            if depth < MAX_FRAMES {
                stack.push(self.text(node.frame));
            }
            visit(depth, &stack, node.weight);
            waiting.extend(self.sorted(Parent::Node(number), depth + 1));
        }
    }

    /// In reverse order, because they are popped from the end.
    fn sorted(&self, parent: Parent, depth: usize) -> Vec<(usize, u32)> {
        let frame = |number: &u32| self.stacks.nodes()[*number as usize].frame;
        let mut children: Vec<u32> = self.stacks.children(parent).collect();
        children.sort_by(|one, other| {
            let (one, other) = (frame(one), frame(other));
            self.text(other).cmp(self.text(one)).then(other.cmp(&one))
        });
        children.into_iter().map(|number| (depth, number)).collect()
    }
}

/// The name of a frame.
pub(super) fn text_of(names: &Interner, name: u32) -> &str {
    names.get(name).unwrap_or(if name == NO_NUMBER { OTHER } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recursion of this depth, with a different name at every level.
    fn chain(depth: u32) -> Tree {
        let mut tree = Tree::default();
        let mut below = OUTERMOST;
        for name in 0..depth {
            let number = tree.stacks.child(below, name);
            tree.stacks.weight_mut(number).add(Weight { own: 1, count: 1 });
            below = Parent::Node(number);
        }
        tree
    }

    #[test]
    fn lists_and_reversed_stacks_grow_with_the_depth_and_not_with_its_square() {
        let work = |depth: u32| {
            let tree = chain(depth);
            let stacks = tree.stacks();
            assert_eq!(stacks.iter().map(|stack| stack.own).sum::<u64>(), u64::from(depth), "nothing is lost");
            let listed: usize = stacks.iter().map(|stack| stack.frames.len()).sum();
            (listed, tree.reversed().stacks.nodes().len())
        };
        let ((listed, turned), (listed_twice, turned_twice)) = (work(20_000), work(40_000));
        assert!(listed_twice <= 2 * listed, "{listed}, then {listed_twice}");
        assert!(turned_twice <= 2 * turned, "{turned}, then {turned_twice}");
        assert_eq!(chain(40_000).reversed().total(), 40_000);
    }
}

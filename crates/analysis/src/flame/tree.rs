//! A tree of frames with weights.

use traceloom_passes::{Interner, Parent, StackTree};

/// Stacks, each with its own weight, and the names of their frames.
#[derive(Debug, Default)]
pub struct Tree {
    pub(super) stacks: StackTree<Weight>,
    pub(super) texts: Vec<String>,
}

/// The weight of a stack.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Weight {
    /// What is in no deeper frame.
    pub(crate) own: u64,
    /// Spans or allocations.
    pub(crate) count: u64,
}

impl Weight {
    fn add(&mut self, other: Self) {
        self.own = self.own.saturating_add(other.own);
        self.count += other.count;
    }
}

/// One stack with its own weight.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Stack<'t> {
    /// The outermost frame first.
    pub frames: Vec<&'t str>,
    /// Weight that is in no deeper frame.
    pub own: u64,
    /// Spans or allocations.
    pub count: u64,
}

const OUTERMOST: Parent = Parent::Root(0);

impl Tree {
    /// Adds weight to a stack, the outermost frame first.
    pub(crate) fn add(&mut self, stack: &[u32], weight: Weight) {
        if let Parent::Node(number) = self.stacks.stack(0, stack.iter().copied()) {
            self.stacks.weight_mut(number).add(weight);
        }
    }

    /// Adds other stacks below some frames.
    pub(crate) fn graft(&mut self, below: &[u32], other: &StackTree<Weight>) {
        let on = self.stacks.stack(0, below.iter().copied());
        self.stacks.absorb(on, other, |weight, number| weight.add(other.nodes()[number as usize].weight));
    }

    /// Every stack turned round: callers below callees.
    pub(crate) fn reversed(&self) -> Self {
        let mut reversed = Self::default();
        self.walk(&mut |stack, weight| {
            let turned: Vec<u32> = stack.iter().rev().copied().collect();
            reversed.add(&turned, weight);
        });
        reversed
    }

    /// Takes the texts of its frames along.
    pub(crate) fn named(mut self, names: &Interner) -> Self {
        self.texts = names.iter().map(str::to_owned).collect();
        self
    }

    /// All stacks that have weight or were met, parents before children, children by name.
    pub fn stacks(&self) -> Vec<Stack<'_>> {
        let mut stacks = Vec::new();
        self.walk(&mut |stack, Weight { own, count }| {
            if own > 0 || count > 0 {
                stacks.push(Stack { frames: stack.iter().map(|name| self.text(*name)).collect(), own, count });
            }
        });
        stacks
    }

    /// The weight of all stacks.
    pub fn total(&self) -> u64 {
        self.stacks.nodes().iter().fold(0, |sum, node| sum.saturating_add(node.weight.own))
    }

    /// Whether there is no stack.
    pub fn is_empty(&self) -> bool {
        self.stacks.is_empty()
    }

    fn text(&self, name: u32) -> &str {
        self.texts.get(name as usize).map_or("", String::as_str)
    }

    /// Not by recursion: a file decides how deep a tree is.
    fn walk(&self, visit: &mut impl FnMut(&[u32], Weight)) {
        let mut stack = Vec::new();
        let mut waiting: Vec<(usize, u32)> = self.sorted(OUTERMOST, 0);
        while let Some((depth, number)) = waiting.pop() {
            let node = &self.stacks.nodes()[number as usize];
            stack.truncate(depth);
            stack.push(node.frame);
            visit(&stack, node.weight);
            waiting.extend(self.sorted(Parent::Node(number), depth + 1));
        }
    }

    /// The last one first, because they are taken from the end.
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

//! A tree of frames with weights.

use hashbrown::HashMap;

use crate::names::Names;

/// Frames below each other, each with its own weight and that of everything below it.
#[derive(Debug, Default)]
pub struct Tree {
    /// Parents before children.
    pub(super) nodes: Vec<Node>,
    roots: HashMap<u32, u32>,
    pub(super) texts: Vec<String>,
}

#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) name: u32,
    pub(super) own: u64,
    pub(super) count: u64,
    pub(super) children: HashMap<u32, u32>,
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

impl Tree {
    /// Adds weight to a stack, the outermost frame first.
    pub(crate) fn add(&mut self, stack: &[u32], own: u64, count: u64) {
        let mut at = None;
        for name in stack {
            at = Some(self.child(at, *name));
        }
        if let Some(node) = at.and_then(|at| self.nodes.get_mut(at as usize)) {
            node.own = node.own.saturating_add(own);
            node.count += count;
        }
    }

    fn child(&mut self, parent: Option<u32>, name: u32) -> u32 {
        let next = self.nodes.len() as u32;
        let children = match parent {
            Some(parent) => &mut self.nodes[parent as usize].children,
            None => &mut self.roots,
        };
        let child = *children.entry(name).or_insert(next);
        if child == next {
            self.nodes.push(Node { name, ..Node::default() });
        }
        child
    }

    /// Adds another tree below some frames.
    pub(crate) fn graft(&mut self, below: &[u32], other: &super::merge::Subtree) {
        let mut at = None;
        for name in below {
            at = Some(self.child(at, *name));
        }
        // Frame by frame: with whole stacks the work would grow with the square of the depth.
        other.walk(&mut |around, name, own, count| {
            let number = self.child(around.or(at), name);
            let node = &mut self.nodes[number as usize];
            node.own = node.own.saturating_add(own);
            node.count += count;
            number
        });
    }

    /// Every stack turned round: callers below callees.
    pub(crate) fn reversed(&self) -> Self {
        let mut reversed = Self::default();
        self.walk(&mut |stack, node| {
            let turned: Vec<u32> = stack.iter().rev().copied().collect();
            reversed.add(&turned, node.own, node.count);
        });
        reversed
    }

    /// Takes the texts of its frames along.
    pub(crate) fn named(mut self, names: &Names) -> Self {
        self.texts = (0..names.len() as u32).map(|number| names.get(number).unwrap_or_default().to_owned()).collect();
        self
    }

    /// All stacks that have weight or were met, parents before children, children by name.
    pub fn stacks(&self) -> Vec<Stack<'_>> {
        let mut stacks = Vec::new();
        self.walk(&mut |stack, node| {
            if node.own > 0 || node.count > 0 {
                let frames = stack.iter().map(|name| self.text(*name)).collect();
                stacks.push(Stack { frames, own: node.own, count: node.count });
            }
        });
        stacks
    }

    /// The weight of all stacks.
    pub fn total(&self) -> u64 {
        self.nodes.iter().fold(0, |sum, node| sum.saturating_add(node.own))
    }

    /// Whether there is no stack.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    fn text(&self, name: u32) -> &str {
        self.texts.get(name as usize).map_or("", String::as_str)
    }

    /// Not by recursion: a file decides how deep a tree is.
    fn walk(&self, visit: &mut impl FnMut(&[u32], &Node)) {
        let mut stack = Vec::new();
        let mut waiting: Vec<(usize, u32)> = self.sorted(&self.roots, 0);
        while let Some((depth, number)) = waiting.pop() {
            let node = &self.nodes[number as usize];
            stack.truncate(depth);
            stack.push(node.name);
            visit(&stack, node);
            waiting.extend(self.sorted(&node.children, depth + 1));
        }
    }

    /// The last one first, because they are taken from the end.
    fn sorted(&self, children: &HashMap<u32, u32>, depth: usize) -> Vec<(usize, u32)> {
        let mut children: Vec<_> = children.iter().collect();
        children.sort_by(|(one, _), (other, _)| self.text(**other).cmp(self.text(**one)).then(other.cmp(one)));
        children.into_iter().map(|(_, number)| (depth, *number)).collect()
    }
}

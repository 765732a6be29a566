//! Stacks that share their outer frames: each is a frame on top of another stack.

use hashbrown::HashMap;

/// Distinct stacks with weights, as a tree: the parent of a stack is the stack without its innermost frame.
///
/// A parent has a smaller number than its children. Outermost frames are on a root; a tree of several threads has a
/// root per thread, so that equal stacks of two threads stay separate.
#[derive(Clone, Debug)]
pub struct StackTree<W> {
    nodes: Vec<StackNode<W>>,
    links: Vec<Links>,
    roots: Vec<Links>,
    /// Children of parents with many children.
    many: HashMap<(Parent, u32), u32>,
}

/// A stack.
#[derive(Clone, Copy, Debug)]
pub struct StackNode<W> {
    /// The stack or root below this one.
    pub parent: Parent,
    /// The root of the whole stack.
    pub root: u32,
    /// The innermost frame, as a number that the caller chose.
    pub frame: u32,
    /// The sum for this stack.
    pub weight: W,
}

/// The parent of a stack.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Parent {
    /// A stack, by its number.
    Node(u32),
    /// A root: the stack has one frame.
    Root(u32),
}

/// The children of a parent, as a linked list through `next`.
#[derive(Clone, Copy, Debug)]
struct Links {
    first: u32,
    last: u32,
    count: u32,
    next: u32,
}

impl Default for Links {
    fn default() -> Self {
        Self { first: NONE, last: NONE, count: 0, next: NONE }
    }
}

const NONE: u32 = u32::MAX;

/// Up to this many children are searched one after the other; a file with a different name for each span has more.
const FEW: u32 = 16;

impl<W> Default for StackTree<W> {
    fn default() -> Self {
        Self { nodes: Vec::new(), links: Vec::new(), roots: Vec::new(), many: HashMap::new() }
    }
}

impl<W: Default> StackTree<W> {
    /// The stack made of a frame on top of another stack; it is created if it does not exist.
    pub fn child(&mut self, parent: Parent, frame: u32) -> u32 {
        match self.find(parent, frame) {
            Some(known) => known,
            None => self.push(parent, frame),
        }
    }

    /// The stack made of a frame on top of another stack, if it exists.
    #[inline]
    pub fn find(&self, parent: Parent, frame: u32) -> Option<u32> {
        match self.links(parent) {
            Some(links) if links.count > FEW => self.many.get(&(parent, frame)).copied(),
            _ => self.children(parent).find(|child| self.nodes[*child as usize].frame == frame),
        }
    }

    /// A new stack, even if an equal one exists.
    pub fn push(&mut self, parent: Parent, frame: u32) -> u32 {
        let number = self.nodes.len() as u32;
        let root = match parent {
            Parent::Node(parent) => self.nodes[parent as usize].root,
            Parent::Root(root) => root,
        };
        self.nodes.push(StackNode { parent, root, frame, weight: W::default() });
        self.links.push(Links::default());
        let links = self.links_mut(parent);
        let before = std::mem::replace(&mut links.last, number);
        links.count += 1;
        let count = links.count;
        match before {
            NONE => links.first = number,
            before => self.links[before as usize].next = number,
        }
        if count == FEW + 1 {
            let children: Vec<u32> = self.children(parent).collect();
            let keys = children.iter().map(|child| ((parent, self.nodes[*child as usize].frame), *child));
            self.many.extend(keys);
        } else if count > FEW {
            self.many.insert((parent, frame), number);
        }
        number
    }

    /// The stack with these frames, the outermost first.
    pub fn stack(&mut self, root: u32, frames: impl IntoIterator<Item = u32>) -> Parent {
        frames.into_iter().fold(Parent::Root(root), |parent, frame| Parent::Node(self.child(parent, frame)))
    }

    /// Adds another tree on top of a stack; `add` adds the weight of the stack with this number in the other tree.
    pub fn absorb<V>(&mut self, on: Parent, other: &StackTree<V>, mut add: impl FnMut(&mut W, u32)) {
        let mut numbers: Vec<u32> = Vec::with_capacity(other.nodes.len());
        // Frame by frame, parents first: with whole stacks, the work would grow with the square of the depth.
        for (node, number) in other.nodes.iter().zip(0..) {
            let parent = match node.parent {
                Parent::Node(parent) => Parent::Node(numbers[parent as usize]),
                Parent::Root(_) => on,
            };
            let own = self.child(parent, node.frame);
            add(&mut self.nodes[own as usize].weight, number);
            numbers.push(own);
        }
    }

    fn links_mut(&mut self, parent: Parent) -> &mut Links {
        match parent {
            Parent::Node(number) => &mut self.links[number as usize],
            Parent::Root(root) => {
                let root = root as usize;
                if self.roots.len() <= root {
                    self.roots.resize(root + 1, Links::default());
                }
                &mut self.roots[root]
            }
        }
    }
}

impl<W> StackTree<W> {
    /// All stacks, by number.
    pub fn nodes(&self) -> &[StackNode<W>] {
        &self.nodes
    }

    /// The sum for a stack.
    #[inline]
    pub fn weight_mut(&mut self, number: u32) -> &mut W {
        &mut self.nodes[number as usize].weight
    }

    /// Whether there are no stacks.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    fn links(&self, parent: Parent) -> Option<&Links> {
        match parent {
            Parent::Node(number) => self.links.get(number as usize),
            Parent::Root(root) => self.roots.get(root as usize),
        }
    }

    /// The stacks on top of a stack, in the order in which they were added.
    #[inline]
    pub fn children(&self, parent: Parent) -> impl Iterator<Item = u32> {
        let mut next = self.links(parent).map_or(NONE, |links| links.first);
        std::iter::from_fn(move || {
            let number = next;
            next = self.links.get(number as usize)?.next;
            Some(number)
        })
    }

    /// The outermost stacks of all roots, in the order in which they were added.
    pub fn outermost(&self) -> impl Iterator<Item = u32> {
        let numbered = self.nodes.iter().zip(0..);
        numbered.filter(|(node, _)| matches!(node.parent, Parent::Root(_))).map(|(_, number)| number)
    }

    /// The frames of a stack, the innermost first, at most `max`; returns true if some are missing.
    pub fn path(&self, number: u32, max: usize, path: &mut Vec<u32>) -> bool {
        path.clear();
        let mut parent = Parent::Node(number);
        while let Parent::Node(number) = parent {
            if path.len() == max {
                return true;
            }
            let node = &self.nodes[number as usize];
            path.push(node.frame);
            parent = node.parent;
        }
        false
    }

    /// The sum of each stack including all stacks on top of it.
    pub fn totals(&self, own: impl Fn(&W) -> u64) -> Vec<u64> {
        let mut totals: Vec<u64> = self.nodes.iter().map(|node| own(&node.weight)).collect();
        for (number, node) in self.nodes.iter().enumerate().rev() {
            if let Parent::Node(parent) = node.parent {
                totals[parent as usize] = totals[parent as usize].saturating_add(totals[number]);
            }
        }
        totals
    }

    /// Visits all stacks depth first: with `true` when a stack is entered, and with `false` when it is left.
    pub fn walk(&self, mut visit: impl FnMut(u32, bool)) {
        // Not recursive, because the file decides how deep a tree is.
        let mut open: Vec<u32> = Vec::new();
        for outermost in self.outermost() {
            let mut next = outermost;
            loop {
                while next != NONE {
                    visit(next, true);
                    open.push(next);
                    next = self.links[next as usize].first;
                }
                let Some(left) = open.pop() else { break };
                visit(left, false);
                // The neighbors of an outermost stack are visited by the outer loop.
                next = if open.is_empty() { NONE } else { self.links[left as usize].next };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a tree with letters as frames.
    fn tree(stacks: &[(u32, &str, u64)]) -> StackTree<u64> {
        let mut tree = StackTree::default();
        for (root, frames, weight) in stacks {
            if let Parent::Node(number) = tree.stack(*root, frames.bytes().map(u32::from)) {
                *tree.weight_mut(number) += weight;
            }
        }
        tree
    }

    fn text(tree: &StackTree<u64>, number: u32) -> String {
        let mut path = Vec::new();
        tree.path(number, usize::MAX, &mut path);
        path.iter().rev().map(|frame| char::from(*frame as u8)).collect()
    }

    #[test]
    fn equal_stacks_are_one_and_totals_hold_what_is_on_top() {
        let tree = tree(&[(0, "ab", 1), (0, "a", 2), (1, "ab", 4), (0, "abc", 8), (0, "ab", 16)]);
        let found: Vec<_> = (0..tree.nodes().len() as u32).map(|number| text(&tree, number)).collect();
        assert_eq!(found, ["a", "ab", "a", "ab", "abc"]);
        assert_eq!(tree.totals(|weight| *weight), [27, 25, 4, 4, 8]);
        assert_eq!(tree.nodes().iter().map(|node| node.root).collect::<Vec<_>>(), [0, 0, 1, 1, 0]);
        let mut path = Vec::new();
        assert!(tree.path(4, 2, &mut path) && path == [u32::from(b'c'), u32::from(b'b')]);
    }

    #[test]
    fn a_walk_enters_and_leaves_each_stack() {
        let tree = tree(&[(0, "ab", 1), (0, "x", 1), (0, "acd", 1), (3, "a", 1)]);
        let mut steps = Vec::new();
        tree.walk(|number, enters| steps.push((text(&tree, number), enters)));
        let shown: Vec<String> =
            steps.iter().map(|(text, enters)| format!("{}{text}", if *enters { '+' } else { '-' })).collect();
        assert_eq!(shown, ["+a", "+ab", "-ab", "+ac", "+acd", "-acd", "-ac", "-a", "+x", "-x", "+a", "-a"],);
    }

    #[test]
    fn many_children_are_told_apart() {
        let mut tree: StackTree<u64> = StackTree::default();
        for parent in [Parent::Root(0), Parent::Node(0)] {
            let numbers: Vec<u32> = (0..1_000).map(|frame| tree.child(parent, frame)).collect();
            for (frame, number) in (0..).zip(&numbers) {
                assert_eq!(tree.child(parent, frame), *number);
            }
            assert_eq!(tree.children(parent).collect::<Vec<_>>(), numbers);
        }
    }

    #[test]
    fn a_tree_grows_on_top_of_another() {
        let (mut below, above) = (tree(&[(0, "a", 1), (0, "abc", 2)]), tree(&[(7, "b", 10), (7, "bd", 20)]));
        below.absorb(Parent::Node(0), &above, |weight, number| *weight += above.nodes()[number as usize].weight);
        let found: Vec<_> = below.nodes().iter().zip(0..).map(|(node, n)| (text(&below, n), node.weight)).collect();
        let expected = [("a", 1), ("ab", 10), ("abc", 2), ("abd", 20)];
        assert_eq!(found, expected.map(|(text, weight)| (text.to_owned(), weight)));
    }

    #[test]
    fn deep_trees_need_no_stack() {
        let mut tree: StackTree<u64> = StackTree::default();
        let mut parent = Parent::Root(0);
        for frame in 0..500_000 {
            parent = Parent::Node(tree.push(parent, frame));
        }
        let mut steps = 0;
        tree.walk(|_, _| steps += 1);
        assert_eq!(steps, 1_000_000);
    }
}

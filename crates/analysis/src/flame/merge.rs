//! Adds equal stacks of spans together while the spans come.
//!
//! A file has parents before children or children before parents. A child whose parent is on the path of the last spans
//! goes below it at once. Any other waits, added together with its siblings, until its parent comes.

use std::collections::BTreeMap;

use hashbrown::HashMap;

/// A span as far as stacks need it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// Trace and thread.
    pub(crate) thread: (u64, i64),
    pub(crate) id: i64,
    pub(crate) parent: Option<i64>,
    pub(crate) name: u32,
    /// Its own weight, where it is known.
    pub(crate) own: Option<u64>,
    /// Its whole weight, where that is known instead.
    pub(crate) total: Option<u64>,
}

/// Stacks of all threads.
#[derive(Debug, Default)]
pub(crate) struct Merging {
    threads: BTreeMap<(u64, i64), Thread>,
}

#[derive(Debug, Default)]
struct Thread {
    done: Subtree,
    /// Children that came before their parents, by parent.
    waiting: HashMap<i64, Subtree>,
    /// The last span and its ancestors, as far as they came before it: their ids and frames in `done`.
    path: Vec<(i64, usize)>,
}

/// Frames of one parent and everything below them, in one array.
#[derive(Debug, Default)]
pub(crate) struct Subtree {
    nodes: Vec<Node>,
    roots: Vec<usize>,
    /// Children of frames that have many, by frame and name.
    many: HashMap<(Option<usize>, u32), usize>,
}

/// So many children are looked through one after the other; a file with a name for each span has more.
const FEW: usize = 16;

#[derive(Debug, Default)]
struct Node {
    name: u32,
    own: u64,
    /// What children with a known total have to be taken off by; may be more than the own weight.
    total: u64,
    count: u64,
    children: Vec<usize>,
}

impl Merging {
    pub(crate) fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    pub(crate) fn add(&mut self, span: &Span) {
        self.threads.entry(span.thread).or_default().add(span);
    }

    pub(crate) fn finish(self) -> impl Iterator<Item = ((u64, i64), Subtree)> {
        self.threads.into_iter().map(|(key, thread)| (key, thread.finish()))
    }
}

impl Thread {
    fn add(&mut self, span: &Span) {
        let children = self.waiting.remove(&span.id);
        let on_path = span.parent.and_then(|parent| self.path.iter().rposition(|(id, _)| *id == parent));
        match (span.parent, on_path) {
            (Some(parent), None) => {
                let siblings = self.waiting.entry(parent).or_default();
                siblings.put(None, span, children.as_ref());
            }
            (_, place) => {
                self.path.truncate(place.map_or(0, |place| place + 1));
                let below = self.path.last().map(|(_, frame)| *frame);
                let frame = self.done.put(below, span, children.as_ref());
                self.path.push((span.id, frame));
            }
        }
    }

    /// Parents that never came are left out: their children are outermost then.
    fn finish(mut self) -> Subtree {
        let mut orphans: Vec<_> = self.waiting.into_iter().collect();
        orphans.sort_by_key(|(parent, _)| *parent);
        for (_, subtree) in orphans {
            self.done.absorb(None, &subtree);
        }
        self.done
    }
}

impl Subtree {
    fn put(&mut self, below: Option<usize>, span: &Span, children: Option<&Subtree>) -> usize {
        let frame = self.child(below, span.name);
        let node = &mut self.nodes[frame];
        node.count += 1;
        node.own = node.own.saturating_add(span.own.unwrap_or(0));
        node.total = node.total.saturating_add(span.total.unwrap_or(0));
        if let Some(children) = children {
            self.absorb(Some(frame), children);
        }
        frame
    }

    fn child(&mut self, parent: Option<usize>, name: u32) -> usize {
        let next = self.nodes.len();
        let children = match parent {
            Some(parent) => &self.nodes[parent].children,
            None => &self.roots,
        };
        let known = match children.len() {
            0..=FEW => children.iter().find(|child| self.nodes[**child].name == name),
            _ => self.many.get(&(parent, name)),
        };
        if let Some(known) = known {
            return *known;
        }
        self.nodes.push(Node { name, ..Node::default() });
        let children = match parent {
            Some(parent) => &mut self.nodes[parent].children,
            None => &mut self.roots,
        };
        children.push(next);
        match children.len() {
            0..=FEW => {}
            many if many == FEW + 1 => {
                let children = children.clone();
                self.many.extend(children.into_iter().map(|child| ((parent, self.nodes[child].name), child)));
            }
            _ => _ = self.many.insert((parent, name), next),
        }
        next
    }

    fn absorb(&mut self, below: Option<usize>, other: &Subtree) {
        let mut waiting: Vec<(Option<usize>, usize)> = other.roots.iter().map(|root| (below, *root)).collect();
        while let Some((below, from)) = waiting.pop() {
            let node = &other.nodes[from];
            let into = self.child(below, node.name);
            let own = &mut self.nodes[into];
            own.own = own.own.saturating_add(node.own);
            own.total = own.total.saturating_add(node.total);
            own.count += node.count;
            waiting.extend(node.children.iter().map(|child| (Some(into), *child)));
        }
    }

    /// Every frame, parents first, with its name, own weight and spans. What `visit` calls a frame by is what its children
    /// are told of it.
    pub(crate) fn walk(&self, visit: &mut impl FnMut(Option<u32>, u32, u64, u64) -> u32) {
        let mut waiting: Vec<(Option<u32>, usize)> = self.roots.iter().map(|root| (None, *root)).collect();
        while let Some((around, number)) = waiting.pop() {
            let node = &self.nodes[number];
            let below = node.children.iter().fold(0_u64, |sum, child| sum.saturating_add(self.nodes[*child].total));
            let own = node.own.saturating_add(node.total.saturating_sub(below));
            let own_number = visit(around, node.name, own, node.count);
            waiting.extend(node.children.iter().map(|child| (Some(own_number), *child)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks(spans: &[(i64, Option<i64>, u32, u64)]) -> Vec<(Vec<u32>, u64, u64)> {
        let mut merging = Merging::default();
        for (id, parent, name, total) in spans {
            let span = Span { thread: (0, 0), id: *id, parent: *parent, name: *name, own: None, total: Some(*total) };
            merging.add(&span);
        }
        let mut found: Vec<(Vec<u32>, u64, u64)> = Vec::new();
        for (_, tree) in merging.finish() {
            let first = found.len();
            tree.walk(&mut |around, name, own, count| {
                let mut stack = around.map_or_else(Vec::new, |around| found[first + around as usize].0.clone());
                stack.push(name);
                found.push((stack, own, count));
                (found.len() - first - 1) as u32
            });
        }
        found.sort();
        found
    }

    #[test]
    fn the_order_of_parents_and_children_does_not_matter() {
        // 7 around 8 and 9, and 9 around 8, twice.
        let parents_first = [
            (0, None, 7, 100),
            (1, Some(0), 8, 10),
            (2, Some(0), 9, 40),
            (3, Some(2), 8, 15),
            (4, None, 7, 50),
            (5, Some(4), 8, 5),
        ];
        let children_first = [1, 3, 2, 0, 5, 4].map(|index: usize| parents_first[index]);
        let expected = vec![(vec![7], 95, 2), (vec![7, 8], 15, 2), (vec![7, 9], 25, 1), (vec![7, 9, 8], 15, 1)];
        assert_eq!(stacks(&parents_first), expected);
        assert_eq!(stacks(&children_first), expected);
    }

    #[test]
    fn many_siblings_are_told_apart() {
        let roots: Vec<_> = (0..200_000).map(|id| (i64::from(id), None, id % 100_000, 1)).collect();
        let found = stacks(&roots);
        assert_eq!(found.len(), 100_000);
        assert!(found.iter().all(|(stack, own, count)| (stack.len(), *own, *count) == (1, 2, 2)));
    }

    #[test]
    fn children_without_a_parent_are_outermost() {
        assert_eq!(stacks(&[(1, Some(9), 3, 4)]), [(vec![3], 4, 1)]);
    }
}

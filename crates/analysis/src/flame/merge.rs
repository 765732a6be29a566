//! Adds equal stacks of spans together while the spans come.
//!
//! A file has parents before children or children before parents. A child whose parent is on the path of the last spans
//! goes below it at once. Any other waits, added together with its siblings, until its parent comes.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use traceloom_passes::{Parent, StackTree};

use super::tree::Weight;

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
    done: Stacks,
    /// Children that came before their parents, by parent.
    waiting: HashMap<i64, Stacks>,
    /// The last span and its ancestors, as far as they came before it: their ids and stacks in `done`.
    path: Vec<(i64, u32)>,
}

type Stacks = StackTree<Sums>;

/// What is added up for a stack.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    own: u64,
    /// The whole weight, of which that of the children is taken off; theirs may be more.
    total: u64,
    count: u64,
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.own = self.own.saturating_add(other.own);
        self.total = self.total.saturating_add(other.total);
        self.count += other.count;
    }
}

impl Merging {
    pub(crate) fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    pub(crate) fn add(&mut self, span: &Span) {
        self.threads.entry(span.thread).or_default().add(span);
    }

    /// The stacks of each thread.
    pub(crate) fn finish(self) -> impl Iterator<Item = ((u64, i64), StackTree<Weight>)> {
        self.threads.into_iter().map(|(key, thread)| (key, finished(&thread.finish())))
    }
}

impl Thread {
    fn add(&mut self, span: &Span) {
        let children = self.waiting.remove(&span.id);
        let on_path = span.parent.and_then(|parent| self.path.iter().rposition(|(id, _)| *id == parent));
        match (span.parent, on_path) {
            (Some(parent), None) => {
                let siblings = self.waiting.entry(parent).or_default();
                put(siblings, OUTERMOST, span, children.as_ref());
            }
            (_, place) => {
                self.path.truncate(place.map_or(0, |place| place + 1));
                let below = self.path.last().map_or(OUTERMOST, |(_, stack)| Parent::Node(*stack));
                let stack = put(&mut self.done, below, span, children.as_ref());
                self.path.push((span.id, stack));
            }
        }
    }

    /// Parents that never came are left out: their children are outermost then.
    fn finish(mut self) -> Stacks {
        let mut orphans: Vec<_> = self.waiting.into_iter().collect();
        orphans.sort_by_key(|(parent, _)| *parent);
        for (_, stacks) in orphans {
            absorb(&mut self.done, OUTERMOST, &stacks);
        }
        self.done
    }
}

const OUTERMOST: Parent = Parent::Root(0);

fn put(stacks: &mut Stacks, below: Parent, span: &Span, children: Option<&Stacks>) -> u32 {
    let stack = stacks.child(below, span.name);
    let sums = Sums { own: span.own.unwrap_or(0), total: span.total.unwrap_or(0), count: 1 };
    stacks.weight_mut(stack).add(&sums);
    if let Some(children) = children {
        absorb(stacks, Parent::Node(stack), children);
    }
    stack
}

fn absorb(stacks: &mut Stacks, on: Parent, other: &Stacks) {
    stacks.absorb(on, other, |sums, number| sums.add(&other.nodes()[number as usize].weight));
}

/// The stacks with the weight that their children leave.
fn finished(stacks: &Stacks) -> StackTree<Weight> {
    let mut children = vec![0_u64; stacks.nodes().len()];
    for node in stacks.nodes() {
        if let Parent::Node(parent) = node.parent {
            let sum = &mut children[parent as usize];
            *sum = sum.saturating_add(node.weight.total);
        }
    }
    let mut finished = StackTree::default();
    finished.absorb(OUTERMOST, stacks, |weight: &mut Weight, number| {
        let Sums { own, total, count } = stacks.nodes()[number as usize].weight;
        weight.own = own.saturating_add(total.saturating_sub(children[number as usize]));
        weight.count = count;
    });
    finished
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
            for (node, number) in tree.nodes().iter().zip(0..) {
                let mut stack = Vec::new();
                tree.path(number, usize::MAX, &mut stack);
                stack.reverse();
                found.push((stack, node.weight.own, node.weight.count));
            }
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

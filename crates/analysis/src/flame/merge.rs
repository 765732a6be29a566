//! Merges equal stacks of spans while the spans arrive.
//!
//! A file has parents before children or children before parents. A child whose parent is on the path of the last spans
//! is added below it at once. Any other child waits in a forest until its parent arrives. Every span is moved a bounded
//! number of times on average, at any depth.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use traceloom_passes::{NO_NUMBER, Parent, StackTree};

use super::tree::{Tree, Weight};

/// The columns of a span that stacks need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// Trace and thread.
    pub(crate) thread: (u64, i64),
    pub(crate) id: i64,
    pub(crate) parent: Option<i64>,
    pub(crate) name: u32,
    /// Self weight, if known.
    pub(crate) own: Option<u64>,
    /// Total weight, if that is known instead.
    pub(crate) total: Option<u64>,
}

/// Stacks of all threads. A trace may have a million threads, so each takes little more than its stacks.
#[derive(Debug)]
pub(crate) struct Merging {
    threads: Vec<Thread>,
    /// Numbers of threads, found by their keys.
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
    current: u32,
    /// The path of the current thread.
    path: Vec<(i64, u32)>,
    /// The stacks of each thread have a separate root, but later threads share [`SHARED_ROOT`].
    done: Stacks,
    most_stacks: usize,
    /// Children that arrived before their parents.
    waiting: Forest,
}

/// The root of all threads beyond as many.
const SHARED_ROOT: u32 = 1 << 14;

#[derive(Debug)]
struct Thread {
    key: (u64, i64),
    path: Path,
}

/// The last span and its ancestors that arrived before it: their ids and stacks in `done`. Most threads of a trace with
/// very many have few spans, so a path of one span takes no allocation.
#[derive(Debug)]
enum Path {
    Many(Vec<(i64, u32)>),
    One((i64, u32)),
}

const _: () = assert!(size_of::<Thread>() <= 40);

type Stacks = StackTree<Sums>;

/// The sums of a stack.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    own: u64,
    /// Total weight, from which the weight of the children is subtracted; the children may have more.
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
    /// No stacks yet; beyond the max number, stacks are merged below their callers.
    pub(crate) fn new(most_stacks: usize) -> Self {
        Self {
            threads: Vec::new(),
            numbers: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            current: 0,
            path: Vec::new(),
            done: Stacks::default(),
            most_stacks,
            waiting: Forest::default(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    pub(crate) fn add(&mut self, span: &Span) {
        if self.threads.get(self.current as usize).is_none_or(|thread| thread.key != span.thread) {
            self.turn_to(span.thread);
        }
        let Self { current, path, done, most_stacks, waiting, .. } = self;
        waiting.tidy();
        let children = waiting.heads.remove(&(*current, span.id));
        let on_path = span.parent.and_then(|parent| path.iter().rposition(|(id, _)| *id == parent));
        match (span.parent, on_path) {
            (Some(parent), None) => waiting.add((*current, parent), span, children),
            (_, place) => {
                path.truncate(place.map_or(0, |place| place + 1));
                let below = path.last().map_or(root(*current), |(_, stack)| Parent::Node(*stack));
                let stack = within(done, *most_stacks, below, span.name);
                done.weight_mut(stack).add(&span.sums());
                waiting.pour(children, Parent::Node(stack), done, *most_stacks);
                waiting.clear_if_unused();
                path.push((span.id, stack));
            }
        }
    }

    /// Switches to the thread of the next spans.
    #[cold]
    fn turn_to(&mut self, key: (u64, i64)) {
        let Self { threads, numbers, hasher, current, path, .. } = self;
        if let Some(before) = threads.get_mut(*current as usize) {
            before.path = match path[..] {
                [one] => Path::One(one),
                _ => Path::Many(std::mem::take(path)),
            };
        }
        let hash = hasher.hash_one(key);
        *current = match numbers.find(hash, |number| threads[*number as usize].key == key) {
            Some(number) => *number,
            None => {
                threads.push(Thread { key, path: Path::Many(Vec::new()) });
                let number = threads.len() as u32 - 1;
                *numbers.insert_unique(hash, number, |number| hasher.hash_one(threads[*number as usize].key)).get()
            }
        };
        path.clear();
        match &mut threads[*current as usize].path {
            Path::Many(many) => *path = std::mem::take(many),
            Path::One(one) => path.push(*one),
        }
    }

    /// Adds the stacks of all threads to a tree, below the frame of each thread if it has one; the error is the number of
    /// the threads that share one.
    pub(crate) fn finish(mut self, tree: &mut Tree, mut frame: impl FnMut(Result<(u64, i64), usize>) -> Option<u32>) {
        self.pour_orphans();
        let Self { threads, done, .. } = self;
        let others = threads.len().saturating_sub(SHARED_ROOT as usize);
        let nodes = done.nodes();
        let children = totals_of_children(&done);
        let key = |number: &u32| threads[nodes[*number as usize].root as usize].key;
        let mut order: Vec<u32> = (0..nodes.len() as u32).collect();
        order.sort_by_key(|number| (key(number), *number));
        let mut places = vec![0; nodes.len()];
        for number in order {
            let node = &nodes[number as usize];
            let parent = match node.parent {
                Parent::Node(parent) => Parent::Node(places[parent as usize]),
                Parent::Root(SHARED_ROOT) => tree.stacks.stack(0, frame(Err(others))),
                Parent::Root(_) => tree.stacks.stack(0, frame(Ok(key(&number)))),
            };
            let Sums { own, total, count } = node.weight;
            let own = own.saturating_add(total.saturating_sub(children[number as usize]));
            let place = tree.stacks.child(parent, node.frame);
            tree.stacks.weight_mut(place).add(Weight { own, count });
            places[number as usize] = place;
        }
    }

    /// Parents that never arrived are omitted, and their children become outermost.
    fn pour_orphans(&mut self) {
        let mut orphans: Vec<_> = std::mem::take(&mut self.waiting.heads).into_iter().collect();
        orphans.sort_by_key(|(parent, _)| *parent);
        for ((thread, _), head) in orphans {
            self.waiting.pour(Some(head), root(thread), &mut self.done, self.most_stacks);
        }
    }
}

impl Span {
    fn sums(&self) -> Sums {
        Sums { own: self.own.unwrap_or(0), total: self.total.unwrap_or(0), count: 1 }
    }
}

/// The root of the stacks of a thread.
fn root(thread: u32) -> Parent {
    Parent::Root(thread.min(SHARED_ROOT))
}

/// The stack of a name below another; a new one beyond the max number shares one with all other names.
fn within(stacks: &mut Stacks, most: usize, below: Parent, name: u32) -> u32 {
    match stacks.find(below, name) {
        Some(known) => known,
        None if stacks.nodes().len() < most => stacks.push(below, name),
        None => stacks.child(below, NO_NUMBER),
    }
}

/// Spans without their parents, in lists of siblings.
#[derive(Debug, Default)]
struct Forest {
    nodes: Vec<Waiting>,
    /// The first child of each parent that has not arrived yet, by thread and id.
    heads: HashMap<(u32, i64), u32>,
    /// Number of nodes after the last merge of equal siblings.
    merged: usize,
    /// Number of nodes moved; every move costs the same.
    moves: u64,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    name: u32,
    sums: Sums,
    child: Option<u32>,
    next: Option<u32>,
}

/// Minimum number of nodes before a merge; fewer nodes use little memory.
const MIN_MERGED: usize = 1 << 16;

impl Forest {
    fn add(&mut self, parent: (u32, i64), span: &Span, child: Option<u32>) {
        let number = self.nodes.len() as u32;
        let next = self.heads.insert(parent, number);
        self.nodes.push(Waiting { name: span.name, sums: span.sums(), child, next });
    }

    /// Adds a list of siblings and everything below them to stacks.
    fn pour(&mut self, list: Option<u32>, below: Parent, stacks: &mut Stacks, most_stacks: usize) {
        let mut open: Vec<(u32, Parent)> = list.map(|list| (list, below)).into_iter().collect();
        while let Some((number, below)) = open.pop() {
            let node = self.nodes[number as usize];
            let stack = within(stacks, most_stacks, below, node.name);
            stacks.weight_mut(stack).add(&node.sums);
            open.extend(node.next.map(|next| (next, below)));
            open.extend(node.child.map(|child| (child, Parent::Node(stack))));
            self.moves += 1;
        }
    }

    /// Drops all nodes once nothing refers to them.
    fn clear_if_unused(&mut self) {
        if self.heads.is_empty() {
            self.nodes.clear();
        }
    }

    /// Merges equal siblings when the forest has doubled, so that its size stays proportional to the graph.
    fn tidy(&mut self) {
        if self.nodes.len() < 2 * self.merged.max(MIN_MERGED) {
            return;
        }
        let old = std::mem::take(&mut self.nodes);
        for head in self.heads.values_mut() {
            let mut known: HashMap<(Option<u32>, u32), u32> = HashMap::new();
            let mut first = None;
            let mut open = vec![(*head, None)];
            while let Some((number, parent)) = open.pop() {
                let node = old[number as usize];
                let new = *known.entry((parent, node.name)).or_insert_with(|| {
                    let new = self.nodes.len() as u32;
                    let list = parent.map_or(&mut first, |parent: u32| &mut self.nodes[parent as usize].child);
                    let next = list.replace(new);
                    self.nodes.push(Waiting { name: node.name, sums: Sums::default(), child: None, next });
                    new
                });
                self.nodes[new as usize].sums.add(&node.sums);
                open.extend(node.next.map(|next| (next, parent)));
                open.extend(node.child.map(|child| (child, Some(new))));
                self.moves += 1;
            }
            *head = first.unwrap_or(*head);
        }
        self.merged = self.nodes.len();
    }
}

/// The weight of the children of each stack.
fn totals_of_children(stacks: &Stacks) -> Vec<u64> {
    let mut children = vec![0_u64; stacks.nodes().len()];
    for node in stacks.nodes() {
        if let Parent::Node(parent) = node.parent {
            let sum = &mut children[parent as usize];
            *sum = sum.saturating_add(node.weight.total);
        }
    }
    children
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks(spans: &[(i64, Option<i64>, u32, u64)]) -> Vec<(Vec<u32>, u64, u64)> {
        let mut merging = Merging::new(usize::MAX);
        for (id, parent, name, total) in spans {
            let span = Span { thread: (0, 0), id: *id, parent: *parent, name: *name, own: None, total: Some(*total) };
            merging.add(&span);
        }
        let mut tree = Tree::default();
        merging.finish(&mut tree, |_| None);
        let mut found: Vec<(Vec<u32>, u64, u64)> = Vec::new();
        for (node, number) in tree.stacks.nodes().iter().zip(0..) {
            let mut stack = Vec::new();
            tree.stacks.path(number, usize::MAX, &mut stack);
            stack.reverse();
            found.push((stack, node.weight.own, node.weight.count));
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

    /// How often spans of one chain are moved, the innermost first, with siblings at every level.
    fn moves(depth: i64) -> u64 {
        let mut merging = Merging::new(usize::MAX);
        for level in (0..depth).rev() {
            for sibling in 0..2 {
                let parent = (level > 0).then_some(level - 1);
                let id = if sibling == 0 { level } else { depth + level };
                let span = Span { thread: (0, 0), id, parent, name: level as u32, own: None, total: Some(1) };
                merging.add(&span);
            }
        }
        let Merging { done, waiting, .. } = merging;
        assert_eq!(done.nodes().len() as i64, depth);
        assert!(done.nodes().iter().all(|node| node.weight.count == 2));
        waiting.moves
    }

    #[test]
    fn the_work_grows_with_the_depth_and_not_with_its_square() {
        let (once, twice) = (moves(100_000), moves(200_000));
        assert!(once > 0 && twice <= 2 * once + once / 2, "{once} moves, then {twice}");
    }

    #[test]
    fn threads_may_take_turns_at_any_depth() {
        let mut merging = Merging::new(usize::MAX);
        for (id, depth) in (0..30).map(|id| (id, id / 3)) {
            let parent = (depth > 0).then(|| id - 3);
            let name = depth as u32;
            merging.add(&Span { thread: (0, id % 3), id, parent, name, own: Some(1), total: None });
        }
        let mut tree = Tree::default();
        merging.finish(&mut tree, |thread| thread.ok().map(|(_, thread)| 100 + thread as u32));
        // Ten levels below a frame for each thread.
        assert_eq!(tree.stacks.nodes().len(), 3 * 11);
        assert!(tree.stacks.nodes().iter().all(|node| node.weight.own == u64::from(node.frame < 100)));
    }

    #[test]
    fn children_without_a_parent_are_outermost() {
        assert_eq!(stacks(&[(1, Some(9), 3, 4)]), [(vec![3], 4, 1)]);
    }

    #[test]
    fn stacks_beyond_the_limit_are_merged_below_their_callers() {
        let mut merging = Merging::new(100);
        merging.add(&Span { thread: (0, 0), id: 0, parent: None, name: 0, own: Some(1), total: None });
        for id in 1..1_000 {
            let span = Span { thread: (0, 0), id, parent: Some(0), name: id as u32, own: Some(1), total: None };
            merging.add(&span);
        }
        let mut tree = Tree::default();
        merging.finish(&mut tree, |_| None);
        assert_eq!((tree.stacks.nodes().len(), tree.total()), (101, 1_000));
        let other = tree.stacks.nodes().last().expect("a stack");
        assert_eq!((other.frame, other.parent, other.weight.own), (NO_NUMBER, Parent::Node(0), 900));
        assert_eq!(tree.stacks().pop().map(|stack| stack.own), Some(900));
    }

    #[test]
    fn very_many_threads_share_their_stacks() {
        let threads = i64::from(SHARED_ROOT) + 1_000;
        let mut merging = Merging::new(usize::MAX);
        // Twice, because a thread may continue after others.
        for round in [0, threads] {
            for thread in 0..threads {
                let (id, parent) = (round + thread, (round > 0).then_some(thread));
                merging.add(&Span { thread: (0, thread), id, parent, name: 7, own: Some(1), total: None });
            }
        }
        assert_eq!(merging.done.nodes().len(), 2 * (SHARED_ROOT as usize + 1));
        let mut tree = Tree::default();
        merging
            .finish(&mut tree, |thread| Some(thread.map_or_else(|others| others as u32, |(_, id)| 10_000 + id as u32)));
        let others = tree.stacks.nodes().iter().position(|node| node.frame == 1_000).expect("the frame of the others");
        let below: Vec<u64> = tree
            .stacks
            .children(Parent::Node(others as u32))
            .map(|stack| tree.stacks.totals(|weight| weight.own)[stack as usize])
            .collect();
        assert_eq!(below, [2_000]);
    }
}

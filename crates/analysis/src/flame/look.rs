//! The boxes of a view, limited to visible ones, so that the result is small for a tree of any size.

use std::{cmp::Reverse, collections::VecDeque};

use hashbrown::HashMap;

use super::graph::Graph;

/// The frames of a view, sorted by distance from the root.
#[derive(Debug, Default)]
pub struct Shown<'g> {
    /// The names on the path to the frame shown as the root, as far as they exist.
    pub path: Vec<&'g str>,
    /// The root first; the parent of each frame comes before it.
    pub frames: Vec<ShownFrame<'g>>,
    pub(super) way: Way,
}

/// One box of a view.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ShownFrame<'g> {
    /// The index of the frame next to which this one is drawn; the root has its own index.
    pub parent: u32,
    /// The name; `None` for the root of everything and for boxes of frames that are too small to be shown.
    pub name: Option<&'g str>,
    /// Weight of the frame and of all frames after it.
    pub total: u64,
    /// Weight that is not in any frame after it.
    pub own: u64,
    /// Spans or allocations.
    pub count: u64,
    /// Number of frames that this box represents because they are too small to be shown; 0 for a real frame.
    pub folded: u64,
}

/// The direction of a view.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Way {
    #[default]
    Callees,
    Callers,
}

/// A frame with its weight in the view; toward callers, the weight stays the weight of the first frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weighted {
    pub(super) node: u32,
    pub(super) total: u64,
    pub(super) own: u64,
    pub(super) count: u64,
}

/// Frames of one name after the same box.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) name: u32,
    pub(super) entries: Vec<Weighted>,
}

/// A box narrower than one in this many parts of the root is not visible.
const NARROWEST: u64 = 5_000;
/// More boxes than fit on a screen.
const MAX_FRAMES: usize = 20_000;
/// Max number of frames visited; the callers of a deep recursion would take the square of its depth.
const MAX_WORK: usize = 40_000_000;

impl Graph {
    pub(super) fn show(&self, path: &[String], way: Way) -> Shown<'_> {
        let mut root = ShownFrame { parent: 0, name: None, total: self.total, own: 0, count: self.count, folded: 0 };
        let mut groups = self.by_name(self.starts(way));
        let mut found = Vec::new();
        let mut work = 0;
        for name in path {
            work += groups.iter().map(|group| group.entries.len()).sum::<usize>();
            if work > MAX_WORK {
                break;
            }
            let Some(place) = groups.iter().position(|group| self.text(group.name) == name) else { break };
            let next = groups.swap_remove(place);
            root = self.frame(&next, 0, way);
            found.push(self.text(next.name));
            groups = self.behind(&next, way);
        }
        Shown { path: found, frames: self.expand(root, groups, way), way }
    }

    /// The weight in this graph of each box of a view of another graph; `None` for a box that represents several
    /// frames.
    pub fn weights_in(&self, shown: &Shown<'_>) -> Vec<Option<u64>> {
        let (mut groups, mut root, mut work) = (self.by_name(self.starts(shown.way)), self.total, 0);
        for name in &shown.path {
            let next = groups.into_iter().find(|group| self.text(group.name) == *name);
            root = next.as_ref().map_or(0, Group::total);
            groups = next.map(|group| self.behind(&group, shown.way)).unwrap_or_default();
        }
        let mut behind: Vec<HashMap<&str, Group>> = Vec::with_capacity(shown.frames.len());
        let mut weights = Vec::with_capacity(shown.frames.len());
        for (number, frame) in shown.frames.iter().enumerate() {
            let next = match frame.name {
                _ if number == 0 => std::mem::take(&mut groups),
                Some(name) if work <= MAX_WORK => {
                    let group = behind.get_mut(frame.parent as usize).and_then(|groups| groups.remove(name));
                    weights.push(Some(group.as_ref().map_or(0, Group::total)));
                    group.map(|group| self.behind(&group, shown.way)).unwrap_or_default()
                }
                _ => {
                    weights.push(None);
                    Vec::new()
                }
            };
            if number == 0 {
                weights.push(Some(root));
            }
            work += next.iter().map(|group| group.entries.len()).sum::<usize>();
            behind.push(next.into_iter().map(|group| (self.text(group.name), group)).collect());
        }
        weights
    }

    /// The boxes after a root, level by level, so that the deepest ones are left out if there are too many.
    pub(super) fn expand<'g>(&'g self, root: ShownFrame<'g>, groups: Vec<Group>, way: Way) -> Vec<ShownFrame<'g>> {
        let least = (root.total / NARROWEST).max(1);
        let mut frames = vec![root];
        let mut waiting = VecDeque::from([(0, groups)]);
        let mut work = 0;
        while let Some((parent, mut groups)) = waiting.pop_front() {
            groups.sort_by_cached_key(|group| (Reverse(group.total()), self.text(group.name)));
            let mut rest = ShownFrame { parent, name: None, total: 0, own: 0, count: 0, folded: 0 };
            for group in groups {
                let frame = self.frame(&group, parent, way);
                work += group.entries.len();
                if frame.total < least || frames.len() >= MAX_FRAMES || work > MAX_WORK {
                    rest.fold(&frame);
                    continue;
                }
                waiting.push_back((frames.len() as u32, self.behind(&group, way)));
                frames.push(frame);
            }
            frames.extend((rest.folded > 0).then_some(rest));
        }
        frames
    }

    pub(super) fn frame(&self, group: &Group, parent: u32, way: Way) -> ShownFrame<'_> {
        let mut frame = ShownFrame { parent, name: Some(self.text(group.name)), total: 0, own: 0, count: 0, folded: 0 };
        for entry in &group.entries {
            let own = match way {
                Way::Callees => entry.own,
                // The outermost frame has no caller.
                Way::Callers if self.parent(entry.node).is_none() => entry.total,
                Way::Callers => 0,
            };
            frame.total = frame.total.saturating_add(entry.total);
            frame.own = frame.own.saturating_add(own);
            frame.count = frame.count.saturating_add(entry.count);
        }
        frame
    }

    /// The callers or callees of a box.
    pub(super) fn behind(&self, group: &Group, way: Way) -> Vec<Group> {
        let entries = group.entries.iter();
        self.by_name(match way {
            Way::Callees => {
                entries.flat_map(|entry| self.children(entry.node)).map(|child| self.entry(child)).collect()
            }
            Way::Callers => {
                entries.filter_map(|entry| Some(Weighted { node: self.parent(entry.node)?, ..*entry })).collect()
            }
        })
    }

    fn by_name(&self, entries: Vec<Weighted>) -> Vec<Group> {
        let mut places: HashMap<u32, usize> = HashMap::new();
        let mut groups: Vec<Group> = Vec::new();
        for entry in entries {
            let name = self.name(entry.node);
            let place = *places.entry(name).or_insert(groups.len());
            if place == groups.len() {
                groups.push(Group { name, entries: Vec::new() });
            }
            groups[place].entries.push(entry);
        }
        groups
    }
}

impl Group {
    fn total(&self) -> u64 {
        self.entries.iter().fold(0, |sum, entry| sum.saturating_add(entry.total))
    }
}

impl ShownFrame<'_> {
    fn fold(&mut self, frame: &ShownFrame<'_>) {
        self.total = self.total.saturating_add(frame.total);
        self.count = self.count.saturating_add(frame.count);
        self.folded += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceloom_passes::Interner;

    use crate::flame::{Tree, tree::Weight};

    /// Stacks of letters with their self weight.
    fn tree(stacks: &[(&str, u64)]) -> (Tree, Interner) {
        let mut names = Interner::default();
        let mut tree = Tree::default();
        for (stack, own) in stacks {
            let stack: Vec<u32> = stack.chars().map(|name| names.number(&name.to_string())).collect();
            tree.add(&stack, Weight { own: *own, count: 1 });
        }
        (tree, names)
    }

    fn graph(stacks: &[(&str, u64)]) -> Graph {
        let (tree, names) = tree(stacks);
        tree.named(names).into()
    }

    fn boxes(frames: &[ShownFrame<'_>]) -> Vec<(String, u64, u64)> {
        let path = |mut at: usize| {
            let mut path = frames[at].name.unwrap_or("*").to_owned();
            while at != 0 {
                at = frames[at].parent as usize;
                path = format!("{}{path}", frames[at].name.unwrap_or("*"));
            }
            path
        };
        (0..frames.len()).map(|at| (path(at), frames[at].total, frames[at].own)).collect()
    }

    fn expect(boxes: &[(&str, u64, u64)]) -> Vec<(String, u64, u64)> {
        boxes.iter().map(|(path, total, own)| ((*path).to_owned(), *total, *own)).collect()
    }

    /// `a` calls itself and `b`; `c` calls `b`.
    const STACKS: &[(&str, u64)] = &[("a", 10), ("ab", 20), ("aa", 5), ("aab", 3), ("c", 1), ("cb", 40)];

    #[test]
    fn from_the_top_every_frame_holds_what_it_calls() {
        let graph = graph(STACKS);
        let shown = graph.top_down(&[]);
        let all = [
            ("*", 79, 0),
            ("*c", 41, 1),
            ("*a", 38, 10),
            ("*cb", 40, 40),
            ("*ab", 20, 20),
            ("*aa", 8, 5),
            ("*aab", 3, 3),
        ];
        assert_eq!(boxes(&shown.frames), expect(&all));
        let below = graph.top_down(&["a".to_owned(), "a".to_owned(), "x".to_owned()]);
        assert_eq!(below.path, ["a", "a"], "what is not there is left out");
        assert_eq!(boxes(&below.frames), expect(&[("a", 8, 5), ("ab", 3, 3)]));
    }

    #[test]
    fn from_the_bottom_weight_is_split_by_callers() {
        let graph = graph(STACKS);
        let shown = graph.bottom_up(&["b".to_owned()]);
        assert_eq!(boxes(&shown.frames), expect(&[("b", 63, 0), ("bc", 40, 40), ("ba", 23, 20), ("baa", 3, 3)]));
    }

    #[test]
    fn the_same_stacks_turned_round_have_the_same_boxes() {
        let (tree, names) = tree(STACKS);
        let reversed: Graph = tree.reversed().named(names).into();
        assert_eq!(boxes(&graph(STACKS).bottom_up(&[]).frames), boxes(&reversed.top_down(&[]).frames));
    }

    #[test]
    fn boxes_are_weighed_in_another_graph_by_their_path() {
        let (after, before) = (graph(STACKS), graph(&[("a", 4), ("ab", 25), ("b", 7), ("cb", 40), ("cx", 2)]));
        let weights = |shown: Shown<'_>| before.weights_in(&shown);
        // *, c, a, cb, ab, aa, aab.
        assert_eq!(weights(after.top_down(&[])), [78, 42, 29, 40, 25, 0, 0].map(Some));
        assert_eq!(weights(after.top_down(&["a".to_owned()])), [29, 25, 0, 0].map(Some));
        assert_eq!(weights(after.top_down(&["a".to_owned(), "a".to_owned()])), [0, 0].map(Some));
        // b, bc, ba, baa.
        assert_eq!(weights(after.bottom_up(&["b".to_owned()])), [72, 40, 25, 0].map(Some));
        assert_eq!(after.weights_in(&after.bottom_up(&[])), {
            let frames = after.bottom_up(&[]).frames;
            frames.iter().map(|frame| Some(frame.total)).collect::<Vec<_>>()
        });
    }

    #[test]
    fn recursion_counts_once_in_a_sandwich() {
        let graph = graph(STACKS);
        let [callers, callees] = graph.sandwich("a");
        assert_eq!(boxes(&callers.frames), expect(&[("a", 38, 38)]));
        assert_eq!(boxes(&callees.frames), expect(&[("a", 38, 10), ("ab", 20, 20), ("aa", 8, 5), ("aab", 3, 3)]));
        let [callers, callees] = graph.sandwich("b");
        assert_eq!(callees.frames.len(), 1);
        assert_eq!(boxes(&callers.frames)[..2], expect(&[("b", 63, 0), ("bc", 40, 40)]));
        assert_eq!(graph.heaviest(), Some("b"));
        assert!(graph.sandwich("x").iter().all(|shown| shown.frames.is_empty()));
    }

    #[test]
    fn what_is_too_small_is_one_box_and_counted() {
        let mut names = Interner::default();
        let mut tree = Tree::default();
        let root = names.number("root");
        for number in 0..100_000 {
            let own = if number == 7 { 100_000 } else { 1 };
            tree.add(&[root, names.number(&format!("leaf {number}"))], Weight { own, count: 1 });
        }
        let graph: Graph = tree.named(names).into();
        let frames = graph.top_down(&[]).frames;
        assert_eq!(frames.len(), 4);
        assert_eq!((frames[2].name, frames[2].total), (Some("leaf 7"), 100_000));
        assert_eq!((frames[3].folded, frames[3].total, frames[3].count), (99_999, 99_999, 99_999));
    }

    #[test]
    fn deep_recursion_ends() {
        let mut names = Interner::default();
        let mut tree = Tree::default();
        let name = names.number("f");
        let mut stack = Vec::new();
        for _ in 0..2_000 {
            stack.push(name);
            tree.add(&stack, Weight { own: 1, count: 1 });
        }
        let graph: Graph = tree.named(names).into();
        assert_eq!(graph.top_down(&[]).frames.len(), 2_001);
        let callers = graph.bottom_up(&[]).frames;
        assert_eq!((callers[1].total, callers[1].own, callers.len()), (2_000, 1, 2_001));
    }
}

//! A tree of frames, viewed top-down, bottom-up, or from one name.

use std::sync::Arc;

use hashbrown::HashMap;
use traceloom_passes::{Interner, NO_NUMBER, Parent, StackTree};

use super::{
    Tree,
    look::{Group, Shown, Way, Weighted},
    tree::{OTHER, Weight, text_of},
};

/// Stacks with their total weights.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub(super) stacks: StackTree<Weight>,
    totals: Vec<u64>,
    pub(super) names: Arc<Interner>,
    pub(super) total: u64,
    pub(super) count: u64,
}

impl From<Tree> for Graph {
    fn from(tree: Tree) -> Self {
        Self::new(tree.stacks, tree.names)
    }
}

impl Graph {
    pub(super) fn new(stacks: StackTree<Weight>, names: Arc<Interner>) -> Self {
        let totals = stacks.totals(|weight| weight.own);
        let total = stacks.outermost().fold(0_u64, |sum, number| sum.saturating_add(totals[number as usize]));
        let count = stacks.nodes().iter().fold(0_u64, |sum, node| sum.saturating_add(node.weight.count));
        Self { stacks, totals, names, total, count }
    }

    /// The weight of all stacks.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Whether there is no stack.
    pub fn is_empty(&self) -> bool {
        self.stacks.is_empty()
    }

    /// The top-down view, from outermost frames to their callees, below the frame at the end of a path.
    pub fn top_down(&self, path: &[String]) -> Shown<'_> {
        self.show(path, Way::Callees)
    }

    /// The bottom-up view, from frames with self weight to their callers, above the frame at the end of a path.
    pub fn bottom_up(&self, path: &[String]) -> Shown<'_> {
        self.show(path, Way::Callers)
    }

    /// The callers and callees of a name, which is the root of both views. Empty if there is no such name.
    pub fn sandwich(&self, name: &str) -> [Shown<'_>; 2] {
        let Some(number) = self.number(name) else { return Default::default() };
        let group = Group { name: number, entries: self.outermost(number) };
        [Way::Callers, Way::Callees].map(|way| {
            let frames = self.expand(self.frame(&group, 0, way), self.behind(&group, way), way);
            Shown { path: Vec::new(), frames, way }
        })
    }

    /// The name with the most self weight.
    pub fn heaviest(&self) -> Option<&str> {
        let mut own: HashMap<u32, u64> = HashMap::new();
        for node in self.stacks.nodes() {
            let sum = own.entry(node.frame).or_default();
            *sum = sum.saturating_add(node.weight.own);
        }
        let heaviest = own.into_iter().max_by_key(|(name, own)| (*own, std::cmp::Reverse(self.text(*name))))?;
        Some(self.text(heaviest.0))
    }

    /// The frames at the root of a view.
    pub(super) fn starts(&self, way: Way) -> Vec<Weighted> {
        match way {
            Way::Callees => self.stacks.outermost().map(|root| self.entry(root)).collect(),
            Way::Callers => {
                let entries = (0..self.stacks.nodes().len() as u32).map(|number| self.entry(number));
                entries.filter(|entry| entry.own > 0).map(|entry| Weighted { total: entry.own, ..entry }).collect()
            }
        }
    }

    pub(super) fn name(&self, number: u32) -> u32 {
        self.stacks.nodes()[number as usize].frame
    }

    pub(super) fn parent(&self, number: u32) -> Option<u32> {
        match self.stacks.nodes()[number as usize].parent {
            Parent::Node(parent) => Some(parent),
            Parent::Root(_) => None,
        }
    }

    pub(super) fn entry(&self, number: u32) -> Weighted {
        let Weight { own, count } = self.stacks.nodes()[number as usize].weight;
        Weighted { node: number, total: self.totals[number as usize], own, count }
    }

    pub(super) fn text(&self, name: u32) -> &str {
        text_of(&self.names, name)
    }

    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.names.find(name).or_else(|| (name == OTHER).then_some(NO_NUMBER))
    }

    /// The frames of a name that are not inside another frame of the same name, so that recursion counts once.
    fn outermost(&self, name: u32) -> Vec<Weighted> {
        let mut is_inside = vec![false; self.stacks.nodes().len()];
        let mut found = Vec::new();
        for number in 0..self.stacks.nodes().len() as u32 {
            let is_around =
                self.parent(number).is_some_and(|parent| is_inside[parent as usize] || self.name(parent) == name);
            is_inside[number as usize] = is_around;
            if self.name(number) == name && !is_around {
                found.push(self.entry(number));
            }
        }
        found
    }

    pub(super) fn children(&self, number: u32) -> impl Iterator<Item = u32> {
        self.stacks.children(Parent::Node(number))
    }
}

//! A tree of frames, looked at from any side: from the outermost frames down, from the innermost up, or from one name.

use hashbrown::HashMap;

use super::{
    Tree,
    look::{Entry, Group, Shown, Way},
};

/// Frames with the weight of everything below them.
#[derive(Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    /// Children of all nodes, one after the other.
    children: Vec<u32>,
    roots: Vec<u32>,
    texts: Vec<String>,
    pub(super) total: u64,
    pub(super) count: u64,
}

#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) name: u32,
    pub(super) parent: Option<u32>,
    own: u64,
    total: u64,
    count: u64,
    first_child: u32,
    last_child: u32,
}

impl From<Tree> for Graph {
    fn from(tree: Tree) -> Self {
        let mut graph = Self { texts: tree.texts, ..Self::default() };
        graph.nodes = tree
            .nodes
            .iter()
            .map(|node| Node { name: node.name, own: node.own, total: node.own, count: node.count, ..Node::default() })
            .collect();
        for (number, node) in tree.nodes.iter().enumerate() {
            graph.nodes[number].first_child = graph.children.len() as u32;
            graph.children.extend(node.children.values());
            graph.nodes[number].last_child = graph.children.len() as u32;
            node.children.values().for_each(|child| graph.nodes[*child as usize].parent = Some(number as u32));
        }
        for number in (0..graph.nodes.len()).rev() {
            let Node { parent, total, count, .. } = graph.nodes[number];
            graph.count = graph.count.saturating_add(count);
            match parent {
                Some(parent) => {
                    let around = &mut graph.nodes[parent as usize];
                    around.total = around.total.saturating_add(total);
                }
                None => {
                    graph.roots.push(number as u32);
                    graph.total = graph.total.saturating_add(total);
                }
            }
        }
        graph
    }
}

impl Graph {
    /// The weight of all stacks.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Whether there is no stack.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// From the outermost frames to what they call, below the frame at the end of a path.
    pub fn top_down(&self, path: &[String]) -> Shown<'_> {
        let all = self.roots.iter().map(|root| self.entry(*root)).collect();
        self.show(all, path, Way::Callees)
    }

    /// From the frames where the weight is to who called them, behind the frame at the end of a path.
    pub fn bottom_up(&self, path: &[String]) -> Shown<'_> {
        let with_weight = (0..self.nodes.len() as u32).filter(|number| self.node(*number).own > 0);
        let all = with_weight.map(|number| Entry { total: self.node(number).own, ..self.entry(number) }).collect();
        self.show(all, path, Way::Callers)
    }

    /// Who called a name, and whom it called; the name itself is the root of both. Empty where there is no such name.
    pub fn sandwich(&self, name: &str) -> [Shown<'_>; 2] {
        let Some(number) = self.number(name) else { return Default::default() };
        let group = Group { name: number, entries: self.outermost(number) };
        [Way::Callers, Way::Callees].map(|way| {
            let frames = self.expand(self.frame(&group, 0, way), self.behind(&group, way), way);
            Shown { path: Vec::new(), frames }
        })
    }

    /// The name with the most weight of its own.
    pub fn heaviest(&self) -> Option<&str> {
        let mut own: HashMap<u32, u64> = HashMap::new();
        for node in &self.nodes {
            let sum = own.entry(node.name).or_default();
            *sum = sum.saturating_add(node.own);
        }
        let heaviest = own.into_iter().max_by_key(|(name, own)| (*own, std::cmp::Reverse(self.text(*name))))?;
        Some(self.text(heaviest.0))
    }

    pub(super) fn node(&self, number: u32) -> &Node {
        &self.nodes[number as usize]
    }

    pub(super) fn entry(&self, number: u32) -> Entry {
        let node = self.node(number);
        Entry { node: number, total: node.total, own: node.own, count: node.count }
    }

    pub(super) fn text(&self, name: u32) -> &str {
        self.texts.get(name as usize).map_or("", String::as_str)
    }

    fn number(&self, name: &str) -> Option<u32> {
        self.texts.iter().position(|text| text == name).map(|number| number as u32)
    }

    /// The frames of a name that lie in no other of it: what is inside counts once.
    fn outermost(&self, name: u32) -> Vec<Entry> {
        let mut is_inside = vec![false; self.nodes.len()];
        let mut found = Vec::new();
        for (number, node) in self.nodes.iter().enumerate() {
            let is_around =
                node.parent.is_some_and(|parent| is_inside[parent as usize] || self.node(parent).name == name);
            is_inside[number] = is_around;
            if node.name == name && !is_around {
                found.push(self.entry(number as u32));
            }
        }
        found
    }

    pub(super) fn children(&self, number: u32) -> impl Iterator<Item = u32> {
        let node = self.node(number);
        self.children[node.first_child as usize..node.last_child as usize].iter().copied()
    }
}

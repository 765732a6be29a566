//! Spans added up by call stack, for targets that know no times of day.

use hashbrown::HashMap;
use traceloom_core::{Loss, Result};

use crate::{
    Gathered, Layer, Nest, Ordered, ThreadIndex,
    frames::{Frames, check},
};

/// What a stack stands on.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Below {
    Node(u32),
    Thread(ThreadIndex),
}

/// A stack: a frame on top of another one.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    pub below: Below,
    pub thread: ThreadIndex,
    /// A number of [`Frames::all`].
    pub frame: u32,
    /// Spans that had this stack.
    pub count: u64,
    /// Time that their children leave.
    pub self_ns: u64,
}

/// Distinct stacks of spans. A node comes after the one that it stands on.
#[derive(Debug)]
pub struct CallTree {
    pub nodes: Vec<Node>,
    pub frames: Frames,
    numbers: HashMap<(Below, u32), u32>,
    most: usize,
}

/// An open span: its stack, and the time that its children took.
#[derive(Debug)]
struct Open {
    node: u32,
    begin_ns: i64,
    children_ns: i64,
}

impl CallTree {
    /// Adds up the spans of the traces that are taken, by their numbers in the roster.
    pub fn new(gathered: &mut Gathered, most: usize, takes: impl Fn(usize) -> bool, loss: &mut Loss) -> Result<Self> {
        let mut tree = Self { nodes: Vec::new(), frames: Frames::new(most), numbers: HashMap::new(), most };
        let Gathered { roster, looks, spans, .. } = gathered;
        let mut nest = Nest::default();
        let mut current = None;
        for span in spans.iter(roster)? {
            let span = span?;
            if !takes(roster.thread(span.thread).trace) {
                loss.lose("spans beside the sums of calls", || format!("spans {}", span.id));
                continue;
            }
            if span.layer != Layer::Stack {
                loss.lose("frames and ranges of time", || format!("spans {}", span.id));
                continue;
            }
            if current.replace(span.thread) != Some(span.thread) {
                nest.finish(|_, end_ns, open| tree.end(&open, end_ns))?;
            }
            if span.dur_ns.is_none() {
                loss.lose("that spans were never closed", || format!("spans {}", span.id));
            }
            let frame = tree.frames.of_look(span.look, looks)?;
            tree.begin(&span, frame, &mut nest, loss)?;
        }
        nest.finish(|_, end_ns, open| tree.end(&open, end_ns))?;
        Ok(tree)
    }

    fn begin(&mut self, span: &Ordered, frame: u32, nest: &mut Nest<Open>, loss: &mut Loss) -> Result<()> {
        let open = Open { node: 0, begin_ns: span.ts_ns, children_ns: 0 };
        let placed = nest.begin(span, open, |_, end_ns, open| self.end(&open, end_ns))?;
        if placed.end_ns < span.end_ns {
            loss.lose("ends of spans of which too many overlap", || format!("spans {}", span.id));
        }
        let around = nest.open(placed.lane).rev().nth(1).map(|open| open.node);
        let below = around.map_or(Below::Thread(span.thread), Below::Node);
        let node = self.node(below, span.thread, frame)?;
        nest.edit_open(placed.lane, |outer, own| {
            own.node = node;
            if let Some(outer) = outer {
                outer.children_ns = outer.children_ns.saturating_add(placed.end_ns.saturating_sub(span.ts_ns));
            }
        });
        Ok(())
    }

    fn end(&mut self, open: &Open, end_ns: i64) -> Result<()> {
        let own_ns = end_ns.saturating_sub(open.begin_ns).saturating_sub(open.children_ns).max(0);
        if let Some(node) = self.nodes.get_mut(open.node as usize) {
            node.count += 1;
            node.self_ns = node.self_ns.saturating_add(own_ns.unsigned_abs());
        }
        Ok(())
    }

    fn node(&mut self, below: Below, thread: ThreadIndex, frame: u32) -> Result<u32> {
        check("distinct stacks", self.nodes.len(), self.most)?;
        let nodes = &mut self.nodes;
        Ok(*self.numbers.entry((below, frame)).or_insert_with(|| {
            nodes.push(Node { below, thread, frame, count: 0, self_ns: 0 });
            nodes.len() as u32 - 1
        }))
    }

    /// The frames of a node, innermost first, at most so many; tells whether some are missing.
    pub fn path(&self, node: u32, most: usize, path: &mut Vec<u32>) -> bool {
        path.clear();
        let mut below = Below::Node(node);
        while let Below::Node(number) = below {
            if path.len() == most {
                return true;
            }
            let node = &self.nodes[number as usize];
            path.push(node.frame);
            below = node.below;
        }
        false
    }

    /// The time of each node with all that stands on it.
    pub fn totals(&self) -> Vec<u64> {
        let mut totals: Vec<u64> = self.nodes.iter().map(|node| node.self_ns).collect();
        for (number, node) in self.nodes.iter().enumerate().rev() {
            if let Below::Node(below) = node.below {
                totals[below as usize] = totals[below as usize].saturating_add(totals[number]);
            }
        }
        totals
    }

    /// Visits all nodes depth first: once when it is entered, with `true`, and once when it is left.
    pub fn walk(&self, mut visit: impl FnMut(u32, bool)) {
        // Children of a node stand side by side in `children`, from `begins[node]` on; roots come last.
        let root = self.nodes.len();
        let place = |node: &Node| match node.below {
            Below::Node(below) => below as usize,
            Below::Thread(_) => root,
        };
        let mut begins = vec![0_usize; root + 2];
        self.nodes.iter().for_each(|node| begins[place(node) + 1] += 1);
        for index in 0..=root {
            begins[index + 1] += begins[index];
        }
        let (mut next, mut children) = (begins.clone(), vec![0_u32; root]);
        for (number, node) in self.nodes.iter().enumerate() {
            children[next[place(node)]] = number as u32;
            next[place(node)] += 1;
        }
        let mut path = vec![(root, begins[root])];
        while let Some((node, at)) = path.last_mut() {
            if *at < begins[*node + 1] {
                let child = children[*at];
                *at += 1;
                visit(child, true);
                path.push((child as usize, begins[child as usize]));
            } else {
                let (left, _) = path.pop().unwrap_or_default();
                if left != root {
                    visit(left as u32, false);
                }
            }
        }
    }
}

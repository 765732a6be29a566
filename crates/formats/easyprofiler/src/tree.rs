//! Parents and depths of all the blocks of a file.

use std::collections::HashMap;

use traceloom_core::{Arena, Error, Limits, Result, Spill, SpillIter, spill_row};

use crate::nesting::{Knot, Nestings, RunNesting};

/// Collects the blocks of a whole file; see [`Tree`].
#[derive(Debug)]
pub struct TreeBuilder {
    arena: Arena,
    /// One per block in file order; until [`Self::finish`], `parent` holds the number of children.
    nodes: Spill<StoredNode>,
    /// Total time of the children of each block that has any, in file order. Most have none.
    children_ns: Spill<u64>,
    nestings: Nestings,
    /// Sections in file order: thread, and the first block.
    sections: Vec<(u32, u32)>,
    runs: Vec<RunStart>,
}

impl TreeBuilder {
    /// Nothing yet.
    pub fn new(limits: &Limits) -> Self {
        let arena = Arena::new(limits.tree_bytes);
        let nestings = Nestings::within(arena.clone());
        let (nodes, children_ns) = (arena.stack(), arena.stack());
        Self { arena, nodes, children_ns, nestings, sections: Vec::new(), runs: Vec::new() }
    }

    /// The following blocks belong to this thread; the same id may occur again.
    pub fn thread(&mut self, id: u64) -> Result<()> {
        self.sections.push((self.nestings.thread(id)?, self.nodes.len() as u32));
        Ok(())
    }

    /// Adds the next block, event or value in file order, in nanoseconds after clamping.
    #[inline]
    pub fn push(&mut self, begin_ns: u64, end_ns: u64) -> Result<()> {
        if self.sections.is_empty() {
            return Err(Error::usage("a block comes before any thread"));
        }
        let nested = self.nestings.push(begin_ns, end_ns)?;
        self.push_nested(nested.children, nested.children_ns)
    }

    /// The next block is the first one of a run.
    pub fn start_run(&mut self) {
        self.runs.push(RunStart { blocks: self.nodes.len(), parents: self.children_ns.len() });
    }

    /// Adds the next run, which other code nested.
    pub fn push_run(&mut self, run: &TreeRun) -> Result<()> {
        self.start_run();
        let mut children_ns = run.children_ns.iter();
        let mut blocks = run.children.iter().map(|children| {
            let time = if *children > 0 { children_ns.next() } else { None };
            (*children, time.copied().unwrap_or(0))
        });
        let mut next = 0;
        for (at, knot) in &run.knots {
            blocks.by_ref().take(at - next).try_for_each(|(children, time)| self.push_nested(children, time))?;
            next = *at;
            match knot {
                Knot::Thread(id) => self.thread(*id)?,
                Knot::Block { .. } => {
                    let (before, (children, time)) = (self.nestings.tie(knot)?, blocks.next().unwrap_or_default());
                    self.push_nested(children + before.children, time.saturating_add(before.children_ns))?;
                    next += 1;
                }
                Knot::Roots(_) => drop(self.nestings.tie(knot)?),
            }
        }
        blocks.try_for_each(|(children, time)| self.push_nested(children, time))
    }

    #[inline]
    fn push_nested(&mut self, children: u32, children_ns: u64) -> Result<()> {
        if children > 0 {
            self.children_ns.push(children_ns)?;
        }
        self.nodes.push(StoredNode { parent: children, depth: 0 })
    }

    /// Bytes currently held in memory.
    pub fn resident_bytes(&self) -> u64 {
        self.arena.resident_bytes()
    }

    /// Whether the tree was moved to a temporary file.
    pub fn has_spilled(&self) -> bool {
        self.arena.has_spilled()
    }

    /// Computes parents and depths.
    ///
    /// Read backward, the blocks of a thread come parents first, and the number of children says how many of the
    /// following blocks belong to each.
    pub fn finish(self) -> Result<Tree> {
        let Self { arena, mut nodes, children_ns, nestings, mut sections, runs } = self;
        if nodes.len() >= u64::from(IS_PARENT) {
            return Err(Error::limit("blocks in one tree", nodes.len(), IS_PARENT.into()));
        }
        // The roots are no longer needed, so their memory is freed.
        drop(nestings);
        let mut parked: HashMap<u32, Spill<Waiting>> = HashMap::new();
        let mut waiting = arena.stack();
        let mut index = nodes.len() as u32;
        let mut current = sections.pop().unwrap_or_default();
        nodes.rewrite_down(|node| {
            index -= 1;
            while index < current.1 {
                let next = sections.pop().unwrap_or_default();
                pop_complete(&mut waiting)?;
                if !waiting.is_empty() {
                    parked.insert(current.0, std::mem::replace(&mut waiting, arena.stack()));
                }
                if let Some(before) = parked.remove(&next.0) {
                    waiting = before;
                }
                current = next;
            }
            let children = node.parent;
            (node.parent, node.depth) = parent_and_depth(&mut waiting)?;
            if children > 0 {
                node.depth |= IS_PARENT;
                waiting.push(Waiting { index, children })?;
            }
            Ok(())
        })?;
        Ok(Tree { nodes, children_ns, runs })
    }
}

/// Where a run starts in the lists of all blocks.
#[derive(Clone, Copy, Debug, Default)]
struct RunStart {
    blocks: u64,
    parents: u64,
}

/// Blocks that follow each other in a file, nested among themselves; [`TreeBuilder::push_run`] ties the runs together.
#[derive(Debug, Default)]
pub struct TreeRun {
    /// Number of children of each block.
    children: Vec<u32>,
    /// Total time of the children of each block that has any.
    children_ns: Vec<u64>,
    /// Each knot with the number of blocks before it.
    knots: Vec<(usize, Knot<()>)>,
}

impl TreeRun {
    /// Adds the next block, event or value in file order, in nanoseconds after clamping.
    #[inline]
    pub fn push(&mut self, begin: u64, end: u64, nesting: &mut RunNesting) -> Result<()> {
        let (nested, reach) = nesting.push(begin, end)?;
        if let Some(reach) = reach {
            self.knots.push((self.children.len(), Knot::Block { begin, reach, block: () }));
        }
        if nested.children > 0 {
            self.children_ns.push(nested.children_ns);
        }
        self.children.push(nested.children);
        Ok(())
    }

    /// The following blocks belong to this thread.
    pub fn thread(&mut self, id: u64, nesting: &mut RunNesting) -> Result<()> {
        self.end(nesting)?;
        self.knots.push((self.children.len(), Knot::Thread(id)));
        Ok(())
    }

    /// Ends the run, or its part of a thread.
    pub fn end(&mut self, nesting: &mut RunNesting) -> Result<()> {
        let knot = nesting.end()?;
        self.knots.extend(knot.map(|knot| (self.children.len(), knot)));
        Ok(())
    }
}

const NO_PARENT: u32 = u32::MAX;
/// Set in the depth of a block that has children; there are fewer blocks than this, so no depth reaches it.
const IS_PARENT: u32 = 1 << 31;

/// The innermost block that still waits for children, and the number of blocks around it.
#[inline]
fn parent_and_depth(waiting: &mut Spill<Waiting>) -> Result<(u32, u32)> {
    pop_complete(waiting)?;
    let depth = waiting.len() as u32;
    let Some(top) = waiting.last_mut() else { return Ok((NO_PARENT, 0)) };
    top.children -= 1;
    Ok((top.index, depth))
}

/// A block stays until the subtree of its last child is complete.
#[inline]
fn pop_complete(waiting: &mut Spill<Waiting>) -> Result<()> {
    while let Some(top) = waiting.last()
        && top.children == 0
    {
        waiting.pop()?;
    }
    Ok(())
}

/// Parent and depth of every block of a file.
#[derive(Debug)]
pub struct Tree {
    nodes: Spill<StoredNode>,
    children_ns: Spill<u64>,
    runs: Vec<RunStart>,
}

impl Tree {
    /// One node per block, event and value, in file order.
    pub fn nodes(&self) -> Nodes<'_> {
        Nodes { nodes: self.nodes.iter(), children_ns: self.children_ns.iter() }
    }

    /// The nodes from the first block of a run on.
    pub fn nodes_from_run(&self, run: usize) -> Result<Nodes<'_>> {
        let end = RunStart { blocks: self.nodes.len(), parents: self.children_ns.len() };
        let RunStart { blocks, parents } = self.runs.get(run).copied().unwrap_or(end);
        Ok(Nodes { nodes: self.nodes.iter_from(blocks)?, children_ns: self.children_ns.iter_from(parents)? })
    }

    /// Bytes held in memory.
    pub fn resident_bytes(&self) -> u64 {
        self.nodes.resident_bytes() + self.children_ns.resident_bytes()
    }

    /// Number of nodes.
    pub fn len(&self) -> u64 {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

/// Parent and depth of one block.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Node {
    /// The parent's number in file order, counted over all threads.
    pub parent: Option<u32>,
    /// Number of blocks around it.
    pub depth: u32,
    /// Total time of its children; the rest of its duration is self time.
    pub children_ns: u64,
}

/// Nodes in file order.
#[derive(Debug)]
pub struct Nodes<'a> {
    nodes: SpillIter<'a, StoredNode>,
    children_ns: SpillIter<'a, u64>,
}

impl Nodes<'_> {
    #[inline]
    fn node(&mut self, node: StoredNode) -> Result<Node> {
        let is_parent = node.depth & IS_PARENT != 0;
        let children_ns = if is_parent { self.children_ns.next().transpose()?.unwrap_or(0) } else { 0 };
        let parent = (node.parent != NO_PARENT).then_some(node.parent);
        Ok(Node { parent, depth: node.depth & !IS_PARENT, children_ns })
    }
}

impl Iterator for Nodes<'_> {
    type Item = Result<Node>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let node = self.nodes.next()?;
        Some(node.and_then(|node| self.node(node)))
    }
}

spill_row! {
    /// A block that waits for children while reading backward.
    #[derive(Debug)]
    struct Waiting {
        index: u32,
        children: u32,
    }
}

spill_row! {
    /// A node as stored.
    #[derive(Debug)]
    struct StoredNode {
        parent: u32,
        depth: u32,
    }
}

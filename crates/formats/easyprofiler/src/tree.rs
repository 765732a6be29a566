//! Parent, depth and self time, computed from times alone: the format stores none of them.

use std::collections::HashMap;

use traceloom_core::{Arena, Error, Limits, Result, Spill, SpillIter, spill_row};

/// The result of nesting a block.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Nested {
    /// Number of blocks that became its children.
    pub children: u32,
    /// The sum of their durations.
    pub children_ns: u64,
    /// Nesting levels from it down, including itself.
    pub levels: u32,
}

/// The blocks of one thread that have no parent yet.
///
/// Blocks are stored when they end, children before parents. A block becomes the parent of the last one if it started
/// before that one ended, and then of every earlier one that did not start before it.
#[derive(Debug)]
struct Nesting {
    roots: Spill<Root>,
}

impl Nesting {
    /// A thread without blocks.
    fn new(arena: &Arena) -> Self {
        Self { roots: arena.stack() }
    }

    /// Nests the next block of the thread, in file order.
    // If not inlined, it would return its result through memory.
    #[inline(always)]
    fn push(&mut self, begin: u64, end: u64) -> Result<Nested> {
        let mut nested = Nested::default();
        if let Some(last) = self.roots.last()
            && begin < last.end
        {
            self.adopt(&mut nested)?;
            while let Some(root) = self.roots.last()
                && begin <= root.begin
            {
                self.adopt(&mut nested)?;
            }
        }
        nested.levels += 1;
        self.roots.push(Root { begin, end, levels: nested.levels })?;
        Ok(nested)
    }

    #[inline]
    fn adopt(&mut self, nested: &mut Nested) -> Result<()> {
        if let Some(root) = self.roots.pop()? {
            nested.children += 1;
            nested.children_ns = nested.children_ns.saturating_add(root.end.saturating_sub(root.begin));
            nested.levels = nested.levels.max(root.levels);
        }
        Ok(())
    }
}

spill_row! {
    /// A block that has no parent yet.
    #[derive(Debug)]
    struct Root {
        begin: u64,
        end: u64,
        levels: u32,
    }
}

/// The nesting of every thread of a file. Threads follow one after the other, and a finished one takes no more memory
/// than its outermost blocks, because a file may have a million threads.
#[derive(Debug)]
pub struct Nestings {
    arena: Arena,
    numbers: HashMap<u64, u32>,
    /// The threads that are not current, by number.
    parked: Vec<Parked>,
    current: u32,
    nesting: Nesting,
}

/// The outermost blocks of a thread that may continue.
#[derive(Debug)]
enum Parked {
    Few(Box<[Root]>),
    Many(Box<Nesting>),
}

/// More outermost blocks than this are not moved.
const MAX_FEW: u64 = 64;

impl Nestings {
    /// No threads yet.
    pub fn new(limits: &Limits) -> Self {
        let arena = Arena::new(limits.tree_bytes);
        let nesting = Nesting::new(&arena);
        Self { arena, numbers: HashMap::new(), parked: Vec::new(), current: u32::MAX, nesting }
    }

    /// The following blocks belong to this thread, which may have occurred before; returns its number, from 0 on.
    pub fn thread(&mut self, id: u64) -> Result<u32> {
        let next = self.parked.len() as u32;
        let number = *self.numbers.entry(id).or_insert(next);
        if number == next {
            self.parked.push(Parked::Few(Box::default()));
        }
        self.park()?;
        if let Some(parked) = self.parked.get_mut(number as usize) {
            match std::mem::replace(parked, Parked::Few(Box::default())) {
                Parked::Few(roots) => roots.into_iter().try_for_each(|root| self.nesting.roots.push(root))?,
                Parked::Many(nesting) => self.nesting = *nesting,
            }
        }
        self.current = number;
        Ok(number)
    }

    /// Nests the next block of the current thread, in file order.
    #[inline(always)]
    pub fn push(&mut self, begin: u64, end: u64) -> Result<Nested> {
        self.nesting.push(begin, end)
    }

    /// Parks the current thread.
    fn park(&mut self) -> Result<()> {
        let Some(parked) = self.parked.get_mut(self.current as usize) else { return Ok(()) };
        *parked = if self.nesting.roots.len() <= MAX_FEW {
            let roots = self.nesting.roots.iter().collect::<Result<_>>()?;
            while self.nesting.roots.pop()?.is_some() {}
            Parked::Few(roots)
        } else {
            Parked::Many(Box::new(std::mem::replace(&mut self.nesting, Nesting::new(&self.arena))))
        };
        Ok(())
    }
}

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
}

impl TreeBuilder {
    /// Nothing yet.
    pub fn new(limits: &Limits) -> Self {
        let nestings = Nestings::new(limits);
        let arena = nestings.arena.clone();
        let (nodes, children_ns) = (arena.stack(), arena.stack());
        Self { arena, nodes, children_ns, nestings, sections: Vec::new() }
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
        if nested.children > 0 {
            self.children_ns.push(nested.children_ns)?;
        }
        self.nodes.push(StoredNode { parent: nested.children, depth: 0 })
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
        let Self { arena, mut nodes, children_ns, nestings, mut sections, .. } = self;
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
        Ok(Tree { nodes, children_ns })
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
}

impl Tree {
    /// One node per block, event and value, in file order.
    pub fn nodes(&self) -> Nodes<'_> {
        Nodes { nodes: self.nodes.iter(), children_ns: self.children_ns.iter() }
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

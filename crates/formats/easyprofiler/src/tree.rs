//! Parent, depth and self time, from times alone: the format stores none of them.

use std::collections::HashMap;

use traceloom_bytes::{Arena, Error, Limits, Result, Spill, SpillIter};

/// What a block found when it was nested.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Nested {
    /// Blocks that became its children.
    pub children: u32,
    /// The sum of their durations.
    pub children_ns: u64,
    /// Levels of nesting from it down, itself included.
    pub levels: u32,
}

/// The blocks of one thread that have no parent yet.
///
/// Blocks are stored when they end, children before parents. A block takes the last one if it began
/// before that one ended, and then every earlier one that did not begin before itself.
#[derive(Debug)]
pub struct Nesting {
    roots: Spill<20>,
}

impl Nesting {
    /// A thread without blocks.
    pub fn new(arena: &Arena) -> Self {
        Self { roots: arena.stack() }
    }

    /// Nests the next block of the thread, in file order.
    #[inline]
    pub fn push(&mut self, begin: u64, end: u64) -> Result<Nested> {
        let mut nested = Nested::default();
        if let Some(last) = self.roots.last()
            && begin < Root::unpack(last).end
        {
            self.adopt(&mut nested)?;
            while let Some(root) = self.roots.last()
                && begin <= Root::unpack(root).begin
            {
                self.adopt(&mut nested)?;
            }
        }
        nested.levels += 1;
        self.roots.push(Root { begin, end, levels: nested.levels }.pack())?;
        Ok(nested)
    }

    #[inline]
    fn adopt(&mut self, nested: &mut Nested) -> Result<()> {
        if let Some(root) = self.roots.pop()? {
            let root = Root::unpack(&root);
            nested.children += 1;
            nested.children_ns = nested.children_ns.saturating_add(root.end.saturating_sub(root.begin));
            nested.levels = nested.levels.max(root.levels);
        }
        Ok(())
    }
}

struct Root {
    begin: u64,
    end: u64,
    levels: u32,
}

impl Root {
    #[inline]
    fn pack(&self) -> [u8; 20] {
        pack_20(self.begin, self.end, self.levels)
    }

    #[inline]
    fn unpack(bytes: &[u8; 20]) -> Self {
        let (begin, end, levels) = unpack_20(bytes);
        Self { begin, end, levels }
    }
}

/// Collects the blocks of a whole file; see [`Tree`].
#[derive(Debug)]
pub struct TreeBuilder {
    arena: Arena,
    /// Children and their time, for each block in file order.
    entries: Spill<12>,
    nestings: Vec<Nesting>,
    by_id: HashMap<u64, u32>,
    /// Sections in file order: thread, and the block that it begins with.
    sections: Vec<(u32, u32)>,
    current: u32,
}

impl TreeBuilder {
    /// Nothing yet.
    pub fn new(limits: &Limits) -> Self {
        let arena = Arena::new(limits.tree_bytes);
        let entries = arena.stack();
        Self { arena, entries, nestings: Vec::new(), by_id: HashMap::new(), sections: Vec::new(), current: 0 }
    }

    /// The following blocks belong to this thread; the same id may come again.
    pub fn thread(&mut self, id: u64) {
        let next = self.nestings.len() as u32;
        self.current = *self.by_id.entry(id).or_insert(next);
        if self.current == next {
            self.nestings.push(Nesting::new(&self.arena));
        }
        self.sections.push((self.current, self.entries.len() as u32));
    }

    /// The next block, event or value in file order, in nanoseconds after clamping.
    #[inline]
    pub fn push(&mut self, begin_ns: u64, end_ns: u64) -> Result<()> {
        let Some(nesting) = self.nestings.get_mut(self.current as usize) else {
            return Err(Error::usage("a block comes before any thread"));
        };
        let nested = nesting.push(begin_ns, end_ns)?;
        self.entries.push(pack_12(nested.children, nested.children_ns))
    }

    /// Bytes held in memory now.
    pub fn resident_bytes(&self) -> u64 {
        self.arena.resident_bytes()
    }

    /// Whether the tree has gone to a temporary file.
    pub fn has_spilled(&self) -> bool {
        self.arena.has_spilled()
    }

    /// Works out parents and depths.
    ///
    /// Read backwards, the blocks of a thread come parents first, and the number of children says
    /// how many of the following belong to each.
    pub fn finish(self) -> Result<Tree> {
        let Self { arena, mut entries, nestings, mut sections, .. } = self;
        if entries.len() >= u64::from(NO_PARENT) {
            return Err(Error::limit("blocks in one tree", entries.len(), NO_PARENT.into()));
        }
        let mut open: Vec<Spill<8>> = nestings.iter().map(|_| arena.stack()).collect();
        // The roots have served: their memory goes to what comes next.
        drop(nestings);
        let mut nodes = arena.stack();
        let mut index = entries.len() as u32;
        while let Some(entry) = entries.pop()? {
            let (children, children_ns) = unpack_12(&entry);
            index -= 1;
            while sections.last().is_some_and(|(_, first)| *first > index) {
                sections.pop();
            }
            let thread = sections.last().map_or(0, |(thread, _)| *thread as usize);
            let Some(open) = open.get_mut(thread) else { continue };
            let (parent, depth) = take_place(open)?;
            if children > 0 {
                open.push(pack_8(index, children))?;
            }
            nodes.push(pack_16(children_ns, parent, depth))?;
        }
        Ok(Tree { nodes })
    }
}

const NO_PARENT: u32 = u32::MAX;

/// The innermost block that still waits for children, and how many blocks are around it.
#[inline]
fn take_place(open: &mut Spill<8>) -> Result<(u32, u32)> {
    // A block stays open until the subtree of its last child is over.
    while let Some(top) = open.last()
        && unpack_8(top).1 == 0
    {
        open.pop()?;
    }
    let depth = open.len() as u32;
    let Some(top) = open.last_mut() else { return Ok((NO_PARENT, 0)) };
    let (parent, waiting) = unpack_8(top);
    *top = pack_8(parent, waiting - 1);
    Ok((parent, depth))
}

/// The place of every block of a file.
#[derive(Debug)]
pub struct Tree {
    /// From the last block to the first, so that walking down from the top gives file order.
    nodes: Spill<16>,
}

impl Tree {
    /// One node for each block, event and value, in file order.
    pub fn nodes(&self) -> Nodes<'_> {
        Nodes(self.nodes.iter())
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

/// The place of one block.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Node {
    /// The parent's number in file order, blocks of all threads counted together.
    pub parent: Option<u32>,
    /// Blocks around it.
    pub depth: u32,
    /// The time of its children; what is left of its duration is its own.
    pub children_ns: u64,
}

/// Nodes in file order.
#[derive(Debug)]
pub struct Nodes<'a>(SpillIter<'a, 16>);

impl Iterator for Nodes<'_> {
    type Item = Result<Node>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let entry = match self.0.next()? {
            Ok(entry) => entry,
            Err(error) => return Some(Err(error)),
        };
        let (children_ns, parent, depth) = unpack_16(&entry);
        let parent = (parent != NO_PARENT).then_some(parent);
        Some(Ok(Node { parent, depth, children_ns }))
    }
}

// Entries are packed by hand: padding would cost a third of the memory that the tree may use.

#[inline]
fn pack_8(a: u32, b: u32) -> [u8; 8] {
    (u64::from(a) | u64::from(b) << 32).to_le_bytes()
}

#[inline]
fn unpack_8(bytes: &[u8; 8]) -> (u32, u32) {
    let both = u64::from_le_bytes(*bytes);
    (both as u32, (both >> 32) as u32)
}

#[inline]
fn pack_12(a: u32, b: u64) -> [u8; 12] {
    ((u128::from(b) << 32 | u128::from(a)).to_le_bytes()).first_chunk().copied().unwrap_or_default()
}

#[inline]
fn unpack_12(bytes: &[u8; 12]) -> (u32, u64) {
    let (head, tail) = (bytes.first_chunk().copied(), bytes.last_chunk().copied());
    (u32::from_le_bytes(head.unwrap_or_default()), u64::from_le_bytes(tail.unwrap_or_default()))
}

#[inline]
fn pack_16(a: u64, b: u32, c: u32) -> [u8; 16] {
    (u128::from(a) | u128::from(b) << 64 | u128::from(c) << 96).to_le_bytes()
}

#[inline]
fn unpack_16(bytes: &[u8; 16]) -> (u64, u32, u32) {
    let all = u128::from_le_bytes(*bytes);
    (all as u64, (all >> 64) as u32, (all >> 96) as u32)
}

#[inline]
fn pack_20(a: u64, b: u64, c: u32) -> [u8; 20] {
    let mut bytes = [0; 20];
    if let Some((head, tail)) = bytes.split_first_chunk_mut::<16>() {
        *head = (u128::from(a) | u128::from(b) << 64).to_le_bytes();
        tail.copy_from_slice(&c.to_le_bytes());
    }
    bytes
}

#[inline]
fn unpack_20(bytes: &[u8; 20]) -> (u64, u64, u32) {
    let both = u128::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default());
    let last = u32::from_le_bytes(bytes.last_chunk().copied().unwrap_or_default());
    (both as u64, (both >> 64) as u64, last)
}

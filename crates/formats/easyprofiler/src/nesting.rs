//! How blocks nest, computed from times alone: the format stores neither parents nor depths.

use std::collections::HashMap;

use traceloom_core::{Arena, Limits, Result, Spill, spill_row};

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
        self.adopt_last(begin, &mut nested)?;
        nested.levels += 1;
        self.roots.push(Root { begin, end, levels: nested.levels })?;
        Ok(nested)
    }

    /// Adopts the last block if it did not end before `begin`, and then earlier ones.
    #[inline(always)]
    fn adopt_last(&mut self, begin: u64, nested: &mut Nested) -> Result<()> {
        if let Some(last) = self.roots.last()
            && begin < last.end
        {
            self.adopt(nested)?;
            self.adopt_earlier(begin, nested)?;
        }
        Ok(())
    }

    /// Adopts the blocks that did not start before `begin`.
    #[inline(always)]
    fn adopt_earlier(&mut self, begin: u64, nested: &mut Nested) -> Result<()> {
        while let Some(root) = self.roots.last()
            && begin <= root.begin
        {
            self.adopt(nested)?;
        }
        Ok(())
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
    pub struct Root {
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

/// Max size of the blocks without a parent in memory: only the last ones are likely to get one.
const ROOTS_BYTES: u64 = 32 << 20;
/// More outermost blocks than this are not moved.
const MAX_FEW: u64 = 64;

impl Nestings {
    /// No threads yet.
    pub fn new(limits: &Limits) -> Self {
        Self::within(Arena::new(limits.tree_bytes.min(ROOTS_BYTES)))
    }

    /// The same in memory that is shared with others.
    pub(crate) fn within(arena: Arena) -> Self {
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

    /// Ties a run to the blocks before it; returns what the block of a [`Knot::Block`] adopts of them. Levels are not known.
    pub fn tie<B>(&mut self, knot: &Knot<B>) -> Result<Nested> {
        let mut nested = Nested::default();
        match knot {
            Knot::Thread(id) => drop(self.thread(*id)?),
            Knot::Block { begin, reach: Reach::Last, .. } => self.nesting.adopt_last(*begin, &mut nested)?,
            Knot::Block { begin, reach: Reach::Earlier, .. } => self.nesting.adopt_earlier(*begin, &mut nested)?,
            Knot::Roots(roots) => roots.iter().try_for_each(|root| self.nesting.roots.push(*root))?,
        }
        Ok(nested)
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

/// Blocks before a run that a block of the run may adopt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reach {
    /// The last one and earlier ones: the block is the first of its run.
    Last,
    /// Those that did not start before it: it adopted all blocks of the run before it.
    Earlier,
}

/// Ties the blocks of a run to those before it; the knots of a run are tied in order.
#[derive(Clone, Debug)]
pub enum Knot<B> {
    /// The following knots are about this thread.
    Thread(u64),
    /// A block that may also adopt blocks before the run.
    Block {
        /// Its start.
        begin: u64,
        /// What it may adopt.
        reach: Reach,
        /// Which block it is.
        block: B,
    },
    /// The blocks of the run that have no parent in it.
    Roots(Box<[Root]>),
}

/// Nests a run of blocks in the middle of a thread, without knowing the blocks before it. [`Nestings::tie`] completes
/// the result.
#[derive(Debug)]
pub struct RunNesting {
    nesting: Nesting,
}

impl Default for RunNesting {
    fn default() -> Self {
        // A run is short, so it needs no limit.
        Self { nesting: Nesting::new(&Arena::new(u64::MAX)) }
    }
}

impl RunNesting {
    /// Nests the next block; also returns whether it may adopt blocks before the run.
    #[inline(always)]
    pub fn push(&mut self, begin: u64, end: u64) -> Result<(Nested, Option<Reach>)> {
        let is_first = self.nesting.roots.is_empty();
        let nested = self.nesting.push(begin, end)?;
        if is_first {
            return Ok((nested, Some(Reach::Last)));
        }
        let is_alone = nested.children > 0 && self.nesting.roots.len() == 1;
        Ok((nested, is_alone.then_some(Reach::Earlier)))
    }

    /// Ends the run; returns the knot for its blocks without a parent, if there are any.
    pub fn end<B>(&mut self) -> Result<Option<Knot<B>>> {
        let roots: Box<[Root]> = self.nesting.roots.iter().collect::<Result<_>>()?;
        while self.nesting.roots.pop()?.is_some() {}
        Ok((!roots.is_empty()).then_some(Knot::Roots(roots)))
    }
}

//! How blocks nest, computed from times alone: the format stores neither parents nor depths.

use std::collections::HashMap;

use traceloom_core::{Arena, Limits, Result, Spill, spill_row};

use crate::numbers::Numbers;

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

/// The nesting of every thread of a file. Threads follow one after the other, and a finished one takes little more memory
/// than its outermost blocks, because a file may have a million threads.
#[derive(Debug)]
pub struct Nestings {
    arena: Arena,
    numbers: Numbers,
    /// The threads that are not current: those with few outermost blocks, and the others by number.
    few: Few,
    many: HashMap<u32, Nesting>,
    current: Option<u32>,
    nesting: Nesting,
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
        let (numbers, few) = (Numbers::default(), Few::default());
        Self { arena, numbers, few, many: HashMap::new(), current: None, nesting }
    }

    /// The following blocks belong to this thread, which may have occurred before; returns its number, from 0 on.
    pub fn thread(&mut self, id: u64) -> Result<u32> {
        self.park()?;
        let number = self.numbers.of(id);
        if let Some(nesting) = self.many.remove(&number) {
            self.nesting = nesting;
        }
        self.few.take(number).iter().try_for_each(|root| self.nesting.roots.push(*root))?;
        self.current = Some(number);
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
        let Some(number) = self.current else { return Ok(()) };
        if self.nesting.roots.len() > MAX_FEW {
            self.many.insert(number, std::mem::replace(&mut self.nesting, Nesting::new(&self.arena)));
            return Ok(());
        }
        self.few.put(number, self.nesting.roots.iter())?;
        while self.nesting.roots.pop()?.is_some() {}
        Ok(())
    }
}

/// The outermost blocks of threads that may continue, one thread after the other.
#[derive(Debug, Default)]
struct Few {
    roots: Vec<Root>,
    /// By thread: where its blocks start, and their number.
    starts: Vec<usize>,
    lens: Vec<u8>,
    /// Number of blocks of threads that continued since, which remain until there are too many.
    taken: usize,
}

impl Few {
    /// Puts the blocks of a thread that has none here, up to [`MAX_FEW`].
    fn put(&mut self, thread: u32, roots: impl Iterator<Item = Result<Root>>) -> Result<()> {
        if self.taken > self.roots.len() / 2 {
            self.tidy();
        }
        let (thread, start) = (thread as usize, self.roots.len());
        for root in roots {
            self.roots.push(root?);
        }
        if self.lens.len() <= thread {
            self.lens.resize(thread + 1, 0);
            self.starts.resize(thread + 1, 0);
        }
        if let (Some(at), Some(len)) = (self.starts.get_mut(thread), self.lens.get_mut(thread)) {
            (*at, *len) = (start, (self.roots.len() - start) as u8);
        }
        Ok(())
    }

    /// The blocks of a thread, which are then no longer here.
    fn take(&mut self, thread: u32) -> &[Root] {
        let Some(len) = self.lens.get_mut(thread as usize) else { return &[] };
        let (start, len) = (self.starts.get(thread as usize).copied().unwrap_or(0), usize::from(std::mem::take(len)));
        self.taken += len;
        self.roots.get(start..start + len).unwrap_or_default()
    }

    /// Drops the blocks that were taken.
    #[cold]
    fn tidy(&mut self) {
        let mut kept = Vec::with_capacity(self.roots.len() - self.taken);
        for (start, len) in self.starts.iter_mut().zip(&self.lens) {
            let first = kept.len();
            kept.extend_from_slice(self.roots.get(*start..*start + usize::from(*len)).unwrap_or_default());
            *start = first;
        }
        (self.roots, self.taken) = (kept, 0);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_continues_has_its_outermost_blocks() {
        let mut nestings = Nestings::new(&Limits::default());
        let rounds = 3 * (MAX_FEW + 8);
        for round in 0..rounds {
            for thread in 0..50 {
                assert_eq!(nestings.thread(7 * thread).unwrap(), thread as u32);
                assert_eq!(nestings.push(10 * round + 1, 10 * round + 2 + thread % 5).unwrap().children, 0);
            }
            let held = nestings.few.roots.len() - nestings.few.taken;
            assert!(nestings.few.roots.len() <= 2 * held.max(50 * MAX_FEW as usize), "{round}");
        }
        for thread in 0..50 {
            nestings.thread(7 * thread).unwrap();
            let all = nestings.push(0, 10 * rounds).unwrap();
            assert_eq!((u64::from(all.children), all.children_ns), (rounds, rounds * (1 + thread % 5)));
        }
    }

    #[test]
    fn threads_of_one_block_take_little_memory() {
        let mut nestings = Nestings::new(&Limits::default());
        let threads = 16_000;
        for id in 0..threads {
            nestings.thread(id).unwrap();
            nestings.push(id, id + 1).unwrap();
        }
        let Few { roots, starts, lens, taken } = &nestings.few;
        let blocks = roots.capacity() * size_of::<Root>() + starts.capacity() * size_of::<usize>() + lens.capacity();
        let held = blocks + nestings.numbers.held_bytes();
        assert!(held as u64 <= 56 * threads, "{held} bytes");
        assert!(nestings.many.is_empty() && *taken == 0);
    }
}

//! Allocations summed by call stack.

use hashbrown::HashMap;
use traceloom_core::{Loss, Result};
use traceloom_model::{Fate, Table, select};

use crate::{
    FreeRows, KeyMap, NO_NUMBER, NameId, Parent, Pass, StackRows, StackTree, Words,
    frames::{Frame, Frames, check},
    memory::count_lost_frees,
};

/// Maximum number of frames of a stack that are written: each stack is written separately, so deep stacks would make
/// the output grow with the square of the input.
pub const MAX_DEPTH: usize = 2048;

/// Counts a stack that is deeper than [`MAX_DEPTH`].
pub fn lose_outer_frames(loss: &mut Loss) {
    loss.lose("outer frames of deep call stacks", || format!("of {MAX_DEPTH} frames and more"));
}

/// A number of allocations, and their size.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Amount {
    /// Number of allocations.
    pub objects: u64,
    /// Size of the allocations.
    pub bytes: u64,
}

impl Amount {
    fn add(&mut self, bytes: u64) {
        self.objects += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// The allocations made from a call stack.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Site {
    /// All allocations.
    pub allocated: Amount,
    /// Allocations that were never freed.
    pub live: Amount,
}

/// Call stacks with the allocations made from them.
#[derive(Debug, Default)]
pub struct Heap {
    /// The stacks of the tables; their frames are numbers of [`Frames::all`].
    pub stacks: StackTree<Site>,
}

impl Heap {
    /// Sums all allocations that the options select. The target declares [`AllocationSites`], [`FreeRows`],
    /// [`StackRows`] and [`FrameRows`].
    pub fn new(pass: &mut Pass<'_>, frames: &mut Frames) -> Result<Self> {
        let mut heap = Self::default();
        if pass.rows(Table::Allocations) == 0 {
            return Ok(heap);
        }
        let raw = RawStacks::read(pass, frames)?;
        let numbers = heap.add_stacks(&raw, pass, frames)?;
        let unknown = Frame { name: pass.names.intern("(unknown stack)")?, file: None, line: None };
        let unknown = heap.stacks.push(Parent::Root(0), frames.add(unknown)?);
        let rest = pass.rest();
        let mut rows = Rows { sites: &mut heap.stacks, numbers, unknown, fates: Words::default(), pass };
        rest.pour(&[Table::Allocations, Table::Frees], |table, batch| match table {
            Table::Frees => count_lost_frees(&FreeRows::of(batch)?, &mut rows.pass.loss),
            _ => rows.take(&AllocationSites::of(batch)?),
        })?;
        Ok(heap)
    }

    fn add_stacks(&mut self, raw: &RawStacks, pass: &mut Pass<'_>, frames: &mut Frames) -> Result<Numbers> {
        let mut numbers = Numbers::default();
        let unknown: NameId = pass.names.intern("(unknown)")?;
        for stack in &raw.stacks {
            let frame = match raw.frames.get(stack.trace, stack.frame_id) {
                Some(frame) => frame,
                None => frames.add(Frame { name: unknown, file: None, line: None })?,
            };
            // Stacks refer only to earlier ones, so there are no cycles.
            let below = stack.parent_id.and_then(|parent| numbers.get(stack.trace, parent));
            if below.is_none() && stack.parent_id.is_some() {
                pass.loss.lose("outer frames of call stacks", || format!("stacks {}", stack.id));
            }
            let number = self.stacks.push(below.map_or(Parent::Root(0), Parent::Node), frame);
            numbers.insert(stack.trace, stack.id, number);
        }
        Ok(numbers)
    }
}

select! {
    /// Allocations with their call stacks.
    pub struct AllocationSites of allocations { trace_id, id, ts_ns, thread_id, size_bytes, stack_id, fate }
}

/// Sums the rows of `allocations`.
struct Rows<'a, 'p> {
    sites: &'a mut StackTree<Site>,
    numbers: Numbers,
    unknown: u32,
    fates: Words<Fate>,
    pass: &'a mut Pass<'p>,
}

impl Rows<'_, '_> {
    fn take(&mut self, rows: &AllocationSites<'_>) -> Result<()> {
        let Self { sites, numbers, unknown, fates, pass: Pass { roster, options, loss, .. } } = self;
        let fates = fates.of(rows.fate.values(), Fate::of);
        for row in 0..rows.rows {
            let trace_id = rows.trace_id.get(row);
            if !roster.takes_thread(trace_id, rows.thread_id.get(row))?
                || !options.slice.range.contains(rows.ts_ns.get(row))
            {
                continue;
            }
            let trace = roster.trace_number(trace_id)?;
            let stack = rows.stack_id.get(row).and_then(|id| numbers.get(trace, id)).unwrap_or(*unknown);
            let (site, bytes) = (sites.weight_mut(stack), rows.size_bytes.get(row));
            site.allocated.add(bytes);
            match fates[rows.fate.keys()[row] as usize] {
                Some(Fate::Live) => site.live.add(bytes),
                Some(Fate::Unknown) => {
                    loss.lose("allocations whose fate is unknown", || format!("allocations {}", rows.id.get(row)));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

select! {
    /// Frames of call stacks.
    pub struct FrameRows of frames { trace_id, id, function, file, line }
}

/// Stacks and frames in table order: frames may come after stacks that refer to them.
struct RawStacks {
    stacks: Vec<RawStack>,
    frames: Numbers,
}

struct RawStack {
    trace: usize,
    id: i64,
    parent_id: Option<i64>,
    frame_id: i64,
}

impl RawStacks {
    fn read(pass: &mut Pass<'_>, frames: &mut Frames) -> Result<Self> {
        let mut raw = Self { stacks: Vec::new(), frames: Numbers::default() };
        let (mut functions, mut files, mut rows) = (KeyMap::default(), KeyMap::default(), 0);
        let (rest, max) = (pass.rest(), pass.options.limits.entries);
        let Pass { roster, names, .. } = pass;
        rest.pour(&[Table::Frames, Table::Stacks], |table, batch| {
            if table == Table::Stacks {
                let view = StackRows::of(batch)?;
                for row in 0..view.rows {
                    check("call stacks", raw.stacks.len(), max)?;
                    let trace = roster.trace_number(view.trace_id.get(row))?;
                    let (id, parent_id) = (view.id.get(row), view.parent_id.get(row));
                    raw.stacks.push(RawStack { trace, id, parent_id, frame_id: view.frame_id.get(row) });
                }
                return Ok(());
            }
            let view = FrameRows::of(batch)?;
            functions.turn_to(view.function.values());
            files.turn_to(view.file.values());
            for row in 0..view.rows {
                rows += 1;
                check("frames of call stacks", rows, max)?;
                let trace = roster.trace_number(view.trace_id.get(row))?;
                let key = view.function.keys().get(row).copied().unwrap_or(-1);
                let name = functions.get(key, names)?;
                let file = view.file.key(row).map(|key| files.get(key, names)).transpose()?;
                let number = frames.add(Frame { name, file, line: view.line.get(row) })?;
                raw.frames.insert(trace, view.id.get(row), number);
            }
            Ok(())
        })?;
        Ok(raw)
    }
}

/// Numbers by trace and id: consecutive ids are looked up by index.
#[derive(Debug, Default)]
struct Numbers {
    dense: Vec<Vec<u32>>,
    sparse: HashMap<(usize, i64), u32>,
}

/// How far an id may be ahead of those before it and still be looked up by index.
const GAP: usize = 1024;

impl Numbers {
    fn insert(&mut self, trace: usize, id: i64, number: u32) {
        if self.dense.len() <= trace {
            self.dense.resize(trace + 1, Vec::new());
        }
        let dense = &mut self.dense[trace];
        match usize::try_from(id) {
            Ok(index) if index < dense.len() + GAP => {
                if dense.len() <= index {
                    dense.resize(index + 1, NO_NUMBER);
                }
                dense[index] = number;
            }
            _ => drop(self.sparse.insert((trace, id), number)),
        }
    }

    #[inline]
    fn get(&self, trace: usize, id: i64) -> Option<u32> {
        let dense = self.dense.get(trace).zip(usize::try_from(id).ok()).and_then(|(dense, index)| dense.get(index));
        match dense {
            Some(number) if *number != NO_NUMBER => Some(*number),
            _ => self.sparse.get(&(trace, id)).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_whatever_their_ids() {
        let mut numbers = Numbers::default();
        let ids = [(0, 0), (0, 1), (0, 900), (2, 5), (0, i64::MAX), (1, -4), (0, i64::MIN)];
        ids.iter().zip(0..).for_each(|((trace, id), number)| numbers.insert(*trace, *id, number));
        for ((trace, id), number) in ids.iter().zip(0..) {
            assert_eq!(numbers.get(*trace, *id), Some(number));
        }
        assert_eq!((numbers.get(0, 2), numbers.get(7, 0), numbers.get(1, 900)), (None, None, None));
        assert!(numbers.dense.iter().map(Vec::len).sum::<usize>() < 2 * GAP);
    }
}

//! Allocations added up by call stack.

use hashbrown::HashMap;
use traceloom_core::{Loss, Result};
use traceloom_model::{Columns, Table, TableSource, Wanted, allocations, frames, frees, stacks};

use crate::{
    Gathered, KeyMap, NameId, Options,
    frames::{Frame, Frames, check},
    pour, span_is_taken,
};

/// Frames of a stack that are written: stacks are written one by one, so deep ones would make the output grow with the
/// square of the input.
pub const MOST_DEEP: usize = 2048;

/// How many, and how much.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Amount {
    pub objects: u64,
    pub bytes: u64,
}

impl Amount {
    fn add(&mut self, bytes: u64) {
        self.objects += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// A call stack and what was allocated from it.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// The stack that it stands on, which has a smaller number.
    pub below: Option<u32>,
    /// A number of [`Frames::all`].
    pub frame: u32,
    pub allocated: Amount,
    pub live: Amount,
}

/// Call stacks with what was allocated from them.
#[derive(Debug)]
pub struct Heap {
    pub sites: Vec<Site>,
}

impl Heap {
    /// Adds up all allocations that the options take.
    pub fn new(
        source: &dyn TableSource,
        gathered: &mut Gathered,
        options: &Options,
        frames: &mut Frames,
        loss: &mut Loss,
    ) -> Result<Self> {
        let most = options.limits.entries;
        let mut heap = Self { sites: Vec::new() };
        if gathered.rows(Table::Allocations) == 0 {
            return Ok(heap);
        }
        let raw = RawStacks::read(source, gathered, frames, most)?;
        let numbers = heap.add_stacks(&raw, gathered, frames, loss)?;
        let unknown = Frame { name: gathered.names.intern("(unknown stack)")?, file: None, line: None };
        let unknown = heap.push(None, frames.add(unknown)?);
        heap.add_allocations(source, gathered, options, &numbers, unknown, loss)?;
        Ok(heap)
    }

    /// The frames of a site, innermost first, at most so many; and whether some are missing.
    pub fn path(&self, site: &Site, most: usize, path: &mut Vec<u32>) -> bool {
        path.clear();
        let mut next = Some(*site);
        while let Some(site) = next {
            if path.len() == most {
                return true;
            }
            path.push(site.frame);
            next = site.below.and_then(|below| self.sites.get(below as usize)).copied();
        }
        false
    }

    fn push(&mut self, below: Option<u32>, frame: u32) -> u32 {
        let (allocated, live) = Default::default();
        self.sites.push(Site { below, frame, allocated, live });
        self.sites.len() as u32 - 1
    }

    fn add_stacks(
        &mut self,
        raw: &RawStacks,
        gathered: &mut Gathered,
        frames: &mut Frames,
        loss: &mut Loss,
    ) -> Result<Numbers> {
        let mut numbers = Numbers::default();
        let unknown: NameId = gathered.names.intern("(unknown)")?;
        for stack in &raw.stacks {
            let frame = match raw.frames.get(stack.trace, stack.frame_id) {
                Some(frame) => frame,
                None => frames.add(Frame { name: unknown, file: None, line: None })?,
            };
            // Stacks refer to earlier ones only, so that none stands on itself.
            let below = stack.parent_id.and_then(|parent| numbers.get(stack.trace, parent));
            if below.is_none() && stack.parent_id.is_some() {
                loss.lose("outer parts of call stacks", || format!("stacks {}", stack.id));
            }
            numbers.insert(stack.trace, stack.id, self.push(below, frame));
        }
        Ok(numbers)
    }

    fn add_allocations(
        &mut self,
        source: &dyn TableSource,
        gathered: &mut Gathered,
        options: &Options,
        numbers: &Numbers,
        unknown: u32,
        loss: &mut Loss,
    ) -> Result<()> {
        let columns = ["trace_id", "id", "ts_ns", "thread_id", "size_bytes", "stack_id", "fate"];
        let wanted = Wanted::nothing()
            .and(Table::Allocations, Columns::named(Table::Allocations, &columns))
            .and(Table::Frees, Columns::named(Table::Frees, &["trace_id", "id", "allocation_id"]));
        let filter = gathered.filter().clone();
        pour(source, &filter, wanted, |table, batch| {
            if table == Table::Frees {
                count_lost_frees(&frees::View::of(batch), loss);
                return Ok(());
            }
            let view = allocations::View::of(batch);
            for row in 0..view.rows {
                let trace_id = view.trace_id.get(row);
                if let Some(thread_id) = view.thread_id.get(row) {
                    let index = gathered.roster.index(trace_id, thread_id)?;
                    if !gathered.roster.thread(index).is_taken {
                        continue;
                    }
                }
                if !span_is_taken(&options.slice, view.ts_ns.get(row), Some(0)) {
                    continue;
                }
                let trace = gathered.roster.trace_number(trace_id)?;
                let site = view.stack_id.get(row).and_then(|id| numbers.get(trace, id)).unwrap_or(unknown);
                let Some(site) = self.sites.get_mut(site as usize) else { continue };
                site.allocated.add(view.size_bytes.get(row));
                match view.fate.get(row) {
                    "live" => site.live.add(view.size_bytes.get(row)),
                    "unknown" => loss.lose("that the fate of allocations is unknown", || {
                        format!("allocations {}", view.id.get(row))
                    }),
                    _ => {}
                }
            }
            Ok(())
        })
    }
}

fn count_lost_frees(view: &frees::View<'_>, loss: &mut Loss) {
    for row in (0..view.rows).filter(|row| view.allocation_id.get(*row).is_none()) {
        loss.lose("frees of unknown memory", || format!("frees {}", view.id.get(row)));
    }
}

/// Stacks and frames as the tables have them: frames may come after stacks that refer to them.
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
    fn read(source: &dyn TableSource, gathered: &mut Gathered, frames: &mut Frames, most: usize) -> Result<Self> {
        let mut raw = Self { stacks: Vec::new(), frames: Numbers::default() };
        let wanted = Wanted::nothing().and(Table::Frames, Columns::ALL).and(Table::Stacks, Columns::ALL);
        let filter = gathered.filter().clone();
        let (mut functions, mut files, mut rows) = (KeyMap::default(), KeyMap::default(), 0);
        pour(source, &filter, wanted, |table, batch| {
            if table == Table::Stacks {
                let view = stacks::View::of(batch);
                for row in 0..view.rows {
                    check("call stacks", raw.stacks.len(), most)?;
                    let trace = gathered.roster.trace_number(view.trace_id.get(row))?;
                    let (id, parent_id) = (view.id.get(row), view.parent_id.get(row));
                    raw.stacks.push(RawStack { trace, id, parent_id, frame_id: view.frame_id.get(row) });
                }
                return Ok(());
            }
            let view = frames::View::of(batch);
            functions.turn_to(view.function.values());
            files.turn_to(view.file.values());
            for row in 0..view.rows {
                rows += 1;
                check("frames of call stacks", rows, most)?;
                let trace = gathered.roster.trace_number(view.trace_id.get(row))?;
                let key = view.function.keys().get(row).copied().unwrap_or(-1);
                let name = functions.get(key, &mut gathered.names)?;
                let file = view.file.key(row).map(|key| files.get(key, &mut gathered.names)).transpose()?;
                let number = frames.add(Frame { name, file, line: view.line.get(row) })?;
                raw.frames.insert(trace, view.id.get(row), number);
            }
            Ok(())
        })?;
        Ok(raw)
    }
}

/// Numbers by trace and id: ids that count up are found by index.
#[derive(Debug, Default)]
struct Numbers {
    dense: Vec<Vec<u32>>,
    sparse: HashMap<(usize, i64), u32>,
}

const NO_NUMBER: u32 = u32::MAX;
/// Ids may be so far ahead of those before them.
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

//! An overview of the whole trace: threads, frames and log levels, in cells of equal length.
//!
//! The extent of a trace is only known at its end, so cells are merged and moved while rows arrive; memory does not
//! grow with the trace.

use hashbrown::HashMap;
use traceloom_analysis::advise::LogLevel;
use traceloom_model::{SpanCategory, select, sink};
use traceloom_passes::{Interner, NO_NUMBER, Translation, Words};

select! { struct Spans of spans { thread_id, depth, ts_ns, dur_ns, name, category } }
select! { struct Threads of threads { id, tid, name } }
select! { struct Logs of logs { ts_ns, level_name } }

/// Number of cells per lane.
pub(crate) const CELLS: usize = 512;
/// Number of span levels shown per thread.
pub(crate) const DEPTHS: usize = 3;
/// Max number of threads that are tracked; the busiest are shown.
const MAX_THREADS: usize = 256;

/// A sink for the tables of one trace.
#[derive(Debug, Default)]
pub(crate) struct Strip {
    grid: Grid,
    names: Interner,
    columns: Translation,
    categories: Words<SpanCategory>,
    levels: Words<LogLevel>,
    threads: HashMap<i64, ThreadLanes>,
    /// The longest frame that starts in each cell.
    frames: Option<Box<[u64; CELLS]>>,
    /// Lines by level.
    logs: Option<Box<[[u64; 3]; CELLS]>>,
    labels: HashMap<i64, String>,
}

/// The data to draw.
#[derive(Debug, Default)]
pub(crate) struct Picture {
    /// Start of the first cell and length of a cell.
    pub(crate) start_ns: i64,
    pub(crate) cell_ns: u64,
    /// Number of used cells.
    pub(crate) cells: usize,
    /// The busiest threads in the order of their first span.
    pub(crate) threads: Vec<ThreadStrip>,
    pub(crate) frames: Vec<u64>,
    /// Other lines, warnings and errors.
    pub(crate) logs: Vec<[u64; 3]>,
}

/// One thread.
#[derive(Debug)]
pub(crate) struct ThreadStrip {
    pub(crate) label: String,
    /// By depth and cell: the covered share of the cell, and the name that covers most of it.
    pub(crate) lanes: Vec<Vec<(f64, Option<String>)>>,
    first_ns: i64,
    busy_ns: u64,
}

#[derive(Debug)]
struct ThreadLanes {
    depths: [Box<[Cell; CELLS]>; DEPTHS],
    first_ns: i64,
    busy_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    covered_ns: u64,
    name: u32,
    /// The longest time of one span in the cell.
    best_ns: u64,
}

impl Default for Cell {
    fn default() -> Self {
        Self { covered_ns: 0, name: NO_NUMBER, best_ns: 0 }
    }
}

impl Cell {
    fn join(self, other: Self) -> Self {
        let best = if other.best_ns > self.best_ns { other } else { self };
        Self { covered_ns: self.covered_ns.saturating_add(other.covered_ns), ..best }
    }
}

/// Cells of `1 << shift` nanoseconds, from the cell `base` on.
#[derive(Clone, Copy, Debug, Default)]
struct Grid {
    base: Option<i64>,
    last: i64,
    shift: u32,
}

/// How cells move when the grid grows.
#[derive(Clone, Copy, Debug)]
struct Move {
    from: i64,
    to: i64,
    shift: u32,
}

impl Grid {
    /// Extends the grid to a time.
    fn reach(&mut self, ts_ns: i64) -> Option<Move> {
        let cell = ts_ns >> self.shift;
        let Some(base) = self.base else {
            (self.base, self.last) = (Some(cell), cell);
            return None;
        };
        if base <= cell && cell.saturating_sub(base) < CELLS as i64 {
            self.last = self.last.max(cell);
            return None;
        }
        let (mut low, mut high, mut shift) = (base.min(cell), self.last.max(cell), 0);
        while high.saturating_sub(low) >= CELLS as i64 {
            (low, high, shift) = (low >> 1, high >> 1, shift + 1);
        }
        *self = Self { base: Some(low), last: high, shift: self.shift + shift };
        Some(Move { from: base, to: low, shift })
    }

    /// The index of the cell of a time within the grid.
    fn at(&self, ts_ns: i64) -> usize {
        let cell = (ts_ns >> self.shift).saturating_sub(self.base.unwrap_or(0));
        cell.clamp(0, CELLS as i64 - 1) as usize
    }

    fn start_ns(&self, cell: usize) -> i64 {
        let number = self.base.unwrap_or(0).saturating_add(cell as i64);
        number.checked_mul(1_i64 << self.shift.min(62)).unwrap_or(i64::MIN)
    }
}

impl Move {
    fn apply<T: Copy + Default>(self, cells: &mut [T; CELLS], join: impl Fn(T, T) -> T) {
        let mut moved = [T::default(); CELLS];
        for (number, cell) in cells.iter().enumerate() {
            let to = ((self.from.saturating_add(number as i64)) >> self.shift) - self.to;
            if let Some(place) = usize::try_from(to).ok().and_then(|to| moved.get_mut(to)) {
                *place = join(*place, *cell);
            }
        }
        *cells = moved;
    }
}

impl Strip {
    fn reach(&mut self, ts_ns: i64) {
        let Some(step) = self.grid.reach(ts_ns) else { return };
        let lanes = self.threads.values_mut().flat_map(|thread| &mut thread.depths);
        lanes.for_each(|cells| step.apply(cells, Cell::join));
        self.frames.iter_mut().for_each(|cells| step.apply(cells, u64::max));
        let add = |one: [u64; 3], other: [u64; 3]| [one[0] + other[0], one[1] + other[1], one[2] + other[2]];
        self.logs.iter_mut().for_each(|cells| step.apply(cells, add));
    }

    fn spans(&mut self, view: &Spans<'_>) {
        let numbers = self.columns.of(view.name.values(), &mut self.names).to_vec();
        let categories = self.categories.of(view.category.values(), SpanCategory::of).to_vec();
        for row in 0..view.rows {
            let category = categories[view.category.keys()[row] as usize];
            let is_frame = category == Some(SpanCategory::Frame);
            let depth = view.depth.get(row) as usize;
            if category == Some(SpanCategory::Range) || depth >= DEPTHS && !is_frame {
                continue;
            }
            let (ts_ns, dur_ns) = (view.ts_ns.get(row), view.dur_ns.get(row).unwrap_or(0).max(0));
            let end_ns = ts_ns.saturating_add(dur_ns);
            self.reach(ts_ns);
            self.reach(end_ns);
            if is_frame {
                let frames = self.frames.get_or_insert_with(|| Box::new([0; CELLS]));
                let cell = &mut frames[self.grid.at(ts_ns)];
                *cell = (*cell).max(dur_ns as u64);
            } else {
                self.cover(view.thread_id.get(row), depth, (ts_ns, end_ns), numbers[view.name.keys()[row] as usize]);
            }
        }
    }

    fn cover(&mut self, thread_id: i64, depth: usize, (from_ns, to_ns): (i64, i64), name: u32) {
        if self.threads.len() >= MAX_THREADS && !self.threads.contains_key(&thread_id) {
            return;
        }
        let thread = self.threads.entry(thread_id).or_insert_with(|| ThreadLanes {
            depths: std::array::from_fn(|_| Box::new([Cell::default(); CELLS])),
            first_ns: from_ns,
            busy_ns: 0,
        });
        thread.first_ns = thread.first_ns.min(from_ns);
        if depth == 0 {
            thread.busy_ns = thread.busy_ns.saturating_add(to_ns.saturating_sub(from_ns).max(0) as u64);
        }
        for number in self.grid.at(from_ns)..=self.grid.at(to_ns) {
            let (start, end) = (self.grid.start_ns(number), self.grid.start_ns(number + 1));
            let part_ns = to_ns.min(end).saturating_sub(from_ns.max(start)).max(0) as u64;
            let cell = &mut thread.depths[depth][number];
            *cell = cell.join(Cell { covered_ns: part_ns, name, best_ns: part_ns.max(1) });
        }
    }

    fn logs(&mut self, view: &Logs<'_>) {
        let levels = self.levels.of(view.level_name.values(), |name| Some(LogLevel::of(name))).to_vec();
        for row in 0..view.rows {
            let Some(ts_ns) = view.ts_ns.get(row) else { continue };
            self.reach(ts_ns);
            let level = levels[view.level_name.keys()[row] as usize].unwrap_or(LogLevel::Other);
            let logs = self.logs.get_or_insert_with(|| Box::new([[0; 3]; CELLS]));
            logs[self.grid.at(ts_ns)][level as usize] += 1;
        }
    }

    fn threads(&mut self, view: &Threads<'_>) {
        for row in 0..view.rows {
            let name = view.name.get(row).filter(|name| !name.is_empty()).map(str::to_owned);
            let label = name.or_else(|| view.tid.get(row).map(|tid| format!("thread {tid}")));
            self.labels.insert(view.id.get(row), label.unwrap_or_else(|| "thread".to_owned()));
        }
    }

    /// The data to draw, with at most this many threads.
    pub(crate) fn finish(mut self, max_threads: usize) -> Picture {
        let cells = self.grid.base.map_or(0, |base| (self.grid.last - base + 1) as usize);
        let cell_ns = 1_u64 << self.grid.shift.min(62);
        let mut threads: Vec<(i64, ThreadLanes)> = self.threads.drain().collect();
        threads.sort_by_key(|(id, thread)| (std::cmp::Reverse(thread.busy_ns), *id));
        threads.truncate(max_threads);
        let strip = |(id, thread): (i64, ThreadLanes)| ThreadStrip {
            label: self.labels.get(&id).cloned().unwrap_or_else(|| format!("thread {id}")),
            lanes: thread.depths.iter().map(|lane| self.lane(&lane[..cells], cell_ns)).collect(),
            first_ns: thread.first_ns,
            busy_ns: thread.busy_ns,
        };
        let mut threads: Vec<ThreadStrip> = threads.into_iter().map(strip).collect();
        threads.sort_by(|one, other| {
            (one.first_ns, other.busy_ns, &one.label).cmp(&(other.first_ns, one.busy_ns, &other.label))
        });
        Picture {
            start_ns: self.grid.start_ns(0),
            cell_ns,
            cells,
            threads,
            frames: self.frames.map_or_else(Vec::new, |frames| frames[..cells].to_vec()),
            logs: self.logs.map_or_else(Vec::new, |logs| logs[..cells].to_vec()),
        }
    }

    fn lane(&self, cells: &[Cell], cell_ns: u64) -> Vec<(f64, Option<String>)> {
        let cell = |cell: &Cell| {
            let share = (cell.covered_ns as f64 / cell_ns as f64).min(1.0);
            (share, self.names.get(cell.name).filter(|_| cell.best_ns > 0).map(str::to_owned))
        };
        cells.iter().map(cell).collect()
    }
}

sink! {
    impl for Strip as strip {
        Spans(rows) => strip.spans(rows),
        Threads(rows) => strip.threads(rows),
        Logs(rows) => strip.logs(rows),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_grow_to_both_sides_and_keep_their_sums() {
        let mut strip = Strip::default();
        for (from, to) in [(5_000, 6_000), (-3_000, -2_000), (1_000_000, 1_000_500), (0, 4_000)] {
            strip.reach(from);
            strip.reach(to);
            strip.cover(7, 0, (from, to), 0);
        }
        let covered: u64 = strip.threads[&7].depths[0].iter().map(|cell| cell.covered_ns).sum();
        assert_eq!(covered, 1_000 + 1_000 + 500 + 4_000);
        let picture = strip.finish(8);
        assert!(picture.start_ns <= -3_000 && picture.cells > CELLS / 4 && picture.cells <= CELLS, "{picture:?}");
    }

    #[test]
    fn the_ends_of_time_do_not_overflow() {
        let mut strip = Strip::default();
        for (from, to) in [(i64::MIN, i64::MAX), (0, 1), (i64::MAX, i64::MAX)] {
            strip.reach(from);
            strip.reach(to);
            strip.cover(7, 0, (from, to), 0);
        }
        assert!(strip.finish(8).cells <= CELLS);
    }
}

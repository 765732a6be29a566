//! What grows and never falls: memory, and values over time.
//!
//! Usage that goes up and down is fine as long as it comes back. So the trace is cut into windows, and only what is
//! lowest in each counts: where every window's lowest is above the one before, nothing ever came back.

use hashbrown::HashMap;
use traceloom_model::select;
use traceloom_passes::{Interner, Translation};

use super::{
    Options,
    report::{Advice, Evidence, Rule, Unit, Weight, quoted},
};

select! { pub(super) struct Counters of counters { ts_ns, name, value } }
select! { pub(super) struct Allocations of allocations { ts_ns, address, size_bytes, freed_ts_ns } }

/// Values and memory over time.
#[derive(Debug)]
pub(super) struct Growth {
    column: Translation,
    values: HashMap<u32, Timeline>,
    memory: Timeline,
}

impl Default for Growth {
    fn default() -> Self {
        Self { column: Translation::default(), values: HashMap::new(), memory: Timeline::new(Cell::changes) }
    }
}

impl Growth {
    pub(super) fn counters(&mut self, view: &Counters<'_>, names: &mut Interner) {
        let numbers = self.column.of(view.name.values(), names);
        for (row, key) in view.name.keys().iter().enumerate() {
            if let Some(value) = view.value.get(row).filter(|value| value.is_finite()) {
                let name = numbers[*key as usize];
                if self.values.len() >= MAX_SERIES && !self.values.contains_key(&name) {
                    continue;
                }
                let timeline = self.values.entry(name).or_insert_with(|| Timeline::new(Cell::lowest));
                let cell = timeline.at(view.ts_ns.get(row));
                *cell = cell.lowest(Cell { count: 1, value });
            }
        }
    }

    pub(super) fn allocations(&mut self, view: &Allocations<'_>) {
        for row in 0..view.rows {
            // A tracer that knows no addresses knows no frees either: everything would seem to grow.
            if view.address.get(row) == 0 {
                continue;
            }
            let bytes = view.size_bytes.get(row) as f64;
            let taken = self.memory.at(view.ts_ns.get(row));
            (taken.count, taken.value) = (taken.count + 1, taken.value + bytes);
            if let Some(freed_ts_ns) = view.freed_ts_ns.get(row) {
                self.memory.at(freed_ts_ns).value -= bytes;
            }
        }
    }

    pub(super) fn finish(self, options: &Options, names: &Interner) -> Vec<Advice> {
        let mut all = Vec::new();
        for (name, timeline) in &self.values {
            let marks = lowest(timeline.cells.iter().map(|cell| (cell.count > 0).then_some(cell.value)));
            let name = names.get(*name).unwrap_or_default();
            let query = format!("SELECT ts_ns, value FROM counters WHERE name = {} ORDER BY ts_ns", quoted(name));
            all.extend(Grown { subject: name, timeline, unit: Unit::Number, query }.advice(&marks, options));
        }
        let mut used = 0.0;
        let usage = self.memory.cells.iter().map(|cell| {
            used += cell.value;
            Some(used)
        });
        // The tail of the array that no time has reached yet repeats the last usage.
        let marks = lowest(usage.take(self.memory.reached));
        let query = "SELECT f.function, COUNT(*) AS blocks, SUM(a.size_bytes) AS bytes FROM allocations a JOIN stacks s ON \
                     s.trace_id = a.trace_id AND s.id = a.stack_id JOIN frames f ON f.trace_id = s.trace_id AND f.id = \
                     s.frame_id WHERE a.fate = 'live' GROUP BY f.function ORDER BY bytes DESC";
        let memory =
            Grown { subject: "memory in use", timeline: &self.memory, unit: Unit::Bytes, query: query.to_owned() };
        all.extend(memory.advice(&marks, options));
        all
    }
}

/// Values that are looked at: a file can name any number of them.
const MAX_SERIES: usize = 4096;
const CELLS: usize = 256;
const WINDOWS: usize = 8;

/// Time in cells of equal length, which doubles as the trace goes on.
#[derive(Debug)]
struct Timeline {
    cells: Vec<Cell>,
    first_ns: Option<i64>,
    cell_ns: i64,
    /// Cells up to the last that was used.
    reached: usize,
    /// How two cells become one.
    join: fn(Cell, Cell) -> Cell,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    count: u64,
    /// The lowest value, or the change of the usage.
    value: f64,
}

impl Timeline {
    fn new(join: fn(Cell, Cell) -> Cell) -> Self {
        Self { cells: vec![Cell::default(); CELLS], first_ns: None, cell_ns: 1, reached: 0, join }
    }

    fn at(&mut self, ts_ns: i64) -> &mut Cell {
        let first_ns = *self.first_ns.get_or_insert(ts_ns);
        let since = ts_ns.saturating_sub(first_ns).max(0);
        while since / self.cell_ns >= CELLS as i64 {
            self.halve();
        }
        let index = (since / self.cell_ns) as usize;
        self.reached = self.reached.max(index + 1);
        &mut self.cells[index]
    }

    /// Puts two cells each into one.
    fn halve(&mut self) {
        for index in 0..CELLS {
            let pair = self.cells.get(index * 2..index * 2 + 2).map(|pair| [pair[0], pair[1]]);
            self.cells[index] = pair.map_or_else(Cell::default, |[one, other]| (self.join)(one, other));
        }
        self.cell_ns = self.cell_ns.saturating_mul(2);
        self.reached = self.reached.div_ceil(2);
    }
}

impl Cell {
    fn changes(self, other: Self) -> Self {
        Self { count: self.count + other.count, value: self.value + other.value }
    }

    fn lowest(self, other: Self) -> Self {
        let value = match (self.count, other.count) {
            (0, _) => other.value,
            (_, 0) => self.value,
            _ => self.value.min(other.value),
        };
        Self { count: self.count + other.count, value }
    }
}

/// The lowest of each window; none where a window has nothing.
fn lowest(cells: impl Iterator<Item = Option<f64>>) -> Vec<Option<f64>> {
    let cells: Vec<Option<f64>> = cells.collect();
    let used = cells.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    if used < WINDOWS {
        return Vec::new();
    }
    let edge = |window: usize| used * window / WINDOWS;
    let windows = (0..WINDOWS).map(|window| &cells[edge(window)..edge(window + 1)]);
    windows.map(|window| window.iter().flatten().copied().reduce(f64::min)).collect()
}

/// Something that may have grown.
struct Grown<'a> {
    subject: &'a str,
    timeline: &'a Timeline,
    unit: Unit,
    query: String,
}

impl Grown<'_> {
    /// The advice, if every window is above the one before.
    fn advice(self, marks: &[Option<f64>], options: &Options) -> Option<Advice> {
        let Self { subject, timeline, unit, query } = self;
        let marks = marks.iter().copied().collect::<Option<Vec<f64>>>().filter(|marks| !marks.is_empty())?;
        let (first, last) = (marks[0], marks[marks.len() - 1]);
        let rises = marks.windows(2).all(|pair| pair[0] < pair[1]);
        // From nothing, or from below nothing, growth has no part: what it grew to is the whole.
        let base = if first > 0.0 { first } else { last.abs() };
        let part = (last - first) / base;
        if !rises || part <= options.growth || !part.is_finite() {
            return None;
        }
        let length = timeline.cell_ns.saturating_mul((timeline.reached / WINDOWS) as i64);
        let begin = |window: usize| timeline.first_ns.unwrap_or(0).saturating_add(length.saturating_mul(window as i64));
        let evidence = marks.iter().enumerate();
        Some(Advice {
            rule: Rule::Growth,
            weight: if part > options.growth * 10.0 { Weight::High } else { Weight::Medium },
            subject: subject.to_owned(),
            value: part,
            limit: options.growth,
            count: timeline.cells.iter().map(|cell| cell.count).sum(),
            evidence: evidence
                .map(|(window, mark)| Evidence::new("lowest from here".to_owned(), *mark, unit).at(begin(window)))
                .collect(),
            query,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks_of(values: impl Iterator<Item = f64>) -> Vec<Option<f64>> {
        let mut timeline = Timeline::new(Cell::lowest);
        for (ts_ns, value) in (0..).map(|n| n * 1_000_003).zip(values) {
            let cell = timeline.at(ts_ns);
            *cell = cell.lowest(Cell { count: 1, value });
        }
        lowest(timeline.cells.iter().map(|cell| (cell.count > 0).then_some(cell.value)))
    }

    fn grows(values: impl Iterator<Item = f64>) -> bool {
        let marks = marks_of(values);
        let timeline = &Timeline::new(Cell::lowest);
        let grown = Grown { subject: "x", timeline, unit: Unit::Number, query: String::new() };
        grown.advice(&marks, &Options::default()).is_some()
    }

    #[test]
    fn what_comes_back_does_not_grow() {
        let n = || (0..10_000).map(f64::from);
        assert!(grows(n()));
        assert!(grows(n().map(|n| n + 3000.0 * (n / 50.0).sin())), "up and down, and up as a whole");
        assert!(!grows(n().map(|n| (n / 50.0).sin())));
        assert!(!grows(n().map(|n| if n < 6000.0 { n } else { 0.0 })), "given back near the end");
        assert!(!grows(n().map(|n| 1e6 + n)), "one part in a hundred");
        assert!(!grows([1.0, 2.0, 3.0].into_iter()), "too little to say");
    }
}

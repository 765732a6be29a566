//! The figures of each name, line and function in one run.

use hashbrown::HashMap;
use traceloom_model::{LineLevel, select, sink};
use traceloom_passes::{Interner, NO_NUMBER, Translation, Words, number_of};

use super::{
    names::{Calls, Names, Spans},
    report::Kind,
};
use crate::group::{Group, mean, whole};

select! { struct Lines of line_times { file, line, level, calls, incl_ns, excl_ns } }
select! { struct Allocations of allocations { size_bytes, stack_id } }
select! { struct Frames of frames { id, function } }
select! { struct Stacks of stacks { id, frame_id } }

/// The key of a comparison.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) struct Key {
    pub(super) kind: Kind,
    pub(super) name: u32,
    /// [`NO_NUMBER`] if this is not a line.
    pub(super) line: u32,
}

/// The figures of one run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Figures {
    pub(super) calls: u64,
    /// Nanoseconds, or bytes.
    pub(super) total: u64,
    pub(super) own: u64,
    /// Median, 95th and 99th percentile.
    pub(super) quantiles: Option<[f64; 3]>,
    /// Standard deviation of the individual durations.
    pub(super) deviation: Option<f64>,
}

impl Figures {
    pub(super) fn add(&mut self, calls: u64, total: u64, own: u64) {
        self.calls = self.calls.saturating_add(calls);
        self.total = self.total.saturating_add(total);
        self.own = self.own.saturating_add(own);
    }

    pub(super) fn of(group: &Group) -> Self {
        let (sums, quantiles) = group.samples.summary([0.5, 0.95, 0.99]);
        Self {
            calls: sums.count,
            total: sums.total,
            own: group.self_ns,
            quantiles,
            deviation: deviation(group, mean(sums.total, sums.count)),
        }
    }
}

fn deviation(group: &Group, mean: f64) -> Option<f64> {
    let (mut squares, mut count) = (0.0, 0);
    group.samples.for_each(|sample, times| {
        squares += (sample - mean).powi(2) * times as f64;
        count += times;
    });
    (count > 1).then(|| (squares / (count - 1) as f64).sqrt())
}

/// A sink for the tables of one run.
#[derive(Debug)]
pub(super) struct Run<'n> {
    names: &'n mut Interner,
    columns: [Translation; 2],
    levels: Words<LineLevel>,
    of_names: Names,
    lines: HashMap<(u32, u32), Figures>,
    /// Allocations by stack.
    memory: HashMap<Option<i64>, (u64, u64)>,
    frame_of_stack: HashMap<i64, i64>,
    function_of_frame: HashMap<i64, u32>,
}

impl<'n> Run<'n> {
    pub(super) fn new(names: &'n mut Interner, groups: usize, sample_bytes: usize) -> Self {
        Self {
            names,
            columns: Default::default(),
            levels: Words::default(),
            of_names: Names::new(groups, sample_bytes),
            lines: HashMap::new(),
            memory: HashMap::new(),
            frame_of_stack: HashMap::new(),
            function_of_frame: HashMap::new(),
        }
    }

    /// Returns the figures by key; drops the samples.
    pub(super) fn finish(mut self) -> HashMap<Key, Figures> {
        let mut all = HashMap::new();
        std::mem::take(&mut self.of_names).finish(|name, figures, _| {
            all.insert(Key { kind: Kind::Name, name, line: NO_NUMBER }, figures);
        });
        let lines = self.lines.drain();
        all.extend(lines.map(|((name, line), figures)| (Key { kind: Kind::Line, name, line }, figures)));
        self.allocated(&mut all);
        all
    }

    fn allocated(self, all: &mut HashMap<Key, Figures>) {
        for (stack, (count, bytes)) in self.memory {
            let frame = stack.and_then(|stack| self.frame_of_stack.get(&stack));
            let function = frame.and_then(|frame| self.function_of_frame.get(frame));
            let name = function.copied().unwrap_or_else(|| self.names.number("(unknown)"));
            all.entry(Key { kind: Kind::Memory, name, line: NO_NUMBER }).or_default().add(count, bytes, bytes);
        }
    }

    fn lines(&mut self, view: &Lines<'_>) {
        let numbers = self.columns[0].of(view.file.values(), self.names);
        let levels = self.levels.of(view.level.values(), LineLevel::of);
        for (row, key) in view.file.keys().iter().enumerate() {
            if levels[view.level.keys()[row] as usize] != Some(LineLevel::Line) {
                continue;
            }
            let incl_ns = whole(view.incl_ns.get(row));
            let own = view.excl_ns.get(row).map_or(incl_ns, whole);
            let figures = self.lines.entry((numbers[*key as usize], view.line.get(row))).or_default();
            figures.add(view.calls.get(row), incl_ns, own);
        }
    }

    fn allocations(&mut self, view: &Allocations<'_>) {
        for row in 0..view.rows {
            let sums = self.memory.entry(view.stack_id.get(row)).or_default();
            *sums = (sums.0 + 1, sums.1.saturating_add(view.size_bytes.get(row)));
        }
    }

    fn frames(&mut self, view: &Frames<'_>) {
        let numbers = self.columns[1].of(view.function.values(), self.names);
        for (row, key) in view.function.keys().iter().enumerate() {
            self.function_of_frame.insert(view.id.get(row), number_of(numbers, Some(*key)));
        }
    }

    fn stacks(&mut self, view: &Stacks<'_>) {
        self.frame_of_stack.extend((0..view.rows).map(|row| (view.id.get(row), view.frame_id.get(row))));
    }
}

sink! {
    impl for Run<'_> as run {
        Spans(rows) => run.of_names.spans(rows, run.names),
        Calls(rows) => run.of_names.sums(rows, run.names),
        Lines(rows) => run.lines(rows),
        Allocations(rows) => run.allocations(rows),
        Frames(rows) => run.frames(rows),
        Stacks(rows) => run.stacks(rows),
    }
}

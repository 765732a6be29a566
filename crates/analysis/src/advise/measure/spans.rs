//! Spans by name, and by thread and name.

use hashbrown::HashMap;
use traceloom_model::{SpanCategory, select};
use traceloom_passes::{Budget, Interner, Samples, Translation, Words};

use super::clock::{CELLS, Clock, halve};
use crate::{advise::words::Role, group::whole, threads::Threads};

select! { pub(in crate::advise) struct SpanRows of spans { thread_id, depth, ts_ns, dur_ns, self_ns, name, category } }

/// Measurements of spans.
#[derive(Debug)]
pub(in crate::advise) struct Spans {
    column: Translation,
    categories: Words<SpanCategory>,
    /// By the number of the name; names beyond the limit are ignored.
    pub(in crate::advise) names: Vec<NameUse>,
    pub(in crate::advise) series: Vec<Series>,
    by_thread: HashMap<(u32, u32), u32>,
    pub(in crate::advise) clock: Clock,
    pub(in crate::advise) rows: u64,
    budget: Budget,
}

/// The spans of one name.
#[derive(Debug)]
pub(in crate::advise) struct NameUse {
    pub(in crate::advise) role: Role,
    pub(in crate::advise) count: u64,
    pub(in crate::advise) self_ns: u64,
    pub(in crate::advise) total_ns: u64,
    pub(in crate::advise) min_depth: u32,
    pub(in crate::advise) max_depth: u32,
    /// Calls and self time over time, once there are enough calls.
    pub(in crate::advise) cells: Option<Box<[Cell; CELLS]>>,
    /// The series of the current thread; rows of one thread are adjacent.
    last: (u32, u32),
}

#[derive(Clone, Copy, Debug, Default)]
pub(in crate::advise) struct Cell {
    pub(in crate::advise) count: u32,
    pub(in crate::advise) self_ns: u64,
    pub(in crate::advise) total_ns: u64,
}

/// The spans of one name on one thread.
#[derive(Debug, Default)]
pub(in crate::advise) struct Series {
    pub(in crate::advise) thread: u32,
    /// The number of the name, or [`FRAMES`].
    pub(in crate::advise) name: u32,
    pub(in crate::advise) is_call: bool,
    pub(in crate::advise) count: u64,
    pub(in crate::advise) self_ns: u64,
    pub(in crate::advise) total_ns: u64,
    pub(in crate::advise) depth: u32,
    pub(in crate::advise) samples: Samples,
    /// The longest spans, longest first.
    pub(in crate::advise) longest: Vec<Instance>,
    /// Spans at regular intervals, as examples of usual ones.
    pub(in crate::advise) examples: Vec<Instance>,
    stride: u64,
}

/// The name of frames that the format marks as frames, whose names may be numbers.
pub(in crate::advise) const FRAMES: u32 = u32::MAX;

/// One span of a series.
#[derive(Clone, Copy, Debug)]
pub(in crate::advise) struct Instance {
    /// Index in the series.
    pub(in crate::advise) index: u64,
    pub(in crate::advise) ts_ns: i64,
    pub(in crate::advise) dur_ns: u64,
}

impl Instance {
    pub(in crate::advise) fn end_ns(&self) -> i64 {
        self.ts_ns.saturating_add_unsigned(self.dur_ns)
    }
}

const MAX_NAMES: usize = 1 << 16;
const MAX_SERIES: usize = 1 << 14;
/// Max number of names that are tracked over time.
const MAX_FOLLOWED: usize = 1 << 13;
/// Number of calls from which a name is tracked.
const FOLLOWED_CALLS: u64 = 16;
const SAMPLE_BYTES: usize = 128 << 20;
const LONGEST: usize = 64;
const EXAMPLES: usize = 64;

impl Default for Spans {
    fn default() -> Self {
        Self {
            column: Translation::default(),
            categories: Words::default(),
            names: Vec::new(),
            series: Vec::new(),
            by_thread: HashMap::new(),
            clock: Clock::default(),
            rows: 0,
            budget: Budget::new(SAMPLE_BYTES),
        }
    }
}

impl Spans {
    pub(in crate::advise) fn add(&mut self, view: &SpanRows<'_>, names: &mut Interner, threads: &mut Threads) {
        let numbers = self.column.within(view.name.values(), names, MAX_NAMES).to_vec();
        let categories = self.categories.of(view.category.values(), SpanCategory::of).to_vec();
        let known = self.names.len() as u32;
        self.names.extend((known..names.len().min(MAX_NAMES) as u32).map(|number| NameUse::new(names.get(number))));
        for row in 0..view.rows {
            let Some(dur_ns) = view.dur_ns.get(row).map(whole) else { continue };
            let category = categories[view.category.keys()[row] as usize];
            if category == Some(SpanCategory::Range) {
                continue;
            }
            let span = SpanRow {
                thread: threads.number(0, view.thread_id.get(row)),
                depth: view.depth.get(row),
                ts_ns: view.ts_ns.get(row),
                dur_ns,
                self_ns: view.self_ns.get(row).map_or(dur_ns, whole),
                is_call: category == Some(SpanCategory::Call),
            };
            if category == Some(SpanCategory::Frame) {
                self.add_to_series(None, FRAMES, &SpanRow { depth: 0, self_ns: 0, ..span });
            } else {
                self.add_one(numbers[view.name.keys()[row] as usize], &span, threads);
            }
        }
    }

    #[inline]
    fn add_one(&mut self, number: u32, span: &SpanRow, threads: &mut Threads) {
        self.rows += 1;
        let Self { names, clock, .. } = self;
        if number as usize >= names.len() {
            return;
        }
        let cell = clock.cell(span.ts_ns, || {
            let followed = names.iter_mut().filter_map(|name| name.cells.as_deref_mut());
            followed.for_each(|cells| halve(cells, Cell::join));
        });
        let name = &mut names[number as usize];
        name.count += 1;
        name.self_ns = name.self_ns.saturating_add(span.self_ns);
        name.total_ns = name.total_ns.saturating_add(span.dur_ns);
        name.min_depth = name.min_depth.min(span.depth);
        name.max_depth = name.max_depth.max(span.depth);
        if let Some(cells) = &mut name.cells {
            cells[cell].count += 1;
            cells[cell].self_ns = cells[cell].self_ns.saturating_add(span.self_ns);
            cells[cell].total_ns = cells[cell].total_ns.saturating_add(span.dur_ns);
        } else if name.count == FOLLOWED_CALLS && (number as usize) < MAX_FOLLOWED {
            name.cells = Some(Box::new([Cell::default(); CELLS]));
        }
        let thread = &mut threads.list[span.thread as usize];
        thread.spans += 1;
        if !name.role.is_waiting() {
            thread.busy_ns = thread.busy_ns.saturating_add(span.self_ns);
        }
        let last = (name.last.0 == span.thread).then_some(name.last.1);
        let series = self.add_to_series(last, number, span);
        self.names[number as usize].last = (span.thread, series);
    }

    /// Adds a span to its series; returns the number of the series.
    #[inline]
    fn add_to_series(&mut self, known: Option<u32>, name: u32, span: &SpanRow) -> u32 {
        let number = known.unwrap_or_else(|| self.number_of(name, span));
        if let Some(series) = self.series.get_mut(number as usize) {
            series.add(span, &mut self.budget);
        }
        number
    }

    #[cold]
    fn number_of(&mut self, name: u32, span: &SpanRow) -> u32 {
        if let Some(number) = self.by_thread.get(&(span.thread, name)) {
            return *number;
        }
        if self.series.len() >= MAX_SERIES {
            return u32::MAX;
        }
        let number = self.series.len() as u32;
        self.series.push(Series {
            thread: span.thread,
            name,
            is_call: span.is_call,
            depth: span.depth,
            stride: 1,
            ..Series::default()
        });
        self.by_thread.insert((span.thread, name), number);
        number
    }
}

struct SpanRow {
    thread: u32,
    depth: u32,
    ts_ns: i64,
    dur_ns: u64,
    self_ns: u64,
    is_call: bool,
}

impl NameUse {
    fn new(name: Option<&str>) -> Self {
        Self {
            role: name.map(Role::of).unwrap_or_default(),
            count: 0,
            self_ns: 0,
            total_ns: 0,
            min_depth: u32::MAX,
            max_depth: 0,
            cells: None,
            last: (u32::MAX, u32::MAX),
        }
    }
}

impl Cell {
    fn join(self, other: Self) -> Self {
        Self {
            count: self.count.saturating_add(other.count),
            self_ns: self.self_ns.saturating_add(other.self_ns),
            total_ns: self.total_ns.saturating_add(other.total_ns),
        }
    }
}

impl Series {
    #[inline]
    fn add(&mut self, span: &SpanRow, budget: &mut Budget) {
        let instance = Instance { index: self.count, ts_ns: span.ts_ns, dur_ns: span.dur_ns };
        self.count += 1;
        self.self_ns = self.self_ns.saturating_add(span.self_ns);
        self.total_ns = self.total_ns.saturating_add(span.dur_ns);
        self.depth = self.depth.min(span.depth);
        self.samples.push(span.dur_ns, budget);
        if self.longest.len() < LONGEST || self.longest.last().is_some_and(|last| last.dur_ns < span.dur_ns) {
            self.keep_long(instance);
        }
        if instance.index.is_multiple_of(self.stride) {
            self.keep_example(instance);
        }
    }

    fn keep_long(&mut self, instance: Instance) {
        let at = self.longest.partition_point(|longer| longer.dur_ns >= instance.dur_ns);
        self.longest.insert(at, instance);
        self.longest.truncate(LONGEST);
    }

    #[cold]
    fn keep_example(&mut self, instance: Instance) {
        if self.examples.len() >= EXAMPLES {
            self.stride *= 2;
            let stride = self.stride;
            self.examples.retain(|example| example.index.is_multiple_of(stride));
        }
        self.examples.push(instance);
    }
}

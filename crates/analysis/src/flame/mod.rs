//! Stacks with weights, from which flame graphs are drawn.
//!
//! Stacks come from spans (the stack of a span is its ancestors) or from allocations (which have stored stacks). Equal
//! stacks are merged while rows arrive, so memory depends on the graph, not on the trace.

mod allocations;
mod calls;
mod graph;
mod look;
mod merge;
mod stacks;
mod step;
mod tree;

use hashbrown::HashMap;
use traceloom_core::TimeRange;
use traceloom_model::{Filter, SpanCategory, select, sink};
use traceloom_passes::{Interner, RowFilter, StackRows, Translation, Words};

pub(crate) use self::allocations::UNKNOWN;
use self::{
    allocations::{AllocationStacks, Allocations, Frames},
    merge::Merging,
};
pub use self::{
    calls::CallStacks,
    graph::Graph,
    look::{Shown, ShownFrame},
    stacks::{Stacks, no_allocations, stacks},
    step::GraphStep,
    tree::{MAX_FRAMES, Stack, Tree},
};

select! {
    struct Spans of spans { trace_id, id, parent_id, thread_id, ts_ns, dur_ns, self_ns, name, category }
}

select! {
    struct Threads of threads { trace_id, id, name }
}

/// The meaning of the width of a frame.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Weight {
    /// Bytes allocated.
    Bytes,
    /// Number of spans, or of allocations if there are no spans.
    Count,
    /// Self time as stored in the tables.
    SelfTime,
    /// Time from start to end; time that no child covers is self time.
    #[default]
    Time,
}

/// Options of a graph.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The meaning of the width.
    pub weight: Weight,
    /// Invert the graph: start at the leaves and show their callers.
    pub is_reversed: bool,
    /// Keep the stacks of different threads separate, each below a frame for its thread.
    pub by_thread: bool,
    /// Only rows that start in this range.
    pub range: TimeRange,
    /// Approximate max number of distinct stacks and names; later ones are `(other)` below their caller (default: any).
    pub most_stacks: Option<usize>,
}

/// Max number of threads whose names are kept.
const MAX_NAMED_THREADS: usize = 1 << 16;

/// A sink that builds stacks; see the module.
#[derive(Debug)]
pub struct Flame {
    options: Options,
    rows: RowFilter,
    names: Interner,
    spans: Merging,
    span_names: Translation,
    categories: Words<SpanCategory>,
    allocations: AllocationStacks,
    threads: HashMap<(u64, i64), String>,
}

impl Flame {
    /// An empty graph.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            rows: RowFilter::new(&Filter::default(), options.range),
            names: Interner::default(),
            spans: Merging::new(options.most_stacks.unwrap_or(usize::MAX)),
            span_names: Translation::default(),
            categories: Words::default(),
            allocations: AllocationStacks::default(),
            threads: HashMap::new(),
        }
    }

    /// Starts the next trace, of which only this part counts; traces with different offsets on the axis need different
    /// parts.
    pub fn begin_within(&mut self, part: &Filter) {
        self.rows = RowFilter::new(part, self.options.range);
    }

    /// The graph; call after the last batch.
    pub fn finish(mut self) -> Tree {
        let mut tree = Tree::default();
        if self.options.weight == Weight::Bytes || self.spans.is_empty() {
            let counts = self.options.weight == Weight::Count;
            self.allocations.finish(counts, &mut self.names, &mut tree);
        }
        let Self { options, mut names, spans, threads, .. } = self;
        spans.finish(&mut tree, |thread| {
            options.by_thread.then(|| match thread {
                Ok(thread) => match threads.get(&thread).filter(|name| !name.is_empty()) {
                    Some(name) => names.number(name),
                    None => names.number(&format!("thread {}", thread.1)),
                },
                Err(others) => names.number(&format!("{others} other threads")),
            })
        });
        let tree = if options.is_reversed { tree.reversed() } else { tree };
        tree.named(names)
    }

    fn take_allocations(&mut self, view: &Allocations<'_>) {
        let rows = &self.rows;
        self.allocations.take_rows(view, |ts_ns, thread_id| rows.takes(ts_ns, thread_id));
    }

    fn take_spans(&mut self, view: &Spans<'_>) {
        let most_names = self.options.most_stacks.unwrap_or(usize::MAX);
        let numbers = self.span_names.within(view.name.values(), &mut self.names, most_names);
        let categories = self.categories.of(view.category.values(), SpanCategory::of);
        for row in 0..view.rows {
            let (ts_ns, thread_id) = (view.ts_ns.get(row), view.thread_id.get(row));
            // Frames and ranges overlap the spans of a thread and are not part of a stack.
            let category = categories[view.category.keys()[row] as usize];
            let lies_over = matches!(category, Some(SpanCategory::Frame | SpanCategory::Range));
            if lies_over || !self.rows.takes(ts_ns, Some(thread_id)) {
                continue;
            }
            let (own, total) = match self.options.weight {
                Weight::Count => (Some(1), None),
                Weight::SelfTime => (view.self_ns.get(row).or(Some(0)), None),
                Weight::Bytes | Weight::Time => (None, view.dur_ns.get(row)),
            };
            self.spans.add(&merge::Span {
                thread: (view.trace_id.get(row), thread_id),
                id: view.id.get(row),
                parent: view.parent_id.get(row),
                name: numbers[view.name.keys()[row] as usize],
                own: own.map(|own| own.max(0) as u64),
                total: total.map(|total| total.max(0) as u64),
            });
        }
    }

    fn take_threads(&mut self, view: &Threads<'_>) {
        let rows = (0..view.rows).map(|row| (view.trace_id.get(row), view.id.get(row), view.name.get(row)));
        // Only the first threads have frames.
        let rows = rows.take(MAX_NAMED_THREADS.saturating_sub(self.threads.len()));
        self.threads.extend(rows.map(|(trace, id, name)| ((trace, id), name.unwrap_or_default().to_owned())));
    }
}

sink! {
    impl for Flame as flame {
        Spans(rows) if flame.options.weight != Weight::Bytes => flame.take_spans(rows),
        Threads(rows) if flame.options.by_thread => flame.take_threads(rows),
        Allocations(rows) => flame.take_allocations(rows),
        StackRows(rows) => flame.allocations.take_stacks(rows),
        Frames(rows) => flame.allocations.take_frames(rows, &mut flame.names),
    }
}

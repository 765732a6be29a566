//! `stats`: how often, how long, how much of the whole.

mod histogram;
mod keys;
mod options;
mod relation;
mod report;
mod rows;
mod survey;
mod values;

use arrow_array::RecordBatch;
use hashbrown::HashMap;
use traceloom_core::Result;
use traceloom_model::{
    Columns, Filter, Flow, Table, TableSink, TableSource, calls, counters, events, spans, switches, threads,
};

pub(crate) use self::keys::Groups;
pub use self::{
    histogram::{Bin, Durations, Histogram, Measured},
    options::{By, Options, Pairing, Sort},
    report::{CallRow, Complexity, EventRow, Fit, FrameOf, Pair, Relation, Report, SpanRow, ThreadRow, ValueRow},
    survey::Survey,
};
use self::{
    keys::Key,
    relation::Pairs,
    rows::Sums,
    survey::{Frame, Places},
    values::Values,
};
use crate::{
    group::{dense, whole},
    names::{Mapped, NONE, Names, number},
    part::Part,
    quantile::Budget,
    threads::Threads,
};

/// Statistics of traces, together; each source is one trace, with its times on the axis of all.
pub fn of_traces(traces: impl IntoIterator<Item = impl TableSource>, options: &Options) -> Result<Report> {
    let narrow = Filter::in_range(options.range);
    let mut stats = Stats::new(options.clone());
    for trace in traces {
        stats.begin();
        if let Some(mut survey) = stats.survey() {
            trace.pour(&Filter::default(), &mut survey)?;
            stats.surveyed(survey);
        }
        trace.pour(&narrow, &mut stats)?;
    }
    Ok(stats.finish())
}

/// Adds up the tables of traces.
///
/// `(begin (survey surveyed)? batch*)* finish`, one `begin` for each trace.
#[derive(Debug)]
pub struct Stats {
    options: Options,
    names: Names,
    columns: NameColumns,
    groups: Groups,
    budget: Budget,
    threads: Threads,
    values: Values,
    events: HashMap<(u32, u32, u32), u64>,
    calls: HashMap<u32, Sums>,
    pairs: Option<Pairs>,
    places: Places,
    /// The frames of the traces before, and of this one.
    frames: Vec<Frame>,
    first_frame: u32,
    traces: u32,
    /// What counts of this trace.
    part: Part,
    /// Only the names tell spans apart, and all of them count.
    is_plain: bool,
}

#[derive(Debug, Default)]
struct NameColumns {
    span: Mapped,
    category: Mapped,
    file: Mapped,
    event: Mapped,
    event_category: Mapped,
    callee: Mapped,
    paired: Mapped,
}

impl Stats {
    /// Nothing yet.
    pub fn new(options: Options) -> Self {
        Self {
            names: Names::default(),
            columns: NameColumns::default(),
            groups: Groups::new(options.groups),
            budget: Budget::new(options.sample_bytes),
            threads: Threads::default(),
            values: Values::default(),
            events: HashMap::new(),
            calls: HashMap::new(),
            pairs: options.relation.is_some().then(Pairs::default),
            places: Places::default(),
            frames: Vec::new(),
            first_frame: 0,
            traces: 0,
            part: Part::default(),
            is_plain: options.is_plain(),
            options,
        }
    }

    /// The next trace comes.
    pub fn begin(&mut self) {
        self.begin_within(&Filter::default());
    }

    /// The next trace comes, of which only this part counts: traces that lie elsewhere on an axis need parts of their own.
    pub fn begin_within(&mut self, part: &Filter) {
        self.part = Part::of(part);
        self.is_plain = self.options.is_plain() && self.part.is_whole();
        self.traces += 1;
        self.places = Places::default();
    }

    /// A sink for a first look at the trace; none where it is not needed.
    pub fn survey(&mut self) -> Option<Survey> {
        let (parents, frames) = (self.options.has(By::Parent), self.options.has(By::Frame));
        (parents || frames).then(|| Survey::new(std::mem::take(&mut self.names), parents, frames))
    }

    /// Takes what the first look showed.
    pub fn surveyed(&mut self, survey: Survey) {
        (self.places, self.names) = survey.finish();
        self.first_frame = self.frames.len() as u32;
        self.frames.extend_from_slice(&self.places.frames);
    }

    /// The answer.
    pub fn finish(self) -> Report {
        rows::report(self)
    }

    fn takes_row(&self, ts_ns: i64, thread_id: i64) -> bool {
        self.options.takes_time(ts_ns) && self.part.takes(ts_ns, Some(thread_id))
    }

    fn trace(&self) -> u32 {
        self.traces.saturating_sub(1)
    }

    fn spans(&mut self, batch: &RecordBatch) {
        let view = spans::View::of(batch);
        let categories = self.columns.category.of(view.category.values(), &mut self.names);
        let overlays: Vec<bool> = categories.iter().map(|category| is_overlay(self.names.get(*category))).collect();
        let has_overlays = overlays.contains(&true);
        let closed = dense(batch, "dur_ns").zip(dense(batch, "self_ns"));
        match closed.filter(|_| self.is_plain && !has_overlays) {
            Some((durs, owns)) => self.plain_spans(&view, durs, owns),
            None => {
                self.told_apart(&view);
                self.busy(&view, &overlays);
            }
        }
    }

    /// The common case, in one pass: only names tell spans apart, and all are closed.
    fn plain_spans(&mut self, view: &spans::View<'_>, durs: &[i64], owns: &[i64]) {
        let trace = self.trace();
        let Self { names, columns, groups, budget, threads, .. } = self;
        let numbers = columns.span.of(view.name.values(), names);
        let mut row = 0;
        for run in runs(view.thread_id.values()) {
            let rows = row..row + run.len();
            row = rows.end;
            let mut busy_ns = 0_u64;
            let times = durs[rows.clone()].iter().zip(&owns[rows.clone()]);
            for (key, (dur_ns, self_ns)) in view.name.keys()[rows].iter().zip(times) {
                let self_ns = whole(*self_ns);
                busy_ns = busy_ns.saturating_add(self_ns);
                groups.of_name(numbers[*key as usize]).add_closed(whole(*dur_ns), self_ns, budget);
            }
            let thread = threads.at(trace, run[0]);
            thread.spans += run.len() as u64;
            thread.busy_ns = thread.busy_ns.saturating_add(busy_ns);
        }
    }

    /// What each thread did.
    fn busy(&mut self, view: &spans::View<'_>, overlays: &[bool]) {
        let trace = self.trace();
        for row in 0..view.rows {
            let thread_id = view.thread_id.get(row);
            let is_in = self.is_plain || self.takes_row(view.ts_ns.get(row), thread_id);
            if !is_in || overlays[view.category.keys()[row] as usize] {
                continue;
            }
            let thread = self.threads.at(trace, thread_id);
            thread.spans += 1;
            thread.busy_ns = thread.busy_ns.saturating_add(whole(view.self_ns.get(row).unwrap_or(0)));
        }
    }

    fn told_apart(&mut self, view: &spans::View<'_>) {
        let trace = self.trace();
        let Self { options, names, columns, groups, budget, threads, places, part, is_plain, .. } = self;
        let span_names = columns.span.of(view.name.values(), names);
        let files = columns.file.of(view.file.values(), names);
        let categories = columns.category.of(view.category.values(), names);
        let [by_category, by_file, by_frame, by_line, by_parent, by_thread] =
            [By::Category, By::File, By::Frame, By::Line, By::Parent, By::Thread].map(|by| options.has(by));
        for row in 0..view.rows {
            let name = span_names[view.name.keys()[row] as usize];
            let ts_ns = if *is_plain { 0 } else { view.ts_ns.get(row) };
            let thread_id = view.thread_id.get(row);
            let is_in = *is_plain || takes(options, names, name, ts_ns) && part.takes(ts_ns, Some(thread_id));
            if !is_in {
                continue;
            }
            let category = categories[view.category.keys()[row] as usize];
            let mut key = Key::of_name(name);
            if by_category || is_overlay(names.get(category)) {
                key.category = category;
            }
            if by_thread {
                key.thread = threads.number(trace, thread_id);
            }
            if by_file || by_line {
                key.file = number(files, view.file.key(row));
            }
            if by_line {
                key.line = view.line.get(row).unwrap_or(NONE);
            }
            if by_parent {
                key.parent = places.parent(view.parent_id.get(row));
            }
            if by_frame {
                let frame = places.frame(thread_id, ts_ns);
                key.frame = if frame == NONE { NONE } else { self.first_frame + frame };
            }
            groups.of_key(key).add(view.dur_ns.get(row), view.self_ns.get(row), budget);
            if let Some((pairs, pairing)) = self.pairs.as_mut().zip(options.relation.as_ref())
                && names.get(name) == Some(&pairing.span)
                && let Some(dur_ns) = view.dur_ns.get(row)
            {
                pairs.span(threads.number(trace, thread_id), ts_ns, dur_ns);
            }
        }
    }

    fn counters(&mut self, view: &counters::View<'_>) {
        let Self { options, values, names, budget, part, .. } = self;
        values.add(view, names, budget, |names, name, ts_ns, thread_id| {
            takes(options, names, name, ts_ns) && part.takes(ts_ns, thread_id)
        });
        let Some((pairs, pairing)) = self.pairs.as_mut().zip(self.options.relation.as_ref()) else { return };
        let numbers = self.columns.paired.of(view.name.values(), &mut self.names);
        for row in 0..view.rows {
            let is_wanted = self.names.get(numbers[view.name.keys()[row] as usize]) == Some(&pairing.value);
            if let (true, Some(value), Some(thread_id)) = (is_wanted, view.value.get(row), view.thread_id.get(row))
                && self.part.takes(view.ts_ns.get(row), Some(thread_id))
            {
                let thread = self.threads.number(self.traces.saturating_sub(1), thread_id);
                pairs.value(thread, view.ts_ns.get(row), value);
            }
        }
    }

    fn events(&mut self, view: &events::View<'_>) {
        let trace = self.trace();
        let numbers = self.columns.event.of(view.name.values(), &mut self.names);
        let categories = self.columns.event_category.of(view.category.values(), &mut self.names);
        let by_thread = self.options.has(By::Thread);
        let is_whole = self.is_plain;
        // Events of one name often come together.
        let (mut last, mut count) = ((NONE, NONE, NONE), 0);
        for row in 0..view.rows {
            let name = numbers[view.name.keys()[row] as usize];
            let thread_id = view.thread_id.get(row);
            let takes = |ts_ns| takes(&self.options, &self.names, name, ts_ns) && self.part.takes(ts_ns, thread_id);
            if !is_whole && !takes(view.ts_ns.get(row)) {
                continue;
            }
            let category = categories[view.category.keys()[row] as usize];
            let thread = thread_id.filter(|_| by_thread);
            let thread = thread.map_or(NONE, |thread_id| self.threads.number(trace, thread_id));
            if last != (name, category, thread) {
                *self.events.entry(last).or_default() += std::mem::take(&mut count);
                last = (name, category, thread);
            }
            count += 1;
        }
        *self.events.entry(last).or_default() += count;
    }

    fn calls(&mut self, view: &calls::View<'_>) {
        let numbers = self.columns.callee.of(view.callee.values(), &mut self.names);
        for row in 0..view.rows {
            let sums = self.calls.entry(numbers[view.callee.keys()[row] as usize]).or_default();
            sums.add(view.count.get(row), view.incl_ns.get(row), view.excl_ns.get(row));
        }
    }

    fn switches(&mut self, view: &switches::View<'_>) {
        let trace = self.trace();
        for row in 0..view.rows {
            let thread_id = view.thread_id.get(row);
            if !self.is_plain && !self.takes_row(view.ts_ns.get(row), thread_id) {
                continue;
            }
            let thread = self.threads.at(trace, thread_id);
            thread.switches += 1;
            thread.off_cpu_ns = thread.off_cpu_ns.saturating_add(whole(view.dur_ns.get(row)));
        }
    }
}

impl TableSink for Stats {
    fn wants(&self, table: Table) -> Columns {
        let has = |by| self.options.has(by);
        let (is_part, is_paired) = (!self.is_plain, self.pairs.is_some());
        let has_threads = self.part.has_threads();
        let columns: &[(&str, bool)] = match table {
            Table::Spans => &[
                ("thread_id", true),
                ("dur_ns", true),
                ("self_ns", true),
                ("name", true),
                ("category", true),
                ("ts_ns", is_part),
                ("file", has(By::File) || has(By::Line)),
                ("line", has(By::Line)),
                ("parent_id", has(By::Parent)),
            ],
            Table::Counters => {
                &[("ts_ns", true), ("thread_id", is_paired || has_threads), ("name", true), ("value", true)]
            }
            Table::Events => {
                &[("ts_ns", is_part), ("thread_id", has(By::Thread) || has_threads), ("name", true), ("category", true)]
            }
            Table::Switches => &[("ts_ns", is_part), ("dur_ns", true), ("thread_id", true)],
            Table::Threads => &[("id", true), ("tid", true), ("name", true)],
            Table::Calls => &[("callee", true), ("count", true), ("incl_ns", true), ("excl_ns", true)],
            _ => return Columns::NONE,
        };
        let wanted: Vec<&str> = columns.iter().filter(|(_, wanted)| *wanted).map(|(column, _)| *column).collect();
        Columns::named(table, &wanted)
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> traceloom_core::Result<Flow> {
        match table {
            Table::Spans => self.spans(&batch),
            Table::Counters => self.counters(&counters::View::of(&batch)),
            Table::Events => self.events(&events::View::of(&batch)),
            Table::Switches => self.switches(&switches::View::of(&batch)),
            Table::Threads => self.threads.name(self.traces.saturating_sub(1), &threads::View::of(&batch)),
            Table::Calls => self.calls(&calls::View::of(&batch)),
            _ => {}
        }
        Ok(Flow::Continue)
    }
}

/// Rows of one thread come together; most batches hold one thread only, and to see that takes no branch for each row.
fn runs(threads: &[i64]) -> impl Iterator<Item = &[i64]> {
    let first = threads.first().copied().unwrap_or(0);
    let differs = threads.iter().fold(0, |differs, thread| differs | (thread ^ first)) != 0;
    let (whole, mixed) = if differs { (None, threads) } else { (Some(threads), &[][..]) };
    whole.into_iter().filter(|run| !run.is_empty()).chain(mixed.chunk_by(|one, other| one == other))
}

/// Frames and ranges lie across the spans of the threads: their time is counted there already.
fn is_overlay(category: Option<&str>) -> bool {
    matches!(category, Some("frame" | "range"))
}

fn takes(options: &Options, names: &Names, name: u32, ts_ns: i64) -> bool {
    options.takes_time(ts_ns)
        && (options.names.is_empty() || names.get(name).is_some_and(|name| options.names.iter().any(|one| one == name)))
}

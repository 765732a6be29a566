//! `stats`: calls, times and shares by name.

mod histogram;
mod json;
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
use traceloom_model::{Columns, Filter, Flow, SpanCategory, Table, TableSink, TableSource, Wanted, select};
use traceloom_passes::{Budget, Interner, NO_NUMBER, RowFilter, Translation, number_of};

pub(crate) use self::keys::Groups;
pub use self::{
    histogram::{Bin, Durations, Histogram, Measured},
    options::{By, Options, Pairing, Sort},
    report::{
        CallRow, Complexity, EventRow, Fit, FrameOf, Pair, Relation, Report, SpanRow, SpanSums, ThreadRow, ValueRow,
    },
    survey::Survey,
};
use self::{
    keys::Key,
    relation::Pairs,
    rows::Sums,
    survey::{Frame, Places},
    values::{Counters, Values},
};
use crate::{
    group::whole,
    threads::{ThreadRows, Threads},
};

// Columns that only some options need are separate; for example, finding parents needs a tree.
select! { struct Spans of spans { thread_id, dur_ns, self_ns, name, category } }
select! { struct SpanTimes of spans { ts_ns } }
select! { struct SpanFiles of spans { file, line } }
select! { struct SpanParents of spans { parent_id } }
select! { struct Events of events { name, category } }
select! { struct EventPlaces of events { ts_ns, thread_id } }
select! { struct Switches of switches { ts_ns, dur_ns, thread_id } }
select! { struct Calls of calls { callee, count, incl_ns, excl_ns } }

/// Statistics of several traces; each source is one trace, with its times on the common axis.
pub fn of_traces(traces: impl IntoIterator<Item = impl TableSource>, options: &Options) -> Result<Report> {
    let narrow = Filter::in_range(options.range);
    let mut stats = Stats::new(options.clone());
    for trace in traces {
        let _kept = trace.keep();
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
    names: Interner,
    columns: NameColumns,
    groups: Groups,
    budget: Budget,
    threads: Threads,
    values: Values,
    events: HashMap<(u32, u32, u32), u64>,
    calls: HashMap<u32, Sums>,
    pairs: Option<Pairs>,
    places: Places,
    /// The frames of all traces so far.
    frames: Vec<Frame>,
    first_frame: u32,
    traces: u32,
    /// The rows of this trace that count.
    rows: RowFilter,
    /// Spans are grouped only by name, and all of them count.
    is_plain: bool,
    /// Max number of names that are distinguished, unless the options contain names.
    most_names: usize,
}

#[derive(Debug, Default)]
struct NameColumns {
    span: Translation,
    category: Translation,
    file: Translation,
    event: Translation,
    event_category: Translation,
    callee: Translation,
    paired: Translation,
}

impl Stats {
    /// Creates an empty sink.
    pub fn new(options: Options) -> Self {
        Self {
            names: Interner::default(),
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
            rows: RowFilter::default(),
            is_plain: options.is_plain(),
            most_names: options.most_names(),
            options,
        }
    }

    /// Starts the next trace.
    pub fn begin(&mut self) {
        self.begin_within(&Filter::default());
    }

    /// Starts the next trace, of which only this part counts; traces with different offsets on the axis need different
    /// parts.
    pub fn begin_within(&mut self, part: &Filter) {
        self.rows = RowFilter::new(part, self.options.range);
        self.is_plain = self.options.is_plain() && self.rows.is_everything();
        self.traces += 1;
        self.places = Places::default();
    }

    /// A sink for a first pass over the trace; `None` if it is not needed.
    pub fn survey(&mut self) -> Option<Survey> {
        let (parents, frames) = (self.options.has(By::Parent), self.options.has(By::Frame));
        (parents || frames).then(|| Survey::new(std::mem::take(&mut self.names), parents, frames))
    }

    /// Takes the result of the first pass.
    pub fn surveyed(&mut self, survey: Survey) {
        (self.places, self.names) = survey.finish();
        self.first_frame = self.frames.len() as u32;
        self.frames.extend_from_slice(&self.places.frames);
    }

    /// The sums of all spans so far; they need no report.
    pub fn sums(&self) -> SpanSums {
        self.groups.sums()
    }

    /// The report.
    pub fn finish(self) -> Report {
        rows::report(self)
    }

    fn trace(&self) -> u32 {
        self.traces.saturating_sub(1)
    }

    fn spans(&mut self, batch: &RecordBatch) -> Result<()> {
        let view = Spans::of(batch)?;
        let categories = self.columns.category.of(view.category.values(), &mut self.names);
        let overlays: Vec<bool> = categories.iter().map(|category| is_overlay(self.names.get(*category))).collect();
        let has_overlays = overlays.contains(&true);
        let closed = view.dur_ns.dense().zip(view.self_ns.dense());
        match closed.filter(|_| self.is_plain && !has_overlays) {
            Some((durs, owns)) => self.plain_spans(&view, durs, owns),
            None => {
                let times = (!self.is_plain).then(|| SpanTimes::of(batch)).transpose()?;
                self.told_apart(batch, &view, times.as_ref())?;
                self.busy(&view, times.as_ref(), &overlays);
            }
        }
        Ok(())
    }

    /// The common case, in one pass: spans are grouped only by name, and all are closed.
    fn plain_spans(&mut self, view: &Spans<'_>, durs: &[i64], owns: &[i64]) {
        let trace = self.trace();
        let Self { names, columns, groups, budget, threads, most_names, .. } = self;
        let numbers = columns.span.within(view.name.values(), names, *most_names);
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

    /// Adds up the busy time of each thread.
    fn busy(&mut self, view: &Spans<'_>, times: Option<&SpanTimes<'_>>, overlays: &[bool]) {
        let trace = self.trace();
        for row in 0..view.rows {
            let thread_id = view.thread_id.get(row);
            let is_in = times.is_none_or(|times| self.rows.takes(times.ts_ns.get(row), Some(thread_id)));
            if !is_in || overlays[view.category.keys()[row] as usize] {
                continue;
            }
            let thread = self.threads.at(trace, thread_id);
            thread.spans += 1;
            thread.busy_ns = thread.busy_ns.saturating_add(whole(view.self_ns.get(row).unwrap_or(0)));
        }
    }

    fn told_apart(&mut self, batch: &RecordBatch, view: &Spans<'_>, times: Option<&SpanTimes<'_>>) -> Result<()> {
        let trace = self.trace();
        let Self { options, names, columns, groups, budget, threads, places, rows, most_names, .. } = self;
        let [by_category, by_file, by_frame, by_line, by_parent, by_thread] =
            [By::Category, By::File, By::Frame, By::Line, By::Parent, By::Thread].map(|by| options.has(by));
        let parents = by_parent.then(|| SpanParents::of(batch)).transpose()?;
        let lines = (by_file || by_line).then(|| SpanFiles::of(batch)).transpose()?;
        let span_names = columns.span.within(view.name.values(), names, *most_names);
        let files = columns.file.of(lines.as_ref().and_then(|lines| lines.file.values()), names);
        let categories = columns.category.of(view.category.values(), names);
        for row in 0..view.rows {
            let name = span_names[view.name.keys()[row] as usize];
            let ts_ns = times.map_or(0, |times| times.ts_ns.get(row));
            let thread_id = view.thread_id.get(row);
            let is_in = || options.takes_name(names.get(name)) && rows.takes(ts_ns, Some(thread_id));
            if times.is_some() && !is_in() {
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
            if let Some(lines) = &lines {
                key.file = number_of(files, lines.file.key(row));
                key.line = lines.line.get(row).filter(|_| by_line).unwrap_or(NO_NUMBER);
            }
            if let Some(parents) = &parents {
                key.parent = places.parent(parents.parent_id.get(row));
            }
            if by_frame {
                let frame = places.frame(thread_id, ts_ns);
                key.frame = if frame == NO_NUMBER { NO_NUMBER } else { self.first_frame + frame };
            }
            groups.of_key(key).add(view.dur_ns.get(row), view.self_ns.get(row), budget);
            if let Some((pairs, pairing)) = self.pairs.as_mut().zip(options.relation.as_ref())
                && names.get(name) == Some(&pairing.span)
                && let Some(dur_ns) = view.dur_ns.get(row)
            {
                pairs.span(threads.number(trace, thread_id), ts_ns, dur_ns);
            }
        }
        Ok(())
    }

    fn counters(&mut self, view: &Counters<'_>) {
        let Self { options, values, names, budget, rows, .. } = self;
        values.add(view, names, budget, |names, name, ts_ns, thread_id| {
            options.takes_name(names.get(name)) && rows.takes(ts_ns, thread_id)
        });
        let trace = self.trace();
        let Some((pairs, pairing)) = self.pairs.as_mut().zip(self.options.relation.as_ref()) else { return };
        let numbers = self.columns.paired.of(view.name.values(), &mut self.names);
        for row in 0..view.rows {
            let is_wanted = self.names.get(numbers[view.name.keys()[row] as usize]) == Some(&pairing.value);
            if let (true, Some(value), Some(thread_id)) = (is_wanted, view.value.get(row), view.thread_id.get(row))
                && self.rows.takes(view.ts_ns.get(row), Some(thread_id))
            {
                pairs.value(self.threads.number(trace, thread_id), view.ts_ns.get(row), value);
            }
        }
    }

    fn events(&mut self, view: &Events<'_>, places: Option<&EventPlaces<'_>>) {
        let trace = self.trace();
        let numbers = self.columns.event.of(view.name.values(), &mut self.names);
        let categories = self.columns.event_category.of(view.category.values(), &mut self.names);
        let by_thread = self.options.has(By::Thread);
        // Events of one name are often adjacent.
        let (mut last, mut count) = ((NO_NUMBER, NO_NUMBER, NO_NUMBER), 0);
        for row in 0..view.rows {
            let name = numbers[view.name.keys()[row] as usize];
            let takes = |places: &EventPlaces<'_>| {
                self.options.takes_name(self.names.get(name))
                    && self.rows.takes(places.ts_ns.get(row), places.thread_id.get(row))
            };
            if !places.is_none_or(takes) {
                continue;
            }
            let category = categories[view.category.keys()[row] as usize];
            let thread = places.filter(|_| by_thread).and_then(|places| places.thread_id.get(row));
            let thread = thread.map_or(NO_NUMBER, |thread_id| self.threads.number(trace, thread_id));
            if last != (name, category, thread) {
                *self.events.entry(last).or_default() += std::mem::take(&mut count);
                last = (name, category, thread);
            }
            count += 1;
        }
        *self.events.entry(last).or_default() += count;
    }

    fn calls(&mut self, view: &Calls<'_>) {
        let numbers = self.columns.callee.of(view.callee.values(), &mut self.names);
        for row in 0..view.rows {
            let sums = self.calls.entry(numbers[view.callee.keys()[row] as usize]).or_default();
            sums.add(view.count.get(row), view.incl_ns.get(row), view.excl_ns.get(row));
        }
    }

    fn switches(&mut self, view: &Switches<'_>) {
        let trace = self.trace();
        for row in 0..view.rows {
            let thread_id = view.thread_id.get(row);
            if self.rows.takes(view.ts_ns.get(row), Some(thread_id)) {
                let thread = self.threads.at(trace, thread_id);
                thread.switches += 1;
                thread.off_cpu_ns = thread.off_cpu_ns.saturating_add(whole(view.dur_ns.get(row)));
            }
        }
    }

    /// The columns of the grouping keys.
    fn span_columns(&self) -> Wanted {
        let has = |by| self.options.has(by);
        let some = |columns: Columns, is_wanted: bool| if is_wanted { columns } else { Columns::NONE };
        Wanted::nothing()
            .and(Table::Spans, Spans::COLUMNS)
            .and(Table::Spans, some(SpanTimes::COLUMNS, !self.is_plain))
            .and(Table::Spans, some(SpanFiles::COLUMNS, has(By::File) || has(By::Line)))
            .and(Table::Spans, some(SpanParents::COLUMNS, has(By::Parent)))
    }

    fn event_columns(&self) -> Wanted {
        let places = if self.is_plain { Columns::NONE } else { EventPlaces::COLUMNS };
        Wanted::nothing().and(Table::Events, Events::COLUMNS).and(Table::Events, places)
    }
}

impl TableSink for Stats {
    fn wants(&self, table: Table) -> Columns {
        match table {
            Table::Spans => self.span_columns().columns(table),
            Table::Counters => Counters::COLUMNS,
            Table::Events => self.event_columns().columns(table),
            Table::Switches => Switches::COLUMNS,
            Table::Threads => ThreadRows::COLUMNS,
            // Sums of the whole trace have no times, so they cannot be limited to a range.
            Table::Calls if !self.rows.has_range() => Calls::COLUMNS,
            _ => Columns::NONE,
        }
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> Result<Flow> {
        match table {
            Table::Spans => self.spans(&batch)?,
            Table::Counters => self.counters(&Counters::of(&batch)?),
            Table::Events => {
                let places = (!self.is_plain).then(|| EventPlaces::of(&batch)).transpose()?;
                self.events(&Events::of(&batch)?, places.as_ref());
            }
            Table::Switches => self.switches(&Switches::of(&batch)?),
            Table::Threads => {
                let (trace, rows) = (self.trace(), &self.rows);
                self.threads.name(trace, &ThreadRows::of(&batch)?, |id| rows.takes_thread(Some(id)));
            }
            Table::Calls => self.calls(&Calls::of(&batch)?),
            _ => {}
        }
        Ok(Flow::Continue)
    }
}

/// Rows of one thread are adjacent; most batches hold only one thread, which is checked without a branch per row.
fn runs(threads: &[i64]) -> impl Iterator<Item = &[i64]> {
    let first = threads.first().copied().unwrap_or(0);
    let differs = threads.iter().fold(0, |differs, thread| differs | (thread ^ first)) != 0;
    let (whole, mixed) = if differs { (None, threads) } else { (Some(threads), &[][..]) };
    whole.into_iter().filter(|run| !run.is_empty()).chain(mixed.chunk_by(|one, other| one == other))
}

/// Frames and ranges overlap the spans of the threads, where their time is already counted.
fn is_overlay(category: Option<&str>) -> bool {
    matches!(category.and_then(SpanCategory::of), Some(SpanCategory::Frame | SpanCategory::Range))
}

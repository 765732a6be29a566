//! Builds the rows of the report from sums.

use std::cmp::Ordering;

use hashbrown::{HashMap, HashSet};
use traceloom_passes::{Interner, NO_NUMBER};

use super::{
    Frame, Report, Stats,
    histogram::Histogram,
    keys::{Key, OTHER},
    options::Sort,
    report::{CallRow, EventRow, FrameOf, SpanRow, ThreadRow},
};
use crate::{
    group::{Group, mean, whole},
    threads::{Thread, Threads},
};

/// The totals of one function from the profiler.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    calls: u64,
    total_ns: u64,
    self_ns: u64,
}

impl Sums {
    pub(super) fn add(&mut self, calls: u64, incl_ns: i64, excl_ns: i64) {
        self.calls = self.calls.saturating_add(calls);
        self.total_ns = self.total_ns.saturating_add(whole(incl_ns));
        self.self_ns = self.self_ns.saturating_add(whole(excl_ns));
    }
}

pub(super) fn report(stats: Stats) -> Report {
    let Stats { options, names, groups, threads, values, events, calls, pairs, frames, .. } = stats;
    let namer = Namer { names: &names, threads: &threads, frames: &frames };
    let merged = groups.merged;
    let groups: Vec<(Key, Group)> = groups.into_filled().collect();
    let wanted = options.histogram.as_deref();
    let histogram = wanted.and_then(|wanted| of_name(&groups, &names, wanted));
    let is_part = |key: &Key| !super::is_overlay(names.get(key.category));
    let self_ns =
        groups.iter().filter(|(key, _)| is_part(key)).map(|(_, group)| group.self_ns).fold(0, u64::saturating_add);
    let unclosed = groups.iter().map(|(_, group)| group.unclosed).sum();
    let is_wanted = |(key, group): &&(Key, Group)| !options.parts_only || is_part(key) && !group.samples.is_empty();
    let mut sorted: Vec<(u64, &(Key, Group))> =
        groups.iter().filter(is_wanted).map(|entry| (weight(&entry.1, options.sort), entry)).collect();
    // Rows are large, so they are made in order, and only those that are wanted.
    sorted
        .sort_by(|(one, (key, _)), (other, (other_key, _))| other.cmp(one).then_with(|| namer.compare(key, other_key)));
    let row = |(number, (_, (key, group))): (usize, &(u64, &(Key, Group)))| {
        let mut row = namer.row(key, group);
        row.share = is_part(key).then(|| part(row.self_ns, self_ns));
        row.histogram = (number < options.histograms && row.calls > 0)
            .then(|| Histogram::of(&group.samples, row.min_ns, row.max_ns, Histogram::SMALL_BINS));
        row
    };
    let spans = sorted.iter().enumerate().take(options.rows).map(row).collect();
    let all_spans = sorted.len();
    let mut calls: Vec<CallRow> = namer.calls(&calls);
    calls.sort_by(|one, other| other.self_ns.cmp(&one.self_ns).then_with(|| one.name.cmp(&other.name)));
    let events = events.into_iter().filter(|(_, count)| *count > 0);
    let mut events: Vec<EventRow> = events.map(|(key, count)| namer.event(key, count)).collect();
    events.sort_by(|one, other| {
        other
            .count
            .cmp(&one.count)
            .then_with(|| (&one.name, &one.category, one.tid).cmp(&(&other.name, &other.category, other.tid)))
    });
    let switched: HashSet<u32> =
        threads.list.iter().filter(|thread| thread.switches > 0).map(|thread| thread.trace).collect();
    let thread_row = |thread: &Thread| thread_row(thread, switched.contains(&thread.trace));
    let mut rows: Vec<ThreadRow> = threads.list.iter().map(thread_row).collect();
    rows.sort_by(|one, other| {
        other.busy_ns.cmp(&one.busy_ns).then_with(|| (one.trace, one.tid).cmp(&(other.trace, other.tid)))
    });
    Report {
        spans,
        all_spans,
        unclosed,
        calls,
        events,
        values: values.finish(&names),
        threads: rows,
        histogram,
        relation: pairs.map(|pairs| pairs.finish(&threads)),
        self_ns,
        merged,
    }
}

/// The durations of a name; if several groups have it, of the one with the most calls.
fn of_name(groups: &[(Key, Group)], names: &Interner, wanted: &str) -> Option<Histogram> {
    let of_name = groups.iter().filter(|(key, group)| names.get(key.name) == Some(wanted) && !group.samples.is_empty());
    let (sums, group) = of_name.map(|(_, group)| (group.sums(), group)).max_by_key(|(sums, _)| sums.count)?;
    Some(Histogram::of(&group.samples, sums.min, sums.max, Histogram::BINS))
}

struct Namer<'a> {
    names: &'a Interner,
    threads: &'a Threads,
    frames: &'a [Frame],
}

impl Namer<'_> {
    /// The order of rows with equal figures: by name, so that it does not depend on the file.
    fn compare(&self, one: &Key, other: &Key) -> Ordering {
        let thread = |key: &Key| self.thread(key.thread).map(Thread::label);
        let texts = |key: &Key| [key.file, key.parent, key.category].map(|number| self.names.get(number));
        let place = |key: &Key| (self.thread(key.thread).and_then(|thread| thread.tid), line(key), self.frame(key));
        self.name(one)
            .cmp(self.name(other))
            .then_with(|| thread(one).cmp(&thread(other)))
            .then_with(|| texts(one).cmp(&texts(other)))
            .then_with(|| place(one).cmp(&place(other)))
    }

    fn name(&self, key: &Key) -> &str {
        if *key == OTHER { "(other)" } else { self.names.get(key.name).unwrap_or_default() }
    }

    /// The number of the frame, if it is known.
    fn frame(&self, key: &Key) -> Option<u32> {
        self.frames.get(key.frame as usize).map(|_| key.frame)
    }

    fn row(&self, key: &Key, group: &Group) -> SpanRow {
        let text = |number| self.names.get(number).map(str::to_owned);
        let thread = self.thread(key.thread);
        let (sums, quantiles) = group.samples.summary([0.5, 0.95, 0.99]);
        SpanRow {
            name: self.name(key).to_owned(),
            thread: thread.map(Thread::label),
            tid: thread.and_then(|thread| thread.tid),
            file: text(key.file),
            line: line(key),
            category: text(key.category),
            parent: text(key.parent),
            frame: self.frames.get(key.frame as usize).map(|frame| FrameOf {
                number: key.frame,
                name: text(frame.name).unwrap_or_default(),
                ts_ns: frame.ts_ns,
            }),
            calls: sums.count,
            unclosed: group.unclosed,
            total_ns: sums.total,
            self_ns: group.self_ns,
            min_ns: if sums.count == 0 { 0 } else { sums.min },
            mean_ns: mean(sums.total, sums.count),
            p50_ns: quantiles.map(|[p50, ..]| p50),
            p95_ns: quantiles.map(|[_, p95, _]| p95),
            p99_ns: quantiles.map(|[.., p99]| p99),
            max_ns: sums.max,
            share: None,
            is_exact: group.samples.is_exact(),
            histogram: None,
        }
    }

    fn thread(&self, number: u32) -> Option<&Thread> {
        self.threads.list.get(number as usize)
    }

    fn event(&self, (name, category, thread): (u32, u32, u32), count: u64) -> EventRow {
        let text = |number| self.names.get(number).unwrap_or_default().to_owned();
        let thread = self.thread(thread);
        EventRow {
            name: text(name),
            category: text(category),
            thread: thread.map(Thread::label),
            tid: thread.and_then(|thread| thread.tid),
            count,
        }
    }

    fn calls(&self, calls: &HashMap<u32, Sums>) -> Vec<CallRow> {
        let all = calls.values().fold(0_u64, |all, sums| all.saturating_add(sums.self_ns));
        let row = |(name, sums): (&u32, &Sums)| CallRow {
            name: self.names.get(*name).unwrap_or_default().to_owned(),
            calls: sums.calls,
            total_ns: sums.total_ns,
            self_ns: sums.self_ns,
            mean_ns: mean(sums.total_ns, sums.calls),
            share: part(sums.self_ns, all),
        };
        calls.iter().map(row).collect()
    }
}

fn line(key: &Key) -> Option<u32> {
    (key.line != NO_NUMBER).then_some(key.line)
}

fn thread_row(thread: &Thread, has_switches: bool) -> ThreadRow {
    ThreadRow {
        name: thread.label(),
        tid: thread.tid,
        trace: thread.trace,
        threads: thread.others.max(1),
        spans: thread.spans,
        busy_ns: thread.busy_ns,
        switches: has_switches.then_some(thread.switches),
        off_cpu_ns: has_switches.then_some(thread.off_cpu_ns),
    }
}

fn part(of: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { of as f64 / all as f64 }
}

/// The figure that a group is sorted by; larger ones come first.
fn weight(group: &Group, by: Sort) -> u64 {
    // Of numbers that are not negative, larger ones have larger bits.
    let quantile = |at| group.samples.summary([at]).1.map_or(0, |[value]: [f64; 1]| value.max(0.0).to_bits() + 1);
    match by {
        Sort::Calls => group.sums().count,
        Sort::Max => group.sums().max,
        Sort::Mean => mean(group.sums().total, group.sums().count).to_bits(),
        Sort::Name => 0,
        Sort::P50 => quantile(0.5),
        Sort::P95 => quantile(0.95),
        Sort::P99 => quantile(0.99),
        Sort::SelfTime => group.self_ns,
        Sort::Total => group.sums().total,
    }
}

//! Builds the rows of the report from sums.

use std::cmp::Ordering;

use hashbrown::HashMap;
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
    let mut spans: Vec<(SpanRow, &Group)> = groups.iter().map(|(key, group)| (namer.row(key, group), group)).collect();
    for ((row, _), (key, _)) in spans.iter_mut().zip(&groups) {
        row.share = is_part(key).then(|| part(row.self_ns, self_ns));
    }
    sort(&mut spans, options.sort);
    for (row, group) in spans.iter_mut().take(options.histograms).filter(|(row, _)| row.calls > 0) {
        row.histogram = Some(Histogram::of(&group.samples, row.min_ns, row.max_ns, Histogram::SMALL_BINS));
    }
    let spans = spans.into_iter().map(|(row, _)| row).collect();
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
    let mut rows: Vec<ThreadRow> = threads.list.iter().map(thread_row).collect();
    rows.sort_by(|one, other| {
        other.busy_ns.cmp(&one.busy_ns).then_with(|| (one.trace, one.tid).cmp(&(other.trace, other.tid)))
    });
    Report {
        spans,
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
    fn row(&self, key: &Key, group: &Group) -> SpanRow {
        let text = |number| self.names.get(number).map(str::to_owned);
        let thread = self.thread(key.thread);
        let (sums, quantiles) = group.samples.summary([0.5, 0.95, 0.99]);
        SpanRow {
            name: if *key == OTHER { "(other)".to_owned() } else { text(key.name).unwrap_or_default() },
            thread: thread.map(Thread::label),
            tid: thread.and_then(|thread| thread.tid),
            file: text(key.file),
            line: (key.line != NO_NUMBER).then_some(key.line),
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

fn thread_row(thread: &Thread) -> ThreadRow {
    ThreadRow {
        name: thread.label(),
        tid: thread.tid,
        trace: thread.trace,
        threads: thread.others.max(1),
        spans: thread.spans,
        busy_ns: thread.busy_ns,
        switches: thread.switches,
        off_cpu_ns: thread.off_cpu_ns,
    }
}

fn part(of: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { of as f64 / all as f64 }
}

/// Largest first; equal rows are sorted by name, so that the order does not depend on the file.
fn sort(rows: &mut [(SpanRow, &Group)], by: Sort) {
    let known = |value: Option<f64>| value.unwrap_or(-1.0);
    let larger = |one: &SpanRow, other: &SpanRow| -> Ordering {
        match by {
            Sort::Calls => other.calls.cmp(&one.calls),
            Sort::Max => other.max_ns.cmp(&one.max_ns),
            Sort::Mean => other.mean_ns.total_cmp(&one.mean_ns),
            Sort::Name => Ordering::Equal,
            Sort::P50 => known(other.p50_ns).total_cmp(&known(one.p50_ns)),
            Sort::P95 => known(other.p95_ns).total_cmp(&known(one.p95_ns)),
            Sort::P99 => known(other.p99_ns).total_cmp(&known(one.p99_ns)),
            Sort::SelfTime => other.self_ns.cmp(&one.self_ns),
            Sort::Total => other.total_ns.cmp(&one.total_ns),
        }
    };
    let place = |row: &SpanRow| (row.tid, row.line, row.frame.as_ref().map(|frame| frame.number));
    rows.sort_by(|(one, _), (other, _)| {
        let texts = |row: &SpanRow| [&row.thread, &row.file, &row.parent, &row.category].map(Clone::clone);
        larger(one, other)
            .then_with(|| one.name.cmp(&other.name))
            .then_with(|| texts(one).cmp(&texts(other)))
            .then_with(|| place(one).cmp(&place(other)))
    });
}

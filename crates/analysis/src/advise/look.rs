//! The second pass, only over the times, names and addresses that the first pass found suspicious.

use arrow_array::RecordBatch;
use hashbrown::HashMap;
use traceloom_core::{Result, TimeRange};
use traceloom_model::{Columns, Filter, Flow, Table, TableSink, TableSource, select, sink};
use traceloom_passes::{Interner, Translation};

use super::measure::{Measured, logs::LogSite};
use crate::{group::whole, threads::Threads};

select! { struct SpanRows of spans { thread_id, depth, ts_ns, dur_ns, self_ns, name } }
select! { struct SwitchRows of switches { ts_ns, dur_ns, thread_id, name } }
select! { struct BlockRows of allocations { address, stack_id, freed_ts_ns } }
select! { struct LineRows of logs { ts_ns, file, line, format, message } }

/// The questions that the first pass leaves open.
#[derive(Debug, Default)]
pub(super) struct Questions {
    /// Spans whose contents are added up.
    pub(super) windows: Vec<Windows>,
    /// Names whose spans may exclude each other.
    pub(super) intervals: Vec<Intervals>,
    /// Times of frees of unallocated addresses, by address.
    pub(super) lost_frees: HashMap<u64, Vec<i64>>,
}

/// Slow and usual spans of one thread.
#[derive(Debug, Default)]
pub(super) struct Windows {
    pub(super) thread: u32,
    pub(super) depth: u32,
    /// Start, end and index of the contents, sorted by start; they do not overlap.
    list: Vec<(i64, i64, usize)>,
    /// Number of windows that had begun at the last time looked up: usually as many have at the next one.
    passed: usize,
    /// The sum of all usual spans, then each slow span, slowest first.
    contents: Vec<Contents>,
}

/// The sum of the contents of windows.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) windows: u64,
    pub(super) dur_ns: u64,
    pub(super) names: HashMap<u32, Use>,
    /// Time during which the thread did not run, in total and by the name of what ran instead.
    pub(super) off_ns: u64,
    pub(super) off: HashMap<u32, u64>,
}

/// The spans of one name inside windows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Use {
    pub(super) count: u64,
    pub(super) self_ns: u64,
    pub(super) total_ns: u64,
    pub(super) depth: u32,
}

/// Spans of one name on all threads in a time range.
#[derive(Debug, Default)]
pub(super) struct Intervals {
    pub(super) name: u32,
    pub(super) from_ns: i64,
    pub(super) to_ns: i64,
    /// Start, end and thread.
    pub(super) list: Vec<(i64, i64, u32)>,
}

/// Max number of spans kept per name.
pub(super) const MAX_INTERVALS: usize = 1 << 16;

impl Windows {
    /// Creates windows from the starts and ends of usual spans and of slow spans, slowest first.
    pub(super) fn new(
        (thread, depth): (u32, u32),
        usual: impl Iterator<Item = (i64, i64)>,
        slow: impl Iterator<Item = (i64, i64)>,
    ) -> Self {
        let slow = (1..).zip(slow).map(|(number, (begin, end))| (begin, end, number));
        let mut list: Vec<_> = usual.map(|(begin, end)| (begin, end, 0)).chain(slow).collect();
        let count = list.iter().map(|(.., number)| number + 1).max().unwrap_or(1);
        list.sort_unstable_by_key(|(begin, end, number)| (*begin, *end, *number));
        list.dedup_by_key(|(begin, ..)| *begin);
        let mut contents: Vec<Contents> = std::iter::repeat_with(Contents::default).take(count).collect();
        for (begin, end, number) in &list {
            contents[*number].windows += 1;
            contents[*number].dur_ns = contents[*number].dur_ns.saturating_add(whole(end.saturating_sub(*begin)));
        }
        Self { thread, depth, list, passed: 0, contents }
    }

    /// The window at a time: the index of its contents, and its end.
    fn at(&mut self, ts_ns: i64) -> Option<(usize, i64)> {
        let has_begun = |place: usize| self.list.get(place).is_some_and(|(begin, ..)| *begin <= ts_ns);
        if has_begun(self.passed) || self.passed > 0 && !has_begun(self.passed - 1) {
            self.passed = self.list.partition_point(|(begin, ..)| *begin <= ts_ns);
        }
        let (_, end, number) = self.list.get(self.passed.checked_sub(1)?)?;
        (ts_ns < *end).then_some((*number, *end))
    }

    /// The contents of all usual windows.
    pub(super) fn usual(&self) -> &Contents {
        &self.contents[0]
    }

    /// The contents of each slow window, slowest first.
    pub(super) fn each_slow(&self) -> &[Contents] {
        &self.contents[1..]
    }

    /// The contents of all slow windows.
    pub(super) fn slow(&self) -> Contents {
        let mut sum = Contents::default();
        for one in self.each_slow() {
            sum.windows += one.windows;
            sum.dur_ns = sum.dur_ns.saturating_add(one.dur_ns);
            sum.off_ns = sum.off_ns.saturating_add(one.off_ns);
            for (name, one) in &one.names {
                sum.names.entry(*name).or_insert(Use { depth: u32::MAX, ..Use::default() }).add(one);
            }
            for (name, off_ns) in &one.off {
                *sum.off.entry(*name).or_default() += off_ns;
            }
        }
        sum
    }
}

impl Use {
    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.self_ns = self.self_ns.saturating_add(other.self_ns);
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.depth = self.depth.min(other.depth);
    }
}

impl Questions {
    /// The smallest time range that covers all questions.
    fn range(&self) -> Option<TimeRange> {
        if !self.lost_frees.is_empty() {
            return Some(TimeRange::default());
        }
        let windows = self.windows.iter().flat_map(|windows| windows.list.iter().map(|(begin, end, _)| (*begin, *end)));
        let all = windows.chain(self.intervals.iter().map(|intervals| (intervals.from_ns, intervals.to_ns)));
        let (from_ns, to_ns) = all.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))?;
        Some(TimeRange::new(Some(from_ns), Some(to_ns.saturating_add(1))))
    }

    /// Fills in the answers; returns the stacks of blocks that were freed twice, with their counts.
    pub(super) fn ask(
        &mut self,
        trace: &(impl TableSource + ?Sized),
        measured: &mut Measured,
    ) -> Result<HashMap<Option<i64>, u64>> {
        let Some(range) = self.range() else { return Ok(HashMap::new()) };
        let mut look = Look {
            questions: self,
            names: &mut measured.names,
            threads: &mut measured.threads,
            spans: Translation::default(),
            switches: Translation::default(),
            freed: HashMap::new(),
        };
        trace.pour(&Filter::in_range(range), &mut look)?;
        let mut twice: HashMap<Option<i64>, u64> = HashMap::new();
        for (_, stack) in look.freed.values() {
            *twice.entry(*stack).or_default() += 1;
        }
        Ok(twice)
    }
}

struct Look<'a> {
    questions: &'a mut Questions,
    names: &'a mut Interner,
    threads: &'a mut Threads,
    spans: Translation,
    switches: Translation,
    /// By address and index of the free: the time of the first free of the preceding block, and its stack.
    freed: HashMap<(u64, usize), (i64, Option<i64>)>,
}

impl Look<'_> {
    fn spans(&mut self, view: &SpanRows<'_>) {
        let numbers = self.spans.of(view.name.values(), self.names);
        let Questions { windows, intervals, .. } = &mut *self.questions;
        for row in 0..view.rows {
            let Some(dur_ns) = view.dur_ns.get(row).map(whole) else { continue };
            let ts_ns = view.ts_ns.get(row);
            let thread = self.threads.number(0, view.thread_id.get(row));
            let name = numbers[view.name.keys()[row] as usize];
            let Some(self_ns) = view.self_ns.get(row).map(whole) else { continue };
            for windows in windows.iter_mut().filter(|windows| windows.thread == thread) {
                let depth = view.depth.get(row);
                if let Some((number, _)) = windows.at(ts_ns).filter(|_| depth >= windows.depth) {
                    let fresh = Use { depth: u32::MAX, ..Use::default() };
                    let sums = windows.contents[number].names.entry(name).or_insert(fresh);
                    sums.add(&Use { count: 1, self_ns, total_ns: dur_ns, depth });
                }
            }
            for intervals in intervals.iter_mut().filter(|intervals| intervals.name == name) {
                let is_inside = intervals.from_ns <= ts_ns && ts_ns < intervals.to_ns;
                if is_inside && intervals.list.len() < MAX_INTERVALS {
                    intervals.list.push((ts_ns, ts_ns.saturating_add_unsigned(dur_ns), thread));
                }
            }
        }
    }

    fn switches(&mut self, view: &SwitchRows<'_>) {
        let numbers = self.switches.of(view.name.values(), self.names);
        for row in 0..view.rows {
            let (ts_ns, dur_ns) = (view.ts_ns.get(row), view.dur_ns.get(row));
            let thread = self.threads.number(0, view.thread_id.get(row));
            let name = numbers[view.name.keys()[row] as usize];
            for windows in self.questions.windows.iter_mut().filter(|windows| windows.thread == thread) {
                if let Some((number, end_ns)) = windows.at(ts_ns) {
                    let off_ns = whole(dur_ns.min(end_ns.saturating_sub(ts_ns)));
                    let contents = &mut windows.contents[number];
                    contents.off_ns = contents.off_ns.saturating_add(off_ns);
                    *contents.off.entry(name).or_default() += off_ns;
                }
            }
        }
    }

    fn has_times(&self) -> bool {
        !self.questions.windows.is_empty() || !self.questions.intervals.is_empty()
    }

    fn blocks(&mut self, view: &BlockRows<'_>) {
        for row in 0..view.rows {
            let (address, Some(freed_ns)) = (view.address.get(row), view.freed_ts_ns.get(row)) else { continue };
            let Some(times) = self.questions.lost_frees.get(&address) else { continue };
            let later = times.iter().enumerate().filter(|(_, lost_ns)| **lost_ns >= freed_ns);
            for (number, _) in later {
                let block = (freed_ns, view.stack_id.get(row));
                let last = self.freed.entry((address, number)).or_insert(block);
                *last = if last.0 < freed_ns { block } else { *last };
            }
        }
    }
}

sink! {
    impl for Look<'_> as look {
        SpanRows(rows) if look.has_times() => look.spans(rows),
        SwitchRows(rows) if look.has_times() => look.switches(rows),
        BlockRows(rows) if !look.questions.lost_frees.is_empty() => look.blocks(rows),
    }
}

/// The text of the first line that a site logs.
pub(super) fn first_line(
    trace: &(impl TableSource + ?Sized),
    measured: &mut Measured,
    site: LogSite,
    ts_ns: i64,
) -> Result<Option<String>> {
    let mut line = FirstLine { names: &mut measured.names, site, ts_ns, text: None };
    trace.pour(&Filter::in_range(TimeRange::new(Some(ts_ns), Some(ts_ns.saturating_add(1)))), &mut line)?;
    Ok(line.text)
}

struct FirstLine<'a> {
    names: &'a mut Interner,
    site: LogSite,
    ts_ns: i64,
    text: Option<String>,
}

/// Max number of characters of a line to show.
const MAX_TEXT: usize = 200;

impl TableSink for FirstLine<'_> {
    fn wants(&self, table: Table) -> Columns {
        if table == Table::Logs { LineRows::COLUMNS } else { Columns::NONE }
    }

    fn batch(&mut self, _: Table, batch: RecordBatch) -> Result<Flow> {
        let view = LineRows::of(&batch)?;
        for row in (0..view.rows).filter(|row| view.ts_ns.get(*row) == Some(self.ts_ns)) {
            let is_site = view.format.get(row) == self.names.get(self.site.format)
                && view.file.get(row) == self.names.get(self.site.file);
            if is_site && self.text.is_none() {
                self.text = Some(view.message.get(row).chars().take(MAX_TEXT).collect());
            }
        }
        Ok(if self.text.is_some() { Flow::Stop } else { Flow::Continue })
    }
}

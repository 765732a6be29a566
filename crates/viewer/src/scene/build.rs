//! Fills a scene from the tables of a trace.

use std::{
    collections::{HashMap, HashSet},
    hash::BuildHasher,
    sync::{Arc, RwLock},
};

use arrow_array::RecordBatch;
use traceloom_analysis::lod::LaneKey;
use traceloom_model::{Columns, EventCategory, Flow, SpanCategory, Table, TableSink, select};
use traceloom_passes::{AllocationChanges, MemoryCurve, Translation, Words};

use super::{Counter, Link, Point, Scene, Series, TraceInfo, Track, Values, logs::LogSite};

/// Spans that do not nest with each other have separate lanes.
pub(crate) const NESTED: u8 = 0;
pub(crate) const FRAME: u8 = 1;
pub(crate) const RANGE: u8 = 2;

/// Max depth of lanes; deeper spans share the last lane, because nobody can look at such deep stacks.
const MAX_DEPTH: u32 = 1_023;

/// Max number of threads of a trace with separate tracks; the others share the last one.
const MAX_TRACKS: usize = 4_096;
/// Max number of series of a trace with separate charts; the others share one.
const MAX_SERIES: usize = 4_096;
/// Approximate max number of lanes of a trace; with more tracks, each shows fewer levels.
const MAX_LANES: usize = 1 << 16;

/// Memory limit for sorting memory changes, in bytes; beyond it, neighboring changes are merged.
const MEMORY_BYTES: usize = 64 << 20;

/// A sink that fills the scene batch by batch, so that it can be drawn at any time.
pub(crate) struct Builder {
    scene: Arc<RwLock<Scene>>,
    trace: u32,
    /// The tracks of threads with a separate track.
    tracks: HashMap<i64, u32>,
    /// The track that the other threads share if there are too many.
    shared_track: Option<u32>,
    processes: HashMap<i64, String>,
    counters: HashMap<SeriesKey, usize>,
    /// The counters for numbers and texts that series share if there are too many.
    shared_counters: [Option<SharedCounter>; 2],
    span_names: Translation,
    span_categories: Words<SpanCategory>,
    event_names: Translation,
    event_categories: Translation,
    event_kinds: Words<EventCategory>,
    levels: Translation,
    files: Translation,
    log_sites: LogSites,
    /// Number of log lines so far.
    log_lines: i64,
    memory: MemoryCurve,
}

impl Builder {
    pub(crate) fn new(scene: Arc<RwLock<Scene>>, trace: u32) -> Self {
        Self {
            scene,
            trace,
            tracks: HashMap::new(),
            shared_track: None,
            processes: HashMap::new(),
            counters: HashMap::new(),
            shared_counters: [None, None],
            span_names: Translation::default(),
            span_categories: Words::default(),
            event_names: Translation::default(),
            event_categories: Translation::default(),
            event_kinds: Words::default(),
            levels: Translation::default(),
            files: Translation::default(),
            log_sites: LogSites::default(),
            log_lines: 0,
            memory: MemoryCurve::new(MEMORY_BYTES),
        }
    }

    /// Called when the trace is read from its start again, after its data was dropped.
    pub(crate) fn restart(&mut self) {
        (self.log_sites, self.log_lines) = (LogSites::default(), 0);
        self.memory = MemoryCurve::new(MEMORY_BYTES);
    }

    /// Called after the last batch.
    pub(crate) fn finish(mut self) {
        self.arrange();
    }

    /// Sorts everything that arrived so far.
    pub(crate) fn arrange(&mut self) {
        let memory = series_of(&self.memory);
        let Ok(mut scene) = self.scene.write() else { return };
        if scene.is_closed(self.trace) {
            // Batches arrived after the user closed the trace.
            return scene.close(self.trace);
        }
        scene.lanes.close();
        scene.tracks.iter_mut().for_each(|track| {
            track.events.close();
            track.bookmarks.close();
            track.switches.close();
        });
        scene.counters.iter_mut().for_each(|counter| match &mut counter.values {
            Values::Numbers(series) => series.close(),
            Values::Texts(labels) => labels.close(),
        });
        scene.logs.close();
        if let Some(trace) = scene.traces.get_mut(self.trace as usize) {
            trace.memory = memory;
        }
        for shared in self.shared_counters.iter().flatten() {
            scene.counters[shared.number].series = shared.seen.len();
        }
        scene.revision += 1;
    }

    /// The track of a thread; the row with its name may come later.
    fn track(&mut self, scene: &mut Scene, thread_id: i64) -> u32 {
        if let Some(track) = self.tracks.get(&thread_id) {
            return *track;
        }
        if let Some(number) = self.shared_track {
            scene.tracks[number as usize].share(thread_id);
            return number;
        }
        scene.tracks.push(Track::new(self.trace, thread_id));
        let number = scene.tracks.len() as u32 - 1;
        self.tracks.insert(thread_id, number);
        if self.tracks.len() == MAX_TRACKS {
            self.shared_track = Some(number);
        }
        number
    }

    /// The deepest level of spans with a separate lane.
    fn max_depth(&self) -> u32 {
        ((MAX_LANES / self.tracks.len().max(1)) as u32).min(MAX_DEPTH)
    }

    fn take_threads(&mut self, scene: &mut Scene, rows: &ThreadRow<'_>) {
        for row in 0..rows.rows {
            let number = self.track(scene, rows.id.get(row));
            let track = &mut scene.tracks[number as usize];
            if !track.more_threads.is_empty() {
                continue;
            }
            track.tid = rows.tid.get(row);
            track.name = rows.name.get(row).unwrap_or_default().to_owned();
            track.kind = rows.kind.get(row).unwrap_or_default().to_owned();
            track.process = self.processes.get(&rows.process_id.get(row)).cloned().unwrap_or_default();
        }
    }

    fn take_processes(&mut self, rows: &ProcessRow<'_>) {
        for row in 0..rows.rows {
            let name = rows.name.get(row).unwrap_or_default();
            let shown = match rows.pid.get(row) {
                Some(pid) if name.is_empty() => format!("process {pid}"),
                Some(pid) => format!("{name} ({pid})"),
                None => name.to_owned(),
            };
            self.processes.insert(rows.id.get(row), shown);
        }
    }

    fn take_spans(&mut self, scene: &mut Scene, rows: &SpanRow<'_>) {
        let (mut names, mut categories) =
            (std::mem::take(&mut self.span_names), std::mem::take(&mut self.span_categories));
        let numbers = scene.names.numbers(&mut names, rows.name.values());
        let kinds = categories.of(rows.category.values(), SpanCategory::of);
        let (keys, category_keys) = (rows.name.keys(), rows.category.keys());
        let (begins, thread_ids, ids) = (rows.ts_ns.values(), rows.thread_id.values(), rows.id.values());
        let max_depth = self.max_depth();
        let mut last = None;
        for row in 0..rows.rows {
            let track = match last {
                Some((thread, track)) if thread == thread_ids[row] => track,
                _ => self.track(scene, thread_ids[row]),
            };
            last = Some((thread_ids[row], track));
            let kind = match kinds[category_keys[row] as usize] {
                Some(SpanCategory::Frame) => FRAME,
                Some(SpanCategory::Range) => RANGE,
                _ => NESTED,
            };
            let name = numbers[keys[row] as usize];
            let dur = rows.dur_ns.get(row);
            let end = dur.map(|dur| begins[row].saturating_add(dur));
            let depth = rows.depth.get(row).min(max_depth);
            let id = u32::try_from(ids[row]).unwrap_or(u32::MAX);
            scene.lanes.lane(LaneKey { thread_id: i64::from(track), kind, depth }).push(begins[row], end, name, id);
            scene.names.count(name, dur.unwrap_or(0), rows.color.get(row));
            let track = &mut scene.tracks[track as usize];
            track.spans += 1;
            track.first_ns = Some(track.first_ns.map_or(begins[row], |first| first.min(begins[row])));
            if kind == NESTED && depth == 0 {
                track.busy_ns = track.busy_ns.saturating_add(dur.unwrap_or(0));
            }
        }
        extend(scene, self.trace, begins, |row| rows.dur_ns.get(row));
        (self.span_names, self.span_categories) = (names, categories);
    }

    fn take_events(&mut self, scene: &mut Scene, rows: &EventRow<'_>) {
        let mut columns = (std::mem::take(&mut self.event_names), std::mem::take(&mut self.event_categories));
        let mut kinds = std::mem::take(&mut self.event_kinds);
        let names = scene.names.numbers(&mut columns.0, rows.name.values());
        let categories = scene.names.numbers(&mut columns.1, rows.category.values());
        let meanings = kinds.of(rows.category.values(), EventCategory::of);
        let (name_keys, category_keys) = (rows.name.keys(), rows.category.keys());
        for row in 0..rows.rows {
            let track = self.track(scene, rows.thread_id.get(row).unwrap_or(0));
            let category = category_keys[row] as usize;
            let track = &mut scene.tracks[track as usize];
            if is_seen_otherwise(meanings[category]) {
                track.unseen_events += 1;
                continue;
            }
            let name = names[name_keys[row] as usize];
            let is_bookmark = meanings[category] == Some(EventCategory::Bookmark);
            let points = if is_bookmark { &mut track.bookmarks } else { &mut track.events };
            points.push(Point {
                ts_ns: rows.ts_ns.get(row),
                name,
                category: categories[category],
                id: rows.id.get(row),
            });
            scene.names.count_event(name);
        }
        extend(scene, self.trace, rows.ts_ns.values(), |_| None);
        (self.event_names, self.event_categories) = columns;
        self.event_kinds = kinds;
    }

    fn take_counters(&mut self, scene: &mut Scene, rows: &CounterRow<'_>) {
        for row in 0..rows.rows {
            let (number, text) = (rows.value.get(row).filter(|value| value.is_finite()), rows.text.get(row));
            if number.is_none() && text.is_none() {
                continue;
            }
            let name = scene.names.number(rows.name.get(row));
            let thread = rows.thread_id.get(row);
            let track = thread.map(|thread| self.track(scene, thread));
            let value_id = rows.value_id.get(row);
            let key = SeriesKey { thread, name, value_id, is_text: number.is_none() };
            let at = match self.counters.get(&key) {
                Some(at) => *at,
                None if self.counters.len() < MAX_SERIES => {
                    let values = Values::new(key.is_text);
                    scene.counters.push(Counter { trace: self.trace, track, name, value_id, series: 1, values });
                    self.counters.insert(key, scene.counters.len() - 1);
                    scene.counters.len() - 1
                }
                None => self.shared_counter(scene, &key),
            };
            match &mut scene.counters[at].values {
                Values::Numbers(series) => series.push(rows.ts_ns.get(row), number.unwrap_or_default()),
                Values::Texts(labels) => labels.push(rows.ts_ns.get(row), text.unwrap_or_default()),
            }
        }
        extend(scene, self.trace, rows.ts_ns.values(), |_| None);
    }

    /// The counter of series without a separate one.
    fn shared_counter(&mut self, scene: &mut Scene, key: &SeriesKey) -> usize {
        let shared = self.shared_counters[usize::from(key.is_text)].get_or_insert_with(|| {
            let (name, values) = (scene.names.number(""), Values::new(key.is_text));
            scene.counters.push(Counter { trace: self.trace, track: None, name, value_id: None, series: 0, values });
            SharedCounter { number: scene.counters.len() - 1, seen: HashSet::new() }
        });
        shared.seen.insert(self.counters.hasher().hash_one(key));
        shared.number
    }

    fn take_logs(&mut self, scene: &mut Scene, rows: &LogRow<'_>) {
        let levels = scene.names.numbers(&mut self.levels, rows.level_name.values());
        let files = scene.names.numbers(&mut self.files, rows.file.values());
        let (level_keys, ids) = (rows.level_name.keys(), rows.id.values());
        let (mut first_ns, mut last_ns, mut is_numbered) = (i64::MAX, i64::MIN, true);
        for row in 0..rows.rows {
            let site = LogSite {
                trace: self.trace,
                level_name: levels[level_keys[row] as usize],
                file: rows.file.key(row).map(|key| files[key as usize]),
                line: rows.line.get(row),
                definition_id: rows.definition_id.get(row),
            };
            let site = self.log_sites.number(site, scene);
            let ts_ns = rows.ts_ns.get(row);
            if let Some(ts_ns) = ts_ns {
                (first_ns, last_ns) = (first_ns.min(ts_ns), last_ns.max(ts_ns));
            }
            is_numbered &= ids[row] == self.log_lines;
            self.log_lines += 1;
            scene.logs.push(ts_ns, site, rows.message.get(row));
        }
        let Some(trace) = scene.traces.get_mut(self.trace as usize) else { return };
        trace.has_numbered_logs &= is_numbered;
        (trace.first_ns, trace.last_ns) = (trace.first_ns.min(first_ns), trace.last_ns.max(last_ns));
    }

    fn take_switches(&mut self, scene: &mut Scene, rows: &SwitchRow<'_>) {
        for row in 0..rows.rows {
            let track = self.track(scene, rows.thread_id.get(row));
            let name = scene.names.number(rows.name.get(row));
            let (begin, dur) = (rows.ts_ns.get(row), rows.dur_ns.get(row));
            let track = &mut scene.tracks[track as usize];
            track.switches.push(begin, Some(begin.saturating_add(dur)), name, track.switch_targets.len() as u32);
            track.switch_targets.push(rows.target_tid.get(row));
        }
        extend(scene, self.trace, rows.ts_ns.values(), |row| Some(rows.dur_ns.get(row)));
    }

    fn take_links(&mut self, scene: &mut Scene, rows: &LinkRow<'_>) {
        let links = (0..rows.rows).map(|row| Link {
            trace: self.trace,
            from_span: rows.from_span_id.get(row),
            to_span: rows.to_span_id.get(row),
            ts_ns: rows.ts_ns.get(row),
        });
        scene.links.extend(links);
        extend(scene, self.trace, rows.ts_ns.values(), |_| None);
    }

    fn take_allocations(&mut self, scene: &mut Scene, rows: &AllocationChanges<'_>) {
        (0..rows.rows).for_each(|row| self.memory.add(rows, row));
        let lifetime = |row| rows.freed_ts_ns.get(row).map(|freed_ns| freed_ns.saturating_sub(rows.ts_ns.get(row)));
        extend(scene, self.trace, rows.ts_ns.values(), lifetime);
    }
}

/// The key of a series of values.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct SeriesKey {
    thread: Option<i64>,
    name: u32,
    /// Distinguishes values of one name.
    value_id: Option<u64>,
    is_text: bool,
}

/// A counter that several series share.
#[derive(Debug)]
struct SharedCounter {
    number: usize,
    /// Hashes of its series, so that they can be counted.
    seen: HashSet<u64>,
}

select! { struct ProcessRow of processes { id, pid, name } }
select! { struct ThreadRow of threads { id, tid, process_id, name, kind } }
select! { struct SpanRow of spans { id, thread_id, depth, ts_ns, dur_ns, name, category, color } }
select! { struct EventRow of events { id, ts_ns, thread_id, name, category } }
select! { struct CounterRow of counters { ts_ns, thread_id, name, value_id, value, text } }
select! { struct LogRow of logs { id, ts_ns, level_name, file, line, message, definition_id } }
select! { struct SwitchRow of switches { ts_ns, dur_ns, thread_id, target_tid, name } }
select! { struct LinkRow of links { from_span_id, to_span_id, ts_ns } }
select! { struct DefinitionRow of definitions { file } }
// Only their number matters.
select! { struct AnyCall of calls { id } }
select! { struct AnyFile of files { id } }
select! { struct AnyFinding of findings { id } }
select! { struct AnyLine of line_times { id } }

/// Sites by the data that their lines share.
#[derive(Debug, Default)]
struct LogSites {
    numbers: HashMap<LogSite, u32>,
    /// Cache of the last site by hash of the definition; usually a hit.
    recent: Vec<u32>,
}

impl LogSites {
    const RECENT: usize = 256;

    #[inline]
    fn number(&mut self, site: LogSite, scene: &mut Scene) -> u32 {
        self.recent.resize(Self::RECENT, u32::MAX);
        let slot = site.definition_id.map_or(0, |id| id.rem_euclid(Self::RECENT as i64)) as usize;
        let recent = self.recent[slot];
        if scene.logs.known_site(recent) == Some(&site) {
            return recent;
        }
        let number = *self.numbers.entry(site).or_insert_with(|| scene.logs.add_site(site));
        self.recent[slot] = number;
        number
    }
}

/// Whether events of a category are part of frames, ranges, arrows or arguments.
fn is_seen_otherwise(category: Option<EventCategory>) -> bool {
    use EventCategory::{Append, Flow, Frame, Leave, Range};
    matches!(category, Some(Append | Flow | Frame | Leave | Range))
}

/// Memory in use over time, with the extremes between steps; `None` if there are no allocations.
fn series_of(curve: &MemoryCurve) -> Option<Series> {
    let (mut series, mut used_bytes) = (Series::default(), 0);
    for step in curve.steps() {
        let (low, high) = (step.used_bytes.min(used_bytes), step.used_bytes.max(used_bytes));
        if step.low_bytes < low || step.high_bytes > high {
            series.push(step.ts_ns, step.low_bytes as f64);
            series.push(step.ts_ns, step.high_bytes as f64);
        }
        series.push(step.ts_ns, step.used_bytes as f64);
        used_bytes = step.used_bytes;
    }
    series.close();
    (series.len() > 0).then_some(series)
}

/// Records the contents of a trace.
fn describe(trace: &mut TraceInfo, table: Table, batch: &RecordBatch) -> traceloom_core::Result<()> {
    if batch.num_rows() == 0 {
        return Ok(());
    }
    trace.contents.add(table);
    match table {
        Table::Definitions => {
            let rows = DefinitionRow::of(batch)?;
            trace.contents.has_source |= (0..rows.rows).any(|row| rows.file.get(row).is_some());
        }
        Table::Files | Table::LineTimes => trace.contents.has_source = true,
        Table::Findings => trace.findings += batch.num_rows() as u64,
        _ => {}
    }
    Ok(())
}

/// Extends the time range of the trace.
fn extend(scene: &mut Scene, trace: u32, begins: &[i64], dur: impl Fn(usize) -> Option<i64>) {
    let Some(trace) = scene.traces.get_mut(trace as usize) else { return };
    for (row, begin) in begins.iter().enumerate() {
        trace.first_ns = trace.first_ns.min(*begin);
        trace.last_ns = trace.last_ns.max(begin.saturating_add(dur(row).unwrap_or(0)));
    }
}

impl TableSink for Builder {
    fn wants(&self, table: Table) -> Columns {
        match table {
            Table::Processes => ProcessRow::COLUMNS,
            Table::Threads => ThreadRow::COLUMNS,
            Table::Spans => SpanRow::COLUMNS,
            Table::Events => EventRow::COLUMNS,
            Table::Counters => CounterRow::COLUMNS,
            Table::Logs => LogRow::COLUMNS,
            Table::Switches => SwitchRow::COLUMNS,
            Table::Links => LinkRow::COLUMNS,
            Table::Allocations => AllocationChanges::COLUMNS,
            Table::Definitions => DefinitionRow::COLUMNS,
            Table::Calls => AnyCall::COLUMNS,
            Table::Files => AnyFile::COLUMNS,
            Table::Findings => AnyFinding::COLUMNS,
            Table::LineTimes => AnyLine::COLUMNS,
            _ => Columns::NONE,
        }
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> traceloom_core::Result<Flow> {
        let scene = Arc::clone(&self.scene);
        let Ok(mut scene) = scene.write() else { return Ok(Flow::Stop) };
        let scene = &mut *scene;
        if scene.is_closed(self.trace) {
            return Ok(Flow::Stop);
        }
        match table {
            Table::Processes => self.take_processes(&ProcessRow::of(&batch)?),
            Table::Threads => self.take_threads(scene, &ThreadRow::of(&batch)?),
            Table::Spans => self.take_spans(scene, &SpanRow::of(&batch)?),
            Table::Events => self.take_events(scene, &EventRow::of(&batch)?),
            Table::Counters => self.take_counters(scene, &CounterRow::of(&batch)?),
            Table::Logs => self.take_logs(scene, &LogRow::of(&batch)?),
            Table::Switches => self.take_switches(scene, &SwitchRow::of(&batch)?),
            Table::Links => self.take_links(scene, &LinkRow::of(&batch)?),
            Table::Allocations => self.take_allocations(scene, &AllocationChanges::of(&batch)?),
            _ => {}
        }
        if let Some(trace) = scene.traces.get_mut(self.trace as usize) {
            describe(trace, table, &batch)?;
        }
        scene.revision += 1;
        Ok(Flow::Continue)
    }
}

//! Fills a scene from the tables of a trace.

use std::{
    collections::HashMap,
    sync::{Arc, RwLock},
};

use arrow_array::RecordBatch;
use traceloom_analysis::lod::{Lane, LaneKey};
use traceloom_model::{
    Columns, Flow, Table, TableSink, allocations, counters, events, findings, links, logs, processes, spans, switches,
    threads,
};

use super::{
    Counter, Labels, Link, Point, Points, Scene, Series, Track, Values, logs::LogSite, names::Translation, usage::Usage,
};

/// Spans that do not nest with each other have lanes of their own.
pub(crate) const NESTED: u8 = 0;
pub(crate) const FRAME: u8 = 1;
pub(crate) const RANGE: u8 = 2;

/// Spans that lie deeper share the last lane: a stack that nobody can look at needs no rows of its own.
const MOST_DEPTH: u32 = 1_023;

/// A sink that fills the scene, batch by batch, so that a picture can be drawn at any time.
pub(crate) struct Builder {
    scene: Arc<RwLock<Scene>>,
    trace: u32,
    tracks: HashMap<i64, u32>,
    processes: HashMap<i64, String>,
    /// By thread, name, what tells apart values of one name, and whether they are texts.
    counters: HashMap<(Option<i64>, u32, Option<u64>, bool), usize>,
    names: Translation,
    categories: Translation,
    levels: Translation,
    files: Translation,
    log_sites: LogSites,
    /// Log lines so far.
    log_lines: i64,
    memory: Usage,
}

impl Builder {
    pub(crate) fn new(scene: Arc<RwLock<Scene>>, trace: u32) -> Self {
        Self {
            scene,
            trace,
            tracks: HashMap::new(),
            processes: HashMap::new(),
            counters: HashMap::new(),
            names: Translation::default(),
            categories: Translation::default(),
            levels: Translation::default(),
            files: Translation::default(),
            log_sites: LogSites::default(),
            log_lines: 0,
            memory: Usage::default(),
        }
    }

    /// After the last batch.
    pub(crate) fn finish(self) {
        let memory = self.memory.finish();
        let Ok(mut scene) = self.scene.write() else { return };
        scene.lanes.close();
        scene.tracks.iter_mut().for_each(|track| {
            track.events.close();
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
        scene.revision += 1;
    }

    /// The track of a thread; a row that names it may come later.
    fn track(&mut self, scene: &mut Scene, thread_id: i64) -> u32 {
        if let Some(track) = self.tracks.get(&thread_id) {
            return *track;
        }
        let number = scene.tracks.len() as u32;
        scene.tracks.push(Track {
            trace: self.trace,
            thread_id,
            tid: None,
            process: String::new(),
            name: String::new(),
            kind: String::new(),
            spans: 0,
            events: Points::default(),
            unseen_events: 0,
            switches: Lane::default(),
            switch_targets: Vec::new(),
        });
        self.tracks.insert(thread_id, number);
        number
    }

    fn take_threads(&mut self, scene: &mut Scene, view: &threads::View<'_>) {
        for row in 0..view.rows {
            let number = self.track(scene, view.id.get(row));
            let process = self.processes.get(&view.process_id.get(row)).cloned().unwrap_or_default();
            let track = &mut scene.tracks[number as usize];
            track.tid = view.tid.get(row);
            track.name = view.name.get(row).unwrap_or_default().to_owned();
            track.kind = view.kind.get(row).unwrap_or_default().to_owned();
            track.process = process;
        }
    }

    fn take_processes(&mut self, view: &processes::View<'_>) {
        for row in 0..view.rows {
            let name = view.name.get(row).unwrap_or_default();
            let shown = match view.pid.get(row) {
                Some(pid) if name.is_empty() => format!("process {pid}"),
                Some(pid) => format!("{name} ({pid})"),
                None => name.to_owned(),
            };
            self.processes.insert(view.id.get(row), shown);
        }
    }

    fn take_spans(&mut self, scene: &mut Scene, view: &spans::View<'_>) {
        let mut names = std::mem::take(&mut self.names);
        let mut categories = std::mem::take(&mut self.categories);
        let numbers = names.of(view.name.values(), &mut scene.names);
        categories.of(view.category.values(), &mut scene.names);
        let (frame, range) = (scene.names.number("frame"), scene.names.number("range"));
        let kinds = categories.of(view.category.values(), &mut scene.names);
        let (keys, category_keys) = (view.name.keys(), view.category.keys());
        let (begins, thread_ids, ids) = (view.ts_ns.values(), view.thread_id.values(), view.id.values());
        let mut last = None;
        for row in 0..view.rows {
            let track = match last {
                Some((thread, track)) if thread == thread_ids[row] => track,
                _ => self.track(scene, thread_ids[row]),
            };
            last = Some((thread_ids[row], track));
            let kind = match kinds[category_keys[row] as usize] {
                category if category == frame => FRAME,
                category if category == range => RANGE,
                _ => NESTED,
            };
            let name = numbers[keys[row] as usize];
            let dur = view.dur_ns.get(row);
            let end = dur.map(|dur| begins[row].saturating_add(dur));
            let depth = view.depth.get(row).min(MOST_DEPTH);
            let id = u32::try_from(ids[row]).unwrap_or(u32::MAX);
            scene.lanes.lane(LaneKey { thread_id: i64::from(track), kind, depth }).push(begins[row], end, name, id);
            scene.names.count(name, dur.unwrap_or(0), view.color.get(row));
            scene.tracks[track as usize].spans += 1;
        }
        extend(scene, self.trace, begins, |row| view.dur_ns.get(row));
        (self.names, self.categories) = (names, categories);
    }

    fn take_events(&mut self, scene: &mut Scene, view: &events::View<'_>) {
        for row in 0..view.rows {
            let track = self.track(scene, view.thread_id.get(row).unwrap_or(0));
            let name = scene.names.number(view.name.get(row));
            let category = scene.names.number(view.category.get(row));
            let point = Point { ts_ns: view.ts_ns.get(row), name, category, id: view.id.get(row) };
            let track = &mut scene.tracks[track as usize];
            if is_seen_otherwise(view.category.get(row)) {
                track.unseen_events += 1;
                continue;
            }
            track.events.push(point);
            scene.names.count_event(name);
        }
        extend(scene, self.trace, view.ts_ns.values(), |_| None);
    }

    fn take_counters(&mut self, scene: &mut Scene, view: &counters::View<'_>) {
        for row in 0..view.rows {
            let (number, text) = (view.value.get(row).filter(|value| value.is_finite()), view.text.get(row));
            if number.is_none() && text.is_none() {
                continue;
            }
            let name = scene.names.number(view.name.get(row));
            let thread = view.thread_id.get(row);
            let track = thread.map(|thread| self.track(scene, thread));
            let value_id = view.value_id.get(row);
            let key = (thread, name, value_id, number.is_none());
            let at = *self.counters.entry(key).or_insert(scene.counters.len());
            if at == scene.counters.len() {
                let values = match number {
                    Some(_) => Values::Numbers(Series::default()),
                    None => Values::Texts(Labels::default()),
                };
                scene.counters.push(Counter { trace: self.trace, track, name, value_id, values });
            }
            match &mut scene.counters[at].values {
                Values::Numbers(series) => series.push(view.ts_ns.get(row), number.unwrap_or_default()),
                Values::Texts(labels) => labels.push(view.ts_ns.get(row), text.unwrap_or_default()),
            }
        }
        extend(scene, self.trace, view.ts_ns.values(), |_| None);
    }

    fn take_logs(&mut self, scene: &mut Scene, view: &logs::View<'_>) {
        let levels = self.levels.of(view.level_name.values(), &mut scene.names);
        let files = self.files.of(view.file.values(), &mut scene.names);
        let (level_keys, ids) = (view.level_name.keys(), view.id.values());
        let (mut first_ns, mut last_ns, mut is_numbered) = (i64::MAX, i64::MIN, true);
        for row in 0..view.rows {
            let site = LogSite {
                trace: self.trace,
                level_name: levels[level_keys[row] as usize],
                file: view.file.key(row).map(|key| files[key as usize]),
                line: view.line.get(row),
                definition_id: view.definition_id.get(row),
            };
            let site = self.log_sites.number(site, scene);
            let ts_ns = view.ts_ns.get(row);
            if let Some(ts_ns) = ts_ns {
                (first_ns, last_ns) = (first_ns.min(ts_ns), last_ns.max(ts_ns));
            }
            is_numbered &= ids[row] == self.log_lines;
            self.log_lines += 1;
            scene.logs.push(ts_ns, site, view.message.get(row));
        }
        let Some(trace) = scene.traces.get_mut(self.trace as usize) else { return };
        trace.has_numbered_logs &= is_numbered;
        (trace.first_ns, trace.last_ns) = (trace.first_ns.min(first_ns), trace.last_ns.max(last_ns));
    }

    fn take_switches(&mut self, scene: &mut Scene, view: &switches::View<'_>) {
        for row in 0..view.rows {
            let track = self.track(scene, view.thread_id.get(row));
            let name = scene.names.number(view.name.get(row));
            let (begin, dur) = (view.ts_ns.get(row), view.dur_ns.get(row));
            let track = &mut scene.tracks[track as usize];
            track.switches.push(begin, Some(begin.saturating_add(dur)), name, track.switch_targets.len() as u32);
            track.switch_targets.push(view.target_tid.get(row));
        }
    }

    fn take_links(&mut self, scene: &mut Scene, view: &links::View<'_>) {
        let links = (0..view.rows).map(|row| Link {
            trace: self.trace,
            from_span: view.from_span_id.get(row),
            to_span: view.to_span_id.get(row),
            ts_ns: view.ts_ns.get(row),
        });
        scene.links.extend(links);
    }

    fn take_allocations(&mut self, scene: &mut Scene, view: &allocations::View<'_>) {
        for row in 0..view.rows {
            let bytes = i64::try_from(view.size_bytes.get(row)).unwrap_or(i64::MAX);
            self.memory.push(view.id.get(row), view.ts_ns.get(row), bytes);
            if let (Some(end), Some(freed_ns)) = (view.end_id.get(row), view.freed_ts_ns.get(row)) {
                self.memory.push(end, freed_ns, -bytes);
            }
        }
        extend(scene, self.trace, view.ts_ns.values(), |_| None);
    }
}

/// Sites by what lines of them share.
#[derive(Debug, Default)]
struct LogSites {
    numbers: HashMap<LogSite, u32>,
    /// The site that was last looked up for each remainder of a definition: mostly the right one.
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

/// Whether events of a category make up frames, ranges, arrows or arguments.
fn is_seen_otherwise(category: &str) -> bool {
    matches!(category, "append" | "flow" | "frame" | "leave" | "range")
}

/// The trace reaches over these times too.
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
            Table::Spans => {
                Columns::named(table, &["id", "thread_id", "depth", "ts_ns", "dur_ns", "name", "category", "color"])
            }
            Table::Processes | Table::Threads | Table::Events | Table::Counters | Table::Switches | Table::Links => {
                Columns::ALL
            }
            Table::Logs => {
                Columns::named(table, &["id", "ts_ns", "level_name", "file", "line", "message", "definition_id"])
            }
            Table::Allocations => Columns::named(table, &["id", "ts_ns", "size_bytes", "freed_ts_ns", "end_id"]),
            Table::Findings => Columns::named(table, &["id"]),
            _ => Columns::NONE,
        }
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> traceloom_core::Result<Flow> {
        let scene = Arc::clone(&self.scene);
        let Ok(mut scene) = scene.write() else { return Ok(Flow::Stop) };
        let scene = &mut *scene;
        match table {
            Table::Processes => self.take_processes(&processes::View::of(&batch)),
            Table::Threads => self.take_threads(scene, &threads::View::of(&batch)),
            Table::Spans => self.take_spans(scene, &spans::View::of(&batch)),
            Table::Events => self.take_events(scene, &events::View::of(&batch)),
            Table::Counters => self.take_counters(scene, &counters::View::of(&batch)),
            Table::Logs => self.take_logs(scene, &logs::View::of(&batch)),
            Table::Switches => self.take_switches(scene, &switches::View::of(&batch)),
            Table::Links => self.take_links(scene, &links::View::of(&batch)),
            Table::Allocations => self.take_allocations(scene, &allocations::View::of(&batch)),
            Table::Findings => {
                if let Some(trace) = scene.traces.get_mut(self.trace as usize) {
                    trace.findings += findings::View::of(&batch).rows as u64;
                }
            }
            _ => {}
        }
        scene.revision += 1;
        Ok(Flow::Continue)
    }
}

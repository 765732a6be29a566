//! One log line with all its details.
//!
//! A scene has no arguments, so they are read from the tables again, together with those of neighboring lines, so that
//! stepping through a log waits only once.

use std::{
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

use arrow_array::RecordBatch;
use serde::Serialize;
use traceloom_core::TimeRange;
use traceloom_mapping::Trace;
use traceloom_model::{Columns, Filter, Flow, Table, TableSink, TableSource, select};

use super::{
    Answer, Refusal, Routes,
    details::{Argument, Arguments, LineQuery},
    work::{self, Kept, Reply},
};
use crate::{app::App, scene::Scene};

pub(crate) fn routes(routes: &mut Routes) {
    let mut routes = routes.sharing(Arc::<KeptLines>::default());
    routes.get("log/line", |app, known, ask| line(app, known, ask.query()?));
}

/// Blocks of lines, by trace and the number of the first line.
#[derive(Debug, Default)]
struct KeptLines {
    lines: Kept<(u32, usize), Vec<Line>>,
    /// Locked while reading, because a held-down key requests neighbors faster than they can be read.
    reading: Mutex<()>,
}

impl KeptLines {
    fn around(&self, block: &Block, trace: &Trace) -> Answer<Arc<Vec<Line>>> {
        let key = (block.trace, block.rows.start);
        if let Some(lines) = self.lines.get(&key) {
            return Ok(lines);
        }
        let _turn = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        self.lines.or(key, || block.read(trace))
    }
}

/// Number of lines that are read together.
const BLOCK: usize = 256;

/// A line with its format and its arguments, as soon as the tables can be read.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct LogDetails {
    number: usize,
    ts_ns: Option<i64>,
    level: String,
    file: Option<String>,
    line: Option<u32>,
    text: String,
    trace: u32,
    format: Option<String>,
    thread_id: Option<i64>,
    args: Option<Vec<Argument>>,
}

fn line(app: App, known: Arc<KeptLines>, query: LineQuery) -> Answer<Reply<LogDetails>> {
    let (block, mut details) = {
        let scene = app.scene()?;
        let found = Block::of(&scene, query.number).zip(LogDetails::of(&scene, query.number));
        found.ok_or_else(|| Refusal::absent("unknown line"))?
    };
    // While a trace is loading, its tables are not available yet, but the scene has everything else.
    let Ok(trace) = work::ready(&app, block.trace) else { return Ok(Reply::Now(details)) };
    work::later(move |_| {
        let lines = known.around(&block, &trace)?;
        if let Some(line) = lines.get(block.row - block.rows.start) {
            let Line { format, thread_id, args } = line.clone();
            details = LogDetails { format, thread_id, args: Some(args), ..details };
        }
        Ok(details)
    })
}

impl LogDetails {
    fn of(scene: &Scene, number: usize) -> Option<Self> {
        let site = scene.logs.site(number)?;
        Some(Self {
            number,
            ts_ns: scene.log_ts_ns(number),
            level: scene.names.get(site.level_name).to_owned(),
            file: site.file.map(|file| scene.names.get(file).to_owned()),
            line: site.line,
            text: scene.logs.texts().get(number).to_owned(),
            trace: site.trace,
            format: None,
            thread_id: None,
            args: None,
        })
    }
}

/// The position of a line in its table, and the lines that are read with it in one pass.
struct Block {
    trace: u32,
    row: usize,
    rows: Range<usize>,
    /// Lower bound of the times of these lines.
    from_ns: i64,
    has_ids: bool,
}

impl Block {
    fn of(scene: &Scene, number: usize) -> Option<Self> {
        let trace = scene.logs.site(number)?.trace;
        let is_own = |number: &usize| scene.logs.site(*number).is_some_and(|site| site.trace == trace);
        // The first lines of a growing trace may be only in the file.
        let forgotten = scene.traces.get(trace as usize).map_or(0, |trace| trace.forgotten_logs);
        let row = forgotten + (0..number).filter(is_own).count();
        let start = forgotten.max(row - row % BLOCK);
        // Lines of several traces may be interleaved, so lines of this trace are searched in both directions.
        let before = (0..number).rev().filter(is_own).take(row - start);
        let after = (number..scene.logs.len()).filter(is_own).take(BLOCK - (row - start));
        let times = before.chain(after).map(|number| scene.logs.ts_ns(number));
        let (mut from_ns, mut end) = (i64::MAX, start);
        for ts_ns in times {
            from_ns = from_ns.min(ts_ns.unwrap_or(i64::MAX));
            end += 1;
        }
        let has_ids = scene.traces.get(trace as usize).is_some_and(|trace| trace.has_numbered_logs);
        Some(Self { trace, row, rows: start..end, from_ns, has_ids })
    }

    fn read(&self, trace: &Trace) -> Answer<Vec<Line>> {
        let ids = if self.has_ids {
            (self.rows.start as i64..self.rows.end as i64).collect()
        } else {
            Ids::of(trace, self.rows.clone())?
        };
        let mut gathered = Gathered::new(ids, self.has_ids);
        // The range has no end, because tables come in large batches and the first one ends the reading.
        trace.quiet().pour(&Filter::in_range(TimeRange::new(Some(self.from_ns), None)), &mut gathered)?;
        Ok(gathered.lines)
    }
}

/// A line in the tables.
#[derive(Clone, Debug, Default)]
struct Line {
    format: Option<String>,
    thread_id: Option<i64>,
    args: Vec<Argument>,
}

select! {
    struct LineRow of logs { id, format, thread_id }
}

select! {
    struct IdRow of logs { id }
}

/// Gathers the lines of some ids.
struct Gathered {
    ids: Vec<i64>,
    /// Whether rows are sorted by id, so that reading can stop at a greater one.
    is_ordered: bool,
    lines: Vec<Line>,
    has_logs: bool,
    has_args: bool,
}

impl Gathered {
    fn new(ids: Vec<i64>, is_ordered: bool) -> Self {
        let lines = vec![Line::default(); ids.len()];
        Self { ids, is_ordered, lines, has_logs: false, has_args: false }
    }

    fn position(&self, id: i64) -> Option<usize> {
        if self.is_ordered { self.ids.binary_search(&id).ok() } else { self.ids.iter().position(|own| *own == id) }
    }

    fn is_behind(&self, id: i64) -> bool {
        self.is_ordered && self.ids.last().is_none_or(|last| id > *last)
    }

    fn take_logs(&mut self, rows: &LineRow<'_>) {
        for row in 0..rows.rows {
            let id = rows.id.get(row);
            if let Some(at) = self.position(id) {
                self.lines[at].format = rows.format.get(row).map(str::to_owned);
                self.lines[at].thread_id = rows.thread_id.get(row);
            } else if self.is_behind(id) {
                self.has_logs = true;
                return;
            }
        }
    }

    fn take_args(&mut self, rows: &Arguments<'_>) {
        for row in (0..rows.rows).filter(|row| rows.owner_table.get(*row) == "logs") {
            let id = rows.owner_id.get(row);
            if let Some(at) = self.position(id) {
                self.lines[at].args.push(rows.argument(row));
            } else if self.is_behind(id) {
                self.has_args = true;
                return;
            }
        }
    }
}

impl TableSink for Gathered {
    fn wants(&self, table: Table) -> Columns {
        match table {
            Table::Logs => LineRow::COLUMNS,
            Table::Args => Arguments::COLUMNS,
            _ => Columns::NONE,
        }
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> traceloom_core::Result<Flow> {
        match table {
            Table::Logs => self.take_logs(&LineRow::of(&batch)?),
            _ => self.take_args(&Arguments::of(&batch)?),
        }
        if self.has_logs && self.has_args { Ok(Flow::Stop) } else { Ok(Flow::Continue) }
    }
}

/// The ids of some rows, if they are not equal to the row numbers.
struct Ids {
    rows: Range<usize>,
    ids: Vec<i64>,
}

impl Ids {
    fn of(trace: &Trace, rows: Range<usize>) -> Answer<Vec<i64>> {
        let mut found = Self { rows, ids: Vec::new() };
        trace.quiet().pour(&Filter::default(), &mut found)?;
        Ok(found.ids)
    }
}

impl TableSink for Ids {
    fn wants(&self, table: Table) -> Columns {
        if table == Table::Logs { IdRow::COLUMNS } else { Columns::NONE }
    }

    fn batch(&mut self, _: Table, batch: RecordBatch) -> traceloom_core::Result<Flow> {
        let rows = IdRow::of(&batch)?;
        let ids = rows.id.values();
        let taken = self.rows.start.min(ids.len())..self.rows.end.min(ids.len());
        self.ids.extend_from_slice(&ids[taken]);
        self.rows = self.rows.start.saturating_sub(ids.len())..self.rows.end.saturating_sub(ids.len());
        if self.rows.end == 0 { Ok(Flow::Stop) } else { Ok(Flow::Continue) }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        path::Path,
        sync::atomic::{AtomicU64, Ordering},
    };

    use traceloom_core::Source;
    use traceloom_mapping::Options;

    use super::*;

    /// A log of several batches, and how much of it was read.
    fn long_log() -> (Trace, u64, Arc<AtomicU64>) {
        let bytes = traceloom_cnanolog::sample::write(Vec::new(), 12_000).expect("a log");
        let (long, read) = (bytes.len() as u64, Arc::new(AtomicU64::new(0)));
        let source = Source::bytes(bytes).counted(&read);
        let trace = Trace::new(Path::new("long.clog"), source, None, &Options::default()).expect("it opens");
        (trace, long, read)
    }

    /// The first lines, without known ids if `has_ids` is false.
    fn first(has_ids: bool) -> Block {
        Block { trace: 0, row: 3, rows: 0..BLOCK, from_ns: i64::MIN, has_ids }
    }

    #[test]
    fn reading_ends_where_the_lines_do_and_neighbors_are_known() {
        let (trace, long, read) = long_log();
        let known = KeptLines::default();
        read.store(0, Ordering::Relaxed);
        let lines = known.around(&first(true), &trace).map_err(|_| "refused").expect("lines");
        let taken = read.load(Ordering::Relaxed);
        assert!(taken < long * 9 / 10, "{taken} of {long} bytes for the first lines");
        assert_eq!(lines.len(), BLOCK);
        assert!(lines.iter().all(|line| line.format.is_some()));
        assert!(lines.iter().any(|line| line.args.len() > 1));
        // The next line is in the same block.
        let next = Block { row: 4, ..first(true) };
        assert!(known.around(&next, &trace).is_ok());
        assert_eq!(read.load(Ordering::Relaxed), taken, "nothing is read again");
    }

    #[test]
    fn lines_are_the_same_whether_ids_are_known_or_looked_for() {
        let (trace, ..) = long_log();
        let [numbered, looked_for] = [true, false].map(|has_ids| first(has_ids).read(&trace).unwrap_or_default());
        assert_eq!(numbered.len(), BLOCK);
        for (one, other) in numbered.iter().zip(&looked_for) {
            assert_eq!((&one.format, &one.args), (&other.format, &other.args));
        }
    }
}

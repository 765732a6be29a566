//! What has a time and no duration: events, values of counters, log entries.

use traceloom_bytes::{Loss, Result};
use traceloom_model::{Table, TableSource, counters, events as instants, logs};

use super::{
    events::{Events, Lane},
    lanes::Lanes,
    slices::put_source,
};
use crate::{Args, Datum, Gathered, KeyMap, NamePool, Options, Roster, Timeline, span_is_taken};

/// The tables of points.
const TABLES: [Table; 3] = [Table::Events, Table::Counters, Table::Logs];

/// Writes all points.
pub(super) fn write(
    source: &dyn TableSource,
    gathered: &mut Gathered,
    options: &Options,
    timeline: &Timeline,
    lanes: &mut Lanes,
    events: &mut Events<'_>,
    loss: &mut Loss,
) -> Result<()> {
    let rest = gathered.rest();
    let tables: Vec<Table> = TABLES.into_iter().filter(|table| gathered.rows(*table) > 0).collect();
    if tables.is_empty() {
        return Ok(());
    }
    let Gathered { roster, names, args, .. } = gathered;
    let (counter_names, log_files) = Default::default();
    let mut points = Points { roster, names, args, options, timeline, lanes, events, loss, counter_names, log_files };
    rest.pour(source, &tables, |table, batch| match table {
        Table::Events => points.instants(&instants::View::of(batch)),
        Table::Counters => points.counters(&counters::View::of(batch)),
        Table::Logs => points.logs(&logs::View::of(batch)),
        _ => Ok(()),
    })
}

struct Points<'a, 'o> {
    roster: &'a mut Roster,
    names: &'a mut NamePool,
    args: &'a mut Args,
    options: &'a Options,
    timeline: &'a Timeline,
    lanes: &'a mut Lanes,
    events: &'a mut Events<'o>,
    loss: &'a mut Loss,
    counter_names: KeyMap,
    log_files: KeyMap,
}

/// Where a row is.
#[derive(Clone, Copy)]
struct Found {
    trace: usize,
    lane: Lane,
    /// Whether it belongs to a thread, and not to the process as a whole.
    on_thread: bool,
    ts_ns: u64,
}

impl Points<'_, '_> {
    fn instants(&mut self, view: &instants::View<'_>) -> Result<()> {
        for row in 0..view.rows {
            let place = self.find(view.trace_id.get(row), view.thread_id.get(row), view.ts_ns.get(row))?;
            let Some(found) = place else { continue };
            self.begin_instant(&found, view.name.get(row), view.category.get(row));
            self.events.json.key("args").begin_object();
            self.events.args(self.args, (Table::Events, found.trace, view.id.get(row)), self.names)?;
            self.events.json.end_object();
            self.events.end()?;
        }
        Ok(())
    }

    fn counters(&mut self, view: &counters::View<'_>) -> Result<()> {
        self.counter_names.turn_to(view.name.values());
        for row in 0..view.rows {
            let place = self.find(view.trace_id.get(row), view.thread_id.get(row), view.ts_ns.get(row))?;
            let Some(found) = place else { continue };
            let owner = (Table::Counters, found.trace, view.id.get(row));
            let Some(value) = view.value.get(row) else {
                self.begin_instant(&found, view.name.get(row), "value");
                self.events.json.key("args").begin_object();
                match view.text.get(row) {
                    Some(text) => drop(self.events.json.key("value").string(text)),
                    None => self.events.args(self.args, owner, self.names)?,
                }
                self.events.json.end_object();
                self.events.end()?;
                continue;
            };
            if !value.is_finite() {
                self.loss.lose("values that are no numbers", || format!("{value} of {}", view.name.get(row)));
                continue;
            }
            let idx = self.exact(owner, value)?;
            let name = self.counter_names.get(view.name.keys()[row], self.names)?;
            let key = (found.lane.pid, name, idx);
            let number = self.lanes.counter(key, view.thread_id.get(row), view.value_id.get(row));
            self.events.begin('C', found.lane, found.ts_ns);
            let mut label = view.name.get(row).to_owned();
            if let Some(idx) = idx {
                label += &format!("[{idx}]");
            }
            if number > 0 {
                label += &format!(" #{}", number + 1);
            }
            self.events.json.key("name").string(&label);
            self.events.json.key("args").begin_object().key("value").float(value).end_object();
            self.events.end()?;
        }
        Ok(())
    }

    /// The element that the value is, where it is one of an array. Counts numbers that a double does not hold.
    fn exact(&mut self, (table, trace, id): (Table, usize, i64), value: f64) -> Result<Option<u32>> {
        let (mut idx, loss) = (None, &mut *self.loss);
        self.args.visit(table, trace, id, |arg| {
            idx = arg.idx;
            let exact = match arg.value {
                Datum::Int(number) => Some(i128::from(number)),
                Datum::Unsigned(number) => Some(i128::from(number)),
                _ => None,
            };
            if exact.is_some_and(|exact| exact != value as i128) {
                loss.lose("last digits of large values", || format!("{:?} is now {value}", arg.value));
            }
            Ok(())
        })?;
        Ok(idx)
    }

    fn logs(&mut self, view: &logs::View<'_>) -> Result<()> {
        self.log_files.turn_to(view.file.values());
        for row in 0..view.rows {
            let ts_ns = match view.ts_ns.get(row) {
                Some(ts_ns) => ts_ns,
                None => {
                    self.loss.lose("that log entries have no time", || format!("logs {}", view.id.get(row)));
                    let trace = self.roster.trace_number(view.trace_id.get(row))?;
                    self.roster.traces[trace].first_ts_ns.unwrap_or(0)
                }
            };
            let place = self.find(view.trace_id.get(row), view.thread_id.get(row), ts_ns)?;
            let Some(found) = place else { continue };
            self.begin_instant(&found, view.message.get(row), view.level_name.get(row));
            self.events.json.key("args").begin_object();
            self.events.args(self.args, (Table::Logs, found.trace, view.id.get(row)), self.names)?;
            let file = view.file.key(row).map(|key| self.log_files.get(key, self.names)).transpose()?;
            put_source(file, view.line.get(row), self.names, self.events)?;
            self.events.json.end_object();
            self.events.end()?;
        }
        Ok(())
    }

    fn begin_instant(&mut self, found: &Found, name: &str, category: &str) {
        self.events.begin('i', found.lane, found.ts_ns);
        self.events.json.key("s").string(if found.on_thread { "t" } else { "p" });
        self.events.json.key("name").string(name).key("cat").string(category);
    }

    /// Where a row goes; none where the slice leaves it out.
    fn find(&mut self, trace_id: u64, thread_id: Option<i64>, ts_ns: i64) -> Result<Option<Found>> {
        let trace = self.roster.trace_number(trace_id)?;
        let slice = &self.options.slice;
        if !span_is_taken(slice, ts_ns, Some(0)) {
            return Ok(None);
        }
        let lane = match thread_id {
            Some(thread_id) => {
                let index = self.roster.index(trace_id, thread_id)?;
                self.roster.thread(index).is_taken.then(|| self.lanes.thread(index))
            }
            None => slice.threads.is_empty().then(|| self.lanes.process(trace)),
        };
        let ts_ns = self.timeline.at(trace, ts_ns);
        Ok(lane.map(|lane| Found { trace, lane, on_thread: thread_id.is_some(), ts_ns }))
    }
}

//! What has a time and no duration: events, values of counters, log entries.

use traceloom_core::{Loss, Result};
use traceloom_model::{Table, TableSource, counters, events as instants, logs};

use super::{
    events::{Events, Lane},
    lanes::Lanes,
    slices::put_source,
};
use traceloom_passes::{Args, Gathered, KeyMap, NamePool, Options, PointSink, Roster, Timeline};

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
    let Gathered { roster, names, args, .. } = gathered;
    let (counter_names, log_files) = Default::default();
    let mut points = Points { roster, names, args, options, timeline, lanes, events, loss, counter_names, log_files };
    rest.pour_points(source, &mut points)
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

impl PointSink for Points<'_, '_> {
    fn events(&mut self, view: &instants::View<'_>) -> Result<()> {
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
            let idx = self.args.element(owner, value, self.loss)?;
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

    fn logs(&mut self, view: &logs::View<'_>) -> Result<()> {
        self.log_files.turn_to(view.file.values());
        for row in 0..view.rows {
            let ts_ns = self.roster.log_ts_ns(view, row, self.loss)?;
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
}

impl Points<'_, '_> {
    fn begin_instant(&mut self, found: &Found, name: &str, category: &str) {
        self.events.begin('i', found.lane, found.ts_ns);
        self.events.json.key("s").string(if found.on_thread { "t" } else { "p" });
        self.events.json.key("name").string(name).key("cat").string(category);
    }

    /// Where a row goes; none where the slice leaves it out.
    fn find(&mut self, trace_id: u64, thread_id: Option<i64>, ts_ns: i64) -> Result<Option<Found>> {
        let found = self.roster.point(&self.options.slice, trace_id, thread_id, Some(ts_ns))?;
        Ok(found.map(|(trace, thread)| Found {
            trace,
            lane: thread.map_or_else(|| self.lanes.process(trace), |thread| self.lanes.thread(thread)),
            on_thread: thread.is_some(),
            ts_ns: self.timeline.at(trace, ts_ns),
        }))
    }
}

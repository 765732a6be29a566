//! Rows with a single timestamp: events, counter values, log entries.

use traceloom_core::Result;

use super::{Output, events::Lane, slices::put_source};
use traceloom_passes::{CounterRows, EventRows, Found, KeyMap, LogRows, Pass, Point, PointSink};

/// Writes all points.
pub(super) fn write(pass: &mut Pass<'_>, output: &mut Output<'_>) -> Result<()> {
    let rest = pass.rest();
    let (counter_names, log_files) = (KeyMap::default(), KeyMap::default());
    rest.pour_points(&mut Points { pass, output, counter_names, log_files })
}

struct Points<'a, 'p, 'o> {
    pass: &'a mut Pass<'p>,
    output: &'a mut Output<'o>,
    counter_names: KeyMap,
    log_files: KeyMap,
}

impl PointSink for Points<'_, '_, '_> {
    fn events(&mut self, rows: &EventRows<'_>) -> Result<()> {
        for row in 0..rows.rows {
            let Some((found, lane)) = self.find(&rows.point(row))? else { continue };
            self.begin_instant(&found, lane, rows.name.get(row), rows.category.get(row));
            self.put_args(&found)?;
            self.end_instant()?;
        }
        Ok(())
    }

    fn counters(&mut self, rows: &CounterRows<'_>) -> Result<()> {
        self.counter_names.turn_to(rows.name.values());
        for row in 0..rows.rows {
            let Some((found, lane)) = self.find(&rows.point(row))? else { continue };
            let Some(value) = rows.value.get(row) else {
                self.begin_instant(&found, lane, rows.name.get(row), "value");
                match rows.text.get(row) {
                    Some(text) => drop(self.output.events.json.key("value").string(text)),
                    None => self.put_args(&found)?,
                }
                self.end_instant()?;
                continue;
            };
            let Pass { args, names, timeline, loss, .. } = &mut *self.pass;
            let Output { lanes, events } = &mut *self.output;
            if !value.is_finite() {
                loss.lose("values that are not numbers", || format!("{value} of {}", rows.name.get(row)));
                continue;
            }
            let idx = args.element(found.owner, value, loss)?;
            let name = self.counter_names.get(rows.name.keys()[row], names)?;
            let number = lanes.counter((lane.pid, name, idx), rows.thread_id.get(row), rows.value_id.get(row));
            events.begin(b'C', lane, timeline.at(found.ts_ns));
            let mut label = rows.name.get(row).to_owned();
            if let Some(idx) = idx {
                label += &format!("[{idx}]");
            }
            if number > 0 {
                label += &format!(" #{}", number + 1);
            }
            events.json.key("name").string(&label);
            events.json.key("args").begin_object().key("value").float(value).end_object();
            events.end()?;
        }
        Ok(())
    }

    fn logs(&mut self, rows: &LogRows<'_>) -> Result<()> {
        self.log_files.turn_to(rows.file.values());
        for row in 0..rows.rows {
            let Some((found, lane)) = self.find(&rows.point(row))? else { continue };
            self.begin_instant(&found, lane, rows.message.get(row), rows.level_name.get(row));
            self.put_args(&found)?;
            let names = &mut self.pass.names;
            let file = rows.file.key(row).map(|key| self.log_files.get(key, names)).transpose()?;
            put_source(file, rows.line.get(row), names, &mut self.output.events)?;
            self.end_instant()?;
        }
        Ok(())
    }
}

impl Points<'_, '_, '_> {
    /// Starts an instant, up to its arguments.
    fn begin_instant(&mut self, found: &Found, lane: Lane, name: &str, category: &str) {
        let events = &mut self.output.events;
        events.begin(b'i', lane, self.pass.timeline.at(found.ts_ns));
        events.json.key("s").string(if found.thread.is_some() { "t" } else { "p" });
        events.json.key("name").string(name).key("cat").string(category);
        events.json.key("args").begin_object();
    }

    fn put_args(&mut self, found: &Found) -> Result<()> {
        let Pass { args, names, .. } = &mut *self.pass;
        self.output.events.args(found.owner, args, names)
    }

    fn end_instant(&mut self) -> Result<()> {
        self.output.events.json.end_object();
        self.output.events.end()
    }

    /// A row with its lane; `None` if the row is not in the slice.
    fn find(&mut self, point: &Point) -> Result<Option<(Found, Lane)>> {
        let lanes = &self.output.lanes;
        Ok(self.pass.find(point)?.map(|found| {
            let lane = found.thread.map_or_else(|| lanes.process(found.owner.trace()), |thread| lanes.thread(thread));
            (found, lane)
        }))
    }
}

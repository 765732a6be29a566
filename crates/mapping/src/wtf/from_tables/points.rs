//! What has a time and no duration as steps: events, values of counters, log entries.

use traceloom_core::{Loss, Result};
use traceloom_model::{Columns, Table, TableSource, Wanted, counters, events, logs};

use super::{
    signature::{Class, Signatures},
    spans::{Place, Places},
    step::{BETWEEN, Moment, Step, Steps, What},
    value::Items,
    write::{Detail, is_builtin},
    zones::Zones,
};
use traceloom_passes::{Gathered, KeyMap, NameId, Options, PointSink, Timeline, pour};

/// The spans that events lie in; none is placed yet. Of too many, the rest is left out.
pub(super) fn referred(source: &dyn TableSource, gathered: &Gathered, options: &Options) -> Result<Places> {
    let mut places = Places::default();
    if gathered.rows(Table::Events) == 0 {
        return Ok(places);
    }
    let numbers = |trace_id: u64| gathered.roster.traces.iter().position(|trace| trace.trace_id == trace_id);
    let wanted = Wanted::nothing().and(Table::Events, Columns::named(Table::Events, &["trace_id", "span_id"]));
    pour(source, gathered.filter(), wanted, |_, batch| {
        let view = events::View::of(batch);
        for row in 0..view.rows {
            if let (Some(span), true) = (view.span_id.get(row), places.len() < options.limits.entries)
                && let Some(trace) = numbers(view.trace_id.get(row))
            {
                places.insert((trace, span), None);
            }
        }
        Ok(())
    })?;
    Ok(places)
}

/// Pushes all points, and learns the signatures of their names.
#[expect(clippy::too_many_arguments, reason = "it is one pass with all that the target has")]
pub(super) fn push(
    source: &dyn TableSource,
    gathered: &mut Gathered,
    options: &Options,
    timeline: &Timeline,
    places: &Places,
    zones: &mut Zones,
    signatures: &mut Signatures,
    steps: &mut Steps,
    loss: &mut Loss,
) -> Result<()> {
    let rest = gathered.rest();
    let (items, keys, number) = Default::default();
    let mut points =
        Points { gathered, options, timeline, places, zones, signatures, steps, loss, items, keys, number };
    rest.pour_points(source, &mut points)
}

struct Points<'a> {
    gathered: &'a mut Gathered,
    options: &'a Options,
    timeline: &'a Timeline,
    places: &'a Places,
    zones: &'a mut Zones,
    signatures: &'a mut Signatures,
    steps: &'a mut Steps,
    loss: &'a mut Loss,
    items: Items,
    keys: KeyMap,
    number: u64,
}

impl PointSink for Points<'_> {
    fn events(&mut self, view: &events::View<'_>) -> Result<()> {
        self.keys.turn_to(view.name.values());
        for row in 0..view.rows {
            let (ts_ns, id) = (view.ts_ns.get(row), view.id.get(row));
            let Some((trace, mut moment)) = self.find(view.trace_id.get(row), view.thread_id.get(row), ts_ns)? else {
                continue;
            };
            let is_ours = self.is_ours(trace);
            let what = match view.category.get(row) {
                // These are told by spans and their arguments.
                "frame" | "range" if is_ours => continue,
                "append" if is_ours && view.span_id.get(row).is_some() => continue,
                "leave" if is_ours => {
                    self.loss.lose("ends of scopes that never began", || format!("events {id}"));
                    continue;
                }
                "mark" if is_ours => What::BuiltinEvent,
                "bookmark" | "marker" => What::Mark,
                _ if is_ours && is_builtin(view.name.get(row)) => What::BuiltinEvent,
                _ => What::Event,
            };
            if let Some(Some(place)) = view.span_id.get(row).and_then(|span| self.places.get(&(trace, span))) {
                into_span(&mut moment, place);
            }
            let key = view.name.keys().get(row).copied().unwrap_or(-1);
            let name = self.keys.get(key, &mut self.gathered.names)?;
            if what == What::Event {
                self.items.clear();
                self.learn(name, (Table::Events, trace, id))?;
            }
            let detail = u64::from(view.category.get(row) == "mark");
            self.push(Step { moment, what, trace: trace as u32, id, name, detail })?;
        }
        Ok(())
    }

    fn counters(&mut self, view: &counters::View<'_>) -> Result<()> {
        self.keys.turn_to(view.name.values());
        for row in 0..view.rows {
            let (ts_ns, id) = (view.ts_ns.get(row), view.id.get(row));
            let Some((trace, moment)) = self.find(view.trace_id.get(row), view.thread_id.get(row), ts_ns)? else {
                continue;
            };
            let key = view.name.keys().get(row).copied().unwrap_or(-1);
            let name = self.keys.get(key, &mut self.gathered.names)?;
            if let Some(address) = view.value_id.get(row).filter(|address| *address != 0) {
                self.loss.lose("addresses of values", || format!("{address} of {}", view.name.get(row)));
            }
            let detail = Detail::Value { value: view.value.get(row), text: view.text.get(row) };
            self.push_detailed(What::Counter, (trace, moment), id, name, &detail)?;
        }
        Ok(())
    }

    fn logs(&mut self, view: &logs::View<'_>) -> Result<()> {
        for row in 0..view.rows {
            let id = view.id.get(row);
            let ts_ns = self.gathered.roster.log_ts_ns(view, row, self.loss)?;
            let Some(found) = self.find(view.trace_id.get(row), view.thread_id.get(row), ts_ns)? else { continue };
            let name = self.gathered.names.intern(view.format.get(row).unwrap_or("log"))?;
            let detail = Detail::Log {
                level: view.level_name.get(row),
                file: view.file.get(row),
                line: view.line.get(row),
                message: view.message.get(row),
            };
            self.push_detailed(What::Log, found, id, name, &detail)?;
        }
        Ok(())
    }
}

impl Points<'_> {
    fn push_detailed(
        &mut self,
        what: What,
        (trace, moment): (usize, Moment),
        id: i64,
        name: NameId,
        detail: &Detail<'_>,
    ) -> Result<()> {
        let table = if what == What::Log { Table::Logs } else { Table::Counters };
        self.items.clear();
        detail.put_items(&mut self.gathered.names, &mut self.items)?;
        self.learn(name, (table, trace, id))?;
        let place = self.steps.details.append(&detail.to_bytes())?;
        self.push(Step { moment, what, trace: trace as u32, id, name, detail: place })
    }

    fn learn(&mut self, name: NameId, owner: (Table, usize, i64)) -> Result<()> {
        let is_ours = self.is_ours(owner.1);
        let Gathered { args, names, .. } = &mut *self.gathered;
        self.items.collect(args, owner, is_ours, names)?;
        self.signatures.learn(Class::Instance, name, &self.items);
        Ok(())
    }

    fn is_ours(&self, trace: usize) -> bool {
        self.gathered.roster.traces.get(trace).is_some_and(|trace| trace.format == "wtf")
    }

    fn push(&mut self, step: Step) -> Result<()> {
        self.steps.sorter.push(step)
    }

    /// Where a row goes; none where the slice leaves it out.
    fn find(&mut self, trace_id: u64, thread_id: Option<i64>, ts_ns: i64) -> Result<Option<(usize, Moment)>> {
        let roster = &mut self.gathered.roster;
        let found = roster.point(&self.options.slice, trace_id, thread_id, Some(ts_ns))?;
        self.number += 1;
        Ok(found.map(|(trace, thread)| {
            let zone = match thread {
                Some(thread) => self.zones.of(thread, 0),
                None => self.zones.whole(trace, roster),
            };
            let ts_ns = self.timeline.at(trace, ts_ns).cast_signed();
            (trace, Moment { ts_ns, zone, phase: BETWEEN, number: self.number })
        }))
    }
}

/// Puts what happens when a scope begins or ends into that scope, not beside it.
fn into_span(moment: &mut Moment, place: &Place) {
    if moment.ts_ns == place.begin.ts_ns {
        *moment = Moment { number: place.begin.number + 1, ..place.begin };
    } else if moment.ts_ns == place.end.ts_ns {
        *moment = Moment { number: place.end.number - 1, ..place.end };
    } else {
        moment.zone = place.begin.zone;
    }
}

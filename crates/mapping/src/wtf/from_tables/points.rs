//! Rows with a single timestamp as steps: events, counter values, log entries.

use traceloom_core::Result;
use traceloom_model::{EventCategory, Table, Wanted, select};

use super::{
    Draft, is_ours,
    signature::Class,
    spans::{Places, SpanBounds},
    step::{BETWEEN, Moment, Step, What},
    value::Items,
    write::{Detail, is_builtin},
};
use traceloom_passes::{CounterRows, EventRows, KeyMap, LogRows, NameId, Owner, Pass, Point, PointSink, pour};
use traceloom_wtf::recorded;

select! {
    /// The spans that contain events.
    struct Referred of events { trace_id, span_id }
}

/// The spans that contain events, not yet placed. If there are too many, the rest are left out.
pub(super) fn referred(pass: &Pass<'_>) -> Result<Places> {
    let mut places = Places::default();
    if pass.rows(Table::Events) == 0 {
        return Ok(places);
    }
    let numbers = |trace_id: u64| pass.roster.traces.iter().position(|trace| trace.trace_id == trace_id);
    let wanted = Wanted::nothing().and(Table::Events, Referred::COLUMNS);
    pour(pass.source, pass.filter(), wanted, |_, batch| {
        let rows = Referred::of(batch)?;
        for row in 0..rows.rows {
            if let (Some(span), true) = (rows.span_id.get(row), places.len() < pass.options.limits.entries)
                && let Some(trace) = numbers(rows.trace_id.get(row))
            {
                places.insert((trace, span), None);
            }
        }
        Ok(())
    })?;
    Ok(places)
}

/// Pushes all points, and learns the signatures of their names.
pub(super) fn push(pass: &mut Pass<'_>, draft: &mut Draft) -> Result<()> {
    let rest = pass.rest();
    rest.pour_points(&mut Points { pass, draft, items: Items::default(), keys: KeyMap::default(), number: 0 })
}

struct Points<'a, 'p> {
    pass: &'a mut Pass<'p>,
    draft: &'a mut Draft,
    items: Items,
    keys: KeyMap,
    number: u64,
}

/// The destination of a row.
struct Found {
    owner: Owner,
    moment: Moment,
}

impl Found {
    fn step(&self, what: What, name: NameId, detail: u64) -> Step {
        Step { moment: self.moment, what, trace: self.owner.trace() as u32, id: self.owner.id(), name, detail }
    }
}

impl PointSink for Points<'_, '_> {
    fn events(&mut self, rows: &EventRows<'_>) -> Result<()> {
        self.keys.turn_to(rows.name.values());
        for row in 0..rows.rows {
            let Some(mut found) = self.find(&rows.point(row))? else { continue };
            let category = EventCategory::of(rows.category.get(row));
            let Some(what) = self.event(rows, row, category, found.owner) else { continue };
            let span = rows.span_id.get(row).map(|span| (found.owner.trace(), span));
            if let Some(Some(place)) = span.and_then(|span| self.draft.places.get(&span)) {
                into_span(&mut found.moment, place);
            }
            let key = rows.name.keys().get(row).copied().unwrap_or(-1);
            let name = self.keys.get(key, &mut self.pass.names)?;
            if what == What::Event {
                self.items.clear();
                self.learn(name, found.owner)?;
            }
            let is_mark = category == Some(EventCategory::Mark);
            self.draft.steps.sorter.push(found.step(what, name, is_mark.into()))?;
        }
        Ok(())
    }

    fn counters(&mut self, rows: &CounterRows<'_>) -> Result<()> {
        self.keys.turn_to(rows.name.values());
        for row in 0..rows.rows {
            let Some(found) = self.find(&rows.point(row))? else { continue };
            let name = if is_ours(&self.pass.roster, found.owner.trace()) {
                self.pass.names.intern(&format!("{}{}", recorded::VALUE, rows.name.get(row)))?
            } else {
                let key = rows.name.keys().get(row).copied().unwrap_or(-1);
                self.keys.get(key, &mut self.pass.names)?
            };
            if let Some(address) = rows.value_id.get(row).filter(|address| *address != 0) {
                self.pass.loss.lose("addresses of values", || format!("{address} of {}", rows.name.get(row)));
            }
            let detail = Detail::Value { value: rows.value.get(row), text: rows.text.get(row) };
            self.push_detailed(What::Counter, &found, name, &detail)?;
        }
        Ok(())
    }

    fn logs(&mut self, rows: &LogRows<'_>) -> Result<()> {
        for row in 0..rows.rows {
            let Some(found) = self.find(&rows.point(row))? else { continue };
            let is_ours = is_ours(&self.pass.roster, found.owner.trace());
            let name = if is_ours { recorded::LOG } else { rows.format.get(row).unwrap_or("log") };
            let name = self.pass.names.intern(name)?;
            let detail = Detail::Log {
                level: rows.level_name.get(row),
                file: rows.file.get(row),
                line: rows.line.get(row),
                message: rows.message.get(row),
            };
            self.push_detailed(What::Log, &found, name, &detail)?;
        }
        Ok(())
    }
}

impl Points<'_, '_> {
    /// The step for an event; `None` if spans and their arguments already say the same.
    fn event(
        &mut self,
        rows: &EventRows<'_>,
        row: usize,
        category: Option<EventCategory>,
        owner: Owner,
    ) -> Option<What> {
        use EventCategory::{Append, Bookmark, Frame, Leave, Mark, Marker, Range};
        let is_ours = is_ours(&self.pass.roster, owner.trace());
        Some(match category {
            Some(Frame | Range) if is_ours => return None,
            Some(Append) if is_ours && rows.span_id.get(row).is_some() => return None,
            Some(Leave) if is_ours => {
                self.pass.loss.lose("ends of scopes that never started", || owner.to_string());
                return None;
            }
            Some(Mark) if is_ours => What::BuiltinEvent,
            Some(Bookmark | Marker) => What::Mark,
            _ if is_ours && is_builtin(rows.name.get(row)) => What::BuiltinEvent,
            _ => What::Event,
        })
    }

    fn push_detailed(&mut self, what: What, found: &Found, name: NameId, detail: &Detail<'_>) -> Result<()> {
        self.items.clear();
        if !is_ours(&self.pass.roster, found.owner.trace()) {
            detail.put_items(&mut self.pass.names, &mut self.items)?;
        }
        self.learn(name, found.owner)?;
        let place = self.draft.steps.details.append(&detail.to_bytes())?;
        self.draft.steps.sorter.push(found.step(what, name, place))
    }

    fn learn(&mut self, name: NameId, owner: Owner) -> Result<()> {
        let Pass { roster, args, names, .. } = &mut *self.pass;
        self.items.collect(owner, is_ours(roster, owner.trace()), args, names)?;
        self.draft.signatures.learn(Class::Instance, name, &self.items);
        Ok(())
    }

    /// The destination of a row; `None` if the row is not in the slice.
    fn find(&mut self, point: &Point) -> Result<Option<Found>> {
        let found = self.pass.find(point)?;
        self.number += 1;
        Ok(found.map(|found| {
            let zone = match found.thread {
                Some(thread) => self.draft.zones.of(thread, 0),
                None => self.draft.zones.whole(found.owner.trace(), &self.pass.roster),
            };
            let ts_ns = self.pass.timeline.at(found.ts_ns).cast_signed();
            Found { owner: found.owner, moment: Moment { ts_ns, zone, phase: BETWEEN, number: self.number } }
        }))
    }
}

/// Moves an event at the start or end of a scope inside that scope.
fn into_span(moment: &mut Moment, place: &SpanBounds) {
    if moment.ts_ns == place.begin.ts_ns {
        *moment = Moment { number: place.begin.number + 1, ..place.begin };
    } else if moment.ts_ns == place.end.ts_ns {
        *moment = Moment { number: place.end.number - 1, ..place.end };
    } else {
        moment.zone = place.begin.zone;
    }
}

//! Items that cross an edge of a slice: they are started and ended at the edge.

use std::io::Write;

use traceloom_core::{Loss, Result};

use super::{
    crossings::{Held, Lasting},
    mend::Mended,
    slice::Cut,
    transfer::Transfer,
};
use crate::{Event, Role};

const LEAVE: &str = "wtf.scope#leave";

impl<W: Write> Transfer<'_, W> {
    /// Whether an event is in the range. If it is not, records its effect on the range; if it is, writes what must come
    /// before it.
    pub(super) fn is_inside(&mut self, event: &Event<'_>) -> Result<bool> {
        let Some(&Cut { from, to, starts_on_tick, .. }) = self.cut.as_ref().filter(|cut| !cut.is_empty()) else {
            return Ok(self.cut.is_none());
        };
        if event.time_us < from {
            self.before(event)?;
            return Ok(false);
        }
        if event.time_us >= to {
            self.begin_range(from)?;
            self.after(event)?;
            return Ok(false);
        }
        if event.time_us > from {
            self.begin_range(from)?;
        } else if starts_on_tick && self.ends_at_start(event) {
            return Ok(false);
        }
        self.begin_zone(event.zone as usize, from)?;
        if let Some((what, begins)) = Lasting::of(event) {
            self.crossings.inside(what, begins);
        }
        Ok(true)
    }

    /// An event before the range: it matters only if it starts an item that lasts.
    fn before(&mut self, event: &Event<'_>) -> Result<()> {
        if event.kind.role == Role::ScopeLeave {
            if let Some(state) = self.zones.get_mut(event.zone as usize) {
                state.before.pop();
            }
        } else if event.kind.is_scope() {
            let held = self.hold(event)?;
            if let Some(state) = self.zones.get_mut(event.zone as usize) {
                state.before.push(held);
            }
        } else if let Some((what, begins)) = Lasting::of(event) {
            if begins {
                let held = self.hold(event)?;
                self.crossings.begin_before(what, held);
            } else {
                self.crossings.end_before(what);
            }
        }
        Ok(())
    }

    /// Whether an event exactly at the start of the range only ends an item from before it.
    fn ends_at_start(&mut self, event: &Event<'_>) -> bool {
        if let Some((what, begins)) = Lasting::of(event) {
            return self.crossings.end_before(what) && !begins;
        }
        let state = self.zones.get_mut(event.zone as usize).filter(|state| state.open == 0);
        event.kind.role == Role::ScopeLeave && state.is_some_and(|state| state.before.pop().is_some())
    }

    /// An event after the range: it matters only if it ends an item that extends into the range.
    fn after(&mut self, event: &Event<'_>) -> Result<()> {
        if let Some((what, false)) = Lasting::of(event)
            && self.crossings.ends_after(what)
        {
            let held = self.hold(event)?;
            self.crossings.end_later(held);
        }
        let Some(state) = self.zones.get_mut(event.zone as usize) else { return Ok(()) };
        match event.kind.role {
            Role::ScopeLeave if state.later > 0 => state.later -= 1,
            Role::ScopeLeave if state.end_later < state.open + state.before.len() as u64 => state.end_later += 1,
            Role::ScopeLeave => {}
            _ if event.kind.is_scope() => state.later += 1,
            _ => {}
        }
        Ok(())
    }

    fn hold(&mut self, event: &Event<'_>) -> Result<Held> {
        let kind = self.type_of(event.kind)?;
        let values = self.values(event);
        Ok(Held::new(event.zone as usize, kind, values.iter().map(Mended::value)))
    }

    /// Writes an event at an edge of the range.
    fn write_held(&mut self, held: &Held, edge: i64, what: &'static str) -> Result<()> {
        let zone = self.zone_of(held.zone)?;
        let name = self.zones.get(held.zone).and_then(|state| state.zone.name.clone()).unwrap_or_default();
        self.loss.lose(what, || format!("in zone {name:?}"));
        let time = edge.saturating_add(self.shift_us).max(0);
        self.composer.event(zone, held.kind, time, held.values())
    }

    /// Starts the items that started before the range and are still open.
    fn begin_range(&mut self, from: i64) -> Result<()> {
        for held in self.crossings.begin() {
            self.write_held(&held, from, "the start of frames, marks and ranges that started before the range")?;
        }
        Ok(())
    }

    fn begin_zone(&mut self, index: usize, from: i64) -> Result<()> {
        let before = self.zones.get_mut(index).map(|state| std::mem::take(&mut state.before)).unwrap_or_default();
        for held in before {
            self.write_held(&held, from, "the start of scopes that started before the range")?;
            if let Some(state) = self.zones.get_mut(index) {
                state.open += 1;
            }
        }
        Ok(())
    }

    /// Ends the items that extend beyond the end of the range; returns the losses.
    pub(super) fn finish(mut self) -> Result<Loss> {
        let Some(&Cut { from, to, .. }) = self.cut.as_ref().filter(|cut| !cut.is_empty()) else {
            return Ok(self.loss);
        };
        self.begin_range(from)?;
        // A range shorter than a tick may end before it starts.
        let end = to.max(from);
        for index in 0..self.zones.len() {
            // A zone without events in the range may still be inside a scope.
            self.begin_zone(index, from)?;
            let ends = self.zones.get(index).map_or(0, |state| state.end_later);
            if ends == 0 || to == i64::MAX {
                continue;
            }
            let kind = match self.composer.type_named(LEAVE) {
                Some(leave) => leave,
                None => self.composer.builtin(LEAVE)?,
            };
            let leave = Held::new(index, kind, std::iter::empty());
            for _ in 0..ends {
                self.write_held(&leave, end, "the end of scopes that ended after the range")?;
            }
        }
        for held in self.crossings.finish() {
            self.write_held(&held, end, "the end of frames and ranges that ended after the range")?;
        }
        Ok(self.loss)
    }
}

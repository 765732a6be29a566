//! Carries events from a reader to a composer and mends them on the way.

use std::{borrow::Cow, collections::HashMap, io::Write};

use traceloom_core::{Loss, Result, Slice, json};

use crate::{
    Composer, Event, EventType, EventTypes, Resource, Role, Text, TypeId, Value, Zone, ZoneId,
    held::{Crossings, Held, Lasting},
    json_out,
    raw::{EventClass, EventFlags},
    types::is_fatal_name,
};

const LEAVE: &str = "wtf.scope#leave";

/// Ids of ranges and flows that are unique over several files.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    ranges: HashMap<(u32, u32), u32>,
    flows: HashMap<(u32, u32), u32>,
}

/// The part of a trace that is wanted.
#[derive(Debug)]
pub(crate) struct Cut {
    slice: Slice,
    from_us: i64,
    to_us: i64,
}

impl Cut {
    pub(crate) fn new(slice: &Slice, times_as_count: bool) -> Self {
        // A count is told as nanoseconds, a time is stored in microseconds.
        let unit = if times_as_count { 1 } else { 1000 };
        let first_at = |ns: i64| ns.div_euclid(unit) + i64::from(ns.rem_euclid(unit) > 0);
        let from_us = slice.range.from_ns().map_or(i64::MIN, first_at);
        let to_us = slice.range.to_ns().map_or(i64::MAX, first_at);
        Self { slice: slice.clone(), from_us, to_us }
    }

    /// Whole turns of the 32-bit clock before the part begins.
    pub(crate) fn turns(&self) -> i64 {
        self.from_us.max(0) >> 32
    }
}

/// A zone of the input.
#[derive(Debug)]
struct ZoneState {
    id: Option<ZoneId>,
    zone: Zone,
    is_kept: bool,
    /// Scopes that were entered before the part begins and are still open.
    before: Vec<Held>,
    /// Scopes that are open in the output.
    open: u64,
    /// Of these and of those before, how many end after the part.
    end_later: u64,
    /// Scopes that are entered after the part and still open.
    later: u64,
}

pub(crate) struct Transfer<'c, W> {
    composer: &'c mut Composer<W>,
    types: HashMap<u32, TypeId>,
    /// The last number that was put behind a name.
    numbers: HashMap<Box<str>, u32>,
    zones: Vec<ZoneState>,
    cut: Option<Cut>,
    crossings: Crossings,
    loss: Loss,
    /// Added to every time.
    pub(crate) shift_us: i64,
    /// Which of several files this is, from 1; 0 for the only one.
    pub(crate) file: u32,
    pub(crate) ids: Option<&'c mut Ids>,
}

impl<'c, W: Write> Transfer<'c, W> {
    pub(crate) fn new(composer: &'c mut Composer<W>, cut: Option<Cut>) -> Self {
        Self {
            composer,
            types: HashMap::new(),
            numbers: HashMap::new(),
            zones: Vec::new(),
            cut,
            crossings: Crossings::default(),
            loss: Loss::default(),
            shift_us: 0,
            file: 0,
            ids: None,
        }
    }

    pub(crate) fn lose(&mut self, what: &'static str, offset: u64) {
        self.loss.lose(what, || format!("byte {offset}"));
    }

    /// Takes over what zones there are now: new ones come last, and the first one may get its name late.
    pub(crate) fn take_zones(&mut self, zones: &[Zone]) {
        let is_kept = |index: usize, zone: &Zone| {
            let name = zone.name.as_deref().unwrap_or_default().as_bytes();
            let id = zone.id.map_or(index as u64, u64::from);
            self.cut.as_ref().is_none_or(|cut| cut.slice.keeps_thread(id, name))
        };
        if let (Some(state), Some(zone)) = (self.zones.first_mut(), zones.first())
            && state.zone != *zone
        {
            (state.zone, state.is_kept) = (zone.clone(), is_kept(0, zone));
        }
        let known = self.zones.len();
        for (index, zone) in zones.iter().enumerate().skip(known) {
            let (zone, is_kept) = (zone.clone(), is_kept(index, zone));
            self.zones.push(ZoneState { id: None, zone, is_kept, before: Vec::new(), open: 0, end_later: 0, later: 0 });
        }
    }

    pub(crate) fn resource(&mut self, resource: &Resource<'_>) -> Result<()> {
        self.composer.resource(resource.kind, resource.bytes)
    }

    pub(crate) fn event(&mut self, event: &Event<'_>) -> Result<()> {
        if event.kind.is_structural() {
            if event.kind.role == Role::ZoneDelete {
                let zone = event.args.get("zoneId").and_then(|id| id.as_u32()).unwrap_or(0);
                self.loss.lose("deletions of zones, which nobody reads", || format!("zone {zone}"));
            }
            return Ok(());
        }
        let index = event.zone as usize;
        if !self.zones.get(index).is_some_and(|state| state.is_kept) {
            return Ok(());
        }
        let (from, to) = self.cut.as_ref().map_or((i64::MIN, i64::MAX), |cut| (cut.from_us, cut.to_us));
        if event.time_us < from {
            return self.before(event);
        }
        self.begin_part(from)?;
        if event.time_us >= to {
            return self.after(event);
        }
        self.begin_zone(index, from)?;
        if let Some((what, begins)) = Lasting::of(event).filter(|_| self.cut.is_some()) {
            self.crossings.inside(what, begins);
        }
        if let Some(state) = self.zones.get_mut(index) {
            match event.kind.role {
                Role::ScopeLeave => state.open = state.open.saturating_sub(1),
                _ if event.kind.is_scope() => state.open += 1,
                _ => {}
            }
        }
        self.write(event)
    }

    /// An event before the part: only what lasts into it matters.
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
            let held = if begins { Some(self.hold(event)?) } else { None };
            self.crossings.before(what, held);
        }
        Ok(())
    }

    /// An event after the part: only the ends of what reaches into it matter.
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

    /// Writes an event at an edge of the part.
    fn write_held(&mut self, held: &Held, edge_us: i64, what: &'static str) -> Result<()> {
        let zone = self.zone_of(held.zone)?;
        let name = self.zones.get(held.zone).and_then(|state| state.zone.name.clone()).unwrap_or_default();
        self.loss.lose(what, || format!("in zone {name:?}"));
        let time = edge_us.saturating_add(self.shift_us).max(0);
        self.composer.event(zone, held.kind, time, held.values())
    }

    /// Tells what began before the part and lasts.
    fn begin_part(&mut self, from: i64) -> Result<()> {
        for held in self.crossings.begin() {
            self.write_held(&held, from, "the beginning of frames, marks and ranges that began before the part")?;
        }
        Ok(())
    }

    fn begin_zone(&mut self, index: usize, from: i64) -> Result<()> {
        let before = self.zones.get_mut(index).map(|state| std::mem::take(&mut state.before)).unwrap_or_default();
        for held in before {
            self.write_held(&held, from, "the beginning of scopes that began before the part")?;
            if let Some(state) = self.zones.get_mut(index) {
                state.open += 1;
            }
        }
        Ok(())
    }

    fn write(&mut self, event: &Event<'_>) -> Result<()> {
        let zone = self.zone_of(event.zone as usize)?;
        let kind = self.type_of(event.kind)?;
        let mut time = event.time_us.saturating_add(self.shift_us);
        if time < 0 {
            self.loss.lose("times before the timebase, now 0", || event.time_us.to_string());
            time = 0;
        }
        let values = self.values(event);
        self.composer.event(zone, kind, time, values.iter().map(Mended::value))
    }

    /// The composer's zone for one of the reader's. The order stays: tools show the first zone, or nothing but it.
    fn zone_of(&mut self, index: usize) -> Result<ZoneId> {
        if let Some(id) = self.zones.get(index).and_then(|state| state.id) {
            return Ok(id);
        }
        self.create_zones(index)?;
        let Some(state) = self.zones.get_mut(index) else {
            return Err(traceloom_core::Error::usage("an event happens in no zone"));
        };
        create_zone(self.composer, state, self.file)
    }

    /// Creates the zones before this one that the file has created and that are wanted.
    fn create_zones(&mut self, end: usize) -> Result<()> {
        let zones = self.zones.iter_mut().take(end);
        for state in zones.filter(|state| state.id.is_none() && state.is_kept && state.zone.id.is_some()) {
            create_zone(self.composer, state, self.file)?;
        }
        Ok(())
    }

    /// Takes over what no event refers to: zones in which nothing happens, types of which there is no event.
    pub(crate) fn take_unused(&mut self, types: &EventTypes) -> Result<()> {
        if self.cut.is_some() {
            return Ok(());
        }
        self.create_zones(self.zones.len())?;
        for kind in types.iter().filter(|kind| !kind.is_structural()) {
            if self.types.contains_key(&kind.index) {
                continue;
            }
            let is_plain = kind.args.is_some() && !kind.name.is_empty() && !kind.name.contains('\0');
            if is_plain && self.composer.type_named(&kind.name).is_none() && self.composer.has_room_for_types() {
                self.type_of(kind)?;
            } else if self.file <= 1 {
                self.loss.lose("definitions of types that no event has", || kind.name.to_string());
            }
        }
        Ok(())
    }

    /// The composer's type for one of the reader's; a name that stands for two signatures gets a number.
    fn type_of(&mut self, kind: &EventType) -> Result<TypeId> {
        if let Some(id) = self.types.get(&kind.index) {
            return Ok(*id);
        }
        let plain = if kind.name.is_empty() { "unnamed" } else { &kind.name };
        let plain = plain.replace('\0', "\u{fffd}");
        let args = kind.args.as_deref().unwrap_or_default();
        let list: Vec<String> = args.iter().map(|argument| format!("{} {}", argument.kind, argument.name)).collect();
        let list = list.join(", ");
        let class = if kind.class == EventClass::SCOPE { EventClass::SCOPE } else { EventClass::INSTANCE };
        let flags = EventFlags(kind.flags.0);
        let mut name = Cow::Borrowed(plain.as_str());
        while self.composer.is_taken(&name, class, flags, &list) {
            let number = self.numbers.entry(plain.as_str().into()).or_insert(1);
            *number += 1;
            name = Cow::Owned(format!("{plain}${number}"));
        }
        if *name != *kind.name {
            self.loss.lose("names of event types", || format!("{} is now {name}", kind.name));
        }
        let id = self.composer.define(&name, class, flags, &list)?;
        self.types.insert(kind.index, id);
        Ok(id)
    }

    /// The arguments, with what the original could not digest mended.
    fn values<'e>(&mut self, event: &Event<'e>) -> Vec<Mended<'e>> {
        let role = event.kind.role;
        let mut mended = Vec::with_capacity(event.args.len());
        for (argument, value) in event.args.iter() {
            let value = match (value, role, &*argument.name) {
                (Value::Any(Some(text)), ..) if !json::is_value(text.to_str().as_bytes()) => {
                    let text = text.to_str();
                    self.loss.lose("values that are no JSON, now strings", || text.chars().take(80).collect());
                    let mut quoted = Vec::new();
                    json_out::put_string(&mut quoted, text.as_bytes());
                    Mended::Any(String::from_utf8_lossy(&quoted).into_owned())
                }
                (Value::Text(Some(text)), Role::ScopeEnter | Role::TimeStamp, "name")
                    if is_fatal_name(&text.to_str()) =>
                {
                    let text = text.to_str();
                    self.loss.lose("parentheses in generic names, now brackets", || text.clone().into_owned());
                    Mended::Text(text.replace('(', "[").replace(')', "]"))
                }
                (Value::Uint(id), Role::RangeBegin | Role::RangeEnd, "id") => {
                    Mended::Plain(Value::Uint(self.unique(id, |ids| &mut ids.ranges)))
                }
                (Value::Flow(id @ 1..), ..) => Mended::Plain(Value::Flow(self.unique(id, |ids| &mut ids.flows))),
                (value, ..) => Mended::Plain(value),
            };
            mended.push(value);
        }
        mended
    }

    fn unique(&mut self, id: u32, which: impl Fn(&mut Ids) -> &mut HashMap<(u32, u32), u32>) -> u32 {
        let file = self.file;
        match self.ids.as_deref_mut().map(which) {
            Some(ids) => {
                let next = ids.len() as u32 + 1;
                *ids.entry((file, id)).or_insert(next)
            }
            None => id,
        }
    }

    /// Ends what reaches over the end of the part, and says what was lost.
    pub(crate) fn finish(mut self) -> Result<Loss> {
        let Some((from, to)) = self.cut.as_ref().map(|cut| (cut.from_us, cut.to_us)) else { return Ok(self.loss) };
        self.begin_part(from)?;
        // A part shorter than a microsecond may end before it begins.
        let end = to.max(from);
        for index in 0..self.zones.len() {
            // A zone in which nothing happens during the part may still be inside a scope.
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
                self.write_held(&leave, end, "the end of scopes that ended after the part")?;
            }
        }
        for held in self.crossings.finish() {
            self.write_held(&held, end, "the end of frames and ranges that ended after the part")?;
        }
        Ok(self.loss)
    }
}

fn create_zone<W: Write>(composer: &mut Composer<W>, state: &mut ZoneState, file: u32) -> Result<ZoneId> {
    let Zone { id, name, kind, location } = &state.zone;
    let mut name = name.as_deref().map(Cow::Borrowed);
    let (mut kind, mut location) = (kind.as_deref(), location.as_deref());
    match id {
        // The nameless zone has empty strings for names in the original.
        None => (name, kind, location) = (Some(Cow::Borrowed("")), Some(""), Some("")),
        Some(id) if name.is_none() && kind.is_none() && location.is_none() => {
            name = Some(Cow::Owned(format!("zone {id}")));
        }
        Some(_) => {}
    }
    if file > 1 {
        name = Some(Cow::Owned(format!("{} ({file})", name.as_deref().unwrap_or_default())));
    }
    let id = composer.zone(name.as_deref(), kind, location)?;
    state.id = Some(id);
    Ok(id)
}

/// A value as it came, or what it became.
enum Mended<'e> {
    Plain(Value<'e>),
    Text(String),
    Any(String),
}

impl Mended<'_> {
    fn value(&self) -> Value<'_> {
        match self {
            Self::Plain(value) => *value,
            Self::Text(text) => Value::Text(Some(Text::utf8(text.as_bytes()))),
            Self::Any(text) => Value::Any(Some(Text::utf8(text.as_bytes()))),
        }
    }
}

//! Copies events from a reader to a composer and repairs them in the process.

use std::{borrow::Cow, collections::HashMap, io::Write};

use traceloom_core::{Edited, Error, Loss, Records, Result};

use super::{
    crossings::{Crossings, Held},
    mend::{Mended, UniqueIds},
    slice::Cut,
};
use crate::{
    Argument, Composer, Event, EventType, EventTypes, Reader, Record, Resource, Role, TypeId, Zone, ZoneId,
    raw::{EventClass, EventFlags, LINE_ENDS},
};

/// Copies everything from a reader to the composer of a transfer.
pub(super) fn run<W: Write>(mut reader: Reader, mut transfer: Transfer<'_, W>) -> Result<Edited> {
    loop {
        // Zones come from the reader, which cannot be queried while a record is borrowed from it.
        transfer.take_zones(reader.zones());
        let Some(located) = reader.next()? else { break };
        let offset = located.offset;
        match &located.record {
            Record::Event(event) => transfer.event(event)?,
            Record::Resource(resource) => transfer.resource(resource)?,
            Record::JsonEvents(_) => transfer.lose("events as JSON in a binary chunk", offset),
            Record::Torn(_) => transfer.lose("the start of an event that is cut off", offset),
            Record::Unread(_) => transfer.lose("parts and chunks of an unknown type, or replaced ones", offset),
            Record::Residue(_) => transfer.lose("unreadable bytes", offset),
            Record::Raw(_) | Record::Chunk(_) | Record::FileHeader(_) | Record::Strings(_) | Record::Padding(_) => {}
        }
    }
    transfer.take_unused(reader.types())?;
    let loss = transfer.finish()?;
    Ok(Edited { findings: reader.into_findings(), loss })
}

/// A zone of the input.
#[derive(Debug)]
pub(super) struct ZoneState {
    id: Option<ZoneId>,
    pub(super) zone: Zone,
    is_kept: bool,
    /// Scopes that were entered before the range and are still open.
    pub(super) before: Vec<Held>,
    /// Scopes that are open in the output.
    pub(super) open: u64,
    /// How many of these and of those before end after the range.
    pub(super) end_later: u64,
    /// Scopes that are entered after the range and still open.
    pub(super) later: u64,
}

/// Copies events to a composer.
pub(super) struct Transfer<'c, W> {
    pub(super) composer: &'c mut Composer<W>,
    types: HashMap<u32, TypeId>,
    /// The last number appended to each name.
    numbers: HashMap<Box<str>, u32>,
    pub(super) zones: Vec<ZoneState>,
    pub(super) cut: Option<Cut>,
    pub(super) crossings: Crossings,
    pub(super) loss: Loss,
    /// Added to every time.
    pub(super) shift_us: i64,
    /// The number of this file among several, from 1; 0 if it is the only one.
    pub(super) file: u32,
    pub(super) ids: Option<&'c mut UniqueIds>,
}

impl<'c, W: Write> Transfer<'c, W> {
    pub(super) fn new(composer: &'c mut Composer<W>, cut: Option<Cut>) -> Self {
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

    pub(super) fn lose(&mut self, what: &'static str, offset: u64) {
        self.loss.lose(what, || format!("byte {offset}"));
    }

    /// Adds the current zones: new ones come last, and the first one may get its name late.
    pub(super) fn take_zones(&mut self, zones: &[Zone]) {
        let is_kept = |index: usize, zone: &Zone| {
            let name = zone.name.as_deref().unwrap_or_default().as_bytes();
            let id = zone.id.map_or(index as u64, u64::from);
            self.cut.as_ref().is_none_or(|cut| cut.keeps_zone(id, name))
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

    pub(super) fn resource(&mut self, resource: &Resource<'_>) -> Result<()> {
        self.composer.resource(resource.kind, resource.bytes)
    }

    pub(super) fn event(&mut self, event: &Event<'_>) -> Result<()> {
        if event.kind.is_structural() {
            if event.kind.role == Role::ZoneDelete {
                let zone = event.args.get("zoneId").and_then(|id| id.as_u32()).unwrap_or(0);
                self.loss.lose("deletions of zones, which no reader uses", || format!("zone {zone}"));
            }
            return Ok(());
        }
        let index = event.zone as usize;
        if !self.zones.get(index).is_some_and(|state| state.is_kept) {
            return Ok(());
        }
        if self.cut.is_some() && !self.is_inside(event)? {
            return Ok(());
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

    /// The composer's zone for a zone of the reader. The order is kept, because tools show the first zone, or only that
    /// one.
    pub(super) fn zone_of(&mut self, index: usize) -> Result<ZoneId> {
        if let Some(id) = self.zones.get(index).and_then(|state| state.id) {
            return Ok(id);
        }
        self.create_zones(index)?;
        let Some(state) = self.zones.get_mut(index) else {
            return Err(Error::internal("an event happens in no zone"));
        };
        create_zone(self.composer, state, self.file)
    }

    /// Creates the wanted zones of the file before this one.
    fn create_zones(&mut self, end: usize) -> Result<()> {
        let zones = self.zones.iter_mut().take(end);
        for state in zones.filter(|state| state.id.is_none() && state.is_kept && state.zone.id.is_some()) {
            create_zone(self.composer, state, self.file)?;
        }
        Ok(())
    }

    /// Copies items without events: zones in which nothing happens, types that never occur.
    pub(super) fn take_unused(&mut self, types: &EventTypes) -> Result<()> {
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
                self.loss.lose("definitions of types without events", || kind.name.to_string());
            }
        }
        Ok(())
    }

    /// The composer's type for a type of the reader; a name with two signatures gets a number.
    pub(super) fn type_of(&mut self, kind: &EventType) -> Result<TypeId> {
        if let Some(id) = self.types.get(&kind.index) {
            return Ok(*id);
        }
        let plain = if kind.name.is_empty() { "unnamed" } else { &kind.name };
        let args = kind.args.as_deref().unwrap_or_default();
        let mut plain = plain.replace('\0', "\u{fffd}");
        if !args.is_empty() {
            plain = plain.replace(LINE_ENDS, " ");
        }
        let entry = |argument: &Argument| format!("{} {}", argument.kind, self.name_of(argument, args));
        let list: Vec<String> = args.iter().map(entry).collect();
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
        let is_new = self.composer.type_named(&name).is_none();
        let id = self.composer.define(&name, class, flags, &list)?;
        if is_new {
            // In file order, so that repairing a repaired file changes nothing.
            self.composer.rank(id, u64::from(self.file) << 32 | u64::from(kind.index));
        }
        self.types.insert(kind.index, id);
        Ok(id)
    }
}

impl<W: Write> Transfer<'_, W> {
    /// The name of an argument; WTF makes a variable of it, which cannot start with a digit.
    fn name_of<'a>(&mut self, argument: &'a Argument, args: &[Argument]) -> Cow<'a, str> {
        if !argument.name.starts_with(|c: char| c.is_ascii_digit()) {
            return Cow::Borrowed(&argument.name);
        }
        let mut name = format!("_{}", argument.name);
        while args.iter().any(|other| *other.name == *name) {
            name.insert(0, '_');
        }
        self.loss.lose("names of arguments", || format!("{} is now {name}", argument.name));
        Cow::Owned(name)
    }
}

fn create_zone<W: Write>(composer: &mut Composer<W>, state: &mut ZoneState, file: u32) -> Result<ZoneId> {
    let Zone { id, name, kind, location } = &state.zone;
    let mut name = name.as_deref().map(Cow::Borrowed);
    let (mut kind, mut location) = (kind.as_deref(), location.as_deref());
    match id {
        // In WTF, the nameless zone has empty strings as names.
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

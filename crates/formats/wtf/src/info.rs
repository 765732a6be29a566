//! The summary of a file.

use std::{cmp::Reverse, collections::BTreeMap};

use crate::{Event, Reader, Record, Resource, Role};
use traceloom_core::{Amount, Fact, Findings, Info, Listing, Options, Records, Result, Source, Text, date_time};

/// Summarizes a file.
pub(crate) fn info(source: &Source, options: &Options) -> Result<(Info, Findings)> {
    let mut reader = crate::open(source.clone(), options)?;
    let mut survey = Survey::default();
    while let Some(located) = reader.next()? {
        survey.take(&located.record);
    }
    let info = survey.info(&reader);
    Ok((info, reader.into_findings()))
}

/// A timebase before 1990 is not a date.
const FIRST_DATE_MS: f64 = 631_152_000_000.0;
/// Maximum number of rows shown per table.
const SHOWN: usize = 10;
/// Maximum number of letters shown of a text: a page's address may be a whole picture.
const SHOWN_LETTERS: usize = 120;

/// The result of a walk over the records.
#[derive(Default)]
struct Survey {
    chunks: u64,
    strings: u64,
    events: u64,
    scopes: u64,
    frames: u64,
    marks: u64,
    ranges: u64,
    flows: u64,
    resources: u64,
    resource_bytes: u64,
    first_resources: Vec<(u64, String)>,
    times_us: Option<(i64, i64)>,
    /// Number of events per type, by its index.
    per_type: Vec<u64>,
    per_zone: BTreeMap<u32, u64>,
}

impl Survey {
    fn take(&mut self, record: &Record<'_>) {
        match record {
            Record::Chunk(_) => self.chunks += 1,
            Record::Strings(strings) => self.strings += strings.len() as u64,
            Record::Resource(resource) => self.take_resource(resource),
            // Definitions and zones are reported as counts.
            Record::Event(event) if !event.kind.is_structural() => self.take_event(event),
            _ => {}
        }
    }

    fn take_resource(&mut self, resource: &Resource<'_>) {
        let bytes = resource.bytes.len() as u64;
        self.resources += 1;
        self.resource_bytes += bytes;
        if self.first_resources.len() < SHOWN {
            self.first_resources.push((bytes, resource.kind.to_string()));
        }
    }

    fn take_event(&mut self, event: &Event<'_>) {
        self.events += 1;
        self.scopes += u64::from(event.kind.is_scope());
        match event.kind.role {
            Role::FrameStart => self.frames += 1,
            Role::Mark => self.marks += 1,
            Role::RangeBegin => self.ranges += 1,
            Role::FlowBranch => self.flows += 1,
            _ => {}
        }
        let index = event.kind.index as usize;
        if self.per_type.len() <= index {
            self.per_type.resize(index + 1, 0);
        }
        if let Some(count) = self.per_type.get_mut(index) {
            *count += 1;
        }
        *self.per_zone.entry(event.zone).or_default() += 1;
        let (first, last) = self.times_us.unwrap_or((event.time_us, event.time_us));
        self.times_us = Some((first.min(event.time_us), last.max(event.time_us)));
    }

    fn info(&self, reader: &Reader) -> Info {
        let header = reader.header();
        let version = format!("{} ({})", header.format_version, header.container.as_str());
        let mut info = Info { version, ..Info::default() };
        self.time_facts(&mut info, reader);
        for (name, count) in [
            ("chunks", self.chunks),
            ("event_types", reader.types().len() as u64),
            ("zones", reader.zones().len() as u64),
            ("events", self.events),
            ("scopes", self.scopes),
            ("frames", self.frames),
            ("marks", self.marks),
            ("ranges", self.ranges),
            ("flows", self.flows),
            ("strings", self.strings),
            ("resources", self.resources),
            ("resource_bytes", self.resource_bytes),
        ] {
            info.fact(name, count);
        }
        info.tables.extend([
            pairs("context", &header.info.context),
            pairs("metadata", &header.info.metadata),
            self.zone_table(reader),
            self.type_table(reader),
            self.resource_table(),
        ]);
        info
    }

    fn time_facts(&self, info: &mut Info, reader: &Reader) {
        let header = &reader.header().info;
        let nanoseconds = |us: u64| Amount::Nanoseconds(us.saturating_mul(1000));
        let amount = if header.times_as_count() { Amount::Count } else { nanoseconds };
        info.fact("clock", if header.times_as_count() { "a count, not a time" } else { "microseconds" });
        // Browsers store the date, Node counts from the start of the machine, C++ from its first event.
        if header.timebase_ms > FIRST_DATE_MS {
            info.fact("timebase", date_time((header.timebase_ms * 1e3) as u64));
        } else if header.timebase_ms > 0.0 {
            info.facts.push(Fact { name: "timebase", amount: nanoseconds((header.timebase_ms * 1e3) as u64) });
        }
        if let Some((first, last)) = self.times_us {
            info.facts.push(Fact { name: "first_event", amount: amount(u64::try_from(first).unwrap_or(0)) });
            info.facts.push(Fact { name: "recorded", amount: amount(last.abs_diff(first)) });
        }
    }

    /// The zones with the most events.
    fn zone_table(&self, reader: &Reader) -> Listing {
        let mut zones: Vec<_> = self.per_zone.iter().collect();
        zones.sort_by_key(|(index, events)| (Reverse(**events), **index));
        let rows = zones.into_iter().take(SHOWN).filter_map(|(index, events)| {
            let zone = reader.zones().get(*index as usize)?;
            let text = |text: &Option<Box<str>>| shown(text.as_deref().unwrap_or_default());
            Some(vec![(*events).into(), text(&zone.name), text(&zone.kind), text(&zone.location)])
        });
        Listing { name: "top_zones", columns: &["events", "name", "type", "location"], rows: rows.collect() }
    }

    fn type_table(&self, reader: &Reader) -> Listing {
        // Every scope is left, so leaving would be the first row for each file.
        let is_told = |index: u32| reader.types().get(index).is_some_and(|kind| kind.role != Role::ScopeLeave);
        let types = self.per_type.iter().zip(0..).filter(|(count, index)| **count > 0 && is_told(*index));
        let mut types: Vec<_> = types.collect();
        types.sort_by_key(|(count, index)| (Reverse(**count), *index));
        let rows = types.into_iter().take(SHOWN).filter_map(|(count, index)| {
            let kind = reader.types().get(index)?;
            Some(vec![(*count).into(), if kind.is_scope() { "scope" } else { "instance" }.into(), shown(&kind.name)])
        });
        Listing { name: "top_events", columns: &["events", "class", "name"], rows: rows.collect() }
    }

    fn resource_table(&self) -> Listing {
        let rows = self.first_resources.iter().zip(1_u64..);
        let rows = rows.map(|((bytes, kind), number)| vec![number.into(), (*bytes).into(), kind.as_str().into()]);
        Listing { name: "first_resources", columns: &["number", "bytes", "kind"], rows: rows.collect() }
    }
}

fn pairs(name: &'static str, pairs: &[(String, String)]) -> Listing {
    let rows = pairs.iter().take(SHOWN).map(|(key, value)| vec![shown(key), shown(value)]);
    Listing { name, columns: &["key", "value"], rows: rows.collect() }
}

/// Text from the file, for people.
fn shown(text: &str) -> Amount {
    let end = text.char_indices().nth(SHOWN_LETTERS).map(|(end, _)| end);
    match end.and_then(|end| text.get(..end)) {
        Some(start) => format!("{}…", Text(start.as_bytes())),
        None => Text(text.as_bytes()).to_string(),
    }
    .into()
}

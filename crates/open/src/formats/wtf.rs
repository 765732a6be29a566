//! Web Tracing Framework `.wtf-trace`.

use std::{cmp::Reverse, collections::BTreeMap};

use traceloom_bytes::{Findings, Options, Records, Result, Source};
use traceloom_wtf::{Reader, Record, Role, sample};

use super::codec::hand_on;
use crate::{Amount, Fact, Format, Info, Sample, Table, utc, walk};

pub(crate) struct Wtf;

fn open(source: &Source, options: &Options) -> Result<Reader> {
    traceloom_wtf::open(source.clone(), options)
}

impl Format for Wtf {
    hand_on!(traceloom_wtf, header_bytes: |header| header.stored_bytes as u64);

    fn info(&self, source: &Source, options: &Options) -> Result<(Info, Findings)> {
        let mut reader = open(source, options)?;
        let mut survey = Survey::default();
        while let Some(located) = reader.next()? {
            survey.take(&located.record);
        }
        let info = survey.info(&reader);
        Ok((info, reader.into_findings()))
    }

    fn check(&self, source: &Source, options: &Options) -> Result<Findings> {
        walk::check(open(source, options)?)
    }

    fn sample(&self) -> Result<Sample> {
        Ok(Sample {
            file_name: "page.wtf-trace",
            bytes: sample::trace()?,
            about: "two seconds of a page that draws",
            tries: &[
                "convert --to wtf:json-events {file} page.wtf-json",
                "slice --range 1s..1.1s {file} part.wtf-trace",
            ],
        })
    }
}

/// A timebase before 1990 is no date.
const FIRST_DATE_MS: f64 = 631_152_000_000.0;
/// Rows of a table that are shown.
const SHOWN: usize = 10;

#[derive(Default)]
struct Survey {
    chunks: u64,
    events: u64,
    scopes: u64,
    frames: u64,
    marks: u64,
    ranges: u64,
    flows: u64,
    resources: Vec<(u64, String)>,
    strings: u64,
    first_us: Option<i64>,
    last_us: i64,
    /// Events of each type, by its number.
    per_type: Vec<u64>,
    per_zone: BTreeMap<u32, u64>,
}

impl Survey {
    fn take(&mut self, record: &Record<'_>) {
        match record {
            Record::Chunk(_) => self.chunks += 1,
            Record::Strings(strings) => self.strings += strings.len() as u64,
            Record::Resource(resource) => self.resources.push((resource.bytes.len() as u64, resource.kind.to_string())),
            Record::Event(event) => {
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
                self.per_type[index] += 1;
                if !event.kind.is_structural() {
                    *self.per_zone.entry(event.zone).or_default() += 1;
                    self.first_us = Some(self.first_us.map_or(event.time_us, |first| first.min(event.time_us)));
                    self.last_us = self.last_us.max(event.time_us);
                }
            }
            _ => {}
        }
    }

    fn info(&self, reader: &Reader) -> Info {
        let header = reader.header();
        let version = format!("{} {}", header.format_version, header.container.as_str());
        let mut info = Info { version, ..Info::default() };
        let timebase_ms = header.info.timebase_ms;
        // Node counts from the start of the machine, C++ from its first event.
        if timebase_ms > FIRST_DATE_MS {
            info.fact("timebase", utc::date_time((timebase_ms * 1e3) as u64));
        } else if timebase_ms > 0.0 {
            info.facts.push(Fact { name: "timebase", amount: Amount::Nanoseconds((timebase_ms * 1e6) as u64) });
        }
        if header.info.times_as_count() {
            info.fact("clock", "counts, not times");
        }
        if let Some(first) = self.first_us {
            let us = self.last_us.saturating_sub(first).unsigned_abs();
            info.facts.push(Fact { name: "recorded", amount: Amount::Nanoseconds(us.saturating_mul(1_000)) });
        }
        for (name, count) in [
            ("chunks", self.chunks),
            ("events", self.events),
            ("event_types", reader.types().len() as u64),
            ("scopes", self.scopes),
            ("frames", self.frames),
            ("marks", self.marks),
            ("ranges", self.ranges),
            ("flows", self.flows),
            ("strings", self.strings),
            ("resources", self.resources.len() as u64),
        ] {
            info.fact(name, count);
        }
        for (name, value) in header.info.context.iter().take(SHOWN) {
            info.fact("context", format!("{name}: {value}"));
        }
        info.tables.extend([self.zone_table(reader), self.type_table(reader), self.resource_table()]);
        info
    }

    fn zone_table(&self, reader: &Reader) -> Table {
        let rows = reader.zones().iter().enumerate().map(|(index, zone)| {
            let text = |text: &Option<Box<str>>| text.as_deref().unwrap_or("").into();
            let events = self.per_zone.get(&(index as u32)).copied().unwrap_or(0);
            vec![text(&zone.name), text(&zone.kind), text(&zone.location), events.into()]
        });
        Table { name: "zones", columns: &["name", "type", "location", "events"], rows: rows.collect() }
    }

    fn type_table(&self, reader: &Reader) -> Table {
        let mut types: Vec<_> = self.per_type.iter().zip(0..).filter(|(count, _)| **count > 0).collect();
        types.sort_by_key(|(count, index)| (Reverse(**count), *index));
        let rows = types.into_iter().take(SHOWN).filter_map(|(count, index)| {
            let name = &*reader.types().get(index)?.name;
            Some(vec![(*count).into(), name.into()])
        });
        Table { name: "frequent_events", columns: &["events", "name"], rows: rows.collect() }
    }

    fn resource_table(&self) -> Table {
        let rows = self.resources.iter().take(SHOWN).map(|(bytes, kind)| vec![(*bytes).into(), kind.as_str().into()]);
        Table { name: "resources", columns: &["bytes", "kind"], rows: rows.collect() }
    }
}

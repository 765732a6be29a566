//! CNanoLog `.clog`.

use traceloom_cnanolog::{Header, Reader, Record, sample};
use traceloom_core::{Findings, Options, Records, Result, Source, Text};

use super::codec::hand_on;
use crate::{Amount, Fact, Format, Info, Sample, Table, walk};

pub(crate) struct CNanoLog;

fn open(source: &Source, options: &Options) -> Result<Reader> {
    traceloom_cnanolog::open(source.clone(), options)
}

impl Format for CNanoLog {
    hand_on!(traceloom_cnanolog, header_bytes: |header| header.stored_bytes as u64);

    fn info(&self, source: &Source, options: &Options) -> Result<(Info, Findings)> {
        let mut reader = open(source, options)?;
        reader.check_arguments();
        let mut survey = Survey::default();
        while let Some(located) = reader.next()? {
            survey.take(&located.record);
        }
        let info = survey.info(&reader);
        Ok((info, reader.into_findings()))
    }

    fn check(&self, source: &Source, options: &Options) -> Result<Findings> {
        let mut reader = open(source, options)?;
        reader.check_arguments();
        walk::check(reader)
    }

    fn sample(&self) -> Result<Sample> {
        Ok(Sample {
            file_name: "service.clog",
            bytes: sample::clog()?,
            about: "the log of a small service",
            tries: &["log {file}", "log --level warn+ --json {file}"],
        })
    }
}

#[derive(Default)]
struct Survey {
    entries: u64,
    /// Entries of each site, by its place in the dictionary.
    per_site: Vec<u64>,
    unknown: u64,
    first: Option<u64>,
    last: u64,
}

impl Survey {
    fn take(&mut self, record: &Record<'_>) {
        let Record::Entry(entry) = record else { return };
        self.entries += 1;
        match entry.site_index() {
            Some(index) => {
                if self.per_site.len() <= index {
                    self.per_site.resize(index + 1, 0);
                }
                self.per_site[index] += 1;
            }
            None => self.unknown += 1,
        }
        if let Some(ticks) = entry.timestamp {
            self.first = Some(self.first.map_or(ticks, |first| first.min(ticks)));
            self.last = self.last.max(ticks);
        }
    }

    fn info(&self, reader: &Reader) -> Info {
        let header = reader.header();
        let version = format!("{}.{}", header.version_major, header.version_minor);
        let mut info = Info { version, ..Info::default() };
        info.fact("byte_order", header.order.as_str());
        info.fact("started", started(reader));
        match header.has_timestamps {
            true => info.fact("clock", format!("{} ticks a second", header.timestamp_frequency)),
            false => info.fact("clock", "no timestamps"),
        }
        if let Some(first) = self.first {
            let clock = reader.clock();
            let logged = clock.since_start_ns(self.last).saturating_sub(clock.since_start_ns(first));
            info.facts.push(Fact { name: "logged", amount: Amount::Nanoseconds(logged.unsigned_abs()) });
        }
        info.fact("entries", self.entries);
        match reader.dictionary() {
            Some(dictionary) => {
                info.fact("sites", dictionary.len() as u64);
                info.fact("argument_types", format!("{} a site", dictionary.slots()));
                info.fact("levels", dictionary.numbering().as_str());
                info.fact("custom_levels", dictionary.levels().count() as u64);
            }
            None => info.fact("dictionary", closing(header)),
        }
        if self.unknown > 0 {
            info.fact("entries_of_unknown_sites", self.unknown);
        }
        info.tables.push(self.site_table(reader));
        info
    }

    fn site_table(&self, reader: &Reader) -> Table {
        let sites = reader.dictionary().into_iter().flat_map(|dictionary| {
            dictionary.sites().enumerate().map(|(index, site)| {
                let level = dictionary
                    .level_name(site.level)
                    .map_or_else(|| site.level.to_string(), |name| Text(name).to_string());
                let entries = self.per_site.get(index).copied().unwrap_or(0);
                vec![
                    u64::from(site.id).into(),
                    entries.into(),
                    level.into(),
                    format!("{}:{}", Text(site.file), site.line).into(),
                    Text(site.format).to_string().into(),
                ]
            })
        });
        Table { name: "sites", columns: &["id", "entries", "level", "place", "format"], rows: sites.collect() }
    }
}

fn started(reader: &Reader) -> String {
    let mut text = Vec::new();
    let mut stamp = traceloom_cnanolog::text::Stamp::new(traceloom_cnanolog::text::utc);
    stamp.put_date_time(reader.clock().start(), &mut text);
    format!("{} UTC", String::from_utf8_lossy(&text))
}

fn closing(header: &Header) -> &'static str {
    match header.dictionary_offset {
        0 => "none: the log was never closed; supply one with `traceloom log --dictionary`",
        _ => "none that can be read",
    }
}

//! The summary of a file.

use crate::{Header, Reader, Record};
use traceloom_core::{Amount, Fact, Findings, Hertz, Info, Listing, Options, Records, Result, Source, Text};

/// Summarizes a file.
pub(crate) fn info(source: &Source, options: &Options) -> Result<(Info, Findings)> {
    let mut reader = crate::open(source.clone(), &options.clone().thorough())?;
    let mut survey = Survey::default();
    while let Some(located) = reader.next()? {
        survey.take(&located.record);
    }
    let info = survey.info(&reader);
    Ok((info, reader.into_findings()))
}

#[derive(Default)]
struct Survey {
    entries: u64,
    /// Number of entries per site, by index in the dictionary.
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
                if let Some(entries) = self.per_site.get_mut(index) {
                    *entries += 1;
                }
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
        if let Some((process, thread)) = header.ids() {
            info.fact("process", u64::from(process));
            info.fact("thread", u64::from(thread));
        }
        if header.has_blocks() {
            info.fact("compression", if header.is_compressed() { "lz4" } else { "none" });
            info.fact("checksums", if header.has_checksums() { "crc32" } else { "none" });
        }
        if header.has_timestamps {
            info.fact("clock", Hertz(header.timestamp_frequency).to_string());
        } else {
            info.fact("clock", "no timestamps");
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
                info.fact("argument_types", format!("{} per site", dictionary.slots()));
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

    fn site_table(&self, reader: &Reader) -> Listing {
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
        Listing { name: "sites", columns: &["id", "entries", "level", "place", "format"], rows: sites.collect() }
    }
}

fn started(reader: &Reader) -> String {
    let mut text = Vec::new();
    let mut stamp = crate::text::Stamp::new(crate::text::utc);
    stamp.put_date_time(reader.clock().start(), &mut text);
    format!("{} UTC", String::from_utf8_lossy(&text))
}

fn closing(header: &Header) -> &'static str {
    match header.dictionary_offset {
        0 => "none: the log was never closed; supply one with `traceloom log --dictionary`",
        _ => "none that can be read",
    }
}

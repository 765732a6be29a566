//! The summary of a file.

use std::collections::BTreeMap;

use crate::{
    Clock, Header, Record,
    plausible::Plausible,
    raw::{BlockType, Status},
    settled,
};
use traceloom_core::{Amount, Fact, Findings, Hertz, Info, Listing, Options, Records, Result, Source, Text};

/// Summarizes a file.
pub(crate) fn info(source: &Source, options: &Options) -> Result<(Info, Findings)> {
    let mut reader = crate::open(source.clone(), &options.clone().thorough())?;
    let mut survey = Survey::default();
    let clock = reader.clock();
    let plausible = Plausible::of(reader.header());
    while let Some(located) = reader.next()? {
        survey.take(&located.record, &clock, &plausible);
    }
    let info = survey.info(reader.header(), &clock);
    Ok((info, settled(reader.into_findings(), source, options)?))
}

#[derive(Default)]
struct Survey {
    descriptors: u64,
    disabled: u64,
    bookmarks: u64,
    recorded: Recorded,
    threads: BTreeMap<u64, Thread>,
    current: u64,
}

#[derive(Default)]
struct Thread {
    name: String,
    blocks: u64,
    events: u64,
    values: u64,
    switches: u64,
    recorded: Recorded,
}

/// How long records were made, with and without those at implausible times.
#[derive(Default)]
struct Recorded {
    all: Extent,
    plausible: Extent,
}

#[derive(Default)]
struct Extent {
    records: u64,
    first_ns: Option<u64>,
    last_ns: u64,
}

impl Recorded {
    fn add(&mut self, (begin_ns, end_ns): (u64, u64), is_plausible: bool) {
        self.all.add(begin_ns, end_ns);
        if is_plausible {
            self.plausible.add(begin_ns, end_ns);
        }
    }
}

impl Extent {
    fn add(&mut self, begin_ns: u64, end_ns: u64) {
        self.records += 1;
        self.first_ns = Some(self.first_ns.map_or(begin_ns, |first| first.min(begin_ns)));
        self.last_ns = self.last_ns.max(end_ns);
    }

    fn len_ns(&self) -> u64 {
        self.last_ns.saturating_sub(self.first_ns.unwrap_or(self.last_ns))
    }
}

impl Survey {
    fn take(&mut self, record: &Record<'_>, clock: &Clock, plausible: &Plausible) {
        match record {
            Record::Descriptor(descriptor) => {
                self.descriptors += 1;
                self.disabled += u64::from(descriptor.status.0 & Status::ON.0 == 0);
            }
            Record::Thread(thread) => {
                self.current = thread.id;
                let entry = self.threads.entry(thread.id).or_default();
                if !thread.name.text.is_empty() {
                    entry.name = Text(thread.name.text).to_string();
                }
            }
            Record::Bookmark(_) => self.bookmarks += 1,
            record => {
                let Some((begin, end)) = record.times() else { return };
                let is_plausible = plausible.takes(begin, end);
                let span = clock.span(begin, end);
                let thread = self.threads.entry(self.current).or_default();
                match record {
                    Record::Switch(_) => thread.switches += 1,
                    Record::Value(_) => thread.values += 1,
                    Record::Block(block) if block.block_type != BlockType::BLOCK => thread.events += 1,
                    _ => thread.blocks += 1,
                }
                thread.recorded.add(span, is_plausible);
                self.recorded.add(span, is_plausible);
            }
        }
    }

    fn info(&self, header: &Header, clock: &Clock) -> Info {
        let mut info = Info { version: header.version.to_string(), ..Info::default() };
        info.fact("byte_order", header.layout.order.as_str());
        if let Some(pid) = header.pid {
            info.fact("pid", pid);
        }
        match header.cpu_frequency {
            0 => info.fact("clock", "nanoseconds"),
            frequency => {
                let hertz = u64::try_from(frequency).map(|frequency| Hertz(frequency).to_string());
                info.fact("clock", hertz.unwrap_or_else(|_| format!("{frequency} Hz")));
            }
        }
        // In a capture over the network, the start is never filled in.
        if header.begin_time == 0 {
            info.fact("capture", "live: the start is not recorded");
        } else {
            let captured = clock.ns(header.end_time).saturating_sub(clock.begin_ns());
            info.facts.push(nanoseconds("capture", captured));
        }
        info.facts.push(nanoseconds("recorded", self.extent(&self.recorded).len_ns()));
        let sum = |count: fn(&Thread) -> u64| self.threads.values().map(count).sum::<u64>();
        info.fact("threads", self.threads.len() as u64);
        info.fact("blocks", sum(|thread| thread.blocks));
        info.fact("events", sum(|thread| thread.events));
        info.fact("values", sum(|thread| thread.values));
        info.fact("switches", sum(|thread| thread.switches));
        info.fact("descriptors", self.descriptors);
        info.fact("descriptors_off", self.disabled);
        info.fact("bookmarks", self.bookmarks);
        info.tables.push(self.thread_table());
        info
    }

    fn extent<'r>(&self, recorded: &'r Recorded) -> &'r Extent {
        let Recorded { all, plausible } = &self.recorded;
        let is_usual = Plausible::are_most(plausible.records, all.records);
        if is_usual { &recorded.plausible } else { &recorded.all }
    }

    fn thread_table(&self) -> Listing {
        let rows = self.threads.iter().map(|(id, thread)| {
            vec![
                (*id).into(),
                thread.name.as_str().into(),
                thread.blocks.into(),
                thread.events.into(),
                thread.values.into(),
                thread.switches.into(),
                Amount::Nanoseconds(self.extent(&thread.recorded).len_ns()),
            ]
        });
        Listing {
            name: "threads",
            columns: &["id", "name", "blocks", "events", "values", "switches", "recorded"],
            rows: rows.collect(),
        }
    }
}

fn nanoseconds(name: &'static str, ns: u64) -> Fact {
    Fact { name, amount: Amount::Nanoseconds(ns) }
}

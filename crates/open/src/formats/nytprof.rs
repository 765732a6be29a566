//! NYTProf: the real stream of Devel::NYTProf.

use std::{cmp::Reverse, collections::BTreeMap, io::Write};

use traceloom_bytes::{Descriptor, Edited, Findings, Options, Records, Result, Source};
use traceloom_nytprof::{
    Reader, Record,
    aggregate::{Loader, Profile},
    dialect, edit, pynytprof, sample, text_of,
};

use super::codec::hand_on;
use crate::{Amount, Fact, Format, Info, Sample, Table, utc, walk};

pub(crate) struct Nytprof;

fn open(source: &Source, options: &Options) -> Result<Reader> {
    traceloom_nytprof::open(source.clone(), options)
}

impl Format for Nytprof {
    hand_on!(traceloom_nytprof, header_bytes: |header| header.line().len() as u64);

    fn settle(&self, source: &Source, options: &Options) -> Result<Option<&'static str>> {
        let is_pynytprof = dialect(source, &options.limits)?.is_pynytprof();
        Ok(is_pynytprof.then_some(pynytprof::FORMAT.id))
    }

    fn info(&self, source: &Source, options: &Options) -> Result<(Info, Findings)> {
        let mut reader = open(source, options)?;
        let mut loader = Loader::new(source.len()?, &options.limits);
        let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
        let mut compressed = None;
        while let Some(located) = reader.next()? {
            if let Record::StartDeflate(..) = located.record {
                compressed = Some(located.offset);
            }
            *counts.entry(traceloom_bytes::Describe::kind(&located.record)).or_default() += 1;
            loader.add(&located.record)?;
        }
        let header = reader.header();
        let version = format!("{}.{}", header.major, header.minor);
        let info = info(version, &loader.finish(), &counts, compressed);
        Ok((info, reader.into_findings()))
    }

    fn check(&self, source: &Source, options: &Options) -> Result<Findings> {
        walk::check(open(source, options)?)
    }

    fn convert_to(
        &self,
        source: &Source,
        out: &mut dyn Write,
        to: &'static Descriptor,
        variant: Option<&str>,
        options: &Options,
    ) -> Result<Edited> {
        match to.id {
            id if id == pynytprof::FORMAT.id => edit::to_pynytprof(source, out, variant, options),
            _ => super::unrelated(self.descriptor(), to),
        }
    }

    fn sample(&self) -> Result<Sample> {
        Ok(Sample {
            file_name: "nytprof.out",
            bytes: sample::profile()?,
            about: "a Perl program that prices shopping carts",
            tries: &["convert --to nytprof:zlib {file} small.out", "convert --to pynytprof {file} py.out"],
        })
    }
}

/// Rows of a table that are shown.
const SHOWN: usize = 10;

fn info(version: String, profile: &Profile, counts: &BTreeMap<&'static str, u64>, compressed: Option<u64>) -> Info {
    let mut info = Info { version, ..Info::default() };
    for name in ["application", "perl_version"] {
        if let Some(value) = profile.attributes.get(name.as_bytes()) {
            info.fact(name, text_of(value).into_owned());
        }
    }
    info.fact("compression", compressed.map_or("none".to_owned(), |offset| format!("zlib from byte {offset} on")));
    if let Some(start) = profile.start_time {
        info.fact("started", utc::date_time((start * 1e6) as u64));
    }
    info.facts.push(Fact { name: "duration", amount: seconds(profile.duration) });
    info.fact("complete", if profile.is_complete { "yes" } else { "no: a process has not ended" });
    info.fact("processes", counts.get("pid_start").copied().unwrap_or(0));
    info.fact("files", profile.files.len() as u64);
    info.fact("subs", profile.subs.len() as u64);
    info.fact("statements", profile.stmts_measured);
    info.facts.push(Fact { name: "statement_time", amount: seconds(profile.stmts_seconds) });
    info.fact("sub_calls", profile.sub_calls);
    info.fact("records", counts.values().sum::<u64>());
    info.tables.push(sub_table(profile));
    info
}

fn sub_table(profile: &Profile) -> Table {
    let mut subs: Vec<_> = profile.subs.iter().filter(|(_, sub)| sub.calls > 0).collect();
    subs.sort_by_key(|(_, sub)| Reverse(nanoseconds(sub.excl_seconds)));
    let rows = subs.into_iter().take(SHOWN).map(|(name, sub)| {
        vec![
            u64::from(sub.calls).into(),
            seconds(sub.excl_seconds),
            seconds(sub.incl_seconds),
            text_of(name).into_owned().into(),
        ]
    });
    Table { name: "hottest_subs", columns: &["calls", "exclusive", "inclusive", "name"], rows: rows.collect() }
}

fn seconds(seconds: f64) -> Amount {
    Amount::Nanoseconds(nanoseconds(seconds))
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

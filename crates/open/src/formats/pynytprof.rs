//! The dialect of Pynytprof.

use std::{collections::BTreeMap, io::Write};

use traceloom_bytes::{Descriptor, Edited, Findings, Options, Records, Result, Source};
use traceloom_nytprof::{
    FORMAT as NYTPROF, dialect, edit,
    pynytprof::{Reader, Record},
    sample,
};

use super::codec::hand_on;
use crate::{Format, Info, Sample, utc, walk};

pub(crate) struct Pynytprof;

fn open(source: &Source, options: &Options) -> Result<Reader> {
    traceloom_nytprof::pynytprof::open(source.clone(), options)
}

impl Format for Pynytprof {
    hand_on!(traceloom_nytprof::pynytprof, header_bytes: |header| header.head.len() as u64);

    fn settle(&self, source: &Source, options: &Options) -> Result<Option<&'static str>> {
        let is_pynytprof = dialect(source, &options.limits)?.is_pynytprof();
        Ok((!is_pynytprof).then_some(NYTPROF.id))
    }

    fn info(&self, source: &Source, options: &Options) -> Result<(Info, Findings)> {
        let mut reader = open(source, options)?;
        let mut survey = Survey::default();
        while let Some(located) = reader.next()? {
            survey.take(&located.record);
        }
        let info = survey.info(reader.header().dialect.as_str());
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
            id if id == NYTPROF.id => edit::from_pynytprof(source, out, variant, options),
            _ => super::unrelated(self.descriptor(), to),
        }
    }

    fn sample(&self) -> Result<Sample> {
        Ok(Sample {
            file_name: "pynytprof.out",
            bytes: sample::pynytprof()?,
            about: "the same program's figures in Pynytprof's dialect",
            tries: &["convert --to nytprof {file} perl.out"],
        })
    }
}

#[derive(Default)]
struct Survey {
    counts: BTreeMap<&'static str, u64>,
    process: Option<(u32, f64)>,
    chunks: String,
}

impl Survey {
    fn take(&mut self, record: &Record<'_>) {
        *self.counts.entry(traceloom_bytes::Describe::kind(record)).or_default() += 1;
        match record {
            Record::Process(process) => self.process = Some((process.pid, process.time)),
            Record::Chunk(chunk) => self.chunks.push(char::from(chunk.tag.0)),
            _ => {}
        }
    }

    fn info(&self, dialect: &str) -> Info {
        let mut info = Info { version: dialect.to_owned(), ..Info::default() };
        if let Some((pid, time)) = self.process {
            info.fact("pid", u64::from(pid));
            info.fact("started", utc::date_time((time * 1e6) as u64));
        }
        if !self.chunks.is_empty() {
            info.fact("chunks", self.chunks.as_str());
        }
        for (kind, count) in &self.counts {
            info.fact(kind, *count);
        }
        info
    }
}

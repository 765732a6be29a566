//! The summary of a file.

use std::cmp::Reverse;

use crate::{
    NvLayout, PidStart, Reader, Record,
    aggregate::{Loader, Profile},
    text_of,
};
use traceloom_core::{
    Amount, Fact, Findings, Hertz, Info, Listing, Located, Options, Records, Result, Source, Text, date_time,
};

/// Summarizes a file.
pub(crate) fn info(source: &Source, options: &Options) -> Result<(Info, Findings)> {
    let mut reader = crate::open(source.clone(), &options.clone().thorough())?;
    let mut survey = Survey::new(source.len()?, options);
    reader.walk(
        #[inline(always)]
        |located| survey.take(&located),
    )?;
    let info = survey.info(&reader);
    Ok((info, reader.into_findings()))
}

/// Maximum number of rows shown per table.
const SHOWN: usize = 10;

/// All sums, and what they leave out.
struct Survey {
    loader: Loader,
    producer: Option<String>,
    compressed: Option<(u64, u8)>,
    first_start: Option<f64>,
    processes: u64,
    first_processes: Vec<(u32, u32, f64)>,
    entries: u64,
    returns: u64,
    source_lines: u64,
    records: u64,
}

impl Survey {
    fn new(source_bytes: u64, options: &Options) -> Self {
        Self {
            loader: Loader::new(source_bytes, &options.limits),
            producer: None,
            compressed: None,
            first_start: None,
            processes: 0,
            first_processes: Vec::new(),
            entries: 0,
            returns: 0,
            source_lines: 0,
            records: 0,
        }
    }

    #[inline(always)]
    fn take(&mut self, located: &Located<Record<'_>>) -> Result<()> {
        self.records += 1;
        match &located.record {
            Record::TimeLine(_) | Record::Discount => {}
            Record::SubReturn(_) => self.returns += 1,
            other => self.take_rare(other, located.offset),
        }
        self.loader.add(&located.record)
    }

    fn take_rare(&mut self, record: &Record<'_>, offset: u64) {
        match record {
            Record::Comment(text) if self.producer.is_none() => self.producer = Some(shown(text)),
            Record::StartDeflate(level) => self.compressed = Some((offset, *level)),
            Record::PidStart(start) => self.take_process(start),
            Record::SubEntry(_) => self.entries += 1,
            Record::SrcLine(_) => self.source_lines += 1,
            _ => {}
        }
    }

    fn take_process(&mut self, start: &PidStart<'_>) {
        self.processes += 1;
        self.first_start.get_or_insert(start.time.value());
        if self.first_processes.len() < SHOWN {
            self.first_processes.push((start.pid, start.ppid, start.time.value()));
        }
    }

    fn info(self, reader: &Reader) -> Info {
        let header = reader.header();
        let mut info = Info { version: format!("{}.{}", header.major, header.minor), ..Info::default() };
        if let Some(producer) = &self.producer {
            info.fact("comment", producer.as_str());
        }
        let Self { compressed, first_start, processes, entries, returns, source_lines, records, .. } = self;
        let profile = self.loader.finish();
        producer_facts(&mut info, &profile);
        let numbers = reader.nv_layout().filter(|layout| *layout != NvLayout::COMMON);
        if let Some(layout) = numbers {
            info.fact("numbers", format!("{} bytes, {}", layout.size(), layout.order().as_str()));
        }
        info.fact(
            "compression",
            match compressed {
                Some((offset, level)) => format!("zlib from byte {offset} on, at about level {level}"),
                None => "none".to_owned(),
            },
        );
        if let Some(start) = first_start {
            info.fact("started", moment(start));
        }
        time_facts(&mut info, &profile);
        info.fact("processes", processes);
        let evals = profile.files.values().filter(|file| file.is_eval()).count();
        info.fact("files", (profile.files.len() - evals) as u64);
        info.fact("string_evals", evals as u64);
        info.fact("subs", profile.subs.len() as u64);
        info.fact("sub_calls", profile.sub_calls);
        info.fact("sub_entries_in_order", entries);
        info.fact("sub_returns_in_order", returns);
        info.fact("source_lines", source_lines);
        info.fact("records", records);
        if processes > 1 {
            info.tables.push(process_table(&self.first_processes));
        }
        info.tables.extend([sub_table(&profile), line_table(&profile), file_table(&profile)]);
        info
    }
}

fn producer_facts(info: &mut Info, profile: &Profile) {
    for (name, key) in [("application", "application"), ("perl", "perl_version"), ("devel_nytprof", "xs_version")] {
        if let Some(value) = profile.attributes.get(key.as_bytes()) {
            info.fact(name, shown(value));
        }
    }
    let clock = profile.ticks_per_sec.map(|ticks| Hertz(ticks.into()).to_string());
    info.fact("clock", clock.unwrap_or_else(|| "ticks of unknown length".to_owned()));
}

fn time_facts(info: &mut Info, profile: &Profile) {
    info.facts.push(Fact { name: "duration", amount: seconds(profile.duration) });
    info.fact("complete", if profile.is_complete { "yes" } else { "no: a process has no end" });
    info.fact("statements", profile.stmts_measured);
    info.fact("statements_discounted", profile.stmts_discounted);
    info.facts.push(Fact { name: "statement_time", amount: seconds(profile.stmts_seconds) });
}

fn process_table(processes: &[(u32, u32, f64)]) -> Listing {
    let rows = processes
        .iter()
        .map(|(pid, ppid, start)| vec![u64::from(*pid).into(), u64::from(*ppid).into(), moment(*start).into()]);
    Listing { name: "processes", columns: &["pid", "parent", "started"], rows: rows.collect() }
}

fn sub_table(profile: &Profile) -> Listing {
    let mut subs: Vec<_> = profile.subs.iter().filter(|(_, sub)| sub.calls > 0).collect();
    subs.sort_by_key(|(_, sub)| Reverse(nanoseconds(sub.excl_seconds)));
    let rows = subs.into_iter().take(SHOWN).map(|(name, sub)| {
        let kind = sub.kind(name).as_str();
        vec![sub.calls.into(), seconds(sub.excl_seconds), seconds(sub.incl_seconds), kind.into(), shown(name).into()]
    });
    let columns = &["calls", "exclusive", "inclusive", "kind", "name"];
    Listing { name: "hottest_subs", columns, rows: rows.collect() }
}

fn line_table(profile: &Profile) -> Listing {
    let lines = profile.files.iter().flat_map(|(fid, file)| {
        file.lines.iter().map(|(number, line)| (nanoseconds(line.seconds), *fid, *number, line.count))
    });
    let mut lines: Vec<_> = lines.collect();
    lines.sort_unstable_by_key(|(time, fid, number, _)| (Reverse(*time), *fid, *number));
    let rows = lines.into_iter().take(SHOWN).map(|(time, fid, number, count)| {
        let file = profile.files.get(&fid).map_or_else(String::new, |file| shown(&file.name));
        vec![signed(count), Amount::Nanoseconds(time), format!("{file}:{number}").into()]
    });
    Listing { name: "hottest_lines", columns: &["statements", "time", "place"], rows: rows.collect() }
}

fn file_table(profile: &Profile) -> Listing {
    let mut files: Vec<_> = profile.files.iter().map(|(fid, file)| (file.total(), *fid, file)).collect();
    files.sort_by_key(|(total, fid, _)| (Reverse(nanoseconds(total.seconds)), *fid));
    let rows = files.into_iter().take(SHOWN).map(|(total, fid, file)| {
        vec![u64::from(fid).into(), signed(total.count), seconds(total.seconds), shown(&file.name).into()]
    });
    Listing { name: "hottest_files", columns: &["fid", "statements", "time", "name"], rows: rows.collect() }
}

/// Names may be Latin-1, and may contain anything.
fn shown(name: &[u8]) -> String {
    Text(text_of(name).as_bytes()).to_string()
}

fn moment(unix_seconds: f64) -> String {
    date_time((unix_seconds * 1e6) as u64)
}

/// If a counter wrapped, a sum may be negative, which must not look like a zero.
fn seconds(seconds: f64) -> Amount {
    if seconds < 0.0 {
        return format!("{seconds:.6} s").into();
    }
    Amount::Nanoseconds(nanoseconds(seconds))
}

/// With more discounts than statements, a count is negative.
fn signed(count: i64) -> Amount {
    u64::try_from(count).map_or_else(|_| count.to_string().into(), Amount::Count)
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

//! Converts the dialect to a stream that Devel::NYTProf loads.

use std::{
    collections::{BTreeMap, HashMap},
    io::Write,
};

use traceloom_core::{Edited, Loss, Options, Result, Source};

use crate::{
    Header, NewFid, Nv, Pair, PidEnd, PidStart, Record, Str, SubCallers, SubInfo, TimeLine, Writer, create,
    dialect::PRODUCER,
    edit::{level_of, start_deflate},
    pynytprof::{
        Process,
        figures::{Figures, Sum},
        raw::TICKS_PER_SEC,
    },
    raw::{FidFlags, ORIGINAL_LINES},
    record::brief,
};

/// Writes a Pynytprof file as a profile that Devel::NYTProf loads, with the sums of lines, calls and edges.
///
/// Edges have no location, and Devel::NYTProf would sum those that share one, so a made-up file has a line for each
/// caller. Of the two times of a line, the self time is kept, which is what NYTProf measures.
pub fn to_nytprof<W: Write>(source: &Source, out: W, variant: Option<&str>, options: &Options) -> Result<Edited> {
    let level = variant.map(level_of).transpose()?.flatten();
    let (figures, findings) = Figures::load(source, options)?;
    let mut real = Real {
        writer: create(out, &Header::default())?,
        fids: BTreeMap::new(),
        loss: figures.loss.clone(),
        statements_left: MAX_STATEMENTS.min(options.limits.entries as u64),
    };
    real.write(&figures, level)?;
    real.writer.finish()?;
    Ok(Edited { findings, loss: real.loss })
}

/// Each visit of a line is a separate record, so a file of a few bytes could ask for any number of them.
const MAX_STATEMENTS: u64 = 4 << 20;
/// The made-up file whose lines represent callers.
const CALLERS: &str = "/pynytprof-callers";
/// The caller of calls that only have a location.
const NOBODY: &[u8] = b"main::RUNTIME";
const SECONDS_PER_TICK: f64 = 1.0 / TICKS_PER_SEC as f64;

struct Real<W: Write> {
    writer: Writer<W>,
    /// New file numbers, from 1 without gaps.
    fids: BTreeMap<u32, u32>,
    loss: Loss,
    /// Number of records that visits of lines may still use.
    statements_left: u64,
}

/// The comment with its producer, which decides if the bytes fit both dialects.
fn signed(comment: &[u8]) -> Vec<u8> {
    match comment.windows(PRODUCER.len()).position(|part| part == PRODUCER) {
        Some(at) => {
            let (before, after) = comment.split_at(at);
            [before, b"by Traceloom from", after.get(2..).unwrap_or_default()].concat()
        }
        None => comment.to_vec(),
    }
}

impl<W: Write> Real<W> {
    fn write(&mut self, figures: &Figures, level: Option<u8>) -> Result<()> {
        self.write_text(figures, level)?;
        let process = figures.process.unwrap_or(Process::new(1, 0, 0.0));
        let (pid, ppid, time) = (process.pid, process.ppid, Nv::from(process.time));
        self.writer.write(&Record::PidStart(PidStart { pid, ppid, time, odd_bytes: None }))?;
        let callers_fid = self.write_files(figures)?;
        for ((fid, line), sum) in &figures.lines {
            self.write_line(*fid, *line, sum)?;
        }
        self.writer.write(&Record::Attribute(Pair::new(b"cumulative_overhead_ticks", b"0")))?;
        self.write_subs(figures)?;
        self.write_edges(figures, callers_fid)?;
        let spent = figures.lines.values().map(|sum| sum.exc_ticks as f64).sum::<f64>() * SECONDS_PER_TICK;
        let time = Nv::from(process.time + spent);
        self.writer.write(&Record::PidEnd(PidEnd { pid, time, odd_bytes: None }))
    }

    fn write_text(&mut self, figures: &Figures, level: Option<u8>) -> Result<()> {
        if let Some(comment) = &figures.comment {
            self.writer.write(&Record::Comment(&signed(comment)))?;
        }
        for (key, value) in &figures.attributes {
            let value = match key.as_slice() {
                b"nv_size" | b"ticks_per_sec" => continue,
                _ => value,
            };
            self.writer.write(&Record::Attribute(Pair::new(key, value)))?;
        }
        let ticks = TICKS_PER_SEC.to_string();
        self.writer.write(&Record::Attribute(Pair::new(b"nv_size", b"8")))?;
        self.writer.write(&Record::Attribute(Pair::new(b"ticks_per_sec", ticks.as_bytes())))?;
        for (key, value) in &figures.options {
            self.writer.write(&Record::Option(Pair::new(key, value)))?;
        }
        if let Some(level) = level {
            start_deflate(&mut self.writer, level)?;
        }
        Ok(())
    }

    /// Defines every file that anything refers to; returns the number of the one for callers.
    fn write_files(&mut self, figures: &Figures) -> Result<u32> {
        let ranges = figures.subs.values().filter_map(|sub| sub.range).map(|(fid, ..)| fid);
        let sites = figures.sites.keys().map(|(fid, ..)| *fid);
        let used = figures.lines.keys().map(|(fid, _)| *fid).chain(ranges).chain(sites);
        let mut all: Vec<u32> = figures.files.keys().copied().chain(used).collect();
        all.sort_unstable();
        all.dedup();
        self.fids = all.into_iter().zip(1..).collect();
        for (fid, number) in &self.fids {
            let unknown = format!("/pynytprof-file-{fid}").into_bytes();
            let name = figures.files.get(fid).unwrap_or(&unknown);
            self.writer.write(&Record::NewFid(NewFid::file(*number, FidFlags::VIA_STMT, name)))?;
        }
        let callers_fid = self.fids.len() as u32 + 1;
        let callers = NewFid::file(callers_fid, FidFlags::IS_FAKE, CALLERS.as_bytes());
        self.writer.write(&Record::NewFid(callers))?;
        Ok(callers_fid)
    }

    /// Writes as many statements as there were visits, with times that add up.
    fn write_line(&mut self, fid: u32, line: u32, sum: &Sum) -> Result<()> {
        let Some(number) = self.fids.get(&fid).copied() else { return Ok(()) };
        if sum.inc_ticks != sum.exc_ticks {
            self.loss.lose("inclusive times of lines", || format!("line {line} of file {fid}: {}", sum.inc_ticks));
        }
        let whole = sum.exc_ticks.div_ceil(i32::MAX as u64).max(sum.calls);
        if line > ORIGINAL_LINES || whole > self.statements_left {
            self.loss.lose("line numbers, times or counts too large for a NYTProf file", || {
                format!("line {line} of file {fid}: {} visits, {} ticks", sum.calls, sum.exc_ticks)
            });
            return Ok(());
        }
        self.statements_left -= whole;
        let (mut ticks_left, mut calls_left) = (sum.exc_ticks, sum.calls);
        while ticks_left > 0 || calls_left > 0 {
            let ticks = ticks_left.min(i32::MAX as u64);
            ticks_left -= ticks;
            if calls_left == 0 {
                self.writer.write(&Record::Discount)?;
            }
            calls_left = calls_left.saturating_sub(1);
            let ticks = i32::try_from(ticks).unwrap_or(i32::MAX);
            self.writer.write(&Record::TimeLine(TimeLine { ticks, fid: number, line, odd_bytes: None }))?;
        }
        Ok(())
    }

    fn write_subs(&mut self, figures: &Figures) -> Result<()> {
        for sub in figures.subs.values() {
            if sub.flags != 0 {
                self.loss.lose("flags of subs", || format!("{}: {}", brief(&sub.name), sub.flags));
            }
            let (fid, first_line, last_line) = sub.range.unwrap_or_default();
            let fid = sub.range.and_then(|_| self.fids.get(&fid).copied()).unwrap_or(1);
            let name = Str::new(&sub.name);
            self.writer.write(&Record::SubInfo(SubInfo { fid, name, first_line, last_line, odd_bytes: None }))?;
        }
        Ok(())
    }

    fn write_edges(&mut self, figures: &Figures, callers_fid: u32) -> Result<()> {
        let mut lines: HashMap<u32, u32> = HashMap::new();
        for ((caller, callee), sum) in &figures.edges {
            let next = lines.len() as u32 + 1;
            let line = *lines.entry(*caller).or_insert(next);
            let (caller, callee) = (sub_name(figures, *caller), sub_name(figures, *callee));
            self.writer.write(&calls((callers_fid, line), &caller, &callee, sum))?;
        }
        for ((fid, line, callee), sum) in &figures.sites {
            let fid = self.fids.get(fid).copied().unwrap_or(callers_fid);
            self.loss.lose("call counts, which call sites lack", || format!("line {line} of file {fid}"));
            self.writer.write(&calls((fid, *line), NOBODY, &sub_name(figures, *callee), sum))?;
        }
        Ok(())
    }
}

/// Calls from a file and line, with their sums.
fn calls<'a>((fid, line): (u32, u32), caller: &'a [u8], called: &'a [u8], sum: &Sum) -> Record<'a> {
    let seconds = |ticks: u64| Nv::from(ticks as f64 / f64::from(TICKS_PER_SEC));
    Record::SubCallers(SubCallers {
        fid,
        line,
        caller: Str::new(caller),
        count: u32::try_from(sum.calls).unwrap_or(u32::MAX),
        incl_seconds: seconds(sum.inc_ticks),
        excl_seconds: seconds(sum.exc_ticks),
        reci_seconds: Nv::from(0.0),
        depth: 0,
        called: Str::new(called),
        odd_bytes: None,
    })
}

/// The name of a sub; files of the tool itself refer to numbers without a name.
fn sub_name(figures: &Figures, sid: u32) -> Vec<u8> {
    figures.subs.get(&sid).map_or_else(|| format!("pynytprof::sub_{sid}").into_bytes(), |sub| sub.name.clone())
}

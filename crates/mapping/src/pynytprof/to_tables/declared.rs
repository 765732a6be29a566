//! The declarations of a file: files, subs, the process. Writers differ in their order, so they are read before any
//! row.

use std::collections::BTreeMap;

use traceloom_core::{Limits, Records, Result};
use traceloom_model::{
    ClockKind, Halt, Tables,
    definitions::Definition,
    processes::Process as ProcessRow,
    threads::Thread,
    trackers::{Clock, Extent, Strings, Symbol},
};
use traceloom_nytprof::{
    NewFid, Record as Token, Str,
    pynytprof::{Process, Reader, Record, raw::TICKS_PER_SEC},
    raw::FidFlags,
    text_of,
};

use crate::{
    nytprof::to_tables::{
        clock::unix_ns,
        names::{Budget, Files},
    },
    shared::{Args, Facts, push_trace},
    trace::Input,
};

/// All declarations.
#[derive(Debug)]
pub(super) struct Declared {
    pub(super) files: Files,
    subs: BTreeMap<u32, Sub>,
    process: Option<Process>,
    end: Option<f64>,
    basetime: Option<f64>,
    application: Option<Symbol>,
    is_signed: bool,
    /// Total time of the visits of lines.
    pub(super) visits_ns: u64,
    budget: Budget,
}

#[derive(Clone, Copy, Debug)]
struct Sub {
    name: Symbol,
    flags: Option<u32>,
    /// File, first and last line.
    range: Option<(u32, u32, u32)>,
}

impl Declared {
    pub(super) fn new(source_bytes: u64, limits: &Limits, strings: &mut Strings) -> Self {
        Self {
            files: Files::new(source_bytes, limits, strings),
            subs: BTreeMap::new(),
            process: None,
            end: None,
            basetime: None,
            application: None,
            is_signed: false,
            visits_ns: 0,
            budget: Budget::new(source_bytes, limits),
        }
    }

    /// Reads the whole file, or only the part before its sums.
    pub(super) fn read(&mut self, reader: &mut Reader, reads_all: bool, strings: &mut Strings) -> Result<()> {
        while let Some(located) = reader.next()? {
            self.take(&located.record, strings)?;
            if !reads_all && self.process.is_some() {
                break;
            }
        }
        Ok(())
    }

    fn take(&mut self, record: &Record<'_>, strings: &mut Strings) -> Result<()> {
        match record {
            Record::Comment(text) => self.is_signed |= text.windows(9).any(|part| part == b"Pynytprof"),
            Record::Attribute(pair) => {
                if let Some(value) = pair.value {
                    self.attribute(pair.key, value, strings);
                }
            }
            Record::Process(process) => self.process = self.process.or(Some(*process)),
            Record::Sub(sub) => {
                let name = self.sub_symbol(sub.name, strings)?;
                self.subs.insert(sub.sid, Sub { name, flags: Some(sub.flags), range: None });
            }
            Record::Range(sub) => {
                let range = Some((sub.fid, sub.first_line, sub.last_line));
                self.files.refer(sub.fid, strings)?;
                let name = self.sub_symbol(sub.name, strings)?;
                self.subs.insert(sub.sid, Sub { name, flags: None, range });
            }
            Record::File(file) => {
                let (flags, name) = (FidFlags(file.flags), Str::new(file.path));
                let (fid, size, mtime) = (file.fid, file.size, file.mtime);
                let file = NewFid { fid, eval_fid: 0, eval_line: 0, flags, size, mtime, name, odd_bytes: None };
                self.files.define(&file, strings)?;
            }
            Record::IndexedFile(fid, _) => self.files.refer(*fid, strings)?,
            // The documented layout has no file names, only numbers.
            Record::Line(line) => self.files.refer(line.fid, strings)?,
            Record::SiteCalls(calls) => self.files.refer(calls.fid, strings)?,
            Record::Visit(visit) => {
                self.files.refer(visit.fid, strings)?;
                self.visits_ns = self.visits_ns.saturating_add(visit.ns);
            }
            Record::Token(Token::PidStart(start)) => self.process = self.process.or(Some(Process::from(start))),
            Record::Token(Token::NewFid(file)) => self.files.define(file, strings)?,
            Record::Token(Token::SrcLine(source)) => self.files.refer(source.fid, strings)?,
            Record::Token(Token::SubCallers(calls)) if calls.fid != 0 => self.files.refer(calls.fid, strings)?,
            Record::Token(Token::TimeLine(time)) => self.files.refer(time.fid, strings)?,
            Record::Token(Token::TimeBlock(time)) => self.files.refer(time.fid, strings)?,
            Record::Token(Token::PidEnd(end)) => self.end = Some(end.time.value()).filter(|time| time.is_finite()),
            _ => {}
        }
        Ok(())
    }

    fn attribute(&mut self, key: &[u8], value: &[u8], strings: &mut Strings) {
        match key {
            b"application" => self.application = Some(strings.intern(&text_of(value))),
            b"basetime" => self.basetime = text_of(value).trim().parse().ok(),
            _ => {}
        }
    }

    fn sub_symbol(&mut self, name: &[u8], strings: &mut Strings) -> Result<Symbol> {
        self.budget.charge(name)?;
        Ok(strings.intern(&text_of(name)))
    }

    /// The name of a sub, if one is stored.
    pub(super) fn sub_name(&self, sid: u32) -> Option<Symbol> {
        self.subs.get(&sid).map(|sub| sub.name)
    }

    /// Start of the process, in nanoseconds since 1970.
    fn origin_ns(&self) -> Option<i128> {
        let start = self.process.map(|process| process.time).or(self.basetime);
        start.filter(|seconds| seconds.is_finite()).map(unix_ns)
    }

    /// Pushes the tables of declarations.
    pub(super) fn push(&self, args: &mut Args, tables: &mut Tables<'_>) -> Result<(), Halt> {
        self.files.push(args, tables)?;
        for (sid, sub) in &self.subs {
            let (fid, line, last_line) = sub.range.unwrap_or_default();
            tables.push(Definition {
                id: (*sid).into(),
                kind: "sub".into(),
                name: sub.name.into(),
                file: sub.range.and_then(|_| self.files.name(fid)).map(Into::into),
                line: sub.range.map(|_| line),
                last_line: sub.range.map(|_| last_line),
                color: None,
                level: None,
                flags: sub.flags.map(u64::from),
                status: None,
                args: None,
            })?;
        }
        Ok(())
    }

    /// Pushes the process with its thread, and the row of `traces`.
    pub(super) fn push_process(
        &self,
        input: &Input<'_>,
        reader: &Reader,
        clock: &mut Clock,
        tables: &mut Tables<'_>,
    ) -> Result<(), Halt> {
        let origin = self.origin_ns();
        let end_ts_ns = self.end.map(|end| clock.ts_ns(unix_ns(end) - origin.unwrap_or(0)));
        let visited_ns = Some(self.visits_ns).filter(|ns| *ns > 0).map(|ns| clock.ts_ns(ns));
        let start_ts_ns = self.process.map(|_| 0);
        let mut extent = Extent::default();
        [start_ts_ns, end_ts_ns, visited_ns].into_iter().flatten().for_each(|ts_ns| extent.add(ts_ns));
        let (pid, ppid) = self.process.map(|process| (process.pid.into(), process.ppid.into())).unzip();
        let name = self.application.map(Into::into);
        tables.push(ProcessRow { id: 0, pid, ppid, name, start_ts_ns, end_ts_ns })?;
        tables.push(Thread { id: 0, tid: None, process_id: 0, name: None, kind: None, location: None })?;
        let unix_origin_ns = origin.and_then(|origin| i64::try_from(origin).ok());
        let facts = Facts {
            format: &traceloom_nytprof::pynytprof::FORMAT,
            version: reader.header().dialect.as_str(),
            producer: self.is_signed.then_some("Pynytprof"),
            clock: ClockKind::Monotonic,
            clock_hz: Some(TICKS_PER_SEC.into()),
            start_ticks: None,
            start_native_ns: unix_origin_ns.unwrap_or(0),
            unix_origin_ns,
            extent,
        };
        push_trace(input, &facts, tables)
    }
}

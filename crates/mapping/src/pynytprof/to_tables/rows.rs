//! Rows of sums, one per record.

use std::fmt::Write;

use traceloom_core::{Records, Result};
use traceloom_model::{
    Halt, Named, Table, Tables,
    attributes::Attribute,
    calls::Call,
    calls_merged::MergedCall,
    line_times::LineTime,
    sources::Source,
    spans::Span,
    trackers::{Clock, Symbol},
};
use traceloom_nytprof::{
    Record as Token, SrcLine,
    pynytprof::{Edge, Line, Reader, Record, SiteCalls, Visit, raw::TICKS_PER_SEC},
    text_of,
};

use super::declared::Declared;
use crate::{
    nytprof::to_tables::{clock::Rate, sums::take_call},
    shared::{Args, Argument, Datum},
};

const NS_PER_TICK: i128 = 1_000_000_000 / TICKS_PER_SEC as i128;

/// Pushes rows as records arrive.
#[derive(Debug)]
pub(super) struct Rows<'d> {
    declared: &'d Declared,
    /// The origin of times; only counts those that do not fit.
    clock: Clock,
    args: Args,
    merges_evals: bool,
    words: Words,
    next_attribute: i64,
    next_call: i64,
    next_line: i64,
    next_source: i64,
    next_visit: i64,
    visited_ns: u64,
    text: String,
    caller_text: String,
}

/// Pynytprof has no evals to merge, so both tables have the same rows.
fn push_call(call: Call<'_>, merges_evals: bool, tables: &mut Tables<'_>) -> Result<(), Halt> {
    if merges_evals { tables.push(MergedCall::from(&call)) } else { tables.push(call) }
}

/// Words that rows repeat.
#[derive(Clone, Copy, Debug)]
struct Words {
    file_id: Symbol,
    line: Symbol,
    range: Symbol,
    u32: Symbol,
}

/// The sum of some calls.
struct Calls {
    caller_sid: Option<u32>,
    callee_sid: u32,
    /// File and line.
    site: Option<(u32, u32)>,
    count: u32,
    /// Total and self time.
    ticks: [u64; 2],
}

impl<'d> Rows<'d> {
    pub(super) fn new(declared: &'d Declared, args: Args, merges_evals: bool, tables: &mut Tables<'_>) -> Self {
        let mut word = |text| tables.strings.intern(text);
        let words = Words { file_id: word("file_id"), line: word("line"), range: word("range"), u32: word("u32") };
        Self {
            declared,
            clock: Clock::new(0),
            args,
            merges_evals,
            words,
            next_attribute: 0,
            next_call: 0,
            next_line: 0,
            next_source: 0,
            next_visit: 0,
            visited_ns: 0,
            text: String::new(),
            caller_text: String::new(),
        }
    }

    /// Pushes the rows of the whole file; returns the clock, which has counted the times that did not fit.
    pub(super) fn push(mut self, reader: &mut Reader, tables: &mut Tables<'_>) -> Result<Clock, Halt> {
        while let Some(located) = reader.next()? {
            self.take(&located.record, tables)?;
        }
        Ok(self.clock)
    }

    fn take(&mut self, record: &Record<'_>, tables: &mut Tables<'_>) -> Result<(), Halt> {
        match record {
            Record::Comment(text) => self.attribute("comment", Some(text), tables),
            Record::Attribute(pair) | Record::Property(pair) => self.attribute(&text_of(pair.key), pair.value, tables),
            Record::Option(pair) => self.attribute(&format!("option.{}", text_of(pair.key)), pair.value, tables),
            Record::Line(line) => self.line(line, tables),
            Record::Visit(visit) => self.visit(visit, tables),
            Record::Edge(edge) => self.edge(edge, tables),
            Record::SiteCalls(calls) => self.site_calls(calls, tables),
            Record::Token(token) => self.token(token, tables),
            _ => Ok(()),
        }
    }

    /// Records of the real stream: Pynytprof writes none with sums, but a file may contain them.
    fn token(&mut self, token: &Token<'_>, tables: &mut Tables<'_>) -> Result<(), Halt> {
        match token {
            Token::SrcLine(source) => self.source(source, tables),
            Token::SubCallers(calls) if calls.fid != 0 || calls.count != 0 => {
                self.next_call += 1;
                let merges = self.merges_evals;
                take_call(self.next_call - 1, calls, &self.declared.files, |call| push_call(call, merges, tables))
            }
            Token::TimeLine(time) => self.statement(time.ticks, time.fid, time.line, tables),
            Token::TimeBlock(time) => self.statement(time.ticks, time.fid, time.line, tables),
            _ => Ok(()),
        }
    }

    fn statement(&mut self, ticks: i32, fid: u32, line: u32, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let time_ns = Rate::new(TICKS_PER_SEC).whole_ns(ticks.into());
        self.line_time((fid, line), 1, [time_ns, time_ns], tables)
    }

    fn line(&mut self, line: &Line, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let times = [line.inc_ticks, line.exc_ticks].map(|ticks| self.ns(ticks));
        self.line_time((line.fid, line.line), line.calls, times, tables)
    }

    fn line_time(
        &mut self,
        (fid, line): (u32, u32),
        calls: u32,
        [incl_ns, excl_ns]: [i64; 2],
        tables: &mut Tables<'_>,
    ) -> Result<(), Halt> {
        let id = self.next_line;
        self.next_line += 1;
        tables.push(LineTime {
            id,
            file_id: self.declared.files.id(fid),
            file: self.declared.files.name_or_empty(fid).into(),
            line,
            level: self.words.line.into(),
            calls: calls.into(),
            incl_ns,
            excl_ns: Some(excl_ns),
        })
    }

    /// Visits follow each other; those of one file are in their original order.
    fn visit(&mut self, visit: &Visit, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let id = self.next_visit;
        self.next_visit += 1;
        let (ts_ns, dur_ns) = (self.clock.ts_ns(self.visited_ns), self.clock.ts_ns(visit.ns));
        self.visited_ns = self.visited_ns.saturating_add(visit.ns);
        if tables.wants(Table::Args) {
            let (owner_table, key, kind) = (Table::Spans, self.words.file_id.into(), self.words.u32.into());
            let value = Datum::Unsigned(visit.fid.into());
            self.args.push(&Argument { owner_table, owner_id: id, key, idx: None, kind, value }, tables)?;
        }
        if !tables.wants(Table::Spans) || !tables.filter().takes_time(ts_ns) || !tables.filter().takes_thread(0) {
            return Ok(());
        }
        self.text.clear();
        _ = write!(self.text, "line {}", visit.line);
        tables.push(Span {
            id,
            parent_id: None,
            thread_id: 0,
            depth: 0,
            ts_ns,
            dur_ns: Some(dur_ns),
            self_ns: Some(dur_ns),
            name: self.text.as_str().into(),
            category: self.words.range.into(),
            definition_id: None,
            file: self.declared.files.name(visit.fid).map(Into::into),
            line: Some(visit.line),
            color: None,
        })
    }

    fn edge(&mut self, edge: &Edge, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let calls = Calls {
            caller_sid: Some(edge.caller_sid),
            callee_sid: edge.callee_sid,
            site: None,
            count: edge.calls,
            ticks: [edge.ticks, edge.sub_ticks],
        };
        self.call(&calls, tables)
    }

    /// Pynytprof stores no number of calls per call site.
    fn site_calls(&mut self, calls: &SiteCalls, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let calls = Calls {
            caller_sid: None,
            callee_sid: calls.sid,
            site: Some((calls.fid, calls.line)),
            count: 1,
            ticks: [calls.inc_ticks, calls.exc_ticks],
        };
        self.call(&calls, tables)
    }

    fn call(&mut self, calls: &Calls, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let Calls { caller_sid, callee_sid, site, count, ticks } = *calls;
        let id = self.next_call;
        self.next_call += 1;
        let [incl_ns, excl_ns] = ticks.map(|ticks| self.ns(ticks));
        let Self { declared, text, caller_text, merges_evals, .. } = self;
        let call = Call {
            id,
            caller: caller_sid.map(|sid| sub_name(declared, sid, caller_text)),
            callee: sub_name(declared, callee_sid, text),
            file: site.and_then(|(fid, _)| declared.files.name(fid)).map(Into::into),
            line: site.map(|(_, line)| line),
            count: count.into(),
            incl_ns,
            excl_ns,
            recursive_ns: None,
            max_depth: None,
        };
        push_call(call, *merges_evals, tables)
    }

    fn ns(&mut self, ticks: u64) -> i64 {
        self.clock.ts_ns(i128::from(ticks) * NS_PER_TICK)
    }

    fn source(&mut self, source: &SrcLine<'_>, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let text = source.text.text();
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let id = self.next_source;
        self.next_source += 1;
        tables.push(Source { id, file_id: source.fid.into(), line: source.line, text })
    }

    fn attribute(&mut self, key: &str, value: Option<&[u8]>, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let id = self.next_attribute;
        self.next_attribute += 1;
        tables.push(Attribute { id, key: key.into(), value: value.map(text_of).as_deref() })
    }
}

/// The name of a sub; Pynytprof's command line stores only numbers.
fn sub_name<'t>(declared: &Declared, sid: u32, text: &'t mut String) -> Named<'t> {
    if let Some(name) = declared.sub_name(sid) {
        return name.into();
    }
    text.clear();
    _ = write!(text, "sub {sid}");
    Named::Text(text)
}

//! One walk over the records.

use traceloom_core::{Arena, Limits, Result};
use traceloom_model::{
    Halt, Table, Tables,
    attributes::Attribute,
    sources::Source,
    trackers::{Strings, Symbol},
};
use traceloom_nytprof::{Pair, Record, SrcLine, SubCallers, SubReturn, aggregate::Loader, leading_number, text_of};

use super::{
    Plan,
    calls::{NO_NUMBER, Recorder, Site},
    clock::is_whole,
    header::Head,
    names::{Files, SubNames},
    processes::Processes,
    sums::take_call,
};
use crate::{
    shared::{Args, Argument, Datum},
    trace::Input,
};

/// The state of the walk; rows that depend only on their record are pushed immediately.
pub(super) struct Walk<'w, 's> {
    pub(super) plan: Plan,
    pub(super) tables: &'w mut Tables<'s>,
    pub(super) head: Head,
    pub(super) files: Files,
    pub(super) names: SubNames,
    pub(super) processes: Processes,
    pub(super) recorder: Recorder,
    pub(super) loader: Option<Loader>,
    pub(super) args: Args,
    pub(super) application: Option<String>,
    limits: Limits,
    words: Words,
    next_attribute: i64,
    next_call: i64,
    next_source: i64,
}

/// Words that rows repeat.
#[derive(Clone, Copy, Debug)]
struct Words {
    caller_file_id: Symbol,
    caller_line: Symbol,
    excl_ticks: Symbol,
    incl_ticks: Symbol,
    nv: Symbol,
    u32: Symbol,
}

impl Words {
    fn new(strings: &mut Strings) -> Self {
        let mut word = |text| strings.intern(text);
        Self {
            caller_file_id: word("caller_file_id"),
            caller_line: word("caller_line"),
            excl_ticks: word("excl_ticks"),
            incl_ticks: word("incl_ticks"),
            nv: word("nv"),
            u32: word("u32"),
        }
    }
}

impl<'w, 's> Walk<'w, 's> {
    pub(super) fn new(plan: Plan, input: &Input<'_>, arena: &Arena, tables: &'w mut Tables<'s>) -> Result<Self> {
        let (bytes, limits) = (input.source.len()?, &input.options.read.limits);
        Ok(Self {
            plan,
            head: Head::default(),
            files: Files::new(bytes, limits, &mut tables.strings),
            names: SubNames::new(bytes, limits),
            processes: Processes::default(),
            recorder: Recorder::new(plan.lays_out.then_some(arena), limits),
            loader: plan.loads.then(|| Loader::new(bytes, limits)),
            args: Args::default(),
            application: None,
            limits: limits.clone(),
            words: Words::new(&mut tables.strings),
            next_attribute: 0,
            next_call: 0,
            next_source: 0,
            tables,
        })
    }

    /// Called at the end of the file.
    pub(super) fn finish(&mut self) -> Result<(), Halt> {
        self.end_process()?;
        if self.processes.is_empty() {
            self.processes.begin_unnamed();
        }
        Ok(())
    }

    /// Processes a record; inlined, so that the reader's fast loop contains only its three kinds of records.
    #[inline(always)]
    pub(super) fn take(&mut self, record: &Record<'_>) -> Result<(), Halt> {
        match record {
            Record::TimeLine(time) => {
                self.refer(time.fid)?;
                self.statement(time.ticks);
                self.load_time(record)
            }
            Record::Discount => self.load_time(record),
            Record::SubReturn(left) => self.leave(left),
            other => self.take_rare(other),
        }
    }

    fn take_rare(&mut self, record: &Record<'_>) -> Result<(), Halt> {
        self.head.take(record);
        match record {
            Record::TimeBlock(time) => {
                self.refer(time.fid)?;
                self.statement(time.ticks);
                return self.load_time(record);
            }
            Record::SubInfo(sub) if sub.fid != 0 => self.refer(sub.fid)?,
            Record::SubEntry(entry) => {
                self.in_process();
                self.recorder.enter(entry.caller_fid, entry.caller_line)?;
            }
            Record::NewFid(file) => self.files.define(file, &mut self.tables.strings)?,
            Record::SrcLine(source) => self.source(source)?,
            Record::SubCallers(calls) => self.callers(calls)?,
            Record::PidStart(start) => {
                self.end_process()?;
                self.processes.begin(start, &self.limits)?;
                self.begin_process();
            }
            Record::PidEnd(end) => {
                self.end_process()?;
                self.processes.end(end);
            }
            Record::Comment(text) => self.attribute("comment", Some(text))?,
            Record::Attribute(pair) => self.pair(pair)?,
            Record::Option(pair) => self.attribute(&format!("option.{}", text_of(pair.key)), pair.value)?,
            _ => {}
        }
        match &mut self.loader {
            Some(loader) => Ok(loader.add(record)?),
            None => Ok(()),
        }
    }

    /// Line times cost more than everything else, so they are summed only if they are wanted.
    #[inline(always)]
    fn load_time(&mut self, record: &Record<'_>) -> Result<(), Halt> {
        match &mut self.loader {
            Some(loader) if self.plan.adds_up => Ok(loader.add(record)?),
            _ => Ok(()),
        }
    }

    #[inline]
    fn refer(&mut self, fid: u32) -> Result<()> {
        self.files.refer(fid, &mut self.tables.strings)
    }

    #[inline]
    fn statement(&mut self, ticks: i32) {
        self.in_process();
        self.recorder.clock.statement(ticks);
    }

    #[inline]
    fn in_process(&mut self) {
        if self.processes.is_empty() {
            self.processes.begin_unnamed();
        }
    }

    fn begin_process(&mut self) {
        self.recorder.clock.restart();
        self.recorder.process = self.processes.current();
    }

    fn end_process(&mut self) -> Result<(), Halt> {
        self.abandon(0)?;
        self.processes.ran(self.recorder.clock.now_ns());
        Ok(())
    }

    /// Removes all open calls but the outermost `depth`; they will not return.
    fn abandon(&mut self, depth: u32) -> Result<(), Halt> {
        while let Some((number, site)) = self.recorder.abandon(depth)? {
            self.site(number, site)?;
        }
        Ok(())
    }

    #[inline]
    fn leave(&mut self, left: &SubReturn<'_>) -> Result<(), Halt> {
        self.in_process();
        let depth = left.depth.max(1);
        self.abandon(depth)?;
        let (incl, excl) = (left.incl_ticks.value(), left.excl_ticks.value());
        let rate = self.recorder.clock.rate;
        let name = if self.plan.wants_names {
            self.names.number(left.name.bytes, &mut self.tables.strings)?
        } else {
            NO_NUMBER - 1
        };
        let (number, site) = self.recorder.leave(depth, name, rate.ns(incl), rate.ns(excl))?;
        if self.plan.wants_args {
            self.call_args(number, site, incl, excl)?;
        }
        Ok(())
    }

    fn call_args(&mut self, number: i64, site: Option<Site>, incl: f64, excl: f64) -> Result<(), Halt> {
        if let Some(site) = site {
            self.site(number, site)?;
        }
        // Values that the columns cannot hold exactly.
        let is_plain = is_whole(incl) && is_whole(excl) && 0.0 <= excl && excl <= incl;
        if !is_plain {
            let Words { excl_ticks, incl_ticks, nv, .. } = self.words;
            self.span_arg(number, incl_ticks, nv, Datum::Float(incl))?;
            self.span_arg(number, excl_ticks, nv, Datum::Float(excl))?;
        }
        Ok(())
    }

    fn site(&mut self, number: i64, site: Site) -> Result<(), Halt> {
        let Words { caller_file_id, caller_line, u32, .. } = self.words;
        self.span_arg(number, caller_file_id, u32, Datum::Unsigned(site.fid.into()))?;
        self.span_arg(number, caller_line, u32, Datum::Unsigned(site.line.into()))
    }

    fn span_arg(&mut self, owner_id: i64, key: Symbol, kind: Symbol, value: Datum<'_>) -> Result<(), Halt> {
        if !self.plan.wants_args {
            return Ok(());
        }
        let (owner_table, key, kind) = (Table::Spans, key.into(), kind.into());
        self.args.push(&Argument { owner_table, owner_id, key, idx: None, kind, value }, self.tables)
    }

    fn callers(&mut self, calls: &SubCallers<'_>) -> Result<(), Halt> {
        // Without a location and without calls, the record only says that the sub is not written in Perl.
        let says_calls = calls.fid != 0 || calls.count != 0;
        if calls.fid != 0 {
            self.refer(calls.fid)?;
        }
        if self.plan.wants_calls && !self.plan.merges_evals && says_calls {
            take_call(self.next_call, calls, &self.files, |call| self.tables.push(call))?;
            self.next_call += 1;
        }
        Ok(())
    }

    fn source(&mut self, source: &SrcLine<'_>) -> Result<(), Halt> {
        self.refer(source.fid)?;
        if self.plan.wants_sources {
            let text = source.text.text();
            let text = text.strip_suffix('\n').unwrap_or(&text);
            let (file_id, line) = (source.fid.into(), source.line);
            self.tables.push(Source { id: self.next_source, file_id, line, text })?;
        }
        self.next_source += 1;
        Ok(())
    }

    fn pair(&mut self, pair: &Pair<'_>) -> Result<(), Halt> {
        match (pair.key, pair.value) {
            (b"ticks_per_sec", Some(value)) => self.recorder.clock.set_rate(leading_number(value)),
            (b"application", Some(value)) => self.application = Some(text_of(value).into_owned()),
            _ => {}
        }
        self.attribute(&text_of(pair.key), pair.value)
    }

    fn attribute(&mut self, key: &str, value: Option<&[u8]>) -> Result<(), Halt> {
        let id = self.next_attribute;
        self.next_attribute += 1;
        if !self.plan.wants_attributes {
            return Ok(());
        }
        self.tables.push(Attribute { id, key: key.into(), value: value.map(text_of).as_deref() })
    }
}

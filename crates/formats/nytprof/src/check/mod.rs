//! Rules across records: what Devel::NYTProf makes of numbers that refer to each other.

mod fids;
mod times;

use std::{
    collections::{BTreeMap, HashSet},
    hash::{BuildHasher, RandomState},
};

use traceloom_core::{Finding, Findings, Options, Position, Result, Rule};

use self::{fids::FidSet, times::Times};
use crate::{
    NewFid, Nv, PidEnd, PidStart, Record, Str, SubCallers, SubInfo, SubReturn,
    findings::*,
    raw::{DEFAULT_TICKS_PER_SEC, ORIGINAL_LINES, Tag},
    record::brief,
};

/// Applies the rules, and remembers what they need from earlier records, in bounded memory.
#[derive(Debug)]
pub(crate) struct Checker {
    pub(crate) findings: Findings,
    /// Maximum number of entries in each of the sets below; beyond it, their rules are not checked.
    max_entries: usize,
    is_thorough: bool,
    times: Times,
    fids: FidSet,
    attributes: HashSet<u64>,
    live_pids: BTreeMap<u32, u64>,
    has_pid: bool,
    pub(crate) ticks_per_sec: Option<u32>,
    pub(crate) nv_size: Option<u32>,
    has_time: bool,
    has_overhead: bool,
    discounts: u32,
    /// Position of the last discount.
    discount_at: Position,
    names: RandomState,
    subs: HashSet<u64>,
    called: HashSet<u64>,
}

/// Depth from which nytprofcalls needs more memory than most machines have.
const DEPTH_TO_REPORT: u32 = 10_000_000;

impl Checker {
    pub(crate) fn new(options: &Options, source_bytes: u64) -> Self {
        Self {
            findings: Findings::new(options.mode, &options.limits),
            max_entries: (256 << 10) + usize::try_from(source_bytes / 16).unwrap_or(usize::MAX / 2),
            is_thorough: options.is_thorough(),
            times: Times::default(),
            fids: FidSet::default(),
            attributes: HashSet::new(),
            live_pids: BTreeMap::new(),
            has_pid: false,
            ticks_per_sec: None,
            nv_size: None,
            has_time: false,
            has_overhead: false,
            discounts: 0,
            discount_at: Position::at(0),
            names: RandomState::new(),
            subs: HashSet::new(),
            called: HashSet::new(),
        }
    }

    /// Applies the rules to a binary record.
    pub(crate) fn record(&mut self, record: &Record<'_>, position: Position) -> Result<()> {
        if record.odd_bytes().is_some() {
            self.findings.report(Finding::new(&INTEGER_PADDED, position))?;
        }
        match record {
            Record::TimeLine(time) => self.time(time.ticks, time.fid, time.line, || position),
            Record::TimeBlock(time) => {
                let line = time.line.max(time.block_line).max(time.sub_line);
                self.time(time.ticks, time.fid, line, || position)
            }
            Record::Discount => self.discount(position),
            Record::NewFid(file) => self.new_fid(file, position),
            Record::SubEntry(entry) => self.stray(entry.caller_fid, Tag::SUB_ENTRY, position),
            Record::SubReturn(left) => self.sub_return(left, position),
            Record::SrcLine(source) => {
                self.stray(source.fid, Tag::SRC_LINE, position)?;
                self.line(source.line, Tag::SRC_LINE, position)?;
                self.string(&source.text, position)
            }
            Record::SubInfo(sub) => self.sub_info(sub, position),
            Record::SubCallers(calls) => self.sub_callers(calls, position),
            Record::PidStart(start) => self.pid_start(start, position),
            Record::PidEnd(end) => self.pid_end(end, position),
            _ => Ok(()),
        }
    }

    pub(crate) fn attribute(&mut self, key: &[u8], value: &[u8], position: Position) -> Result<()> {
        if self.attributes.len() < self.max_entries && !self.attributes.insert(self.names.hash_one(key)) {
            let again = Finding::new(&ATTRIBUTE_REPEATED, position).with("key", brief(key));
            self.findings.report(again.with("value", brief(value)))?;
        }
        match key {
            b"ticks_per_sec" => self.ticks(value, position)?,
            b"cumulative_overhead_ticks" => self.has_overhead = true,
            b"nv_size" => {
                let size = leading_number(value);
                self.nv_size = Some(size);
                if size != 8 {
                    self.findings.report(Finding::new(&NV_SIZE, position).with("size", size))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn ticks(&mut self, value: &[u8], position: Position) -> Result<()> {
        let ticks = leading_number(value);
        if ticks == 0 {
            let zero = Finding::new(&TICKS_ZERO, position).with("value", brief(value));
            self.findings.report(zero)?;
        }
        match self.ticks_per_sec {
            Some(before) if before != ticks => {
                let change = Finding::new(&TICKS_CHANGE, position).with("from", before).with("to", ticks);
                self.findings.report(change)?;
            }
            None if self.has_time => self.findings.report(Finding::new(&TICKS_LATE, position))?,
            _ => {}
        }
        self.ticks_per_sec = Some(ticks);
        self.times.set_rate(ticks);
        Ok(())
    }

    #[inline]
    fn discount(&mut self, position: Position) -> Result<()> {
        if self.discounts > 0 {
            self.findings.report(Finding::new(&DISCOUNT_TWICE, position))?;
        }
        self.discounts += 1;
        self.discount_at = position;
        Ok(())
    }

    /// Records a statement, if it breaks no rule.
    #[inline]
    pub(crate) fn passes_time(&mut self, ticks: i32, fid: u32, line: u32) -> bool {
        let passes = ticks >= 0 && line <= ORIGINAL_LINES && self.fids.contains_quickly(fid);
        if passes {
            self.discounts = 0;
            self.has_time = true;
            self.times.statement(ticks);
        }
        passes
    }

    /// Records a discount, if it breaks no rule.
    #[inline]
    pub(crate) fn passes_discount(&mut self, position: impl Fn() -> Position) -> bool {
        // Spelled out: with a sum instead, rustc 1.95's optimizer loses the second discount.
        if self.discounts > 0 {
            return false;
        }
        self.discounts = 1;
        self.discount_at = position();
        true
    }

    /// Whether the end of a call breaks no rule.
    #[inline]
    pub(crate) fn passes_return(&self, left: &SubReturn<'_>) -> bool {
        let is_finite = left.incl_ticks.value().is_finite() && left.excl_ticks.value().is_finite();
        is_finite && left.depth <= DEPTH_TO_REPORT && !left.name.is_utf8
    }

    #[inline]
    pub(crate) fn time(&mut self, ticks: i32, fid: u32, line: u32, position: impl Fn() -> Position) -> Result<()> {
        self.discounts = 0;
        self.has_time = true;
        self.times.statement(ticks);
        if ticks < 0 {
            self.negative(ticks, position())?;
        }
        if !self.fids.contains_quickly(fid) {
            self.undefined_time(fid, position())?;
        }
        if line > ORIGINAL_LINES {
            self.line(line, Tag::TIME_LINE, position())?;
        }
        Ok(())
    }

    /// A record that Devel::NYTProf stores in an array by its line.
    fn line(&mut self, line: u32, tag: Tag, position: Position) -> Result<()> {
        if line > ORIGINAL_LINES {
            let huge = Finding::new(&LINE_HUGE, position).with("record", tag.to_string()).with("line", line);
            self.findings.report(huge)?;
        }
        Ok(())
    }

    #[cold]
    fn negative(&mut self, ticks: i32, position: Position) -> Result<()> {
        let per_second = self.ticks_per_sec.filter(|ticks| *ticks > 0).unwrap_or(DEFAULT_TICKS_PER_SEC);
        let seconds = u64::from(ticks as u32) / u64::from(per_second);
        self.findings.report(Finding::new(&TICKS_NEGATIVE, position).with("ticks", ticks).with("seconds", seconds))
    }

    #[cold]
    fn undefined_time(&mut self, fid: u32, position: Position) -> Result<()> {
        if fid == 0 {
            return self.findings.report(Finding::new(&FID_ZERO, position));
        }
        self.fid(fid, Tag::TIME_LINE, position)
    }

    /// A record that Devel::NYTProf's loader assigns to a file.
    fn fid(&mut self, fid: u32, tag: Tag, position: Position) -> Result<()> {
        if !self.fids.contains(fid) {
            self.undefined(&FID_UNDEFINED, fid, tag, position)?;
        }
        Ok(())
    }

    /// A record that only contains a location.
    fn stray(&mut self, fid: u32, tag: Tag, position: Position) -> Result<()> {
        if !self.fids.contains(fid) {
            self.undefined(&FID_STRAY, fid, tag, position)?;
        }
        Ok(())
    }

    #[cold]
    fn undefined(&mut self, rule: &'static Rule, fid: u32, tag: Tag, at: Position) -> Result<()> {
        self.findings.report(Finding::new(rule, at).with("record", tag.to_string()).with("fid", fid))
    }

    fn new_fid(&mut self, file: &NewFid<'_>, position: Position) -> Result<()> {
        if self.fids.contains(file.fid) {
            let again = Finding::new(&FID_REDEFINED, position).with("fid", file.fid);
            self.findings.report(again.with("name", brief(file.name.bytes)))?;
        }
        self.fids.insert(file.fid, self.max_entries);
        if file.eval_fid == file.fid && file.fid != 0 {
            self.findings.report(Finding::new(&EVAL_SELF, position).with("fid", file.fid))?;
        } else if file.eval_fid != 0 && !self.fids.contains(file.eval_fid) {
            let parent = Finding::new(&EVAL_PARENT, position).with("fid", file.fid).with("parent", file.eval_fid);
            self.findings.report(parent)?;
        }
        self.string(&file.name, position)
    }

    fn sub_info(&mut self, sub: &SubInfo<'_>, position: Position) -> Result<()> {
        self.fid(sub.fid, Tag::SUB_INFO, position)?;
        let is_new = self.subs.len() >= self.max_entries || self.subs.insert(self.names.hash_one(sub.name.bytes));
        // Anonymous subs of evals repeat naturally, and Devel::NYTProf does not complain.
        if !is_new && !sub.name.bytes.windows(14).any(|part| part == b"__ANON__[(eval") {
            let again = Finding::new(&SUB_REPEATED, position);
            self.findings.report(again.with("name", brief(sub.name.bytes)))?;
        }
        self.string(&sub.name, position)
    }

    fn sub_callers(&mut self, calls: &SubCallers<'_>, position: Position) -> Result<()> {
        if calls.fid != 0 {
            self.fid(calls.fid, Tag::SUB_CALLERS, position)?;
        }
        if calls.count > 0 && self.called.len() < self.max_entries {
            self.called.insert(self.names.hash_one(calls.called.bytes));
        }
        self.finite(&calls.incl_seconds, "incl_seconds", position)?;
        self.finite(&calls.excl_seconds, "excl_seconds", position)?;
        self.finite(&calls.reci_seconds, "reci_seconds", position)?;
        let least = calls.incl_seconds.value().min(calls.excl_seconds.value());
        if least < 0.0 {
            let negative = Finding::new(&SUB_NEGATIVE, position).with("name", brief(calls.called.bytes));
            self.findings.report(negative.with("seconds", least.to_string()))?;
        }
        self.string(&calls.caller, position)?;
        self.string(&calls.called, position)
    }

    fn sub_return(&mut self, left: &SubReturn<'_>, position: Position) -> Result<()> {
        if left.depth > DEPTH_TO_REPORT {
            self.findings.report(Finding::new(&DEPTH_HUGE, position).with("depth", left.depth))?;
        }
        self.finite(&left.incl_ticks, "incl_ticks", position)?;
        self.finite(&left.excl_ticks, "excl_ticks", position)?;
        self.string(&left.name, position)
    }

    fn pid_start(&mut self, start: &PidStart<'_>, position: Position) -> Result<()> {
        self.has_pid = true;
        self.times.start(start.time.value());
        if let Some(open) = self.live_pids.keys().next() {
            let nested = Finding::new(&PID_NESTED, position).with("pid", start.pid).with("open", *open);
            self.findings.report(nested)?;
        }
        if self.live_pids.len() < self.max_entries {
            self.live_pids.insert(start.pid, position.offset);
        }
        self.finite(&start.time, "time", position)
    }

    fn pid_end(&mut self, end: &PidEnd<'_>, position: Position) -> Result<()> {
        self.times.end(end.time.value());
        if self.live_pids.remove(&end.pid).is_none() {
            self.findings.report(Finding::new(&PID_UNKNOWN, position).with("pid", end.pid))?;
        }
        self.finite(&end.time, "time", position)
    }

    fn string(&mut self, text: &Str<'_>, position: Position) -> Result<()> {
        if text.is_utf8 && std::str::from_utf8(text.bytes).is_err() {
            self.findings.report(Finding::new(&STRING_NOT_UTF8, position))?;
        }
        Ok(())
    }

    fn finite(&mut self, number: &Nv, field: &'static str, position: Position) -> Result<()> {
        let value = number.value();
        if !value.is_finite() {
            let odd = Finding::new(&NV_NOT_FINITE, position).with("field", field);
            self.findings.report(odd.with("value", value.to_string()))?;
        }
        Ok(())
    }

    /// Applies the rules that need the end of the file.
    pub(crate) fn finish(&mut self, position: Position) -> Result<()> {
        let at = |rule| Finding::new(rule, position);
        if !self.has_pid && !self.has_time {
            self.findings.report(at(&EMPTY_PROFILE))?;
        }
        if self.discounts > 0 {
            self.findings.report(Finding::new(&DISCOUNT_UNUSED, self.discount_at))?;
        }
        if let Some((pid, _)) = self.live_pids.iter().next() {
            let cut = at(&PID_UNFINISHED).with("count", self.live_pids.len()).with("pid", *pid);
            self.findings.report(cut)?;
        }
        let homeless = self.called.difference(&self.subs).count();
        if homeless > 0 && self.subs.len() < self.max_entries {
            self.findings.report(at(&SUB_HOMELESS).with("count", homeless))?;
        }
        if !self.has_overhead {
            self.findings.report(at(&OVERHEAD_MISSING))?;
        }
        if let Some(fid) = self.fids.hole() {
            self.findings.report(at(&FID_GAP).with("fid", fid))?;
        }
        if self.ticks_per_sec.is_none() {
            self.findings.report(at(&TICKS_MISSING))?;
        }
        if self.is_thorough
            && let Some(percent) = self.times.excess_percent()
        {
            self.findings.report(at(&TIMES_EXCEED).with("percent", percent.to_string()))?;
        }
        Ok(())
    }
}

/// The number at the start of a value, like C's `atoi`; a negative one counts as 0.
pub fn leading_number(value: &[u8]) -> u32 {
    let value = value.trim_ascii_start();
    let value = value.strip_prefix(b"+").unwrap_or(value);
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0u32, |number, digit| number.saturating_mul(10).saturating_add(u32::from(digit - b'0')))
}

//! Sums records in the same order and with the same rounding as Devel::NYTProf.

use std::collections::{BTreeSet, HashMap};

use traceloom_core::{Error, Limits, Records, Result};

use super::{
    Calls, File, Name, Profile, Sub,
    lines::{LineTable, OTHER_BYTES},
    push,
};
use crate::{
    NewFid, Pair, Reader, Record, SrcLine, SubCallers, SubInfo, budget::Budget, check::leading_number,
    raw::DEFAULT_TICKS_PER_SEC,
};

/// Loads the remaining records of a reader.
pub(super) fn from_reader(reader: &mut Reader) -> Result<Profile> {
    let mut loader = Loader::new(reader.source_bytes()?, reader.limits());
    reader.walk(
        #[inline(always)]
        |located| loader.add(&located.record),
    )?;
    Ok(loader.finish())
}

/// Sums records as they arrive.
#[derive(Debug)]
pub struct Loader {
    profile: Profile,
    lines: LineTable,
    blocks: LineTable,
    sub_lines: LineTable,
    /// File numbers in the order of their definition.
    order: Vec<u32>,
    /// Parents of evals, which may be defined later.
    parents: HashMap<u32, (u32, u32)>,
    names: HashMap<Name, ()>,
    /// Indices in `subs` by name.
    sub_index: HashMap<Name, u32>,
    subs: Vec<(Name, Sub)>,
    /// Indices in `calls` by sub, file and line.
    call_index: HashMap<(u32, u32, u32), u32>,
    calls: Vec<(u32, Calls)>,
    live_pids: BTreeSet<u32>,
    ticks_per_sec: f64,
    discounts: u32,
    budget: Budget,
}

/// Approximate memory per item, including the slack of the tables.
const FILE_BYTES: u64 = 480;
const SUB_BYTES: u64 = 360;
const CALL_BYTES: u64 = 230;
const CALLER_BYTES: u64 = 24;
const NAME_BYTES: u64 = 96;
const SOURCE_LINE_BYTES: u64 = 18;
const DEFINED_BYTES: u64 = 24;
const PAIR_BYTES: u64 = 160;
/// Memory that any profile may take.
const FREE_BYTES: u64 = 50 << 20;
/// Memory that the arrays of lines may take for any profile.
const DENSE_BYTES: u64 = 8 << 20;

impl Loader {
    /// For a file of this size, whose sums may take a few times as much memory.
    pub fn new(source_bytes: u64, limits: &Limits) -> Self {
        // Most profiles have only lines; all arrays together may take as much as the file.
        let dense_bytes = |share: u64| DENSE_BYTES / share + source_bytes / share / 2;
        Self {
            profile: Profile::default(),
            lines: LineTable::new(dense_bytes(1)),
            blocks: LineTable::new(dense_bytes(4)),
            sub_lines: LineTable::new(dense_bytes(1)),
            order: Vec::new(),
            parents: HashMap::new(),
            names: HashMap::new(),
            sub_index: HashMap::new(),
            subs: Vec::new(),
            call_index: HashMap::new(),
            calls: Vec::new(),
            live_pids: BTreeSet::new(),
            ticks_per_sec: DEFAULT_TICKS_PER_SEC.into(),
            discounts: 0,
            budget: Budget::new("memory for the sums of a profile", source_bytes, FREE_BYTES)
                .at_most(limits.spool_bytes),
        }
    }

    /// Adds a record; inlined, so that no branch is left if the kind of record is known.
    #[inline(always)]
    pub fn add(&mut self, record: &Record<'_>) -> Result<()> {
        match record {
            Record::TimeLine(time) => self.time(time.ticks, time.fid, time.line, None),
            Record::TimeBlock(time) => {
                self.time(time.ticks, time.fid, time.line, Some((time.block_line, time.sub_line)))
            }
            Record::Discount => {
                self.discounts += 1;
                self.profile.stmts_discounted += 1;
                Ok(())
            }
            // Sums of calls come from the callers at the end of the stream.
            Record::SubReturn(_) | Record::SubEntry(_) => Ok(()),
            other => self.add_rare(other),
        }
    }

    fn add_rare(&mut self, record: &Record<'_>) -> Result<()> {
        match record {
            Record::NewFid(file) => self.new_fid(file),
            Record::SrcLine(source) => self.src_line(source),
            Record::SubInfo(sub) => self.sub_info(sub),
            Record::SubCallers(calls) => self.sub_callers(calls),
            Record::Attribute(pair) => self.attribute(pair),
            Record::Option(Pair { key, value: Some(value) }) => {
                self.budget.charge(PAIR_BYTES + (key.len() + value.len()) as u64)?;
                self.profile.options.insert(key.to_vec(), value.to_vec());
                Ok(())
            }
            Record::PidStart(start) => {
                self.budget.charge(NAME_BYTES)?;
                self.live_pids.insert(start.pid);
                self.profile.start_time = Some(start.time.value());
                Ok(())
            }
            Record::PidEnd(end) => {
                self.live_pids.remove(&end.pid);
                let time = end.time.value();
                self.profile.end_time = Some(time);
                self.profile.duration += time - self.profile.start_time.unwrap_or(0.0);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Returns the sums.
    pub fn finish(mut self) -> Profile {
        self.profile.is_complete = self.live_pids.is_empty();
        self.profile.stmts_discounted -= u64::from(self.discounts);
        self.link_evals();
        self.settle_lines();
        self.settle_subs();
        self.house_subs();
        self.settle_files();
        self.profile
    }

    #[inline]
    fn time(&mut self, ticks: i32, fid: u32, line: u32, around: Option<(u32, u32)>) -> Result<()> {
        let seconds = f64::from(ticks) / self.ticks_per_sec;
        // However often it was discounted, a statement is counted once or not at all.
        let count = i64::from(self.discounts == 0);
        let before = self.lines.others();
        self.lines.add(fid, line, seconds, count);
        if self.lines.others() > before {
            self.budget.charge(OTHER_BYTES)?;
        }
        if let Some((block_line, sub_line)) = around {
            self.around(fid, (block_line, sub_line), seconds, count)?;
        }
        self.profile.stmts_measured += 1;
        self.profile.stmts_seconds += seconds;
        self.discounts = 0;
        Ok(())
    }

    fn around(&mut self, fid: u32, (block_line, sub_line): (u32, u32), seconds: f64, count: i64) -> Result<()> {
        self.profile.has_blocks = true;
        let before = self.blocks.others() + self.sub_lines.others();
        self.blocks.add(fid, block_line, seconds, count);
        self.sub_lines.add(fid, sub_line, seconds, count);
        let new = self.blocks.others() + self.sub_lines.others() - before;
        self.budget.charge(OTHER_BYTES * new as u64)
    }

    fn attribute(&mut self, pair: &Pair<'_>) -> Result<()> {
        let Some(value) = pair.value else { return Ok(()) };
        self.budget.charge(PAIR_BYTES + (pair.key.len() + value.len()) as u64)?;
        if pair.key == b"ticks_per_sec" {
            let ticks = leading_number(value);
            self.profile.ticks_per_sec = Some(ticks);
            self.ticks_per_sec = if ticks > 0 { ticks.into() } else { DEFAULT_TICKS_PER_SEC.into() };
        }
        self.profile.attributes.insert(pair.key.to_vec(), value.to_vec());
        Ok(())
    }

    fn new_fid(&mut self, file: &NewFid<'_>) -> Result<()> {
        self.budget.charge(FILE_BYTES + file.name.bytes.len() as u64)?;
        if self.parents.insert(file.fid, (file.eval_fid, file.eval_line)).is_none() {
            self.order.push(file.fid);
        }
        let entry = self.profile.files.entry(file.fid).or_default();
        entry.name = file.name.bytes.to_vec();
        (entry.flags, entry.size, entry.mtime) = (file.flags, file.size, file.mtime);
        Ok(())
    }

    /// The entry of a file that should be defined; if it is not, a placeholder is made.
    fn file(&mut self, fid: u32) -> Result<&mut File> {
        if !self.profile.files.contains_key(&fid) {
            self.budget.charge(FILE_BYTES)?;
        }
        Ok(self.profile.files.entry(fid).or_default())
    }

    fn src_line(&mut self, source: &SrcLine<'_>) -> Result<()> {
        self.file(source.fid)?.source.add(source.line, source.text.bytes);
        self.budget.charge(SOURCE_LINE_BYTES)
    }

    fn name(&mut self, bytes: &[u8]) -> Result<Name> {
        if let Some((name, ())) = self.names.get_key_value(bytes) {
            return Ok(name.clone());
        }
        self.budget.charge(NAME_BYTES + bytes.len() as u64)?;
        let name = Name::from(bytes);
        self.names.insert(name.clone(), ());
        Ok(name)
    }

    fn sub(&mut self, name: &Name) -> Result<(u32, &mut Sub)> {
        let next = self.subs.len() as u32;
        let at = match self.sub_index.get(name) {
            Some(at) => *at,
            None => {
                self.budget.charge(SUB_BYTES)?;
                self.sub_index.insert(name.clone(), next);
                self.subs.push((name.clone(), Sub::default()));
                next
            }
        };
        match self.subs.get_mut(at as usize) {
            Some((_, sub)) => Ok((at, sub)),
            None => Err(Error::internal("the index of subs names one that is not there")),
        }
    }

    fn sub_info(&mut self, info: &SubInfo<'_>) -> Result<()> {
        let name = self.name(info.name.bytes)?;
        let (_, sub) = self.sub(&name)?;
        if sub.fid.is_none_or(|fid| info.fid <= fid) {
            sub.fid = Some(info.fid);
            sub.first_line = Some(info.first_line);
            sub.last_line = Some(info.last_line);
        }
        self.budget.charge(DEFINED_BYTES)?;
        push(&mut self.file(info.fid)?.subs_defined, name);
        Ok(())
    }

    fn sub_callers(&mut self, record: &SubCallers<'_>) -> Result<()> {
        let (called, caller) = (self.name(record.called.bytes)?, self.name(record.caller.bytes)?);
        let (at, sub) = self.sub(&called)?;
        sub.calls += u64::from(record.count);
        sub.incl_seconds += record.incl_seconds.value();
        sub.excl_seconds += record.excl_seconds.value();
        sub.reci_seconds += record.reci_seconds.value();
        sub.depth = sub.depth.max(record.depth);
        if record.fid == 0 {
            // This marks a sub that is not written in Perl.
            (sub.first_line, sub.last_line) = (Some(0), Some(0));
        } else {
            self.call_site(at, record, caller)?;
        }
        self.profile.sub_calls += u64::from(record.count);
        Ok(())
    }

    fn call_site(&mut self, sub: u32, record: &SubCallers<'_>, caller: Name) -> Result<()> {
        let key = (sub, record.fid, record.line);
        let at = match self.call_index.get(&key) {
            Some(at) => *at,
            None => {
                self.budget.charge(CALL_BYTES)?;
                self.file(record.fid)?;
                let at = self.calls.len() as u32;
                self.call_index.insert(key, at);
                if self.calls.len() == self.calls.capacity() {
                    // Doubling would cost more than the calls themselves.
                    self.calls.reserve_exact(64 + self.calls.len() / 4);
                }
                self.calls.push((sub, Calls { fid: record.fid, line: record.line, ..Calls::default() }));
                at
            }
        };
        let Some((_, calls)) = self.calls.get_mut(at as usize) else { return Ok(()) };
        calls.count += u64::from(record.count);
        calls.incl_seconds += record.incl_seconds.value();
        calls.excl_seconds += record.excl_seconds.value();
        calls.reci_seconds += record.reci_seconds.value();
        calls.depth = calls.depth.max(record.depth);
        // Sorted at the end: a call site may have any number of callers.
        if calls.by.is_empty() {
            calls.by.reserve_exact(1);
        }
        calls.by.push(caller);
        self.budget.charge(CALLER_BYTES)
    }

    /// Assigns the calls to their subs, and the subs to the profile.
    fn settle_subs(&mut self) {
        (self.call_index, self.sub_index) = (HashMap::new(), HashMap::new());
        let mut calls = std::mem::take(&mut self.calls);
        calls.sort_unstable_by_key(|(sub, calls)| (*sub, calls.fid, calls.line));
        for chunk in calls.chunk_by_mut(|(a, _), (b, _)| a == b) {
            let Some((_, sub)) = chunk.first().and_then(|(sub, _)| self.subs.get_mut(*sub as usize)) else { continue };
            sub.callers.reserve_exact(chunk.len());
            for (_, calls) in chunk {
                calls.by.sort_unstable();
                calls.by.dedup();
                sub.callers.push(std::mem::take(calls));
            }
        }
        self.profile.subs = std::mem::take(&mut self.subs).into_iter().collect();
    }

    /// Assigns evals to their files, even if the files were defined later.
    fn link_evals(&mut self) {
        for fid in &self.order {
            let Some(&(parent, line)) = self.parents.get(fid) else { continue };
            if parent == 0 || !self.profile.files.contains_key(&parent) {
                continue;
            }
            if let Some(file) = self.profile.files.get_mut(fid) {
                (file.eval_fid, file.eval_line) = (Some(parent), line);
            }
            if parent != *fid
                && let Some(file) = self.profile.files.get_mut(&parent)
            {
                file.evals.push(*fid);
            }
        }
    }

    fn settle_lines(&mut self) {
        for (fid, line, sum) in self.lines.drain() {
            push(&mut self.profile.files.entry(fid).or_default().lines, (line, sum));
        }
        for (fid, line, sum) in self.blocks.drain() {
            push(&mut self.profile.files.entry(fid).or_default().blocks, (line, sum));
        }
        for (fid, line, sum) in self.sub_lines.drain() {
            push(&mut self.profile.files.entry(fid).or_default().sub_lines, (line, sum));
        }
    }

    fn settle_files(&mut self) {
        for file in self.profile.files.values_mut() {
            for lines in [&mut file.lines, &mut file.blocks, &mut file.sub_lines] {
                lines.sort_unstable_by_key(|(line, _)| *line);
            }
            file.subs_defined.sort_unstable();
            file.subs_defined.dedup();
            file.source.settle();
        }
    }

    /// Assigns subs that are called but not described to the first file.
    fn house_subs(&mut self) {
        let Some(home) = self.profile.files.get_mut(&1) else { return };
        for (name, sub) in &mut self.profile.subs {
            if sub.calls > 0 && sub.fid.unwrap_or(0) == 0 {
                sub.fid = Some(1);
                push(&mut home.subs_defined, name.clone());
            }
        }
    }
}

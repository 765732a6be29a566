//! Makes one profile of several: what nytprofmerge does, without its mistakes.

use std::{
    collections::{BTreeMap, HashMap},
    io::Write,
};

use traceloom_core::{Edited, Error, Findings, Loss, Options, Records, Result, Source};

use super::{is_compression_comment, with_doubles};
use crate::{
    Header, NewFid, Nv, Pair, Record, Str, SubCallers, SubInfo, Writer,
    check::leading_number,
    create, open,
    raw::{DEFAULT_TICKS_PER_SEC, FidFlags},
    record::brief,
};

/// Attributes that all inputs should share, and that are written once.
const SHARED: [&[u8]; 6] = [b"PL_perldb", b"clock_id", b"nv_size", b"perl_version", b"ticks_per_sec", b"xs_version"];

/// Writes all profiles as one: same files share a number, evals get new ones, calls are added up.
pub fn merge<W: Write>(sources: &[Source], out: W, options: &Options) -> Result<Edited> {
    if sources.is_empty() {
        return Err(Error::usage("there is nothing to merge"));
    }
    let mut findings = Findings::new(options.mode, &options.limits);
    let total = sources.iter().try_fold(0u64, |total, source| Ok::<_, Error>(total.saturating_add(source.len()?)))?;
    let mut merged = Merged::new(create(out, &Header::default())?, total);
    for source in sources {
        merged.input = Input::of(source, &mut merged, options)?;
        let mut reader = open(source.clone(), options)?;
        while let Some(located) = reader.next()? {
            merged.record(&located.record)?;
        }
        findings.absorb(reader.into_findings());
    }
    let loss = merged.finish()?;
    Ok(Edited { findings, loss })
}

struct Merged<W: Write> {
    writer: Writer<W>,
    loss: Loss,
    next_fid: u32,
    files: HashMap<Vec<u8>, u32>,
    /// The first eval at a line of a file.
    evals: HashMap<(u32, u32), u32>,
    subs: HashMap<(u32, Vec<u8>), (u32, u32)>,
    shared: HashMap<Vec<u8>, Vec<u8>>,
    collected: BTreeMap<Vec<u8>, Vec<Vec<u8>>>,
    options: HashMap<Vec<u8>, Vec<u8>>,
    is_deflating: bool,
    ticks_per_sec: Option<u32>,
    calls: BTreeMap<(String, Vec<u8>, Vec<u8>), Sum>,
    input: Input,
    used_bytes: u64,
    most_bytes: u64,
}

#[derive(Default)]
struct Sum {
    fid: u32,
    line: u32,
    count: u32,
    incl: f64,
    excl: f64,
    reci: f64,
    depth: u32,
    caller_is_utf8: bool,
    called_is_utf8: bool,
}

/// What a first look at an input decides.
#[derive(Default)]
struct Input {
    fids: HashMap<u32, Target>,
    /// Lines of a file that hold a sub which an earlier eval already has.
    moved: HashMap<u32, BTreeMap<u32, u32>>,
    /// Where a sub's description goes, if it is to be written.
    subs: HashMap<(u32, u32, u32, Vec<u8>), u32>,
    ticks_per_sec: u32,
}

#[derive(Clone, Copy, Default)]
struct Target {
    fid: u32,
    eval_fid: u32,
    /// The first eval at the same place; the file itself where it is no eval.
    folded: u32,
    is_written: bool,
}

impl Input {
    fn of<W: Write>(source: &Source, merged: &mut Merged<W>, options: &Options) -> Result<Self> {
        let mut input = Self { ticks_per_sec: DEFAULT_TICKS_PER_SEC, ..Self::default() };
        let mut waiting: Vec<(u32, u32, u32)> = Vec::new();
        let mut reader = open(source.clone(), options)?;
        while let Some(located) = reader.next()? {
            match &located.record {
                Record::NewFid(file) if file.eval_fid == 0 => {
                    merged.charge(96)?;
                    let target = merged.file(file)?;
                    input.fids.insert(file.fid, target);
                }
                Record::NewFid(file) => {
                    merged.charge(96)?;
                    let parent = input.fids.get(&file.eval_fid).copied();
                    let target = merged.eval(parent, file.eval_line)?;
                    input.fids.insert(file.fid, target);
                    if parent.is_none() {
                        waiting.push((file.fid, file.eval_fid, file.eval_line));
                    }
                }
                Record::Attribute(Pair { key: b"ticks_per_sec", value: Some(value) }) => {
                    input.ticks_per_sec =
                        Some(leading_number(value)).filter(|ticks| *ticks > 0).unwrap_or(DEFAULT_TICKS_PER_SEC);
                }
                _ => {}
            }
        }
        for (fid, parent, line) in waiting {
            merged.adopt(&mut input, fid, parent, line);
        }
        input.place_subs(source, merged, options)?;
        Ok(input)
    }

    /// Decides where each sub is described; needs all files, which may come after their subs.
    fn place_subs<W: Write>(&mut self, source: &Source, merged: &mut Merged<W>, options: &Options) -> Result<()> {
        let mut reader = open(source.clone(), options)?;
        while let Some(located) = reader.next()? {
            if let Record::SubInfo(sub) = &located.record {
                let Some(target) = self.fids.get(&sub.fid).copied() else { continue };
                let name = sub.name.bytes.to_vec();
                merged.charge(280 + 2 * name.len() as u64)?;
                if let Some(fid) = merged.place(self, sub, target) {
                    self.subs.insert((sub.fid, sub.first_line, sub.last_line, name), fid);
                }
            }
        }
        Ok(())
    }

    /// The new number of a file, for something on this line.
    fn at(&self, fid: u32, line: u32) -> Option<u32> {
        let target = self.fids.get(&fid)?;
        let is_moved = self
            .moved
            .get(&fid)
            .is_some_and(|ranges| ranges.range(..=line).next_back().is_some_and(|(_, last)| line <= *last));
        Some(if is_moved { target.folded } else { target.fid })
    }
}

impl<W: Write> Merged<W> {
    fn new(writer: Writer<W>, source_bytes: u64) -> Self {
        Self {
            writer,
            loss: Loss::default(),
            next_fid: 1,
            files: HashMap::new(),
            evals: HashMap::new(),
            subs: HashMap::new(),
            shared: HashMap::new(),
            collected: BTreeMap::new(),
            options: HashMap::new(),
            is_deflating: false,
            ticks_per_sec: None,
            calls: BTreeMap::new(),
            input: Input::default(),
            used_bytes: 0,
            most_bytes: source_bytes.saturating_mul(3).saturating_add(36 << 20),
        }
    }

    fn charge(&mut self, bytes: u64) -> Result<()> {
        self.used_bytes += bytes;
        if self.used_bytes > self.most_bytes {
            return Err(Error::limit("memory for merging", self.used_bytes, self.most_bytes));
        }
        Ok(())
    }

    fn new_fid(&mut self) -> Result<u32> {
        let fid = self.next_fid;
        self.next_fid = fid.checked_add(1).ok_or_else(|| Error::usage("there are too many files"))?;
        Ok(fid)
    }

    fn file(&mut self, file: &NewFid<'_>) -> Result<Target> {
        if let Some(fid) = self.files.get(file.name.bytes).copied() {
            return Ok(Target { fid, eval_fid: 0, folded: fid, is_written: false });
        }
        self.charge(160 + file.name.bytes.len() as u64)?;
        let fid = self.new_fid()?;
        self.files.insert(file.name.bytes.to_vec(), fid);
        Ok(Target { fid, eval_fid: 0, folded: fid, is_written: true })
    }

    /// Every eval is a file of its own; the first one at its place is remembered.
    fn eval(&mut self, parent: Option<Target>, line: u32) -> Result<Target> {
        let fid = self.new_fid()?;
        let Some(parent) = parent else { return Ok(Target { fid, eval_fid: 0, folded: fid, is_written: true }) };
        let folded = *self.evals.entry((parent.folded, line)).or_insert(fid);
        Ok(Target { fid, eval_fid: parent.fid, folded, is_written: true })
    }

    /// An eval that came before its file.
    fn adopt(&mut self, input: &mut Input, fid: u32, parent: u32, line: u32) {
        let Some(parent) = input.fids.get(&parent).copied() else {
            self.loss.lose("files of evals, which are not defined", || format!("file {parent} of eval {fid}"));
            return;
        };
        if let Some(target) = input.fids.get_mut(&fid) {
            target.eval_fid = parent.fid;
            target.folded = *self.evals.entry((parent.folded, line)).or_insert(target.fid);
        }
    }

    /// Where the description of a sub goes; `None` if an equal one is there.
    fn place(&mut self, input: &mut Input, sub: &SubInfo<'_>, target: Target) -> Option<u32> {
        let range = (sub.first_line, sub.last_line);
        let name = sub.name.bytes.to_vec();
        if sub.name.bytes.windows(14).any(|part| part == b"__ANON__[(eval") {
            self.subs.entry((target.fid, name)).or_insert(range);
            return Some(target.fid);
        }
        let seen = self.subs.get(&(target.folded, name.clone())).copied();
        if seen.is_some_and(|seen| seen != range) {
            return Some(target.fid);
        }
        // The same sub, defined again in another eval of the line: its lines count for the first one.
        if target.folded != target.fid && sub.first_line <= sub.last_line {
            add_range(input.moved.entry(sub.fid).or_default(), range);
        }
        if seen.is_some() {
            return None;
        }
        self.subs.insert((target.folded, name), range);
        Some(target.folded)
    }

    fn record(&mut self, record: &Record<'_>) -> Result<()> {
        let (mut record, is_exact) = with_doubles(record);
        if !is_exact {
            self.loss.lose("digits of numbers that a double cannot hold", || format!("{record:?}"));
        }
        match &mut record {
            Record::Comment(text) if is_compression_comment(text) => return Ok(()),
            Record::Attribute(pair) => return self.attribute(pair),
            Record::Option(pair) => return self.option(pair),
            Record::StartDeflate(level) => return self.start_deflate(*level),
            Record::EndDeflate | Record::Residue(_) => return Ok(()),
            Record::NewFid(file) => {
                let Some(target) = self.input.fids.get_mut(&file.fid) else { return Ok(()) };
                if !std::mem::take(&mut target.is_written) {
                    return Ok(());
                }
                (file.fid, file.eval_fid) = (target.fid, target.eval_fid);
                if target.eval_fid == 0 {
                    file.eval_line = 0;
                }
            }
            Record::TimeLine(time) => {
                time.ticks = self.scale(time.ticks);
                time.fid = self.fid(time.fid, time.line)?;
            }
            Record::TimeBlock(time) => {
                time.ticks = self.scale(time.ticks);
                time.fid = self.fid(time.fid, time.line)?;
            }
            Record::SrcLine(source) => source.fid = self.fid(source.fid, source.line)?,
            // Of all records, nytprofmerge leaves this one in the eval that it was in.
            Record::SubEntry(entry) => {
                let target = self.input.fids.get(&entry.caller_fid).map(|target| target.fid);
                entry.caller_fid = target.map_or_else(|| self.fid(entry.caller_fid, entry.caller_line), Ok)?;
            }
            Record::SubReturn(left) => {
                left.incl_ticks = (left.incl_ticks.value() * self.ratio()).into();
                left.excl_ticks = (left.excl_ticks.value() * self.ratio()).into();
            }
            Record::SubInfo(sub) => {
                let key = (sub.fid, sub.first_line, sub.last_line, sub.name.bytes.to_vec());
                match self.input.subs.remove(&key) {
                    Some(fid) => sub.fid = fid,
                    None if self.input.fids.contains_key(&sub.fid) => return Ok(()),
                    None => sub.fid = self.fid(sub.fid, 0)?,
                }
            }
            Record::SubCallers(calls) => return self.add_calls(calls),
            Record::Comment(_) | Record::PidStart(_) | Record::PidEnd(_) | Record::Discount => {}
        }
        self.writer.write(&record)
    }

    /// The new number of a file; one that is not defined is given a definition.
    fn fid(&mut self, fid: u32, line: u32) -> Result<u32> {
        if fid == 0 {
            return Ok(0);
        }
        if let Some(fid) = self.input.at(fid, line) {
            return Ok(fid);
        }
        self.charge(96)?;
        let name = format!("/unknown-file-{fid}");
        self.loss.lose("names of files that are not defined", || name.clone());
        let number = self.new_fid()?;
        let target = Target { fid: number, eval_fid: 0, folded: number, is_written: false };
        self.input.fids.insert(fid, target);
        let file = NewFid {
            fid: number,
            eval_fid: 0,
            eval_line: 0,
            flags: FidFlags(FidFlags::IS_FAKE),
            size: 0,
            mtime: 0,
            name: Str::new(name.as_bytes()),
            odd_bytes: None,
        };
        self.writer.write(&Record::NewFid(file))?;
        Ok(number)
    }

    /// From this input's ticks to those of the first.
    fn ratio(&self) -> f64 {
        let first = self.ticks_per_sec.unwrap_or(self.input.ticks_per_sec);
        if first == self.input.ticks_per_sec { 1.0 } else { f64::from(first) / f64::from(self.input.ticks_per_sec) }
    }

    fn scale(&self, ticks: i32) -> i32 {
        let ratio = self.ratio();
        if ratio == 1.0 { ticks } else { (f64::from(ticks) * ratio).round() as i32 }
    }

    fn attribute(&mut self, pair: &Pair<'_>) -> Result<()> {
        let Some(mut value) = pair.value else {
            self.loss.lose("lines without a value", || brief(pair.key));
            return Ok(());
        };
        if pair.key == b"nv_size" {
            value = b"8";
        }
        self.charge(400 + (pair.key.len() + value.len()) as u64)?;
        if !SHARED.contains(&pair.key) {
            let mut value = value.to_vec();
            if pair.key == b"cumulative_overhead_ticks" && self.ratio() != 1.0 {
                value = number(parse(&value) * self.ratio()).into_bytes();
            }
            self.collected.entry(pair.key.to_vec()).or_default().push(value);
            return Ok(());
        }
        if let Some(before) = self.shared.get(pair.key) {
            if before != value && pair.key != b"ticks_per_sec" {
                self.loss.lose("attributes that differ between the profiles", || {
                    format!("{}: {}, not {}", brief(pair.key), brief(before), brief(value))
                });
            }
            return Ok(());
        }
        if pair.key == b"ticks_per_sec" {
            self.ticks_per_sec = Some(self.input.ticks_per_sec);
        }
        self.shared.insert(pair.key.to_vec(), value.to_vec());
        self.writer.write(&Record::Attribute(Pair::new(pair.key, value)))
    }

    fn option(&mut self, pair: &Pair<'_>) -> Result<()> {
        let Some(value) = pair.value else {
            self.loss.lose("lines without a value", || brief(pair.key));
            return Ok(());
        };
        match self.options.get(pair.key) {
            Some(before) if before == value => Ok(()),
            Some(before) => {
                self.loss.lose("options that differ between the profiles", || {
                    format!("{}: {}, not {}", brief(pair.key), brief(before), brief(value))
                });
                Ok(())
            }
            None => {
                self.charge(160 + (pair.key.len() + value.len()) as u64)?;
                self.options.insert(pair.key.to_vec(), value.to_vec());
                self.writer.write(&Record::Option(*pair))
            }
        }
    }

    fn start_deflate(&mut self, level: u8) -> Result<()> {
        if std::mem::replace(&mut self.is_deflating, true) {
            return Ok(());
        }
        self.writer.write(&Record::Comment(super::compression_comment(level).as_bytes()))?;
        self.writer.write(&Record::StartDeflate(level))
    }

    fn add_calls(&mut self, calls: &SubCallers<'_>) -> Result<()> {
        let fid = self.fid(calls.fid, calls.line)?;
        let key = (format!("{fid},{}", calls.line), calls.called.bytes.to_vec(), calls.caller.bytes.to_vec());
        if !self.calls.contains_key(&key) {
            self.charge(340 + (calls.called.bytes.len() + calls.caller.bytes.len()) as u64)?;
        }
        let sum = self.calls.entry(key).or_default();
        (sum.fid, sum.line) = (fid, calls.line);
        sum.count = sum.count.saturating_add(calls.count);
        sum.incl += calls.incl_seconds.value();
        sum.excl += calls.excl_seconds.value();
        sum.reci += calls.reci_seconds.value();
        sum.depth = sum.depth.max(calls.depth);
        sum.caller_is_utf8 |= calls.caller.is_utf8;
        sum.called_is_utf8 |= calls.called.is_utf8;
        Ok(())
    }

    fn finish(mut self) -> Result<Loss> {
        for ((_, called, caller), sum) in &self.calls {
            self.writer.write(&Record::SubCallers(SubCallers {
                fid: sum.fid,
                line: sum.line,
                caller: Str { bytes: caller, is_utf8: sum.caller_is_utf8 },
                count: sum.count,
                incl_seconds: Nv::from(sum.incl),
                excl_seconds: Nv::from(sum.excl),
                reci_seconds: Nv::from(sum.reci),
                depth: sum.depth,
                called: Str { bytes: called, is_utf8: sum.called_is_utf8 },
                odd_bytes: None,
            }))?;
        }
        for (key, values) in &self.collected {
            for value in joined(key, values) {
                self.writer.write(&Record::Attribute(Pair::new(key, &value)))?;
            }
        }
        self.writer.finish()?;
        Ok(self.loss)
    }
}

/// Adds a range of lines to ranges that do not overlap.
fn add_range(ranges: &mut BTreeMap<u32, u32>, (mut first, mut last): (u32, u32)) {
    while let Some((start, end)) = ranges.range(..=last).next_back().map(|(start, end)| (*start, *end)) {
        if end < first {
            break;
        }
        ranges.remove(&start);
        (first, last) = (first.min(start), last.max(end));
    }
    ranges.insert(first, last);
}

/// One value for several, where the attribute has a rule for it.
fn joined(key: &[u8], values: &[Vec<u8>]) -> Vec<Vec<u8>> {
    match key {
        b"basetime" => values.iter().min_by(|a, b| parse(a).total_cmp(&parse(b))).cloned().into_iter().collect(),
        b"cumulative_overhead_ticks" => vec![number(values.iter().map(|value| parse(value)).sum()).into_bytes()],
        b"application" => vec![applications(values)],
        _ if key.starts_with(b"sawampersand_") => values.first().cloned().into_iter().collect(),
        _ => values.to_vec(),
    }
}

/// `a (2 runs), b and c`.
fn applications(values: &[Vec<u8>]) -> Vec<u8> {
    let mut counts: BTreeMap<&[u8], u64> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    let mut names: Vec<Vec<u8>> = counts
        .into_iter()
        .map(|(name, count)| match count {
            1 => name.to_vec(),
            _ => [name, format!(" ({count} runs)").as_bytes()].concat(),
        })
        .collect();
    let last = names.pop().unwrap_or_default();
    if names.is_empty() {
        return last;
    }
    [names.join(&b", "[..]), last].join(&b" and "[..])
}

fn parse(value: &[u8]) -> f64 {
    std::str::from_utf8(value).ok().and_then(|value| value.trim().parse().ok()).unwrap_or(0.0)
}

fn number(value: f64) -> String {
    value.to_string()
}

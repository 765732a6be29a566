//! Merges several profiles into one, like nytprofmerge but without its mistakes.

use std::{
    collections::{BTreeMap, HashMap},
    io::Write,
};

use traceloom_core::{Describe, Edited, Error, Findings, Loss, Options, Records, Result, Source};

use super::{
    attributes::{joined, number, parse},
    is_compression_comment, names_pynytprof,
    renumber::{Input, NewNumber, Numbers},
    start_deflate, with_doubles,
};
use crate::{Header, NewFid, Nv, Pair, Record, Str, SubCallers, Writer, create, open, raw::FidFlags, record::brief};

/// Attributes that all inputs should share, and that are written once.
const SHARED: [&[u8]; 6] = [b"PL_perldb", b"clock_id", b"nv_size", b"perl_version", b"ticks_per_sec", b"xs_version"];

/// Writes all profiles as one: equal files share a number, evals get new ones, calls are summed.
pub fn merge<W: Write>(sources: &[Source], out: W, options: &Options) -> Result<Edited> {
    if sources.is_empty() {
        return Err(Error::usage("nothing to merge"));
    }
    let mut findings = Findings::new(options.mode, &options.limits);
    let total = sources.iter().try_fold(0u64, |total, source| Ok::<_, Error>(total.saturating_add(source.len()?)))?;
    let mut merged = Merged::new(create(out, &Header::default())?, total);
    for source in sources {
        merged.input = Input::survey(source, &mut merged.numbers, &mut merged.loss, options)?;
        let mut reader = open(source.clone(), options)?;
        reader.walk(|located| merged.record(&located.record))?;
        findings.absorb(reader.into_findings());
    }
    let loss = merged.finish()?;
    Ok(Edited { findings, loss })
}

struct Merged<W: Write> {
    writer: Writer<W>,
    loss: Loss,
    numbers: Numbers,
    input: Input,
    shared: HashMap<Vec<u8>, Vec<u8>>,
    collected: BTreeMap<Vec<u8>, Vec<Vec<u8>>>,
    options: HashMap<Vec<u8>, Vec<u8>>,
    is_deflating: bool,
    ticks_per_sec: Option<u32>,
    /// Sums by file and line as text, called sub, and caller.
    calls: BTreeMap<(String, Vec<u8>, Vec<u8>), CallSum>,
}

#[derive(Default)]
struct CallSum {
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

impl<W: Write> Merged<W> {
    fn new(writer: Writer<W>, source_bytes: u64) -> Self {
        Self {
            writer,
            loss: Loss::default(),
            numbers: Numbers::new(source_bytes),
            input: Input::default(),
            shared: HashMap::new(),
            collected: BTreeMap::new(),
            options: HashMap::new(),
            is_deflating: false,
            ticks_per_sec: None,
            calls: BTreeMap::new(),
        }
    }

    fn record(&mut self, record: &Record<'_>) -> Result<()> {
        let (mut record, is_exact) = with_doubles(record);
        if !is_exact {
            self.loss.lose("digits of numbers that a double cannot hold", || format!("of a {} record", record.kind()));
        }
        match &mut record {
            Record::Comment(text) if is_compression_comment(text) || names_pynytprof(text, &mut self.loss) => {
                return Ok(());
            }
            Record::Attribute(pair) => return self.attribute(pair),
            Record::Option(pair) => return self.option(pair),
            Record::StartDeflate(level) => return self.start_deflate(*level),
            Record::EndDeflate | Record::Residue(_) => return Ok(()),
            Record::NewFid(file) => {
                let Some(new) = self.input.fids.get_mut(&file.fid) else { return Ok(()) };
                if !std::mem::take(&mut new.is_owed) {
                    return Ok(());
                }
                (file.fid, file.eval_fid) = (new.fid, new.eval_fid);
                if new.eval_fid == 0 {
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
            // This is the only record that nytprofmerge leaves in its original eval.
            Record::SubEntry(entry) => {
                let new = self.input.fids.get(&entry.caller_fid).map(|new| new.fid);
                entry.caller_fid = new.map_or_else(|| self.fid(entry.caller_fid, entry.caller_line), Ok)?;
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

    /// The new number of a file; a file that is not defined gets a definition.
    fn fid(&mut self, fid: u32, line: u32) -> Result<u32> {
        if fid == 0 {
            return Ok(0);
        }
        if let Some(fid) = self.input.at(fid, line) {
            return Ok(fid);
        }
        self.numbers.budget.charge(96)?;
        let name = format!("/unknown-file-{fid}");
        self.loss.lose("names of files that are not defined", || name.clone());
        let number = self.numbers.next()?;
        self.input.fids.insert(fid, NewNumber { is_owed: false, ..NewNumber::file(number) });
        let file = NewFid::file(number, FidFlags::IS_FAKE, name.as_bytes());
        self.writer.write(&Record::NewFid(file))?;
        Ok(number)
    }

    /// The factor from this input's ticks to those of the first.
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
        self.numbers.budget.charge(400 + (pair.key.len() + value.len()) as u64)?;
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
                self.numbers.budget.charge(160 + (pair.key.len() + value.len()) as u64)?;
                self.options.insert(pair.key.to_vec(), value.to_vec());
                self.writer.write(&Record::Option(*pair))
            }
        }
    }

    fn start_deflate(&mut self, level: u8) -> Result<()> {
        if std::mem::replace(&mut self.is_deflating, true) {
            return Ok(());
        }
        start_deflate(&mut self.writer, level)
    }

    fn add_calls(&mut self, calls: &SubCallers<'_>) -> Result<()> {
        let fid = self.fid(calls.fid, calls.line)?;
        let key = (format!("{fid},{}", calls.line), calls.called.bytes.to_vec(), calls.caller.bytes.to_vec());
        if !self.calls.contains_key(&key) {
            self.numbers.budget.charge(340 + (calls.called.bytes.len() + calls.caller.bytes.len()) as u64)?;
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

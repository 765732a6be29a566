//! Makes a file that Devel::NYTProf loads.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
};

use traceloom_core::{Describe, Edited, Error, Loss, Options, Records, Result, Source};

use super::{
    frames::{Frames, Missing},
    is_closing_text, is_text, names_pynytprof, with_doubles,
};
use crate::{
    Header, NewFid, Nv, Pair, PidEnd, Record, Str, Writer,
    check::leading_number,
    create, open,
    raw::{DEFAULT_TICKS_PER_SEC, FidFlags, ORIGINAL_LINES},
    record::brief,
};

/// Writes `source` so that Devel::NYTProf loads it: records that make it die are fixed if possible, and left out
/// otherwise.
pub fn repair<W: Write>(source: &Source, out: W, options: &Options) -> Result<Edited> {
    let survey = Survey::of(source, options)?;
    let mut reader = open(source.clone(), options)?;
    let mut mend = Mend {
        writer: create(out, &Header::default())?,
        fids: survey.fids(),
        undefined: survey.undefined(),
        survey,
        loss: Loss::default(),
        is_binary: false,
        has_discount: false,
        owes_discount: false,
        live_pids: BTreeMap::new(),
        frames: Frames::new(source.len()?),
        ticks: 0,
    };
    reader.walk(|located| mend.record(&located.record))?;
    let loss = mend.finish()?;
    Ok(Edited { findings: reader.into_findings(), loss })
}

/// The result of a first pass over the whole file.
#[derive(Debug, Default)]
struct Survey {
    defined: BTreeSet<u32>,
    used: BTreeSet<u32>,
    ticks_per_sec: Option<u32>,
    has_nv_size: bool,
    has_overhead: bool,
    /// Number of processes that never end.
    endless: u64,
    /// Files that are referred to before they are defined: Devel::NYTProf dies, or forgets where an eval belongs.
    late: BTreeMap<u32, Option<LateFile>>,
}

/// A file's definition, to be written earlier than it was.
#[derive(Clone, Debug)]
struct LateFile {
    /// Everything except its name.
    file: NewFid<'static>,
    name: Vec<u8>,
}

impl LateFile {
    fn new(file: &NewFid<'_>) -> Self {
        let NewFid { fid, eval_fid, eval_line, flags, size, mtime, name, .. } = *file;
        let nameless = Str { bytes: &[], is_utf8: name.is_utf8 };
        let file = NewFid { fid, eval_fid, eval_line, flags, size, mtime, name: nameless, odd_bytes: None };
        Self { file, name: name.bytes.to_vec() }
    }

    fn record(&self) -> NewFid<'_> {
        NewFid { name: Str { bytes: &self.name, ..self.file.name }, ..self.file }
    }
}

impl Survey {
    fn of(source: &Source, options: &Options) -> Result<Self> {
        let max = (256 << 10) + source.len()? / 2;
        let mut reader = open(source.clone(), options)?;
        let mut survey = Self::default();
        reader.walk(|located| {
            survey.record(&located.record);
            let kept = survey.endless + (survey.defined.len() + survey.used.len() + survey.late.len()) as u64;
            if kept > max { Err(Error::limit("files and processes", kept, max)) } else { Ok(()) }
        })?;
        Ok(survey)
    }

    fn record(&mut self, record: &Record<'_>) {
        if let Some(fid) = used_fid(record)
            && self.used.insert(fid)
            && !self.defined.contains(&fid)
        {
            self.late.entry(fid).or_default();
        }
        match record {
            Record::NewFid(file) => {
                self.defined.insert(file.fid);
                if let Some(late) = self.late.get_mut(&file.fid) {
                    late.get_or_insert_with(|| LateFile::new(file));
                }
                if file.eval_fid != 0 && !self.defined.contains(&file.eval_fid) {
                    self.late.entry(file.eval_fid).or_default();
                }
            }
            Record::PidStart(_) => self.endless += 1,
            Record::PidEnd(_) => self.endless = self.endless.saturating_sub(1),
            Record::Attribute(Pair { key, value: Some(value) }) => match *key {
                b"ticks_per_sec" => self.ticks_per_sec = Some(leading_number(value)).filter(|ticks| *ticks > 0),
                b"nv_size" => self.has_nv_size = true,
                b"cumulative_overhead_ticks" => self.has_overhead = true,
                _ => {}
            },
            _ => {}
        }
    }

    /// Files that are used but never defined.
    fn undefined(&self) -> Vec<u32> {
        self.used.difference(&self.defined).copied().collect()
    }

    /// New file numbers without gaps, the defined ones first; unchanged if there were no gaps.
    fn fids(&self) -> BTreeMap<u32, u32> {
        self.defined.iter().copied().chain(self.undefined()).zip(1..).collect()
    }
}

/// The file that must exist for a record.
fn used_fid(record: &Record<'_>) -> Option<u32> {
    match record {
        Record::TimeLine(time) => Some(time.fid).filter(|fid| *fid != 0),
        Record::TimeBlock(time) => Some(time.fid).filter(|fid| *fid != 0),
        Record::SrcLine(source) => Some(source.fid),
        Record::SubInfo(sub) => Some(sub.fid),
        Record::SubCallers(calls) => Some(calls.fid).filter(|fid| *fid != 0),
        Record::SubEntry(entry) => Some(entry.caller_fid).filter(|fid| *fid != 0),
        _ => None,
    }
}

struct Mend<W: Write> {
    writer: Writer<W>,
    survey: Survey,
    fids: BTreeMap<u32, u32>,
    undefined: Vec<u32>,
    loss: Loss,
    is_binary: bool,
    has_discount: bool,
    /// A discount belongs to its statement and is dropped with it.
    owes_discount: bool,
    live_pids: BTreeMap<u32, (f64, i128)>,
    frames: Frames,
    ticks: i128,
}

impl<W: Write> Mend<W> {
    fn record(&mut self, record: &Record<'_>) -> Result<()> {
        let (mut record, is_exact) = with_doubles(record);
        if !is_exact {
            self.loss.lose("digits of numbers that a double cannot hold", || format!("of a {} record", record.kind()));
        }
        if !self.is_binary && !is_text(&record) && !matches!(record, Record::Residue(_)) {
            self.is_binary = true;
            self.complete_text()?;
        }
        if let Record::NewFid(file) = &record {
            if self.survey.late.get(&file.fid).is_some_and(Option::is_none) {
                return Ok(()); // Already written.
            }
            self.define_parents(file.eval_fid)?;
        }
        if let Some(fid) = used_fid(&record) {
            self.define_parents(fid)?;
        }
        if !self.mend(&mut record) {
            return Ok(());
        }
        if !self.frame(&record)? {
            return Ok(());
        }
        // They follow the process, as the profiler writes them, unless something comes before that.
        let fakes_now = !is_text(&record) && !matches!(record, Record::StartDeflate(_) | Record::EndDeflate);
        if matches!(record, Record::PidStart(_)) {
            self.write(&record)?;
        }
        if fakes_now {
            self.define_missing()?;
        }
        if !matches!(record, Record::PidStart(_)) {
            self.write(&record)?;
        }
        Ok(())
    }

    /// Ends the frames that the record leaves without a return; returns false if the record has to be dropped.
    fn frame(&mut self, record: &Record<'_>) -> Result<bool> {
        match record {
            Record::SubEntry(_) => self.frames.enter(self.ticks),
            Record::SubReturn(left) => {
                let Some(missing) = self.frames.leave(left, self.ticks) else {
                    self.loss.lose("returns from impossible depths", || format!("depth {}", left.depth));
                    return Ok(false);
                };
                self.end_frames(missing)?;
            }
            Record::PidStart(_) | Record::PidEnd(_) => {
                let missing = self.frames.end(0, self.ticks);
                self.end_frames(missing)?;
            }
            _ => {}
        }
        Ok(true)
    }

    fn end_frames(&mut self, missing: Vec<Missing>) -> Result<()> {
        for missing in missing {
            self.loss.lose("names and times of frames without a return", || format!("depth {}", missing.depth));
            self.write(&missing.record(None))?;
        }
        Ok(())
    }

    fn write(&mut self, record: &Record<'_>) -> Result<()> {
        self.pay_discount()?;
        self.writer.write(record)
    }

    fn pay_discount(&mut self) -> Result<()> {
        if std::mem::take(&mut self.owes_discount) {
            self.writer.write(&Record::Discount)?;
        }
        Ok(())
    }

    /// Adds the attributes without which Devel::NYTProf divides by zero or does not recognize its number format.
    fn complete_text(&mut self) -> Result<()> {
        if self.survey.ticks_per_sec.is_none() {
            let ticks = DEFAULT_TICKS_PER_SEC.to_string();
            self.writer.write(&Record::Attribute(Pair::new(b"ticks_per_sec", ticks.as_bytes())))?;
        }
        if !self.survey.has_nv_size {
            self.writer.write(&Record::Attribute(Pair::new(b"nv_size", b"8")))?;
        }
        Ok(())
    }

    /// Defines a file that comes too late and the files that it is in, the outermost first.
    fn define_parents(&mut self, mut fid: u32) -> Result<()> {
        let mut inner_first = Vec::new();
        while let Some(file) = self.survey.late.get_mut(&fid).and_then(Option::take) {
            fid = file.file.eval_fid;
            inner_first.push(file);
        }
        for file in inner_first.iter().rev() {
            let mut record = Record::NewFid(file.record());
            self.renumber(&mut record);
            self.writer.write(&record)?;
        }
        Ok(())
    }

    fn define_missing(&mut self) -> Result<()> {
        for fid in std::mem::take(&mut self.undefined) {
            let Some(number) = self.fids.get(&fid).copied() else { continue };
            let name = format!("/unknown-file-{fid}");
            self.loss.lose("names of files that are not defined", || name.clone());
            let file = NewFid::file(number, FidFlags::IS_FAKE, name.as_bytes());
            self.writer.write(&Record::NewFid(file))?;
        }
        Ok(())
    }

    /// Changes a record so that Devel::NYTProf survives it; returns false if it has to be dropped.
    fn mend(&mut self, record: &mut Record<'_>) -> bool {
        match record {
            // The records still to come belong in the compressed part.
            Record::EndDeflate => return false,
            Record::Residue(bytes) => {
                if !is_closing_text(bytes) {
                    self.loss.lose("unrecognized bytes", || brief(bytes));
                }
                return false;
            }
            Record::Attribute(pair) | Record::Option(pair) if pair.value.is_none() => {
                self.loss.lose("lines without a value", || brief(pair.key));
                return false;
            }
            Record::Comment(text) => return !names_pynytprof(text, &mut self.loss),
            Record::Attribute(pair) => return self.attribute(pair),
            Record::Discount if self.has_discount => {
                self.loss.lose("second discounts of a statement", || "DISCOUNT".to_owned());
                return false;
            }
            Record::Discount => {
                (self.has_discount, self.owes_discount) = (true, true);
                return false;
            }
            Record::TimeLine(time) => {
                let lines = [time.line];
                return self.time(time.ticks, &mut time.fid, &lines);
            }
            Record::TimeBlock(time) => {
                let lines = [time.line, time.block_line, time.sub_line];
                return self.time(time.ticks, &mut time.fid, &lines);
            }
            Record::PidStart(start) => _ = self.live_pids.insert(start.pid, (start.time.value(), self.ticks)),
            Record::PidEnd(end) => _ = self.live_pids.remove(&end.pid),
            Record::SrcLine(source) if source.line > ORIGINAL_LINES => {
                self.loss
                    .lose("source on lines above 16777216", || format!("line {} of file {}", source.line, source.fid));
                return false;
            }
            _ => self.renumber(record),
        }
        true
    }

    fn attribute(&mut self, pair: &mut Pair<'_>) -> bool {
        // Devel::NYTProf assumes that the line is as long as its buffer, and shows uninitialized memory.
        if let Some(value) = pair.value
            && let Some(before) = value.split(|byte| *byte == 0).next().filter(|before| before.len() < value.len())
        {
            self.loss.lose("text after a NUL", || brief(value));
            pair.value = Some(before);
        }
        match pair.key {
            b"nv_size" => pair.value = Some(b"8"),
            b"ticks_per_sec" => return pair.value.is_some_and(|value| leading_number(value) > 0),
            _ => {}
        }
        true
    }

    fn time(&mut self, ticks: i32, fid: &mut u32, lines: &[u32]) -> bool {
        self.ticks += i128::from(ticks);
        if lines.iter().any(|line| *line > ORIGINAL_LINES) {
            self.loss.lose("statements on lines above 16777216", || {
                format!("line {} of file {fid}", lines.iter().max().unwrap_or(&0))
            });
            self.has_discount &= !std::mem::take(&mut self.owes_discount);
            return false;
        }
        self.has_discount = false;
        *fid = self.fids.get(fid).copied().unwrap_or(*fid);
        true
    }

    fn renumber(&self, record: &mut Record<'_>) {
        let number = |fid: &mut u32| *fid = self.fids.get(fid).copied().unwrap_or(*fid);
        match record {
            Record::NewFid(file) => {
                number(&mut file.fid);
                if file.eval_fid != 0 {
                    number(&mut file.eval_fid);
                }
            }
            Record::SrcLine(source) => number(&mut source.fid),
            Record::SubInfo(sub) => number(&mut sub.fid),
            Record::SubCallers(calls) if calls.fid != 0 => number(&mut calls.fid),
            Record::SubEntry(entry) if entry.caller_fid != 0 => number(&mut entry.caller_fid),
            _ => {}
        }
    }

    fn finish(mut self) -> Result<Loss> {
        self.pay_discount()?;
        if !self.is_binary {
            self.complete_text()?;
        }
        let missing = self.frames.end(0, self.ticks);
        self.end_frames(missing)?;
        if !self.survey.has_overhead {
            self.writer.write(&Record::Attribute(Pair::new(b"cumulative_overhead_ticks", b"0")))?;
        }
        let per_second = f64::from(self.survey.ticks_per_sec.unwrap_or(DEFAULT_TICKS_PER_SEC));
        for (pid, (start, ticks)) in std::mem::take(&mut self.live_pids) {
            self.loss.lose("times at which processes ended", || format!("process {pid}"));
            // The best guess: only statements are known to have taken time.
            let time = start + (self.ticks - ticks).max(0) as f64 / per_second;
            self.writer.write(&Record::PidEnd(PidEnd { pid, time: Nv::from(time), odd_bytes: None }))?;
        }
        self.writer.finish()?;
        Ok(self.loss)
    }
}

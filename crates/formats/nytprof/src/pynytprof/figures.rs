//! All figures of a file, whatever its form, and how to write them in the documented layout.

use std::{collections::BTreeMap, io::Write};

use traceloom_core::{Error, Findings, Loss, Options, Records, Result, Source, Text};

use super::{
    forms::{MAX_NAME, is_clean},
    raw::{ATTRIBUTES, FIGURES_BYTES, Form, OPTIONS, TICKS_PER_SEC, Tag},
    read::open,
    record::{Chunk, Edge, Header, Line, Process, Record, Sub},
    write::{Writer, create},
};
use crate::{Pair, budget::Budget, edit::compression_comment, record::brief};

/// The contents of a file, summed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) comment: Option<Vec<u8>>,
    pub(crate) attributes: Vec<(Vec<u8>, Vec<u8>)>,
    pub(crate) options: Vec<(Vec<u8>, Vec<u8>)>,
    pub(crate) process: Option<Process>,
    /// Paths by file number.
    pub(crate) files: BTreeMap<u32, Vec<u8>>,
    pub(crate) lines: BTreeMap<(u32, u32), Sum>,
    pub(crate) subs: BTreeMap<u32, SubInfo>,
    pub(crate) edges: BTreeMap<(u32, u32), Sum>,
    /// Calls by file and line, to a sub.
    pub(crate) sites: BTreeMap<(u32, u32, u32), Sum>,
    pub(crate) level: Option<u8>,
    pub(crate) loss: Loss,
    budget: Budget,
}

/// Calls and ticks of a line, of calls between two subs, or of calls at one call site.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Sum {
    pub(crate) calls: u64,
    pub(crate) inc_ticks: u64,
    pub(crate) exc_ticks: u64,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct SubInfo {
    pub(crate) name: Vec<u8>,
    pub(crate) flags: u32,
    /// File, first and last line, if known.
    pub(crate) range: Option<(u32, u32, u32)>,
}

impl Figures {
    /// Empty, for inputs of this size.
    pub(crate) fn new(source_bytes: u64) -> Self {
        Self { budget: Budget::new("memory for figures", source_bytes, 40 << 20), ..Self::default() }
    }

    pub(crate) fn load(source: &Source, options: &Options) -> Result<(Self, Findings)> {
        let mut reader = open(source.clone(), options)?;
        let mut figures = Self::new(source.len()?);
        reader.walk(|located| figures.add(&located.record))?;
        Ok((figures, reader.into_findings()))
    }

    fn charge(&mut self, bytes: usize) -> Result<()> {
        self.budget.charge(bytes as u64)
    }

    fn add(&mut self, record: &Record<'_>) -> Result<()> {
        match record {
            Record::Comment(text) => {
                self.comment.get_or_insert_with(|| text.to_vec());
            }
            Record::Attribute(Pair { key, value: Some(value) }) => {
                self.charge(128 + key.len() + value.len())?;
                self.attributes.push((key.to_vec(), value.to_vec()));
            }
            Record::Option(Pair { key, value: Some(value) }) => {
                self.charge(128 + key.len() + value.len())?;
                self.options.push((key.to_vec(), value.to_vec()));
            }
            Record::StartDeflate(level) => self.level = Some(*level),
            Record::Process(process) => self.process = Some(*process),
            Record::Line(line) => self.add_line((line.fid, line.line), Sum::from(line))?,
            Record::Sub(sub) => self.add_sub(sub.sid, sub.name, sub.flags, None)?,
            Record::Range(sub) => {
                self.add_sub(sub.sid, sub.name, 0, Some((sub.fid, sub.first_line, sub.last_line)))?;
            }
            Record::Edge(edge) => self.add_edge((edge.caller_sid, edge.callee_sid), Sum::from(edge))?,
            Record::SiteCalls(calls) => {
                self.charge(96)?;
                let sum = self.sites.entry((calls.fid, calls.line, calls.sid)).or_default();
                sum.add(Sum { calls: 1, inc_ticks: calls.inc_ticks, exc_ticks: calls.exc_ticks });
            }
            Record::File(file) => self.add_file(file.fid, file.path)?,
            Record::Token(crate::Record::NewFid(file)) => self.add_file(file.fid, file.name.bytes)?,
            Record::Token(crate::Record::PidStart(start)) => self.process = Some(Process::from(start)),
            Record::Visit(visit) => {
                self.loss.lose("the order of visits", || format!("line {} of file {}", visit.line, visit.fid));
            }
            Record::Payload(bytes) | Record::Residue(bytes) => {
                self.loss.lose("unrecognized bytes", || format!("{} bytes", bytes.len()));
            }
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn add_line(&mut self, line: (u32, u32), sum: Sum) -> Result<()> {
        self.charge(if self.lines.contains_key(&line) { 0 } else { 80 })?;
        self.lines.entry(line).or_default().add(sum);
        Ok(())
    }

    pub(crate) fn add_edge(&mut self, edge: (u32, u32), sum: Sum) -> Result<()> {
        self.charge(if self.edges.contains_key(&edge) { 0 } else { 80 })?;
        self.edges.entry(edge).or_default().add(sum);
        Ok(())
    }

    pub(crate) fn add_sub(&mut self, sid: u32, name: &[u8], flags: u32, range: Option<(u32, u32, u32)>) -> Result<()> {
        self.charge(128 + name.len())?;
        self.subs.insert(sid, SubInfo { name: name.to_vec(), flags, range });
        Ok(())
    }

    fn add_file(&mut self, fid: u32, path: &[u8]) -> Result<()> {
        self.charge(96 + path.len())?;
        self.files.insert(fid, path.to_vec());
        Ok(())
    }

    /// Adds another file's figures: equal subs by name, equal files by path or number.
    pub(crate) fn absorb(&mut self, other: Self) -> Result<()> {
        let fids = self.fids_of(&other)?;
        let fid = |number: u32| fids.get(&number).copied().unwrap_or(number);
        for ((file, line), sum) in other.lines {
            self.add_line((fid(file), line), sum)?;
        }
        let sids = self.sids_of(&other.subs, &fid)?;
        // A number without a name is kept, unless it is already in use.
        let sid = |number: u32| sids.get(&number).copied().unwrap_or(number);
        for ((caller, callee), sum) in other.edges {
            self.add_edge((sid(caller), sid(callee)), sum)?;
        }
        for ((file, line, callee), sum) in other.sites {
            self.charge(96)?;
            self.sites.entry((fid(file), line, sid(callee))).or_default().add(sum);
        }
        self.process = self.process.or(other.process);
        if self.attributes.is_empty() {
            (self.comment, self.attributes, self.options) = (other.comment, other.attributes, other.options);
        }
        for (what, _, example) in other.loss.entries() {
            self.loss.lose(what, || example.to_owned());
        }
        Ok(())
    }

    fn fids_of(&mut self, other: &Self) -> Result<BTreeMap<u32, u32>> {
        let known: BTreeMap<Vec<u8>, u32> = self.files.iter().map(|(fid, path)| (path.clone(), *fid)).collect();
        let mut fids = BTreeMap::new();
        for (number, path) in &other.files {
            let same = known.get(path).copied();
            let free = match self.files.get(number) {
                Some(_) => self.files.last_key_value().map_or(1, |(last, _)| last.saturating_add(1)),
                None => *number,
            };
            fids.insert(*number, same.unwrap_or(free));
            if same.is_none() {
                self.add_file(free, path)?;
            }
        }
        Ok(fids)
    }

    fn sids_of(&mut self, subs: &BTreeMap<u32, SubInfo>, fid: &impl Fn(u32) -> u32) -> Result<BTreeMap<u32, u32>> {
        let known: BTreeMap<Vec<u8>, u32> = self.subs.iter().map(|(sid, sub)| (sub.name.clone(), *sid)).collect();
        let mut sids = BTreeMap::new();
        for (sid, sub) in subs {
            let same = known.get(&sub.name).copied();
            let free = match self.subs.get(sid) {
                Some(_) => self.subs.last_key_value().map_or(0, |(last, _)| last.saturating_add(1)),
                None => *sid,
            };
            sids.insert(*sid, same.unwrap_or(free));
            if same.is_none() {
                let range = sub.range.map(|(file, first, last)| (fid(file), first, last));
                self.add_sub(free, &sub.name, sub.flags, range)?;
            }
        }
        Ok(sids)
    }

    /// Removes all figures; the description of the run and its subs is kept.
    pub(super) fn clear(&mut self) {
        self.lines.clear();
        self.edges.clear();
        self.sites.clear();
    }

    /// The value of an attribute; the last one if it is repeated.
    pub(crate) fn attribute(&self, key: &[u8]) -> Option<&[u8]> {
        self.attributes.iter().rev().find(|(known, _)| known == key).map(|(_, value)| value.as_slice())
    }

    /// Writes the documented layout.
    pub(crate) fn write<W: Write>(&mut self, out: W, level: Option<u8>) -> Result<W> {
        self.note_losses();
        self.clean_names();
        let mut writer = create(out, &Header::default())?;
        self.write_banner(&mut writer)?;
        if let Some(level) = level {
            writer.write(&Record::Comment(compression_comment(level).as_bytes()))?;
            writer.write(&Record::StartDeflate(level))?;
        }
        let process = self.process.unwrap_or(Process::new(0, 0, 0.0));
        writer.write(&Record::Process(Process::new(process.pid, process.ppid, process.time)))?;
        self.write_chunks(&mut writer)?;
        writer.finish()
    }

    fn note_losses(&mut self) {
        if let Some((fid, path)) = self.files.first_key_value() {
            self.loss.lose("names of files", || format!("{fid}: {}", brief(path)));
        }
        if let Some((fid, line, _)) = self.sites.keys().next() {
            self.loss.lose("call sites", || format!("line {line} of file {fid}"));
        }
        if let Some(sub) = self.subs.values().find(|sub| sub.range.is_some()) {
            self.loss.lose("line ranges of subs", || brief(&sub.name));
        }
    }

    /// The documentation requires UTF-8, and a control character would make a name look like something else.
    fn clean_names(&mut self) {
        for sub in self.subs.values_mut().filter(|sub| !is_clean(&sub.name)) {
            self.loss
                .lose("names that are not valid UTF-8 or contain control characters, now escaped", || brief(&sub.name));
            sub.name = Text(&sub.name).to_string().into_bytes();
        }
        // An escaped name is longer, and readers do not accept a name that is too long.
        for sub in self.subs.values_mut().filter(|sub| sub.name.len() > MAX_NAME) {
            self.loss.lose("ends of very long names", || brief(&sub.name));
            let end = String::from_utf8_lossy(&sub.name).floor_char_boundary(MAX_NAME);
            sub.name.truncate(end);
        }
    }

    fn write_banner<W: Write>(&self, writer: &mut Writer<W>) -> Result<()> {
        let default = b"Perl profile database. Generated by Pynytprof".to_vec();
        writer.write(&Record::Comment(self.comment.as_ref().unwrap_or(&default)))?;
        for key in ATTRIBUTES {
            let value = match (key, self.attribute(key.as_bytes())) {
                ("ticks_per_sec", _) => TICKS_PER_SEC.to_string().into_bytes(),
                ("nv_size", _) => b"8".to_vec(),
                (_, Some(value)) => value.to_vec(),
                ("basetime", None) => {
                    (self.process.map_or(0.0, |process| process.time) as i64).to_string().into_bytes()
                }
                ("application", None) => b"-e".to_vec(),
                ("clock_mod", None) => b"cpu".to_vec(),
                ("hz", None) => b"100".to_vec(),
                (_, None) => b"unknown".to_vec(),
            };
            writer.write(&Record::Attribute(Pair::new(key.as_bytes(), &value)))?;
        }
        for (key, constant) in OPTIONS {
            let known = self.options.iter().rev().find(|(known, _)| known == key.as_bytes());
            let value = known.map_or(constant.as_bytes(), |(_, value)| value);
            writer.write(&Record::Option(Pair::new(key.as_bytes(), value)))?;
        }
        Ok(())
    }

    fn write_chunks<W: Write>(&self, writer: &mut Writer<W>) -> Result<()> {
        writer.write(&chunk(Tag::S, Form::Lines, (self.lines.len() * FIGURES_BYTES) as u64)?)?;
        for ((fid, line), sum) in &self.lines {
            let calls = u32::try_from(sum.calls).unwrap_or(u32::MAX);
            let (inc_ticks, exc_ticks) = (sum.inc_ticks, sum.exc_ticks);
            writer.write(&Record::Line(Line { fid: *fid, line: *line, calls, inc_ticks, exc_ticks }))?;
        }
        let names = self.subs.values().map(|sub| sub.name.len() as u64 + 9).sum();
        writer.write(&chunk(Tag::D, Form::Subs, names)?)?;
        for (sid, sub) in &self.subs {
            writer.write(&Record::Sub(Sub { sid: *sid, flags: 0, name: &sub.name }))?;
        }
        writer.write(&chunk(Tag::C, Form::Edges, (self.edges.len() * FIGURES_BYTES) as u64)?)?;
        for ((caller_sid, callee_sid), sum) in &self.edges {
            let calls = u32::try_from(sum.calls).unwrap_or(u32::MAX);
            let (caller_sid, callee_sid) = (*caller_sid, *callee_sid);
            let edge = Edge { caller_sid, callee_sid, calls, ticks: sum.inc_ticks, sub_ticks: sum.exc_ticks };
            writer.write(&Record::Edge(edge))?;
        }
        writer.write(&chunk(Tag::E, Form::Raw, 0)?)
    }
}

/// The head of a chunk of this length.
pub(super) fn chunk(tag: Tag, form: Form, length: u64) -> Result<Record<'static>> {
    let too_long = |_| Error::limit("bytes in one chunk", length, u32::MAX.into());
    Ok(Record::Chunk(Chunk::new(tag, u32::try_from(length).map_err(too_long)?, form)))
}

impl Sum {
    fn add(&mut self, other: Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.inc_ticks = self.inc_ticks.saturating_add(other.inc_ticks);
        self.exc_ticks = self.exc_ticks.saturating_add(other.exc_ticks);
    }
}

impl From<&Line> for Sum {
    fn from(line: &Line) -> Self {
        Self { calls: line.calls.into(), inc_ticks: line.inc_ticks, exc_ticks: line.exc_ticks }
    }
}

impl From<&Edge> for Sum {
    fn from(edge: &Edge) -> Self {
        Self { calls: edge.calls.into(), inc_ticks: edge.ticks, exc_ticks: edge.sub_ticks }
    }
}

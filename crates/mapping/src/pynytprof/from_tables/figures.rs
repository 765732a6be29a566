//! The figures of the file: lines, subs and edges.

use std::{collections::BTreeMap, io::Write};

use hashbrown::HashMap;
use traceloom_core::{Error, Loss, Result};
use traceloom_model::{Table, TableSource, calls, definitions, line_times};
use traceloom_nytprof::{
    Pair,
    edit::compression_comment,
    pynytprof::{
        Chunk, Edge, Header, Line, Process, Record, Sub, Writer, create,
        raw::{ATTRIBUTES, FIGURES_BYTES, Form, OPTIONS, TICKS_PER_SEC, Tag},
    },
};

use crate::nytprof::from_tables::{
    RUNTIME,
    header::{Facts, line},
};
use traceloom_passes::{Gathered, NameId, NamePool, Options, Timeline, phrase};

/// Visits and two times.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: u64,
    incl_ticks: u64,
    excl_ticks: u64,
}

/// All that goes into the file.
#[derive(Debug)]
pub(super) struct Figures {
    lines: BTreeMap<(u32, u32), Sum>,
    subs: Vec<NameId>,
    sids: HashMap<NameId, u32>,
    edges: BTreeMap<(u32, u32), Sum>,
    fids: HashMap<NameId, u32>,
    most: usize,
}

/// Which traces have sums of their own.
#[derive(Debug)]
pub(super) struct Own {
    pub(super) calls: Vec<bool>,
    pub(super) lines: Vec<bool>,
}

const NS_PER_TICK: u64 = 1_000_000_000 / TICKS_PER_SEC as u64;
/// What is longer is no name to readers.
const LONGEST_NAME: usize = 1 << 16;

impl Figures {
    pub(super) fn new(most: usize) -> Self {
        let (lines, subs, sids, edges, fids) = Default::default();
        Self { lines, subs, sids, edges, fids, most }
    }

    /// Numbers the subs that profiles describe.
    pub(super) fn take_subs(&mut self, source: &dyn TableSource, gathered: &mut Gathered) -> Result<()> {
        let rest = gathered.rest();
        let names = &mut gathered.names;
        rest.pour(source, &[Table::Definitions], |_, batch| {
            let view = definitions::View::of(batch);
            for row in (0..view.rows).filter(|row| view.kind.get(*row) == "sub") {
                let name = names.intern(view.name.get(row))?;
                self.sub(name)?;
            }
            Ok(())
        })
    }

    /// Takes the sums that traces have; of a part of a trace nobody knows them.
    pub(super) fn take_sums(
        &mut self,
        source: &dyn TableSource,
        gathered: &mut Gathered,
        options: &Options,
        loss: &mut Loss,
    ) -> Result<Own> {
        let none = vec![false; gathered.roster.traces.len()];
        let mut own = Own { calls: none.clone(), lines: none };
        let is_whole = options.slice == Default::default();
        let rest = gathered.rest();
        let Gathered { roster, names, .. } = gathered;
        rest.pour(source, &[Table::Calls, Table::LineTimes], |table, batch| {
            if !is_whole {
                traceloom_passes::lose_table(loss, table, batch, &options.slice);
                return Ok(());
            }
            if table == Table::Calls {
                let view = calls::View::of(batch);
                for row in 0..view.rows {
                    own.calls[roster.trace_number(view.trace_id.get(row))?] = true;
                    self.take_call(&view, row, names, loss)?;
                }
                return Ok(());
            }
            let view = line_times::View::of(batch);
            for row in 0..view.rows {
                own.lines[roster.trace_number(view.trace_id.get(row))?] = true;
                self.take_line(&view, row, names, loss)?;
            }
            Ok(())
        })?;
        Ok(own)
    }

    fn take_call(&mut self, view: &calls::View<'_>, row: usize, names: &mut NamePool, loss: &mut Loss) -> Result<()> {
        let caller = names.intern(view.caller.get(row).unwrap_or(RUNTIME))?;
        let callee = names.intern(view.callee.get(row))?;
        let example = || format!("calls {}", view.id.get(row));
        if view.file.get(row).is_some() {
            loss.lose("places of calls", example);
        }
        if view.recursive_ns.get(row).is_some_and(|ns| ns != 0) {
            loss.lose("times of recursion", example);
        }
        let times = [view.incl_ns.get(row), view.excl_ns.get(row)];
        let times = times.map(|ns| positive(ns, example, loss));
        self.add_edge(caller, callee, view.count.get(row), times, loss)
    }

    fn take_line(
        &mut self,
        view: &line_times::View<'_>,
        row: usize,
        names: &mut NamePool,
        loss: &mut Loss,
    ) -> Result<()> {
        let example = || format!("line_times {}", view.id.get(row));
        if view.level.get(row) != "line" {
            loss.lose("times of blocks and subs", example);
            return Ok(());
        }
        let incl_ns = view.incl_ns.get(row);
        let times = [incl_ns, view.excl_ns.get(row).unwrap_or(incl_ns)].map(|ns| positive(ns, example, loss));
        // Files have numbers only. A profile's own are kept as long as nobody else has them.
        let fid = match view.file_id.get(row).and_then(|id| u32::try_from(id).ok()) {
            Some(fid) => fid,
            None => self.file(names.intern(view.file.get(row))?)?,
        };
        self.add_line((fid, view.line.get(row)), view.calls.get(row), times, loss)
    }

    /// The number of a file.
    pub(super) fn file(&mut self, name: NameId) -> Result<u32> {
        check("source files", self.fids.len(), self.most)?;
        let next = self.fids.len() as u32 + 1;
        Ok(*self.fids.entry(name).or_insert(next))
    }

    fn sub(&mut self, name: NameId) -> Result<u32> {
        check("subs", self.subs.len(), self.most)?;
        let subs = &mut self.subs;
        Ok(*self.sids.entry(name).or_insert_with(|| {
            subs.push(name);
            subs.len() as u32 - 1
        }))
    }

    pub(super) fn add_edge(
        &mut self,
        caller: NameId,
        callee: NameId,
        count: u64,
        times_ns: [u64; 2],
        loss: &mut Loss,
    ) -> Result<()> {
        check("calls", self.edges.len(), self.most)?;
        let key = (self.sub(caller)?, self.sub(callee)?);
        self.edges.entry(key).or_default().add(count, times_ns, loss);
        Ok(())
    }

    pub(super) fn add_line(
        &mut self,
        place: (u32, u32),
        count: u64,
        times_ns: [u64; 2],
        loss: &mut Loss,
    ) -> Result<()> {
        check("lines", self.lines.len(), self.most)?;
        self.lines.entry(place).or_default().add(count, times_ns, loss);
        Ok(())
    }

    /// Writes the file.
    pub(super) fn write(
        &self,
        facts: &Facts,
        gathered: &mut Gathered,
        timeline: &Timeline,
        level: Option<u8>,
        out: &mut dyn Write,
        loss: &mut Loss,
    ) -> Result<()> {
        for name in self.fids.keys() {
            loss.lose("names of files", || gathered.names.resident(*name).unwrap_or("").to_owned());
        }
        let mut writer = create(out, &Header::default())?;
        let seconds = timeline.unix_origin_ns().unwrap_or(0) as f64 / 1e9;
        write_text(facts, gathered, seconds, &mut writer, loss)?;
        if let Some(level) = level {
            writer.write(&Record::Comment(compression_comment(level).as_bytes()))?;
            writer.write(&Record::StartDeflate(level))?;
        }
        let mut processes = gathered.roster.processes.iter();
        let first = processes.next();
        let fitting = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok()).unwrap_or(0);
        let (pid, ppid) = first.map_or((0, 0), |first| (fitting(first.pid), fitting(first.ppid)));
        processes.for_each(|process| loss.lose(phrase(Table::Processes), || format!("processes {}", process.id)));
        for thread in gathered.roster.threads().iter().filter(|thread| thread.is_taken).skip(1) {
            loss.lose(phrase(Table::Threads), || thread.label());
        }
        writer.write(&Record::Process(Process { pid, ppid, time: seconds, has_length: false }))?;
        self.write_chunks(&mut gathered.names, &mut writer, loss)?;
        writer.finish()?;
        Ok(())
    }

    fn write_chunks<W: Write>(&self, names: &mut NamePool, writer: &mut Writer<W>, loss: &mut Loss) -> Result<()> {
        writer.write(&chunk(Tag::S, Form::Lines, (self.lines.len() * FIGURES_BYTES) as u64)?)?;
        for ((fid, line), sum) in &self.lines {
            let (calls, inc_ticks, exc_ticks) = (sum.count32(loss), sum.incl_ticks, sum.excl_ticks);
            writer.write(&Record::Line(Line { fid: *fid, line: *line, calls, inc_ticks, exc_ticks }))?;
        }
        let mut bytes = 0;
        for name in &self.subs {
            bytes += clean(names.get(*name)?, loss).len() as u64 + 9;
        }
        writer.write(&chunk(Tag::D, Form::Subs, bytes)?)?;
        for (sid, name) in (0..).zip(&self.subs) {
            let name = clean(names.get(*name)?, &mut Loss::default());
            writer.write(&Record::Sub(Sub { sid, flags: 0, name: name.as_bytes() }))?;
        }
        writer.write(&chunk(Tag::C, Form::Edges, (self.edges.len() * FIGURES_BYTES) as u64)?)?;
        for ((caller_sid, callee_sid), sum) in &self.edges {
            let (caller_sid, callee_sid, calls) = (*caller_sid, *callee_sid, sum.count32(loss));
            let (ticks, sub_ticks) = (sum.incl_ticks, sum.excl_ticks);
            writer.write(&Record::Edge(Edge { caller_sid, callee_sid, calls, ticks, sub_ticks }))?;
        }
        writer.write(&chunk(Tag::E, Form::Raw, 0)?)
    }
}

impl Sum {
    fn add(&mut self, count: u64, [incl_ns, excl_ns]: [u64; 2], loss: &mut Loss) {
        if incl_ns % NS_PER_TICK != 0 || excl_ns % NS_PER_TICK != 0 {
            loss.lose("parts of times below 100 ns", || format!("{} ns", incl_ns % NS_PER_TICK));
        }
        let ticks = |ns: u64| ns.saturating_add(NS_PER_TICK / 2) / NS_PER_TICK;
        self.count = self.count.saturating_add(count);
        self.incl_ticks = self.incl_ticks.saturating_add(ticks(incl_ns));
        self.excl_ticks = self.excl_ticks.saturating_add(ticks(excl_ns));
    }

    fn count32(&self, loss: &mut Loss) -> u32 {
        u32::try_from(self.count).unwrap_or_else(|_| {
            loss.lose("numbers of calls above 32 bits", || self.count.to_string());
            u32::MAX
        })
    }
}

/// The lines of text that the document asks for, and what the trace has beside them.
fn write_text<W: Write>(
    facts: &Facts,
    gathered: &Gathered,
    seconds: f64,
    writer: &mut Writer<W>,
    loss: &mut Loss,
) -> Result<()> {
    let signed = |comment: &&String| comment.contains("Pynytprof");
    let comment =
        facts.comments.iter().find(signed).map_or("Perl profile database. Generated for Pynytprof", |own| own);
    writer.write(&Record::Comment(comment.as_bytes()))?;
    let program = gathered.roster.processes.iter().find_map(|process| process.name.as_deref());
    for key in ATTRIBUTES {
        let value = match (key, facts.attribute(key)) {
            ("ticks_per_sec", _) => TICKS_PER_SEC.to_string(),
            ("nv_size", _) => "8".to_owned(),
            (_, Some(value)) => value.to_owned(),
            ("basetime", None) => (seconds as i64).to_string(),
            ("application", None) => line(program.unwrap_or("-e"), loss),
            ("clock_mod", None) => "cpu".to_owned(),
            ("hz", None) => "100".to_owned(),
            (_, None) => "unknown".to_owned(),
        };
        writer.write(&Record::Attribute(Pair::new(key.as_bytes(), value.as_bytes())))?;
    }
    for (key, value) in facts.attributes.iter().filter(|(key, _)| !ATTRIBUTES.contains(&key.as_str())) {
        writer.write(&Record::Attribute(Pair::new(key.as_bytes(), value.as_bytes())))?;
    }
    for (key, constant) in OPTIONS {
        let own = facts.options.iter().rev().find(|(known, _)| known == key).map_or(constant, |(_, value)| value);
        writer.write(&Record::Option(Pair::new(key.as_bytes(), own.as_bytes())))?;
    }
    Ok(())
}

fn positive(ns: i64, example: impl FnOnce() -> String, loss: &mut Loss) -> u64 {
    if ns < 0 {
        loss.lose("negative times", example);
    }
    ns.max(0).unsigned_abs()
}

/// A name without what would make it look like something else.
fn clean<'n>(name: &'n str, loss: &mut Loss) -> std::borrow::Cow<'n, str> {
    if name.is_empty() {
        return "(no name)".into();
    }
    if name.len() < LONGEST_NAME && !name.contains(char::is_control) {
        return name.into();
    }
    loss.lose("control characters and ends of long names", || name.escape_debug().take(80).collect());
    let mut clean = String::new();
    for letter in name.chars() {
        match letter.is_control() {
            true => clean.extend(letter.escape_unicode()),
            false => clean.push(letter),
        }
    }
    clean.truncate(clean.floor_char_boundary(LONGEST_NAME - 1));
    clean.into()
}

fn chunk(tag: Tag, form: Form, bytes: u64) -> Result<Record<'static>> {
    let length = u32::try_from(bytes).map_err(|_| Error::limit("bytes of a chunk", bytes, u32::MAX.into()))?;
    Ok(Record::Chunk(Chunk::new(tag, length, form)))
}

fn check(what: &'static str, held: usize, most: usize) -> Result<()> {
    match held < most {
        true => Ok(()),
        false => Err(Error::limit(what, held as u64 + 1, most as u64)),
    }
}

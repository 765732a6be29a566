//! The sums in the file: lines, subs and edges.

use std::{collections::BTreeMap, io::Write};

use hashbrown::HashMap;
use traceloom_core::{Error, Limits, Loss, Result};
use traceloom_model::{LineLevel, Table};
use traceloom_nytprof::{
    Pair,
    edit::compression_comment,
    pynytprof::{
        Chunk, Edge, Header, Line, Process, Record, Sub, Writer, create,
        edit::level_of,
        raw::{ATTRIBUTES, FIGURES_BYTES, Form, OPTIONS, TICKS_PER_SEC, Tag},
    },
};

use crate::nytprof::from_tables::{
    RUNTIME,
    header::{Facts, line},
    lines::LineRows,
    subs::{CallRows, DefinitionRows},
};
use traceloom_passes::{NameId, NamePool, Pass, lose_table, phrase};

/// A count and two times.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: u64,
    incl_ticks: u64,
    excl_ticks: u64,
}

/// Visits of a line or a sub, with their total and self time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visits {
    pub(super) count: u64,
    pub(super) times_ns: [u64; 2],
}

/// Everything that goes into the file.
#[derive(Debug)]
pub(super) struct Figures {
    lines: BTreeMap<(u32, u32), Sum>,
    subs: Vec<NameId>,
    sids: HashMap<NameId, u32>,
    edges: BTreeMap<(u32, u32), Sum>,
    fids: HashMap<NameId, u32>,
    limits: Limits,
}

/// Which traces have sums.
#[derive(Debug)]
pub(super) struct Own {
    pub(super) calls: Vec<bool>,
    pub(super) lines: Vec<bool>,
}

const NS_PER_TICK: u64 = 1_000_000_000 / TICKS_PER_SEC as u64;
/// Readers do not accept longer names.
const MAX_NAME_BYTES: usize = 1 << 16;

impl Figures {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            lines: BTreeMap::new(),
            subs: Vec::new(),
            sids: HashMap::new(),
            edges: BTreeMap::new(),
            fids: HashMap::new(),
            limits: limits.clone(),
        }
    }

    /// Numbers the subs that profiles describe.
    pub(super) fn take_subs(&mut self, pass: &mut Pass<'_>) -> Result<()> {
        pass.rest().pour(&[Table::Definitions], |_, batch| {
            let rows = DefinitionRows::of(batch)?;
            for row in (0..rows.rows).filter(|row| rows.kind.get(*row) == "sub") {
                self.sub(pass.names.intern(rows.name.get(row))?)?;
            }
            Ok(())
        })
    }

    /// Adds the sums that traces have; sums of a range of a trace are unknown.
    pub(super) fn take_sums(&mut self, pass: &mut Pass<'_>) -> Result<Own> {
        let none = vec![false; pass.roster.traces.len()];
        let mut own = Own { calls: none.clone(), lines: none };
        let (rest, is_whole) = (pass.rest(), pass.is_whole());
        let Pass { roster, names, loss, options, .. } = pass;
        rest.pour(&[Table::Calls, Table::LineTimes], |table, batch| {
            if !is_whole {
                lose_table(loss, table, batch, &options.slice);
                return Ok(());
            }
            if table == Table::Calls {
                let rows = CallRows::of(batch)?;
                for row in 0..rows.rows {
                    own.calls[roster.trace_number(rows.trace_id.get(row))?] = true;
                    self.take_call(&rows, row, names, loss)?;
                }
                return Ok(());
            }
            let rows = LineRows::of(batch)?;
            for row in 0..rows.rows {
                own.lines[roster.trace_number(rows.trace_id.get(row))?] = true;
                self.take_line(&rows, row, names, loss)?;
            }
            Ok(())
        })?;
        Ok(own)
    }

    fn take_call(&mut self, rows: &CallRows<'_>, row: usize, names: &mut NamePool, loss: &mut Loss) -> Result<()> {
        let caller = names.intern(rows.caller.get(row).unwrap_or(RUNTIME))?;
        let callee = names.intern(rows.callee.get(row))?;
        let example = || format!("calls {}", rows.id.get(row));
        if rows.file.get(row).is_some() {
            loss.lose("call sites", example);
        }
        if rows.recursive_ns.get(row).is_some_and(|ns| ns != 0) {
            loss.lose("times of recursion", example);
        }
        let times = [rows.incl_ns.get(row), rows.excl_ns.get(row)];
        let times_ns = times.map(|ns| positive(ns, example, loss));
        self.add_edge(caller, callee, Visits { count: rows.count.get(row), times_ns }, loss)
    }

    fn take_line(&mut self, rows: &LineRows<'_>, row: usize, names: &mut NamePool, loss: &mut Loss) -> Result<()> {
        let example = || format!("line_times {}", rows.id.get(row));
        if LineLevel::of(rows.level.get(row)) != Some(LineLevel::Line) {
            loss.lose("times of blocks and subs", example);
            return Ok(());
        }
        let incl_ns = rows.incl_ns.get(row);
        let times_ns = [incl_ns, rows.excl_ns.get(row).unwrap_or(incl_ns)].map(|ns| positive(ns, example, loss));
        // Files have only numbers. Those of a profile are kept unless another file has them.
        let fid = match rows.file_id.get(row).and_then(|id| u32::try_from(id).ok()) {
            Some(fid) => fid,
            None => self.file(names.intern(rows.file.get(row))?)?,
        };
        self.add_line((fid, rows.line.get(row)), Visits { count: rows.calls.get(row), times_ns }, loss)
    }

    /// The number of a file.
    pub(super) fn file(&mut self, name: NameId) -> Result<u32> {
        self.limits.check_entries("source files", self.fids.len() as u64 + 1)?;
        let next = self.fids.len() as u32 + 1;
        Ok(*self.fids.entry(name).or_insert(next))
    }

    fn sub(&mut self, name: NameId) -> Result<u32> {
        self.limits.check_entries("subs", self.subs.len() as u64 + 1)?;
        let subs = &mut self.subs;
        Ok(*self.sids.entry(name).or_insert_with(|| {
            subs.push(name);
            subs.len() as u32 - 1
        }))
    }

    pub(super) fn add_edge(&mut self, caller: NameId, callee: NameId, visits: Visits, loss: &mut Loss) -> Result<()> {
        self.limits.check_entries("calls", self.edges.len() as u64 + 1)?;
        let key = (self.sub(caller)?, self.sub(callee)?);
        self.edges.entry(key).or_default().add(visits, loss);
        Ok(())
    }

    pub(super) fn add_line(&mut self, place: (u32, u32), visits: Visits, loss: &mut Loss) -> Result<()> {
        self.limits.check_entries("lines", self.lines.len() as u64 + 1)?;
        self.lines.entry(place).or_default().add(visits, loss);
        Ok(())
    }

    /// Writes the file.
    pub(super) fn write(&self, facts: &Facts, pass: &mut Pass<'_>, out: &mut dyn Write) -> Result<()> {
        // The example must be the first file, not the one that the map iterates first.
        if let Some((name, _)) = self.fids.iter().min_by_key(|(_, fid)| **fid) {
            let count = self.fids.len() as u64;
            pass.loss.lose_many("names of files", count, || pass.names.resident(*name).unwrap_or("").to_owned());
        }
        let mut writer = create(out, &Header::default())?;
        let seconds = pass.timeline.unix_origin_ns().unwrap_or(0) as f64 / 1e9;
        write_text(facts, pass, seconds, &mut writer)?;
        if let Some(level) = level_of(pass.variant)? {
            writer.write(&Record::Comment(compression_comment(level).as_bytes()))?;
            writer.write(&Record::StartDeflate(level))?;
        }
        let Pass { roster, names, loss, .. } = pass;
        let mut processes = roster.processes.iter();
        let first = processes.next();
        let fitting = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok()).unwrap_or(0);
        let (pid, ppid) = first.map_or((0, 0), |first| (fitting(first.pid), fitting(first.ppid)));
        processes.for_each(|process| loss.lose(phrase(Table::Processes), || format!("processes {}", process.id)));
        for thread in roster.threads().iter().filter(|thread| thread.is_taken).skip(1) {
            loss.lose(phrase(Table::Threads), || thread.label());
        }
        writer.write(&Record::Process(Process::new(pid, ppid, seconds)))?;
        self.write_chunks(names, &mut writer, loss)?;
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
    fn add(&mut self, visits: Visits, loss: &mut Loss) {
        let Visits { count, times_ns: [incl_ns, excl_ns] } = visits;
        if incl_ns % NS_PER_TICK != 0 || excl_ns % NS_PER_TICK != 0 {
            loss.lose("fractions of 100 ns", || format!("{} ns", incl_ns % NS_PER_TICK));
        }
        let ticks = |ns: u64| ns.saturating_add(NS_PER_TICK / 2) / NS_PER_TICK;
        self.count = self.count.saturating_add(count);
        self.incl_ticks = self.incl_ticks.saturating_add(ticks(incl_ns));
        self.excl_ticks = self.excl_ticks.saturating_add(ticks(excl_ns));
    }

    fn count32(&self, loss: &mut Loss) -> u32 {
        u32::try_from(self.count).unwrap_or_else(|_| {
            loss.lose("call counts above 32 bits", || self.count.to_string());
            u32::MAX
        })
    }
}

/// The text lines that the documentation requires, and the trace's other attributes.
fn write_text<W: Write>(facts: &Facts, pass: &mut Pass<'_>, seconds: f64, writer: &mut Writer<W>) -> Result<()> {
    let signed = |comment: &&String| comment.contains("Pynytprof");
    let comment =
        facts.comments.iter().find(signed).map_or("Perl profile database. Generated for Pynytprof", |own| own);
    writer.write(&Record::Comment(comment.as_bytes()))?;
    let program = pass.roster.processes.iter().find_map(|process| process.name.as_deref());
    for key in ATTRIBUTES {
        let value = match (key, facts.attribute(key)) {
            ("ticks_per_sec", _) => TICKS_PER_SEC.to_string(),
            ("nv_size", _) => "8".to_owned(),
            (_, Some(value)) => value.to_owned(),
            ("basetime", None) => (seconds as i64).to_string(),
            ("application", None) => line(program.unwrap_or("-e"), &mut pass.loss),
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

/// A name without characters that would make it look like something else.
fn clean<'n>(name: &'n str, loss: &mut Loss) -> std::borrow::Cow<'n, str> {
    if name.is_empty() {
        return "(no name)".into();
    }
    if name.len() < MAX_NAME_BYTES && !name.contains(char::is_control) {
        return name.into();
    }
    loss.lose("control characters and ends of long names", || name.escape_debug().take(80).collect());
    let mut clean = String::new();
    for letter in name.chars() {
        if letter.is_control() {
            clean.extend(letter.escape_unicode());
        } else {
            clean.push(letter);
        }
    }
    clean.truncate(clean.floor_char_boundary(MAX_NAME_BYTES - 1));
    clean.into()
}

fn chunk(tag: Tag, form: Form, bytes: u64) -> Result<Record<'static>> {
    let length = u32::try_from(bytes).map_err(|_| Error::limit("bytes of a chunk", bytes, u32::MAX.into()))?;
    Ok(Record::Chunk(Chunk::new(tag, length, form)))
}

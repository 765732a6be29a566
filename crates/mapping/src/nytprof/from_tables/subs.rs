//! Subs, and the sums of their calls, which stand at the end of a profile.

use std::io::Write;

use hashbrown::HashMap;
use traceloom_core::{Limits, Loss, Result};
use traceloom_model::{Table, TableSource, calls, definitions, sources};
use traceloom_nytprof::{Nv, Record, SrcLine, Str, SubCallers, SubInfo, Writer};

use super::{
    files::Files,
    sums::{Edge, Place, Sum},
};
use traceloom_passes::{Gathered, Look, NameId, NamePool, phrase};

/// Where a sub is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Sub {
    file: Option<NameId>,
    first_line: u32,
    last_line: u32,
}

/// Subs by name, which is all that the format knows them by.
#[derive(Debug, Default)]
pub(super) struct Subs {
    subs: HashMap<NameId, Sub>,
    most: usize,
}

impl Subs {
    /// Reads the subs that profiles describe.
    pub(super) fn read(source: &dyn TableSource, gathered: &mut Gathered, limits: &Limits) -> Result<Self> {
        let mut subs = Self { subs: HashMap::new(), most: limits.entries };
        each_definition(source, gathered, |kind, name, sub, _| {
            limits.check_entries("subs", subs.subs.len() as u64 + 1)?;
            if kind == "sub" {
                subs.subs.entry(name).or_insert(sub);
            }
            Ok(())
        })?;
        Ok(subs)
    }

    /// Takes note of the name and place of spans.
    pub(super) fn note(&mut self, look: &Look, loss: &mut Loss) -> Result<()> {
        if self.subs.len() >= self.most {
            return Err(traceloom_core::Error::limit("subs", self.subs.len() as u64 + 1, self.most as u64));
        }
        let line = look.line.filter(|_| look.file.is_some()).unwrap_or(0);
        let sub = Sub { file: look.file, first_line: line, last_line: line };
        let known = self.subs.entry(look.name).or_insert(sub);
        if (known.file, known.first_line) != (sub.file, sub.first_line) {
            loss.lose("further places of spans of one name", || format!("line {line}"));
        }
        Ok(())
    }

    /// Writes source text, subs, and the sums of their calls: those made here, and those that traces have.
    pub(super) fn write<W: Write>(
        mut self,
        source: &dyn TableSource,
        gathered: &mut Gathered,
        files: &mut Files,
        (sums, summed): (&[(Edge, Sum)], &[bool]),
        writer: &mut Writer<W>,
        loss: &mut Loss,
    ) -> Result<()> {
        write_sources(source, gathered, files, writer, loss)?;
        let mut all: Vec<(NameId, Sub)> = self.subs.iter().map(|(name, sub)| (*name, *sub)).collect();
        all.sort_unstable_by_key(|(name, _)| *name);
        for (name, sub) in all {
            write_sub(name, sub, files, &mut gathered.names, writer)?;
        }
        for (edge, sum) in sums {
            let caller = text(edge.caller, &mut gathered.names)?.to_owned();
            let called = text(edge.callee, &mut gathered.names)?;
            write_calls(edge.place, &caller, called, sum, writer, loss)?;
        }
        self.write_own_sums(source, gathered, files, summed, writer, loss)?;
        each_definition(source, gathered, |kind, name, _, id| {
            if kind != "sub" && !self.subs.contains_key(&name) {
                loss.lose("definitions without spans", || format!("definitions {id}"));
            }
            Ok(())
        })
    }

    fn write_own_sums<W: Write>(
        &mut self,
        source: &dyn TableSource,
        gathered: &mut Gathered,
        files: &mut Files,
        summed: &[bool],
        writer: &mut Writer<W>,
        loss: &mut Loss,
    ) -> Result<()> {
        if !summed.contains(&true) {
            return Ok(());
        }
        let rest = gathered.rest();
        let Gathered { roster, names, .. } = gathered;
        rest.pour(source, &[Table::Calls], |_, batch| {
            let view = calls::View::of(batch);
            for row in 0..view.rows {
                let trace = roster.trace_number(view.trace_id.get(row))?;
                let callee = names.intern(view.callee.get(row))?;
                if !self.subs.contains_key(&callee) {
                    self.subs.insert(callee, Sub::default());
                    write_sub(callee, Sub::default(), files, names, writer)?;
                }
                let caller = view.caller.get(row).unwrap_or_default();
                let place = match (view.file.get(row), view.line.get(row)) {
                    (Some(file), line) => {
                        let fid = files.by_name(names.intern(file)?, names, writer)?;
                        Place { fid, line: line.unwrap_or(0) }
                    }
                    // The profiler's own way to say that it does not know.
                    (None, _) if roster.traces[trace].format == "nytprof" => Place::default(),
                    (None, _) => files.stand_in(names.intern(caller)?, writer)?,
                };
                let sum = Figures {
                    count: view.count.get(row),
                    incl_ns: view.incl_ns.get(row),
                    excl_ns: view.excl_ns.get(row),
                    recursive_ns: view.recursive_ns.get(row).unwrap_or(0),
                    depth: view.max_depth.get(row).unwrap_or(0),
                };
                write_figures(place, caller, view.callee.get(row), &sum, writer, loss)?;
            }
            Ok(())
        })
    }
}

/// Which traces have sums of their own that can be taken; of a part of a trace nobody knows them.
pub(super) fn summed(
    source: &dyn TableSource,
    gathered: &mut Gathered,
    is_whole: bool,
    loss: &mut Loss,
) -> Result<Vec<bool>> {
    let mut summed = vec![false; gathered.roster.traces.len()];
    let rest = gathered.rest();
    let roster = &mut gathered.roster;
    rest.pour(source, &[Table::Calls], |_, batch| {
        let view = calls::View::of(batch);
        for row in 0..view.rows {
            let trace = roster.trace_number(view.trace_id.get(row))?;
            match is_whole {
                true => summed[trace] = true,
                false => loss.lose(phrase(Table::Calls), || format!("calls {}", view.id.get(row))),
            }
        }
        Ok(())
    })?;
    Ok(summed)
}

fn each_definition(
    source: &dyn TableSource,
    gathered: &mut Gathered,
    mut each: impl FnMut(&str, NameId, Sub, i64) -> Result<()>,
) -> Result<()> {
    if gathered.rows(Table::Definitions) == 0 {
        return Ok(());
    }
    let rest = gathered.rest();
    let names = &mut gathered.names;
    rest.pour(source, &[Table::Definitions], |_, batch| {
        let view = definitions::View::of(batch);
        for row in 0..view.rows {
            let name = names.intern(view.name.get(row))?;
            let file = view.file.get(row).map(|file| names.intern(file)).transpose()?;
            let first_line = view.line.get(row).unwrap_or(0);
            let last_line = view.last_line.get(row).unwrap_or(first_line);
            each(view.kind.get(row), name, Sub { file, first_line, last_line }, view.id.get(row))?;
        }
        Ok(())
    })
}

fn write_sources<W: Write>(
    source: &dyn TableSource,
    gathered: &mut Gathered,
    files: &mut Files,
    writer: &mut Writer<W>,
    loss: &mut Loss,
) -> Result<()> {
    if gathered.rows(Table::Sources) == 0 {
        return Ok(());
    }
    let rest = gathered.rest();
    let roster = &mut gathered.roster;
    let mut line_text = Vec::new();
    rest.pour(source, &[Table::Sources], |_, batch| {
        let view = sources::View::of(batch);
        for row in 0..view.rows {
            let trace = roster.trace_number(view.trace_id.get(row))?;
            let Some(fid) = files.by_id(trace, view.file_id.get(row)) else {
                loss.lose("source text of unknown files", || format!("sources {}", view.id.get(row)));
                continue;
            };
            line_text.clear();
            line_text.extend_from_slice(view.text.get(row).as_bytes());
            line_text.push(b'\n');
            let (line, text) = (view.line.get(row), Str::new(&line_text));
            writer.write(&Record::SrcLine(SrcLine { fid, line, text, odd_bytes: None }))?;
        }
        Ok(())
    })
}

fn write_sub<W: Write>(
    name: NameId,
    sub: Sub,
    files: &mut Files,
    names: &mut NamePool,
    writer: &mut Writer<W>,
) -> Result<()> {
    let fid = match sub.file {
        Some(file) => files.by_name(file, names, writer)?,
        None => files.no_source(writer)?,
    };
    let name = Str::new(text(name, names)?.as_bytes());
    let (first_line, last_line) = (sub.first_line, sub.last_line);
    writer.write(&Record::SubInfo(SubInfo { fid, name, first_line, last_line, odd_bytes: None }))
}

/// A sum as tables have it, where times may be negative.
struct Figures {
    count: u64,
    incl_ns: i64,
    excl_ns: i64,
    recursive_ns: i64,
    depth: u64,
}

fn write_calls<W: Write>(
    place: Place,
    caller: &str,
    called: &str,
    sum: &Sum,
    writer: &mut Writer<W>,
    loss: &mut Loss,
) -> Result<()> {
    let [incl_ns, excl_ns, recursive_ns] = [sum.incl_ns, sum.excl_ns, sum.recursive_ns].map(u64::cast_signed);
    let figures = Figures { count: sum.count, incl_ns, excl_ns, recursive_ns, depth: sum.depth.into() };
    write_figures(place, caller, called, &figures, writer, loss)
}

fn write_figures<W: Write>(
    place: Place,
    caller: &str,
    called: &str,
    sum: &Figures,
    writer: &mut Writer<W>,
    loss: &mut Loss,
) -> Result<()> {
    let mut fitting = |number: u64| {
        u32::try_from(number).unwrap_or_else(|_| {
            loss.lose("numbers of calls above 32 bits", || format!("{number} of {called}"));
            u32::MAX
        })
    };
    let (count, depth) = (fitting(sum.count), fitting(sum.depth));
    let [incl_seconds, excl_seconds, reci_seconds] = [sum.incl_ns, sum.excl_ns, sum.recursive_ns].map(seconds);
    writer.write(&Record::SubCallers(SubCallers {
        fid: place.fid,
        line: place.line,
        caller: Str::new(caller.as_bytes()),
        count,
        incl_seconds,
        excl_seconds,
        reci_seconds,
        depth,
        called: Str::new(called.as_bytes()),
        odd_bytes: None,
    }))
}

fn seconds(ns: i64) -> Nv {
    Nv::from(ns as f64 / 1e9)
}

/// What a sub without a name is called.
const NAMELESS: &str = "(no name)";

/// The name of a sub.
pub(super) fn text(name: NameId, names: &mut NamePool) -> Result<&str> {
    let text = names.get(name)?;
    Ok(if text.is_empty() { NAMELESS } else { text })
}

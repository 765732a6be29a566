//! Subs, and the sums of their calls at the end of a profile.

use hashbrown::HashMap;
use traceloom_core::{Limits, Loss, Result};
use traceloom_model::{Table, select};
use traceloom_nytprof::{FORMAT, Nv, Record, SrcLine, Str, SubCallers, SubInfo};

use super::{
    stream::Stream,
    sums::{Edge, Place, Sum},
};
use traceloom_passes::{Look, NameId, NamePool, Pass, phrase};

select! {
    /// Sums of calls.
    pub(crate) struct CallRows of calls {
        trace_id, id, caller, callee, file, line, count, incl_ns, excl_ns, recursive_ns, max_depth,
    }
}

select! {
    /// Subs and other definitions.
    pub(crate) struct DefinitionRows of definitions { id, kind, name, file, line, last_line }
}

select! {
    /// Source text.
    pub(super) struct SourceRows of sources { trace_id, id, file_id, line, text }
}

/// The source range of a sub.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Sub {
    file: Option<NameId>,
    first_line: u32,
    last_line: u32,
}

/// Subs by name, which is their only identity in the format.
#[derive(Debug, Default)]
pub(super) struct Subs {
    subs: HashMap<NameId, Sub>,
    limits: Limits,
}

impl Subs {
    /// Reads the subs that profiles describe.
    pub(super) fn read(pass: &mut Pass<'_>) -> Result<Self> {
        let limits = &pass.options.limits;
        let mut subs = Self { subs: HashMap::new(), limits: limits.clone() };
        each_definition(pass, |definition| {
            limits.check_entries("subs", subs.subs.len() as u64 + 1)?;
            if definition.is_sub {
                subs.subs.entry(definition.name).or_insert(definition.sub);
            }
            Ok(())
        })?;
        Ok(subs)
    }

    /// Records the name and location of spans.
    pub(super) fn note(&mut self, look: &Look, loss: &mut Loss) -> Result<()> {
        self.limits.check_entries("subs", self.subs.len() as u64 + 1)?;
        let line = look.line.filter(|_| look.file.is_some()).unwrap_or(0);
        let sub = Sub { file: look.file, first_line: line, last_line: line };
        let known = self.subs.entry(look.name).or_insert(sub);
        if (known.file, known.first_line) != (sub.file, sub.first_line) {
            loss.lose("further source locations of spans with the same name", || format!("line {line}"));
        }
        Ok(())
    }

    /// Writes source text, subs, and the sums of their calls: those computed here, and those that traces have.
    pub(super) fn write(
        mut self,
        pass: &mut Pass<'_>,
        sums: &[(Edge, Sum)],
        summed: &[bool],
        stream: &mut Stream<'_>,
    ) -> Result<()> {
        write_sources(pass, stream)?;
        let mut all: Vec<(NameId, Sub)> = self.subs.iter().map(|(name, sub)| (*name, *sub)).collect();
        all.sort_unstable_by_key(|(name, _)| *name);
        for (name, sub) in all {
            write_sub(name, sub, &mut pass.names, stream)?;
        }
        for (edge, sum) in sums {
            let caller = text(edge.caller, &mut pass.names)?.to_owned();
            let called = text(edge.callee, &mut pass.names)?;
            let calls = Calls { place: edge.place, caller: &caller, called };
            let [incl_ns, excl_ns, recursive_ns] = [sum.incl_ns, sum.excl_ns, sum.recursive_ns].map(u64::cast_signed);
            let figures = Figures { count: sum.count, incl_ns, excl_ns, recursive_ns, depth: sum.depth.into() };
            calls.write(&figures, stream, &mut pass.loss)?;
        }
        if summed.contains(&true) {
            self.write_own_sums(pass, stream)?;
        }
        let mut unused = Vec::new();
        each_definition(pass, |definition| {
            if !definition.is_sub && !self.subs.contains_key(&definition.name) {
                unused.push(definition.id);
            }
            Ok(())
        })?;
        unused.iter().for_each(|id| pass.loss.lose("definitions without spans", || format!("definitions {id}")));
        Ok(())
    }

    fn write_own_sums(&mut self, pass: &mut Pass<'_>, stream: &mut Stream<'_>) -> Result<()> {
        let rest = pass.rest();
        let Pass { roster, names, loss, .. } = pass;
        rest.pour(&[Table::Calls], |_, batch| {
            let rows = CallRows::of(batch)?;
            for row in 0..rows.rows {
                let trace = roster.trace_number(rows.trace_id.get(row))?;
                let callee = names.intern(rows.callee.get(row))?;
                if !self.subs.contains_key(&callee) {
                    self.subs.insert(callee, Sub::default());
                    write_sub(callee, Sub::default(), names, stream)?;
                }
                let caller = rows.caller.get(row).unwrap_or_default();
                let place = match (rows.file.get(row), rows.line.get(row)) {
                    (Some(file), line) => {
                        let fid = stream.by_name(names.intern(file)?, names)?;
                        Place { fid, line: line.unwrap_or(0) }
                    }
                    // The value by which the profiler says that the location is unknown.
                    (None, _) if roster.traces[trace].format == FORMAT.id => Place::default(),
                    (None, _) => stream.stand_in(names.intern(caller)?)?,
                };
                let figures = Figures {
                    count: rows.count.get(row),
                    incl_ns: rows.incl_ns.get(row),
                    excl_ns: rows.excl_ns.get(row),
                    recursive_ns: rows.recursive_ns.get(row).unwrap_or(0),
                    depth: rows.max_depth.get(row).unwrap_or(0),
                };
                Calls { place, caller, called: rows.callee.get(row) }.write(&figures, stream, loss)?;
            }
            Ok(())
        })
    }
}

/// Which traces have sums that can be used; sums of a range of a trace are unknown.
pub(super) fn summed(pass: &mut Pass<'_>) -> Result<Vec<bool>> {
    let mut summed = vec![false; pass.roster.traces.len()];
    let (rest, is_whole) = (pass.rest(), pass.is_whole());
    let Pass { roster, loss, .. } = pass;
    rest.pour(&[Table::Calls], |_, batch| {
        let rows = CallRows::of(batch)?;
        for row in 0..rows.rows {
            let trace = roster.trace_number(rows.trace_id.get(row))?;
            if is_whole {
                summed[trace] = true;
            } else {
                loss.lose(phrase(Table::Calls), || format!("calls {}", rows.id.get(row)));
            }
        }
        Ok(())
    })?;
    Ok(summed)
}

/// A row of `definitions`.
struct Definition {
    id: i64,
    is_sub: bool,
    name: NameId,
    sub: Sub,
}

fn each_definition(pass: &mut Pass<'_>, mut each: impl FnMut(&Definition) -> Result<()>) -> Result<()> {
    let rest = pass.rest();
    let names = &mut pass.names;
    rest.pour(&[Table::Definitions], |_, batch| {
        let rows = DefinitionRows::of(batch)?;
        for row in 0..rows.rows {
            let name = names.intern(rows.name.get(row))?;
            let file = rows.file.get(row).map(|file| names.intern(file)).transpose()?;
            let first_line = rows.line.get(row).unwrap_or(0);
            let last_line = rows.last_line.get(row).unwrap_or(first_line);
            let (id, is_sub) = (rows.id.get(row), rows.kind.get(row) == "sub");
            each(&Definition { id, is_sub, name, sub: Sub { file, first_line, last_line } })?;
        }
        Ok(())
    })
}

fn write_sources(pass: &mut Pass<'_>, stream: &mut Stream<'_>) -> Result<()> {
    let rest = pass.rest();
    let Pass { roster, loss, .. } = pass;
    let mut line_text = Vec::new();
    rest.pour(&[Table::Sources], |_, batch| {
        let rows = SourceRows::of(batch)?;
        for row in 0..rows.rows {
            let trace = roster.trace_number(rows.trace_id.get(row))?;
            let Some(fid) = stream.by_id(trace, rows.file_id.get(row)) else {
                loss.lose("source text of unknown files", || format!("sources {}", rows.id.get(row)));
                continue;
            };
            line_text.clear();
            line_text.extend_from_slice(rows.text.get(row).as_bytes());
            line_text.push(b'\n');
            let (line, text) = (rows.line.get(row), Str::new(&line_text));
            stream.put(&Record::SrcLine(SrcLine { fid, line, text, odd_bytes: None }))?;
        }
        Ok(())
    })
}

fn write_sub(name: NameId, sub: Sub, names: &mut NamePool, stream: &mut Stream<'_>) -> Result<()> {
    let fid = match sub.file {
        Some(file) => stream.by_name(file, names)?,
        None => stream.no_source()?,
    };
    let name = Str::new(text(name, names)?.as_bytes());
    let (first_line, last_line) = (sub.first_line, sub.last_line);
    stream.put(&Record::SubInfo(SubInfo { fid, name, first_line, last_line, odd_bytes: None }))
}

/// Calls of one sub by another from one location.
struct Calls<'a> {
    place: Place,
    caller: &'a str,
    called: &'a str,
}

/// Their sums as in the tables, where times may be negative.
struct Figures {
    count: u64,
    incl_ns: i64,
    excl_ns: i64,
    recursive_ns: i64,
    depth: u64,
}

impl Calls<'_> {
    fn write(&self, sum: &Figures, stream: &mut Stream<'_>, loss: &mut Loss) -> Result<()> {
        let mut fitting = |number: u64| {
            u32::try_from(number).unwrap_or_else(|_| {
                loss.lose("call counts above 32 bits", || format!("{number} of {}", self.called));
                u32::MAX
            })
        };
        let (count, depth) = (fitting(sum.count), fitting(sum.depth));
        let [incl_seconds, excl_seconds, reci_seconds] = [sum.incl_ns, sum.excl_ns, sum.recursive_ns].map(seconds);
        stream.put(&Record::SubCallers(SubCallers {
            fid: self.place.fid,
            line: self.place.line,
            caller: Str::new(self.caller.as_bytes()),
            count,
            incl_seconds,
            excl_seconds,
            reci_seconds,
            depth,
            called: Str::new(self.called.as_bytes()),
            odd_bytes: None,
        }))
    }
}

fn seconds(ns: i64) -> Nv {
    Nv::from(ns as f64 / 1e9)
}

/// The name of a sub without a name.
const NAMELESS: &str = "(no name)";

/// The name of a sub.
pub(super) fn text(name: NameId, names: &mut NamePool) -> Result<&str> {
    let text = names.get(name)?;
    Ok(if text.is_empty() { NAMELESS } else { text })
}

//! Source files with their numbers, which count from 1 without holes.

use std::io::Write;

use hashbrown::HashMap;
use traceloom_core::{Limits, Result};
use traceloom_model::{Table, TableSource, files};
use traceloom_nytprof::{NewFid, Record, Str, Writer, raw::FidFlags};

use super::sums::Place;
use traceloom_passes::{Datum, Gathered, Look, NameId, NamePool};

/// The file of what has no source: each of its lines stands for a name.
pub(super) const NO_SOURCE: &str = "/no-source";
/// Loaders hold an array of all lines of a file.
pub(super) const MOST_LINES: u32 = 16 << 20;

/// Files that are defined so far.
#[derive(Debug)]
pub(super) struct Files {
    by_id: HashMap<(usize, i64), u32>,
    by_name: HashMap<NameId, u32>,
    next: u32,
    no_source: Option<u32>,
    /// The line of [`NO_SOURCE`] that stands for a name.
    lines: HashMap<NameId, u32>,
    limits: Limits,
}

/// A row of `files`.
struct Row {
    key: (usize, i64),
    name: NameId,
    parent: Option<(usize, i64)>,
    line: u32,
    flags: Option<u64>,
}

impl Files {
    /// Defines the files that the traces number themselves, in their order.
    pub(super) fn new<W: Write>(
        source: &dyn TableSource,
        gathered: &mut Gathered,
        limits: &Limits,
        writer: &mut Writer<W>,
    ) -> Result<Self> {
        let (by_id, by_name, lines) = Default::default();
        let mut files = Self { by_id, by_name, next: 1, no_source: None, lines, limits: limits.clone() };
        let rows = read(source, gathered, limits)?;
        for row in &rows {
            // A file has one number in the whole; evals of several traces may share a name and nothing else.
            let known = files.by_name.get(&row.name).copied().filter(|_| row.parent.is_none());
            let fid = known.unwrap_or(files.next);
            files.next = files.next.max(fid + 1);
            files.by_id.insert(row.key, fid);
            files.by_name.entry(row.name).or_insert(fid);
        }
        let mut next = 1;
        for row in &rows {
            if files.by_id.get(&row.key) == Some(&next) {
                files.define(row, next, gathered, writer)?;
                next += 1;
            }
        }
        Ok(files)
    }

    fn define<W: Write>(&self, row: &Row, fid: u32, gathered: &mut Gathered, writer: &mut Writer<W>) -> Result<()> {
        let (mut size, mut mtime) = (0, 0);
        let Gathered { names, args, .. } = gathered;
        let (trace, id) = row.key;
        args.visit(Table::Files, trace, id, |arg| {
            let Datum::Unsigned(number) = arg.value else { return Ok(()) };
            match names.resident(arg.key) {
                Some("size") => size = u32::try_from(number).unwrap_or(u32::MAX),
                Some("mtime") => mtime = u32::try_from(number).unwrap_or(u32::MAX),
                _ => {}
            }
            Ok(())
        })?;
        let flags = row.flags.and_then(|flags| u32::try_from(flags).ok()).map_or(FidFlags::VIA_STMT, FidFlags);
        let eval_fid = row.parent.and_then(|parent| self.by_id.get(&parent).copied()).unwrap_or(0);
        let eval_line = if eval_fid == 0 { 0 } else { row.line };
        let name = Str::new(names.get(row.name)?.as_bytes());
        let file = NewFid { fid, eval_fid, eval_line, flags, size, mtime, name, odd_bytes: None };
        writer.write(&Record::NewFid(file))
    }

    /// The number of a file that a trace numbers.
    pub(super) fn by_id(&self, trace: usize, id: i64) -> Option<u32> {
        self.by_id.get(&(trace, id)).copied()
    }

    /// The number of a file.
    pub(super) fn by_name<W: Write>(
        &mut self,
        name: NameId,
        names: &mut NamePool,
        writer: &mut Writer<W>,
    ) -> Result<u32> {
        if let Some(fid) = self.by_name.get(&name) {
            return Ok(*fid);
        }
        if names.get(name)?.is_empty() {
            return self.no_source(writer);
        }
        let fid = self.add(names.get(name)?.as_bytes(), FidFlags::VIA_STMT, writer)?;
        self.by_name.insert(name, fid);
        Ok(fid)
    }

    /// The number of the file of what has no source.
    pub(super) fn no_source<W: Write>(&mut self, writer: &mut Writer<W>) -> Result<u32> {
        match self.no_source {
            Some(fid) => Ok(fid),
            None => {
                let fid = self.add(NO_SOURCE.as_bytes(), FidFlags::IS_FAKE, writer)?;
                Ok(*self.no_source.insert(fid))
            }
        }
    }

    /// The place that stands for a name: loaders add up what different callers do at one place.
    pub(super) fn stand_in<W: Write>(&mut self, name: NameId, writer: &mut Writer<W>) -> Result<Place> {
        let fid = self.no_source(writer)?;
        let next = self.lines.len() as u32 + 1;
        self.limits.check_entries("names without a source", next.into())?;
        let line = *self.lines.entry(name).or_insert(next);
        Ok(Place { fid, line: line.min(MOST_LINES) })
    }

    /// Where a span is: its own place, or the one that stands for its name.
    pub(super) fn of_look<W: Write>(
        &mut self,
        look: &Look,
        names: &mut NamePool,
        writer: &mut Writer<W>,
    ) -> Result<Place> {
        match (look.file, look.line) {
            (Some(file), Some(line @ 1..=MOST_LINES)) => Ok(Place { fid: self.by_name(file, names, writer)?, line }),
            _ => self.stand_in(look.name, writer),
        }
    }

    fn add<W: Write>(&mut self, name: &[u8], flags: FidFlags, writer: &mut Writer<W>) -> Result<u32> {
        self.limits.check_entries("source files", self.next.into())?;
        let fid = self.next;
        self.next += 1;
        writer.write(&Record::NewFid(NewFid::file(fid, flags, name)))?;
        Ok(fid)
    }
}

fn read(source: &dyn TableSource, gathered: &mut Gathered, limits: &Limits) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    if gathered.rows(Table::Files) == 0 {
        return Ok(rows);
    }
    let rest = gathered.rest();
    let Gathered { roster, names, .. } = gathered;
    rest.pour(source, &[Table::Files], |_, batch| {
        let view = files::View::of(batch);
        for row in 0..view.rows {
            limits.check_entries("source files", rows.len() as u64 + 1)?;
            // One that is only referred to, in a damaged profile, has no name.
            if view.name.get(row).is_empty() {
                continue;
            }
            let trace = roster.trace_number(view.trace_id.get(row))?;
            rows.push(Row {
                key: (trace, view.id.get(row)),
                name: names.intern(view.name.get(row))?,
                parent: view.parent_file_id.get(row).map(|parent| (trace, parent)),
                line: view.parent_line.get(row).unwrap_or(0),
                flags: view.flags.get(row),
            });
        }
        Ok(())
    })?;
    Ok(rows)
}

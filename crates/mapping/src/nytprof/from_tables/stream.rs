//! The output profile, with its source files, which are numbered from 1 without gaps.

use std::io::Write;

use hashbrown::HashMap;
use traceloom_core::{Limits, Result};
use traceloom_model::{Table, select};
use traceloom_nytprof::{NewFid, Record, Str, Writer, raw::FidFlags};

use super::sums::Place;
use traceloom_passes::{Datum, Look, NameId, NamePool, Owner, Pass};

select! {
    /// Source files.
    pub(super) struct FileRows of files { trace_id, id, name, parent_file_id, parent_line, flags }
}

/// The file for names without a source: each of its lines represents one name.
pub(super) const NO_SOURCE: &str = "/no-source";
/// Maximum line number, because loaders keep an array of all lines of a file.
pub(super) const MAX_LINES: u32 = 16 << 20;

/// The records written so far, and the files that they define.
pub(super) struct Stream<'o> {
    writer: Writer<&'o mut dyn Write>,
    by_id: HashMap<(usize, i64), u32>,
    by_name: HashMap<NameId, u32>,
    next: u32,
    no_source: Option<u32>,
    /// The line of [`NO_SOURCE`] for each name.
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

impl<'o> Stream<'o> {
    pub(super) fn new(writer: Writer<&'o mut dyn Write>, limits: &Limits) -> Self {
        Self {
            writer,
            by_id: HashMap::new(),
            by_name: HashMap::new(),
            next: 1,
            no_source: None,
            lines: HashMap::new(),
            limits: limits.clone(),
        }
    }

    /// Writes a record.
    #[inline]
    pub(super) fn put(&mut self, record: &Record<'_>) -> Result<()> {
        self.writer.write(record)
    }

    /// Ends the file.
    pub(super) fn finish(self) -> Result<()> {
        self.writer.finish()?;
        Ok(())
    }

    /// Defines the files that the traces number, in their order.
    pub(super) fn define_files(&mut self, pass: &mut Pass<'_>) -> Result<()> {
        let rows = read(pass)?;
        for row in &rows {
            // A file has one number in the output; evals of several traces may have the same name but are different.
            let known = self.by_name.get(&row.name).copied().filter(|_| row.parent.is_none());
            let fid = known.unwrap_or(self.next);
            self.next = self.next.max(fid + 1);
            self.by_id.insert(row.key, fid);
            self.by_name.entry(row.name).or_insert(fid);
        }
        let mut next = 1;
        for row in &rows {
            if self.by_id.get(&row.key) == Some(&next) {
                self.define(row, next, pass)?;
                next += 1;
            }
        }
        Ok(())
    }

    fn define(&mut self, row: &Row, fid: u32, pass: &mut Pass<'_>) -> Result<()> {
        let (mut size, mut mtime) = (0, 0);
        let Pass { names, args, .. } = pass;
        let (trace, id) = row.key;
        args.visit(Owner::new(Table::Files, trace, id), |arg| {
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
        self.put(&Record::NewFid(file))
    }

    /// The number of a file, from its id in a trace.
    pub(super) fn by_id(&self, trace: usize, id: i64) -> Option<u32> {
        self.by_id.get(&(trace, id)).copied()
    }

    /// The number of a file, from its name.
    pub(super) fn by_name(&mut self, name: NameId, names: &mut NamePool) -> Result<u32> {
        if let Some(fid) = self.by_name.get(&name) {
            return Ok(*fid);
        }
        if names.get(name)?.is_empty() {
            return self.no_source();
        }
        let fid = self.add(names.get(name)?.as_bytes(), FidFlags::VIA_STMT)?;
        self.by_name.insert(name, fid);
        Ok(fid)
    }

    /// The number of the file for names without a source.
    pub(super) fn no_source(&mut self) -> Result<u32> {
        match self.no_source {
            Some(fid) => Ok(fid),
            None => {
                let fid = self.add(NO_SOURCE.as_bytes(), FidFlags::IS_FAKE)?;
                Ok(*self.no_source.insert(fid))
            }
        }
    }

    /// The location that represents a name: loaders sum what different callers do at one location, so each name needs
    /// its own.
    pub(super) fn stand_in(&mut self, name: NameId) -> Result<Place> {
        let fid = self.no_source()?;
        let next = self.lines.len() as u32 + 1;
        self.limits.check_entries("names without a source", next.into())?;
        let line = *self.lines.entry(name).or_insert(next);
        Ok(Place { fid, line: line.min(MAX_LINES) })
    }

    /// The location of a span: its source line, or the one that represents its name.
    pub(super) fn of_look(&mut self, look: &Look, names: &mut NamePool) -> Result<Place> {
        match (look.file, look.line) {
            (Some(file), Some(line @ 1..=MAX_LINES)) => Ok(Place { fid: self.by_name(file, names)?, line }),
            _ => self.stand_in(look.name),
        }
    }

    fn add(&mut self, name: &[u8], flags: FidFlags) -> Result<u32> {
        self.limits.check_entries("source files", self.next.into())?;
        let fid = self.next;
        self.next += 1;
        self.put(&Record::NewFid(NewFid::file(fid, flags, name)))?;
        Ok(fid)
    }
}

fn read(pass: &mut Pass<'_>) -> Result<Vec<Row>> {
    let mut list = Vec::new();
    let (rest, limits) = (pass.rest(), &pass.options.limits);
    let Pass { roster, names, .. } = pass;
    rest.pour(&[Table::Files], |_, batch| {
        let rows = FileRows::of(batch)?;
        for row in 0..rows.rows {
            limits.check_entries("source files", list.len() as u64 + 1)?;
            // In a damaged profile, a file that is only referred to has no name.
            if rows.name.get(row).is_empty() {
                continue;
            }
            let trace = roster.trace_number(rows.trace_id.get(row))?;
            list.push(Row {
                key: (trace, rows.id.get(row)),
                name: names.intern(rows.name.get(row))?,
                parent: rows.parent_file_id.get(row).map(|parent| (trace, parent)),
                line: rows.parent_line.get(row).unwrap_or(0),
                flags: rows.flags.get(row),
            });
        }
        Ok(())
    })?;
    Ok(list)
}

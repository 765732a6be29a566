//! Extracts a range of a trace, with the metadata that it needs.

use std::{collections::HashSet, io::Write};

use traceloom_core::{Edited, Limits, Loss, Options, Records, Result, Slice, Source};

use super::{clean_header, edited, retimed, shortest};
use crate::{
    Clock, Metadata, Reader, Record, create_with_metadata,
    metadata::IdSet,
    raw::{Dialect, Packing},
};

/// Writes the events of a time range and of some threads, with the stacks and names that they use.
///
/// Times are kept, and so is every event of the range: of adjacent ranges, each event is in exactly one. A FREE has no
/// thread and belongs to the thread that allocated the memory; GC and MARKER events belong to no thread and are kept.
pub fn slice<W: Write>(source: &Source, out: W, slice: &Slice, options: &Options) -> Result<Edited> {
    let mut used = Used::default();
    let mut reader = crate::open(source.clone(), options)?;
    each_event(&mut reader, slice, &options.limits, |record, _| used.note(record))?;
    let header = clean_header(reader.header()).packed(reader.header().packing());
    let metadata = used.metadata(reader.metadata(), &options.limits)?;
    let mut writer = create_with_metadata(out, &header, &metadata)?;
    let mut clock = Clock::new(header.dialect);
    let mut reader = crate::open(source.clone(), options)?;
    let mut loss = each_event(&mut reader, slice, &options.limits, |record, loss| {
        writer.write(&retimed(record, &mut clock, loss))
    })?;
    for id in reader.metadata().stacks().map(|(id, _)| id).filter(|id| !used.stacks.contains(*id)) {
        loss.lose("stacks that the slice does not use", || format!("stack {id}"));
    }
    writer.finish()?;
    Ok(edited(reader.into_findings(), loss))
}

/// Calls `take` for every event of the slice; returns the events that were left out although they are in the range.
fn each_event(
    reader: &mut Reader,
    slice: &Slice,
    limits: &Limits,
    mut take: impl FnMut(&Record<'static>, &mut Loss) -> Result<()>,
) -> Result<Loss> {
    let mut loss = Loss::default();
    let dialect = reader.header().dialect;
    // A block has its own start time, so the times of a damaged file may go back.
    let is_in_order = reader.header().packing() == Packing::Plain;
    let mut owners = Owners { slice, dialect, limits, owned: HashSet::new() };
    // With a choice of threads, all allocations must be read, to know whose memory is freed.
    if let (Some(from_ns), []) = (slice.range.from_ns(), slice.threads.as_slice()) {
        reader.seek(u64::try_from(from_ns).unwrap_or(0).div_ceil(1000), None)?;
    }
    while let Some(located) = reader.next()? {
        let Some(record) = shortest(&located.record) else { continue };
        let time_ns =
            record.time_us().and_then(|us| i64::try_from(us).ok()).map_or(i64::MAX, |us| us.saturating_mul(1000));
        if !slice.range.is_before_end(time_ns) && is_in_order {
            break;
        }
        let is_owned = owners.owns(&record)?;
        if !slice.range.contains(time_ns) {
            continue;
        }
        if is_owned {
            take(&record, &mut loss)?;
        } else if dialect == Dialect::Growth && matches!(record, Record::Free(_)) {
            loss.lose("FREE events, which have no thread", || format!("{time_ns} ns after the start"));
        }
    }
    Ok(loss)
}

/// Decides which events belong to the threads of the slice.
struct Owners<'a> {
    slice: &'a Slice,
    dialect: Dialect,
    limits: &'a Limits,
    /// Memory that a thread of the slice allocated and that is not freed; tracked only if threads are chosen.
    owned: HashSet<u64>,
}

impl Owners<'_> {
    fn owns(&mut self, record: &Record<'_>) -> Result<bool> {
        if self.slice.threads.is_empty() {
            return Ok(true);
        }
        Ok(match record {
            Record::Alloc(alloc) if self.slice.keeps_thread(alloc.thread.into(), b"") => {
                if self.dialect == Dialect::Document {
                    self.limits.check_entries("live allocations", self.owned.len() as u64 + 1)?;
                    self.owned.insert(alloc.address);
                }
                true
            }
            Record::Alloc(alloc) => {
                // If the free before it is missing, the memory changes its owner.
                self.owned.remove(&alloc.address);
                false
            }
            // The growth dialect has no addresses, so no one knows whose memory it was.
            Record::Free(free) => self.dialect == Dialect::Document && self.owned.remove(&free.address),
            Record::Gc(_) | Record::Marker(_) => true,
            Record::Metadata(_) | Record::Block(_) | Record::Residue(_) => false,
        })
    }
}

/// The ids that the events of a slice refer to.
#[derive(Default)]
struct Used {
    stacks: IdSet,
    functions: IdSet,
}

impl Used {
    fn note(&mut self, record: &Record<'_>) -> Result<()> {
        match record {
            Record::Alloc(alloc) => self.stacks.insert(alloc.stack)?,
            Record::Marker(marker) => self.functions.insert(marker.name)?,
            _ => false,
        };
        Ok(())
    }

    /// The entries that are used, under their old ids.
    fn metadata(&self, all: &Metadata, limits: &Limits) -> Result<Metadata> {
        let mut tables = Metadata::default();
        let (mut files, mut functions) = (IdSet::default(), self.functions.clone());
        for (id, frames) in all.stacks().filter(|(id, _)| self.stacks.contains(*id)) {
            for frame in frames {
                frame.file.map(|id| files.insert(id)).transpose()?;
                frame.function.map(|id| functions.insert(id)).transpose()?;
                tables.stacks.push_frame(frame, limits)?;
            }
            tables.stacks.push(id, limits)?;
        }
        for (id, path) in all.files().filter(|(id, _)| files.contains(*id)) {
            tables.files.push(id, path, limits)?;
        }
        for (id, name) in all.functions().filter(|(id, _)| functions.contains(*id)) {
            tables.functions.push(id, name, limits)?;
        }
        tables.finish()?;
        Ok(tables)
    }
}

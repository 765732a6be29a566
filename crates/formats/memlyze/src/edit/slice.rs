//! A part of a trace, with the metadata that it needs.

use std::{collections::HashSet, io::Write};

use traceloom_core::{Edited, Limits, Loss, Options, Records, Result, Slice, Source};

use super::{clean_header, edited, retimed, shortest};
use crate::{Clock, Metadata, Reader, Record, create_with_metadata, metadata::IdSet, raw::Dialect};

/// Writes the events of a time range and of some threads, with the stacks and names that they use.
///
/// Times stay. A FREE follows its ALLOC: where that is not in the slice, neither is the FREE.
/// GC and MARKER events belong to no thread and stay.
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
        loss.lose("stack that the slice does not use", || format!("stack {id}"));
    }
    writer.finish()?;
    Ok(edited(reader.into_findings(), loss))
}

/// Calls `take` for every event of the slice; gives what was left out beside what was not asked for.
fn each_event(
    reader: &mut Reader,
    slice: &Slice,
    limits: &Limits,
    mut take: impl FnMut(&Record<'static>, &mut Loss) -> Result<()>,
) -> Result<Loss> {
    let mut loss = Loss::default();
    let mut kept =
        Kept { live: HashSet::new(), limits, is_whole: slice.range.from_ns().is_none() && slice.threads.is_empty() };
    if let Some(from_ns) = slice.range.from_ns() {
        reader.seek(u64::try_from(from_ns).unwrap_or(0).div_ceil(1000), None)?;
    }
    let dialect = reader.header().dialect;
    while let Some(located) = reader.next()? {
        let Some(record) = shortest(&located.record) else { continue };
        if record.time_us().is_some_and(|time_us| is_after(time_us, slice)) {
            break;
        }
        if kept.keeps(&record, slice, dialect)? {
            take(&record, &mut loss)?;
        } else if let Record::Free(free) = record {
            loss.lose("free of memory that the slice does not allocate", || format!("{:#x}", free.address));
        }
    }
    Ok(loss)
}

fn is_after(time_us: u64, slice: &Slice) -> bool {
    slice.range.to_ns().is_some_and(|to_ns| i128::from(time_us) * 1000 >= i128::from(to_ns))
}

/// Decides event by event; holds the addresses that the slice allocated and has not freed.
struct Kept<'a> {
    live: HashSet<u64>,
    limits: &'a Limits,
    /// Nothing of the trace is missing before the end of the slice, so every FREE belongs to it.
    is_whole: bool,
}

impl Kept<'_> {
    fn keeps(&mut self, record: &Record<'_>, slice: &Slice, dialect: Dialect) -> Result<bool> {
        Ok(match record {
            Record::Alloc(alloc) => {
                let keeps = slice.keeps_thread(alloc.thread.into(), b"");
                if keeps && !self.is_whole && dialect == Dialect::Document {
                    self.limits.check_entries("live allocations", self.live.len() as u64 + 1)?;
                    self.live.insert(alloc.address);
                }
                keeps
            }
            // Growth has no addresses; of a whole process its shrinking is kept, of one thread it cannot be told.
            Record::Free(_) if dialect == Dialect::Growth => slice.threads.is_empty(),
            Record::Free(free) => self.is_whole || self.live.remove(&free.address),
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

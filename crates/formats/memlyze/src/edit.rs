//! Edits from file to file: laid out anew, repaired, a part, several in one.

mod merge;
mod slice;

use std::io::Write;

use traceloom_core::{Edited, Error, Findings, Limits, Loss, Options, Records, Result, Source};

use crate::{
    Clock, FORMAT, Header, Metadata, Padding, Reader, Record, Writer, create_with_metadata,
    findings::{BLOCK_DAMAGED, METADATA_DUPLICATE, METADATA_ID, METADATA_INVALID, METADATA_KEY, METADATA_SHAPE},
    ids::IdSet,
    raw::{Dialect, Packing},
};

pub use self::{merge::merge, slice::slice};

/// Writes a file as a clean writer would: version 1, shortest varints, nothing that no record explains.
///
/// Ids and times stay. The variant is one of [`FORMAT`]'s, the plain one if none is named.
pub fn canonical<W: Write>(source: &Source, out: W, variant: Option<&str>, options: &Options) -> Result<Edited> {
    let packing = packing_of(variant)?;
    let reader = crate::open(source.clone(), options)?;
    let header = clean_header(reader.header()).packed(packing);
    let writer = create_with_metadata(out, &header, reader.metadata())?;
    copy_events(reader, writer)
}

/// Writes a file that keeps the document's rules: what breaks them is left out, and ids that lead nowhere get an
/// empty stack or the name `unknown`.
///
/// Traces of the upstream tracer keep their empty metadata: with names they would mean something else.
pub fn repair<W: Write>(source: &Source, out: W, options: &Options) -> Result<Edited> {
    let mut reader = crate::open(source.clone(), options)?;
    while reader.next()?.is_some() {}
    let header = clean_header(reader.header()).packed(reader.header().packing());
    let mut loss = Loss::default();
    let metadata = if header.dialect == Dialect::Growth {
        reader.metadata
    } else {
        let (stacks, markers) = (reader.missing.stacks, reader.missing.markers);
        complete(reader.metadata, &stacks, markers, &options.limits, &mut loss)?
    };
    let writer = create_with_metadata(out, &header, &metadata)?;
    drop(metadata);
    let edited = copy_events(crate::open(source.clone(), options)?, writer)?;
    for (what, count, example) in edited.loss.entries() {
        (0..count).for_each(|_| loss.lose(what, || example.to_owned()));
    }
    Ok(Edited { findings: edited.findings, loss })
}

/// Adds an entry for every id that is used and not there.
fn complete(
    mut metadata: Metadata,
    stacks: &IdSet,
    mut functions: IdSet,
    limits: &Limits,
    loss: &mut Loss,
) -> Result<Metadata> {
    const NAME: &[u8] = b"unknown";
    let mut files = IdSet::default();
    for frame in metadata.stacks.frames() {
        if let Some(id) = frame.file.filter(|id| metadata.file(*id).is_none()) {
            files.insert(id)?;
        }
        if let Some(id) = frame.function.filter(|id| metadata.function(*id).is_none()) {
            functions.insert(id)?;
        }
    }
    for id in stacks.iter() {
        metadata.stacks.push(id, limits)?;
        loss.lose("stack that is not in the metadata", || format!("stack {id} gets no frames"));
    }
    for id in files.iter() {
        metadata.files.push(id, NAME, limits)?;
        loss.lose("file that is not in the metadata", || format!("file {id} is called unknown"));
    }
    for id in functions.iter() {
        metadata.functions.push(id, NAME, limits)?;
        loss.lose("function that is not in the metadata", || format!("function {id} is called unknown"));
    }
    metadata.finish()?;
    Ok(metadata)
}

fn packing_of(variant: Option<&str>) -> Result<Packing> {
    match variant {
        None | Some("1") => Ok(Packing::Plain),
        Some("lz4") => Ok(Packing::Blocks),
        Some(other) => {
            let known: Vec<&str> = FORMAT.variants.iter().map(|variant| variant.id).collect();
            Err(Error::usage(format!("memlyze has no variant {other}, only {}", known.join(" and "))))
        }
    }
}

/// What a clean writer puts into the header of a file with this one's contents.
fn clean_header(header: &Header) -> Header {
    Header { dialect: header.dialect, ..Header::new(header.start_us) }
}

fn copy_events<W: Write>(mut reader: Reader, mut writer: Writer<W>) -> Result<Edited> {
    // Where a block is lost, the events behind it need a delta that makes up for those in it.
    let (mut clock, mut loss) = (Clock::new(reader.header().dialect), Loss::default());
    while let Some(located) = reader.next()? {
        match located.record {
            Record::Residue(bytes) => lose_residue(&mut loss, located.offset, bytes),
            event => {
                if let Some(event) = shortest(&event) {
                    writer.write(&retimed(&event, &mut clock, &mut loss))?;
                }
            }
        }
    }
    writer.finish()?;
    Ok(edited(reader.into_findings(), loss))
}

/// An event of its own, with shortest varints.
fn shortest(record: &Record<'_>) -> Option<Record<'static>> {
    let padding = Padding::default();
    Some(match *record {
        Record::Alloc(alloc) => Record::Alloc(crate::Alloc { padding, ..alloc }),
        Record::Free(free) => Record::Free(crate::Free { padding, ..free }),
        Record::Gc(gc) => Record::Gc(crate::Gc { padding, ..gc }),
        Record::Marker(marker) => Record::Marker(crate::Marker { padding, ..marker }),
        Record::Metadata(_) | Record::Block(_) | Record::Residue(_) => return None,
    })
}

/// The event with a delta that brings it to its time after whatever comes before it now.
fn retimed(record: &Record<'static>, clock: &mut Clock, loss: &mut Loss) -> Record<'static> {
    let Some(wanted) = record.time_us() else { return *record };
    let mut record = *record;
    if clock.dialect() == Dialect::Growth {
        drop_address(&mut record, loss);
    }
    let mut as_stored = *clock;
    as_stored.pass_record(&record);
    if as_stored.now_us() == wanted {
        *clock = as_stored;
        return record;
    }
    match &mut record {
        Record::Alloc(alloc) => alloc.delta_us = clock.memory_delta(wanted),
        Record::Free(free) => free.delta_us = clock.memory_delta(wanted),
        Record::Gc(gc) => gc.delta_us = clock.other_delta(wanted),
        Record::Marker(marker) => marker.delta_us = clock.other_delta(wanted),
        Record::Metadata(_) | Record::Block(_) | Record::Residue(_) => {}
    }
    if clock.now_us() != wanted {
        let now = clock.now_us();
        loss.lose("time that moved, to tell one snapshot from the next", || format!("{wanted} us became {now} us"));
    }
    record
}

/// Growth has no addresses: one that came late may come early in the output, which would then mean something else.
fn drop_address(record: &mut Record<'static>, loss: &mut Loss) {
    if let Record::Alloc(crate::Alloc { address, .. }) | Record::Free(crate::Free { address, .. }) = record
        && *address != 0
    {
        loss.lose("address in a trace that has none", || format!("{address:#x}"));
        *address = 0;
    }
}

fn lose_residue(loss: &mut Loss, offset: u64, bytes: &[u8]) {
    let len = bytes.len();
    loss.lose("bytes that are not events", || format!("{len} bytes at {offset}"));
}

fn edited(findings: Findings, mut loss: Loss) -> Edited {
    for finding in findings.kept() {
        let rule = finding.rule;
        if rule == &METADATA_KEY {
            loss.lose("metadata that the document does not know", || finding.message());
        } else if [&METADATA_DUPLICATE, &METADATA_ID, &METADATA_INVALID, &METADATA_SHAPE].contains(&rule) {
            loss.lose("metadata that has no place in the tables", || finding.message());
        } else if rule == &BLOCK_DAMAGED {
            loss.lose("block whose events cannot be read", || finding.message());
        }
    }
    Edited { findings, loss }
}

//! Edits of files: canonical, repair, slice, merge.

mod canonical;
mod merge;
mod repair;
mod slice;

pub use self::{canonical::canonical, merge::merge, repair::repair, slice::slice};

use std::io::Write;

use traceloom_core::{Edited, Findings, Loss, Records, Result};

use crate::{
    Alloc, Clock, Free, Gc, Header, Marker, Padding, Reader, Record, Writer,
    findings::{BLOCK_DAMAGED, METADATA_DUPLICATE, METADATA_ID, METADATA_INVALID, METADATA_KEY, METADATA_SHAPE},
    raw::Dialect,
};

/// The header that a clean writer writes for a file with these contents.
fn clean_header(header: &Header) -> Header {
    Header { dialect: header.dialect, ..Header::new(header.start_us) }
}

fn copy_events<W: Write>(mut reader: Reader, mut writer: Writer<W>) -> Result<Edited> {
    // If a block is lost, the events after it need a delta that makes up for those in it.
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

/// A separate event with shortest varints.
fn shortest(record: &Record<'_>) -> Option<Record<'static>> {
    let padding = Padding::default();
    Some(match *record {
        Record::Alloc(alloc) => Record::Alloc(Alloc { padding, ..alloc }),
        Record::Free(free) => Record::Free(Free { padding, ..free }),
        Record::Gc(gc) => Record::Gc(Gc { padding, ..gc }),
        Record::Marker(marker) => Record::Marker(Marker { padding, ..marker }),
        Record::Metadata(_) | Record::Block(_) | Record::Residue(_) => return None,
    })
}

/// The event with a delta that brings it to its time, whatever precedes it now.
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
        loss.lose("timestamps moved to keep two snapshots apart", || format!("{wanted} us became {now} us"));
    }
    record
}

/// The growth dialect has no addresses: a late one could become an early one in the output, which would change the
/// dialect.
fn drop_address(record: &mut Record<'static>, loss: &mut Loss) {
    if let Record::Alloc(Alloc { address, .. }) | Record::Free(Free { address, .. }) = record
        && *address != 0
    {
        loss.lose("addresses in a trace that has none", || format!("{address:#x}"));
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
            loss.lose("metadata that the specification does not define", || finding.message());
        } else if [&METADATA_DUPLICATE, &METADATA_ID, &METADATA_INVALID, &METADATA_SHAPE].contains(&rule) {
            loss.lose("invalid or repeated metadata", || finding.message());
        } else if rule == &BLOCK_DAMAGED {
            loss.lose("blocks whose events cannot be read", || finding.message());
        }
    }
    Edited { findings, loss }
}

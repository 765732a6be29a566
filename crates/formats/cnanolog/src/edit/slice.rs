//! Extracts a time range of a file.

use std::io::Write;

use traceloom_core::{Edited, Error, Loss, Options, Records, Result, Slice, Source, TimeRange};

use super::lose_unreadable;
use crate::{Clock, Entry, Header, Record, Tally, create, open};

/// Writes the entries in a time range in the same layout; levels and sites are kept.
///
/// An empty range gives a log without entries.
pub fn slice<W: Write>(source: &Source, out: W, slice: &Slice, options: &Options) -> Result<Edited> {
    let mut reader = open(source.clone(), options)?;
    let mut header = reader.header().clone();
    check_slice(slice, &header)?;
    let origin_ns = origin_ns(source, &header, options)?;
    let keeps = Keeps { range: slice.range.shifted(origin_ns), clock: header.clock() };
    let mut tally = Tally::new(&header);
    reader.walk(|located| {
        if keeps.record(&located.record) {
            tally.count(&located.record);
        }
        Ok::<_, Error>(())
    })?;
    // A log that was never closed stays unclosed.
    if tally.dictionary_offset.is_some() {
        tally.fill(&mut header)?;
    }
    let mut loss = Loss::default();
    let mut writer = create(out, &header)?;
    let mut reader = open(source.clone(), options)?;
    reader.walk(|located| {
        lose_unreadable(&located, &mut loss);
        if keeps.record(&located.record) { writer.write(&located.record) } else { Ok(()) }
    })?;
    writer.finish()?;
    Ok(Edited { findings: reader.into_findings(), loss })
}

fn check_slice(slice: &Slice, header: &Header) -> Result<()> {
    if let Some(thread) = slice.threads.first() {
        return Err(Error::unsupported(format!(
            "CNanoLog stores no threads: the entries of thread {thread} are unknown"
        )));
    }
    // An empty range has no entries, whatever their times.
    if !header.has_timestamps && !slice.range.is_all() && !slice.range.is_empty() {
        return Err(Error::unsupported("the entries of this file have no timestamps: it cannot be sliced by time"));
    }
    Ok(())
}

/// The origin of the trace, relative to the start in the header: that start or, if there is none, the first entry.
fn origin_ns(source: &Source, header: &Header, options: &Options) -> Result<i64> {
    if header.start_timestamp != 0 {
        return Ok(0);
    }
    let mut reader = open(source.clone(), options)?;
    while let Some(located) = reader.next()? {
        if let Record::Entry(Entry { timestamp: Some(ticks), .. }) = located.record {
            return Ok(header.clock().since_start_ns(ticks));
        }
    }
    Ok(0)
}

/// Decides which records are kept.
struct Keeps {
    /// In nanoseconds from the start in the header.
    range: TimeRange,
    clock: Clock,
}

impl Keeps {
    fn record(&self, record: &Record<'_>) -> bool {
        match record {
            Record::Entry(Entry { timestamp: Some(ticks), .. }) => {
                self.range.contains(self.clock.since_start_ns(*ticks))
            }
            Record::Entry(_) => !self.range.is_empty(),
            // The kept entries go into new blocks.
            Record::Block(_) | Record::Residue(_) => false,
            _ => true,
        }
    }
}

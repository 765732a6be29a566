//! Edits from file to file: re-laid, repaired, sliced, merged.

mod merge;
mod plan;

use std::io::Write;

use traceloom_core::{ByteOrder, Edited, Error, Loss, Options, Records, Result, Slice, Source, Text};

use self::plan::{Dialect, Plan};
use crate::{Entry, Extra, Header, Reader, Record, Tally, Writer, create, open, open_with};

pub use self::merge::merge;

/// Writes the file anew: dense ids, exact sizes and counts. Without a variant, and in the document's layout, the byte
/// order stays; `1.0.7` by name is little-endian, as every file of the library is.
pub fn canonical<W: Write>(source: &Source, out: W, variant: Option<&str>, options: &Options) -> Result<Edited> {
    let dialect = Dialect::parse(variant)?;
    let order = match (dialect, variant) {
        (Dialect::Library, Some(_)) => ByteOrder::Little,
        _ => open(source.clone(), options)?.header().order,
    };
    relay(source, out, (dialect, order), &Extra::default(), options)
}

/// The same in a byte order of the caller's.
pub fn canonical_in<W: Write>(
    source: &Source,
    out: W,
    variant: Option<&str>,
    order: ByteOrder,
    options: &Options,
) -> Result<Edited> {
    relay(source, out, (Dialect::parse(variant)?, order), &Extra::default(), options)
}

/// Writes a file that the original decompressor opens, with all that can be read.
///
/// Entries that nothing explains become entries of a site that shows their bytes.
pub fn repair<W: Write>(source: &Source, out: W, options: &Options) -> Result<Edited> {
    repair_with(source, out, &Extra::default(), options)
}

/// The same with what the caller knows, such as the dictionary of another log of the same program.
pub fn repair_with<W: Write>(source: &Source, out: W, extra: &Extra, options: &Options) -> Result<Edited> {
    relay(source, out, (Dialect::Library, ByteOrder::Little), extra, options)
}

/// Writes the entries of a stretch of time, from its begin to before its end, in the same layout.
pub fn slice<W: Write>(source: &Source, out: W, slice: &Slice, options: &Options) -> Result<Edited> {
    let reader = open(source.clone(), options)?;
    let mut header = reader.header().clone();
    check_slice(slice, &header)?;
    let clock = header.clock();
    let keeps = |record: &Record<'_>| match record {
        Record::Entry(Entry { timestamp: Some(ticks), .. }) => slice.range.contains(clock.since_start_ns(*ticks)),
        Record::Residue(_) => false,
        _ => true,
    };
    let mut tally = Tally::new(&header);
    each(reader, |_, record| {
        if keeps(record) {
            tally.count(record);
        }
        Ok(())
    })?;
    // A log that was never closed stays one.
    if tally.dictionary_offset.is_some() {
        tally.fill(&mut header)?;
    }
    let mut loss = Loss::default();
    let mut writer = create(out, &header)?;
    let reader = each(open(source.clone(), options)?, |offset, record| {
        if let Record::Residue(bytes) = record {
            loss.lose("bytes that are no record", || format!("{} bytes at {offset}", bytes.len()));
        }
        if keeps(record) { writer.write(record) } else { Ok(()) }
    })?;
    writer.finish()?;
    Ok(Edited { findings: reader.into_findings(), loss })
}

fn check_slice(slice: &Slice, header: &Header) -> Result<()> {
    if let Some(thread) = slice.threads.first() {
        return Err(Error::usage(format!(
            "CNanoLog stores no threads: entries of thread {thread} cannot be told apart"
        )));
    }
    if !header.has_timestamps && !slice.range.is_all() {
        return Err(Error::usage("the entries of this file carry no timestamps: it cannot be sliced by time"));
    }
    Ok(())
}

/// Writes all entries by a plan; the first pass counts what the header wants to know.
fn relay<W: Write>(
    source: &Source,
    out: W,
    (dialect, order): (Dialect, ByteOrder),
    extra: &Extra,
    options: &Options,
) -> Result<Edited> {
    let reader = open_with(source.clone(), options, extra.clone())?;
    let mut loss = Loss::default();
    let mut relay = Relay::new(Plan::new(dialect, order, reader.header(), &options.limits), &reader, &mut loss)?;
    let mut tally = Tally::new(&relay.plan.header);
    // What is lost is noted in the second pass only.
    let mut unheard = Loss::default();
    each(reader, |_, record| match record {
        Record::Entry(entry) => {
            relay.convert(entry, &mut unheard)?;
            tally.count(&Record::Entry(relay.entry(entry)));
            Ok(())
        }
        _ => Ok(()),
    })?;
    relay.plan.trailer(|record| {
        tally.count(record);
        Ok(())
    })?;
    tally.fill(&mut relay.plan.header)?;
    let mut writer = create(out, &relay.plan.header)?;
    let reader = each(open_with(source.clone(), options, extra.clone())?, |offset, record| match record {
        Record::Entry(entry) => relay.write(entry, offset, &mut writer, &mut loss),
        Record::Residue(bytes) => {
            loss.lose("bytes that are no record", || format!("{} bytes at {offset}", bytes.len()));
            Ok(())
        }
        _ => Ok(()),
    })?;
    relay.plan.finish(writer)?;
    Ok(Edited { findings: reader.into_findings(), loss })
}

/// Turns the entries of one file into those of a planned one.
struct Relay {
    plan: Plan,
    ids: Vec<u32>,
    id: u32,
    data: Vec<u8>,
}

impl Relay {
    fn new(mut plan: Plan, reader: &Reader, loss: &mut Loss) -> Result<Self> {
        let ids = match reader.dictionary() {
            Some(dictionary) => plan.add_sites(dictionary, false, loss)?,
            None => Vec::new(),
        };
        Ok(Self { plan, ids, id: 0, data: Vec::new() })
    }

    /// Finds the new id and arguments; true where they could be read.
    fn convert(&mut self, entry: &Entry<'_>, loss: &mut Loss) -> Result<bool> {
        self.data.clear();
        let id = entry.site_index().and_then(|index| self.ids.get(index)).copied();
        if let (Some(id), Some(args)) = (id, entry.args()) {
            self.id = id;
            self.plan.put_args(id, args, &mut self.data, loss)?;
            return Ok(true);
        }
        self.id = self.plan.add_unreadable(entry)?;
        self.plan.put_unreadable(entry.data, &mut self.data, loss);
        Ok(false)
    }

    fn entry(&self, entry: &Entry<'_>) -> Entry<'_> {
        let timestamp = match self.plan.header.has_timestamps {
            // A layout that must have timestamps gets those of the start.
            true => Some(entry.timestamp.unwrap_or(self.plan.header.start_timestamp)),
            false => None,
        };
        Entry::new(self.id, timestamp, &self.data)
    }

    fn write<W: Write>(
        &mut self,
        entry: &Entry<'_>,
        offset: u64,
        writer: &mut Writer<W>,
        loss: &mut Loss,
    ) -> Result<()> {
        if !self.convert(entry, loss)? {
            loss.lose("types of unreadable arguments, kept as hexadecimal text", || {
                let site = entry.site().map_or(String::new(), |site| format!(" {}", Text(site.format)));
                format!("entry at {offset}, id {}{site}", entry.id)
            });
        }
        if entry.timestamp.is_none() && self.plan.header.has_timestamps {
            loss.lose("absence of timestamps", || format!("entry at {offset}"));
        }
        if entry.has_lost_sign() {
            loss.lose("sign of a 64-bit number, lost when it was logged", || format!("entry at {offset}"));
        }
        writer.write(&Record::Entry(self.entry(entry)))
    }
}

/// Walks all records, with their offsets.
fn each(mut reader: Reader, mut visit: impl FnMut(u64, &Record<'_>) -> Result<()>) -> Result<Reader> {
    while let Some(located) = reader.next()? {
        visit(located.offset, &located.record)?;
    }
    Ok(reader)
}

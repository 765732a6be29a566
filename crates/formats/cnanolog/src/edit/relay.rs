//! Writes the entries of a file according to a plan.

use std::io::Write;

use traceloom_core::{ByteOrder, Edited, Error, Loss, Options, Records, Result, Source, Text};

use super::{
    lose_unreadable,
    plan::{Dialect, Plan},
};
use crate::{Entry, Extra, Reader, Record, Tally, Writer, create, open_with};

/// The layout of the output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) dialect: Dialect,
    pub(super) order: ByteOrder,
}

/// Writes all entries according to a plan; the first pass counts what the header needs.
pub(super) fn relay<W: Write>(
    source: &Source,
    out: W,
    layout: Layout,
    extra: &Extra,
    options: &Options,
) -> Result<Edited> {
    let mut reader = open_with(source.clone(), options, extra.clone())?;
    let mut loss = Loss::default();
    let plan = Plan::new(layout.dialect, layout.order, reader.header(), &options.limits);
    let mut relay = Relay::new(plan, &reader, &mut loss)?;
    let mut tally = Tally::new(&relay.plan.header);
    // Losses are counted only in the second pass.
    let mut unheard = Loss::default();
    reader.walk(|located| {
        if let Record::Entry(entry) = &located.record {
            relay.convert(entry, &mut unheard)?;
            tally.count(&Record::Entry(relay.entry(entry)));
        }
        Ok::<_, Error>(())
    })?;
    relay.plan.trailer(|record| {
        tally.count(record);
        Ok(())
    })?;
    tally.fill(&mut relay.plan.header)?;
    let mut writer = create(out, &relay.plan.header)?;
    let mut reader = open_with(source.clone(), options, extra.clone())?;
    reader.walk(|located| match &located.record {
        Record::Entry(entry) => relay.write(entry, located.offset, &mut writer, &mut loss),
        _ => {
            lose_unreadable(&located, &mut loss);
            Ok(())
        }
    })?;
    relay.plan.finish(writer)?;
    Ok(Edited { findings: reader.into_findings(), loss })
}

/// Converts the entries of a file according to a plan.
pub(super) struct Relay {
    pub(super) plan: Plan,
    /// The new id of each site of the file.
    pub(super) ids: Vec<u32>,
    /// The entry that was converted last.
    pub(super) id: u32,
    pub(super) data: Vec<u8>,
}

impl Relay {
    fn new(mut plan: Plan, reader: &Reader, loss: &mut Loss) -> Result<Self> {
        let ids = match reader.dictionary() {
            Some(dictionary) => plan.add_sites(dictionary, false, loss)?,
            None => Vec::new(),
        };
        Ok(Self { plan, ids, id: 0, data: Vec::new() })
    }

    /// Determines the new id and arguments; returns true if they could be decoded.
    pub(super) fn convert(&mut self, entry: &Entry<'_>, loss: &mut Loss) -> Result<bool> {
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
        let header = &self.plan.header;
        // If a layout requires timestamps, missing ones become that of the start.
        let timestamp = header.has_timestamps.then(|| entry.timestamp.unwrap_or(header.start_timestamp));
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
            loss.lose("missing timestamps, now the start of the log", || format!("entry at {offset}"));
        }
        if entry.has_lost_sign() {
            loss.lose("signs of 64-bit numbers, lost when they were logged", || format!("entry at {offset}"));
        }
        writer.write(&Record::Entry(self.entry(entry)))
    }
}

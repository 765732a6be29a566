//! Writes entries in order, levels and the dictionary.

use std::io::Write;

use traceloom_cnanolog::{
    Entry as Logged, Header, Level, Record, Section, Site as Stored, Tally, create,
    raw::{
        CNANOLOG_DICT_MAGIC, CNANOLOG_FLAG_HAS_TIMESTAMPS, CNANOLOG_LEVEL_DICT_MAGIC, LEVEL_FIXED,
        SECTION_HEADER_BYTES, SITE_FIXED, SLOTS_DOCUMENT, SLOTS_LIBRARY,
    },
};
use traceloom_core::{ByteOrder, Error, Loss, Result};

use super::{entry::Entries, sites::Site};
use traceloom_passes::{NamePool, Pass, Roster};

/// Lengths of names are stored in 16 bits.
const MAX_NAME: usize = 65_535;

/// Writes the file.
pub(super) fn write(entries: Entries, pass: &mut Pass<'_>, out: &mut dyn Write) -> Result<()> {
    let Pass { roster, names, loss, .. } = pass;
    let mut header = header(&entries, roster);
    if header.has_timestamps && !entries.has_times && entries.sites.all.is_empty() {
        header.start_timestamp = header.start_timestamp.max(1);
    }
    let Entries { sorter, mut data, sites, levels, is_document, .. } = entries;
    let sorted = sorter.finish()?;
    let slots = if is_document { SLOTS_DOCUMENT } else { SLOTS_LIBRARY };
    let trailer = Trailer { sites: &sites.all, levels: &levels.named, slots };

    let mut tally = Tally::new(&header);
    for entry in sorted.iter()? {
        // Only the length matters.
        let entry = entry?;
        let data = ZEROS.get(..usize::from(entry.len)).unwrap_or_default();
        tally.count(&Record::Entry(Logged::new(entry.site, None, data)));
    }
    trailer.each(names, loss, |record| {
        tally.count(record);
        Ok(())
    })?;
    tally.fill(&mut header)?;

    let mut writer = create(out, &header)?;
    let mut bytes = Vec::new();
    for entry in sorted.iter()? {
        let entry = entry?;
        bytes.resize(usize::from(entry.len), 0);
        data.read(entry.offset, &mut bytes)?;
        // Readers understand times before the start, too: the counter wraps.
        let ticks = header.start_timestamp.wrapping_add_signed(entry.ts_ns);
        let timestamp = header.has_timestamps.then_some(ticks);
        writer.write(&Record::Entry(Logged::new(entry.site, timestamp, &bytes)))?;
    }
    trailer.each(names, &mut Loss::default(), |record| writer.write(record))?;
    writer.finish()?;
    Ok(())
}

static ZEROS: [u8; u16::MAX as usize] = [0; u16::MAX as usize];

fn header(entries: &Entries, roster: &Roster) -> Header {
    let is_document = entries.is_document;
    // The documented dialect has timestamps in every file.
    let has_timestamps = entries.has_times || is_document || entries.sites.all.is_empty();
    let origin = entries.unix_origin_ns(roster).unwrap_or(0);
    let native = match roster.traces.as_slice() {
        [trace] => u64::try_from(trace.start_native_ns).unwrap_or(0),
        _ => 0,
    };
    // A start of 0 would make the first entry the origin.
    let start_timestamp = if has_timestamps { native.clamp(1, 1 << 62) } else { 0 };
    Header {
        timestamp_frequency: if has_timestamps { 1_000_000_000 } else { 0 },
        start_timestamp,
        start_time_sec: origin.div_euclid(1_000_000_000),
        start_time_nsec: origin.rem_euclid(1_000_000_000) as i32,
        flags: if has_timestamps && !is_document { CNANOLOG_FLAG_HAS_TIMESTAMPS } else { 0 },
        has_timestamps,
        ..Header::new(ByteOrder::Little)
    }
}

/// The sections after the entries.
struct Trailer<'a> {
    sites: &'a [Site],
    levels: &'a [(u8, String)],
    slots: usize,
}

impl Trailer<'_> {
    fn each(
        &self,
        names: &mut NamePool,
        loss: &mut Loss,
        mut each: impl FnMut(&Record<'_>) -> Result<()>,
    ) -> Result<()> {
        if !self.levels.is_empty() {
            let bytes = self.levels.iter().map(|(_, name)| (LEVEL_FIXED + name.len()) as u64).sum();
            each(&Record::Levels(section(CNANOLOG_LEVEL_DICT_MAGIC, self.levels.len(), bytes)?))?;
            for (level, name) in self.levels {
                each(&Record::Level(Level { level: *level, name: name.as_bytes(), padding: [0; 2] }))?;
            }
        }
        let mut bytes = 0;
        for site in self.sites {
            let (file, format) = self.texts(site, names, &mut Loss::default())?;
            bytes += (SITE_FIXED + self.slots + file.len() + format.len()) as u64;
        }
        each(&Record::Dictionary(section(CNANOLOG_DICT_MAGIC, self.sites.len(), bytes)?))?;
        for (id, site) in (0..).zip(self.sites) {
            let (file, format) = self.texts(site, names, loss)?;
            each(&Record::Site(Stored {
                id,
                level: site.level,
                num_args: site.types.len,
                line: site.line,
                arg_types: site.types.slots.get(..self.slots).unwrap_or_default(),
                file: file.as_bytes(),
                format: format.as_bytes(),
            }))?;
        }
        Ok(())
    }

    fn texts(&self, site: &Site, names: &mut NamePool, loss: &mut Loss) -> Result<(String, String)> {
        let mut fitting = |text: &str| {
            if text.len() > MAX_NAME {
                loss.lose("ends of long names", || text.chars().take(80).collect());
            }
            text[..text.floor_char_boundary(MAX_NAME)].to_owned()
        };
        let file = match site.file {
            Some(file) => fitting(names.get(file)?),
            None => String::new(),
        };
        Ok((file, fitting(names.get(site.format)?)))
    }
}

fn section(magic: u32, count: usize, items: u64) -> Result<Section> {
    let size = items + SECTION_HEADER_BYTES as u64;
    let total_size = u32::try_from(size).map_err(|_| Error::limit("bytes of a dictionary", size, u32::MAX.into()))?;
    Ok(Section { magic, count: count as u32, total_size, reserved: 0 })
}

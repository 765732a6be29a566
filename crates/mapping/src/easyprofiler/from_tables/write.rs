//! Turns sorted entries into records of the file: once to count them, once to write them.

use std::{io::Write, iter::Peekable};

use traceloom_core::{ByteOrder, Error, Loss, Merge, Result, Sorted, Store};
use traceloom_easyprofiler::{
    Block, Bookmark, Descriptor, Header, Name, Record, Switch, Tally, Thread, Value, create,
    raw::{BlockType, DataType, EASY_PROFILER_SIGNATURE, Layout, Status, Version},
};

use super::{
    Draft,
    entry::{Entries, Entry, Kind, NO_TEXT, SWITCH, read},
    points::BYTES,
    sections::Sections,
};
use traceloom_passes::{NameId, NamePool, Pass};

/// Sizes are stored in 16 bits; everything in a record besides its text fits in the rest.
const MAX_BYTES: usize = 65_000;
/// Half of it for a file name, because a descriptor has a name and a file.
const MAX_FILE_BYTES: usize = 32_000;
/// The library's color for blocks without a color.
const NO_COLOR: u32 = 0xffff_ecb3;
const BOOKMARK_COLOR: u32 = 0xffaa_8773;

/// Writes the file.
pub(super) fn write(draft: Draft, pass: &mut Pass<'_>, out: &mut dyn Write) -> Result<()> {
    let Draft { sections, entries } = draft;
    let layout = Layout::real(Version::V2_1_0, ByteOrder::Little);
    let mut header = Header::new(layout, Version::V2_1_0);
    header.pid = Some(pass.roster.processes.first().and_then(|process| process.pid).unwrap_or(0));
    // 0 would mean that the start is unknown. Later times keep their distance from the start.
    let native = match pass.roster.traces.as_slice() {
        [trace] => trace.start_native_ns.saturating_add(trace.first_ts_ns.unwrap_or(0).min(0)),
        _ => 0,
    };
    header.begin_time = u64::try_from(native).unwrap_or(0).clamp(1, 1 << 62);
    header.end_time = header.begin_time.saturating_add(entries.last_ns);
    let Entries { sorter, texts, kinds, bookmarks, .. } = entries;
    let sorted = sorter.finish()?;
    if sorted.len() > u32::MAX.into() {
        return Err(Error::limit("blocks in one file", sorted.len(), u32::MAX.into()));
    }
    let names = &mut pass.names;
    let begin = header.begin_time;
    let mut file = File { sorted, counts: Vec::new(), texts, kinds, bookmarks, sections, names, begin };
    file.count()?;
    let mut tally = Tally::default();
    let mut count = |record: &Record<'_>| {
        tally.count(record, &layout);
        Ok(())
    };
    file.emit(&mut Emitter { emit: &mut count, loss: &mut pass.loss })?;
    tally.fill(&mut header);
    let mut writer = create(out, &header)?;
    // Losses were counted in the first pass.
    file.emit(&mut Emitter { emit: &mut |record| writer.write(record), loss: &mut Loss::default() })?;
    writer.finish()?;
    Ok(())
}

struct File<'a> {
    sorted: Sorted<Entry>,
    /// Switches and records of each section.
    counts: Vec<[u32; 2]>,
    texts: Store,
    kinds: Vec<Kind>,
    bookmarks: Vec<super::entry::Bookmark>,
    sections: Sections,
    names: &'a mut NamePool,
    begin: u64,
}

impl File<'_> {
    fn count(&mut self) -> Result<()> {
        self.counts = vec![[0; 2]; self.sections.list.len()];
        for entry in self.sorted.iter()? {
            let entry = entry?;
            if let Some(count) = self.counts.get_mut(entry.section as usize) {
                count[usize::from(entry.part != SWITCH)] += 1;
            }
        }
        Ok(())
    }

    fn emit(&mut self, to: &mut Emitter<'_>) -> Result<()> {
        let Self { sorted, counts, texts, kinds, bookmarks, sections, names, begin } = self;
        for (id, kind) in (0..).zip(kinds.iter()) {
            to.descriptor(id, kind, names)?;
        }
        let mut rest = sorted.iter()?.peekable();
        for (number, (section, [switches, records])) in (0..).zip(sections.list.iter().zip(counts.iter())) {
            let name = to.fitting(&section.name, MAX_BYTES);
            let name = if name.is_empty() { Name::default() } else { Name::new(name.as_bytes()) };
            to.put(&Record::Thread(Thread { id: section.tid, name, switches: *switches }))?;
            while let Some(entry) = next_of(&mut rest, number, true)? {
                let name = to.fitting(names.get(NameId::from_raw(entry.kind))?, MAX_BYTES);
                let (begin, end) = (*begin + entry.begin_ns, *begin + entry.end_ns);
                let name = Name::new(name.as_bytes());
                to.put(&Record::Switch(Switch { begin, end, target: entry.number, name, odd_size: None }))?;
            }
            to.put(&Record::Blocks(*records))?;
            let mut text = Vec::new();
            while let Some(entry) = next_of(&mut rest, number, false)? {
                text.clear();
                if entry.text != NO_TEXT {
                    read(texts, entry.text, &mut text)?;
                }
                let block_type = kinds.get(entry.kind as usize).map_or(BlockType::BLOCK, |kind| kind.block_type);
                let (begin_ns, end_ns) = (*begin + entry.begin_ns, *begin + entry.end_ns);
                to.record(&Entry { begin_ns, end_ns, ..entry }, block_type, &text)?;
            }
        }
        to.put(&Record::Mark(EASY_PROFILER_SIGNATURE))?;
        if bookmarks.is_empty() {
            return Ok(());
        }
        for bookmark in bookmarks.iter() {
            let text = to.fitting(names.get(bookmark.name)?, MAX_BYTES);
            let (position_ns, color) = (*begin + bookmark.ts_ns, bookmark.color.unwrap_or(BOOKMARK_COLOR));
            let text = Name::new(text.as_bytes());
            to.put(&Record::Bookmark(Bookmark { position_ns, color, text, odd_size: None }))?;
        }
        to.put(&Record::Mark(EASY_PROFILER_SIGNATURE))
    }
}

fn next_of(rest: &mut Peekable<Merge<'_, Entry>>, section: u32, is_switch: bool) -> Result<Option<Entry>> {
    let is_next = |entry: &Result<Entry>| {
        entry.as_ref().map_or(true, |entry| entry.section == section && (entry.part == SWITCH) == is_switch)
    };
    rest.next_if(is_next).transpose()
}

/// Makes records that fit the limits of the format.
struct Emitter<'e> {
    emit: &'e mut dyn FnMut(&Record<'_>) -> Result<()>,
    loss: &'e mut Loss,
}

impl Emitter<'_> {
    fn put(&mut self, record: &Record<'_>) -> Result<()> {
        (self.emit)(record)
    }

    fn descriptor(&mut self, id: u32, kind: &Kind, names: &mut NamePool) -> Result<()> {
        let file = match kind.file {
            Some(file) => self.fitting(names.get(file)?, MAX_FILE_BYTES),
            None => String::new(),
        };
        let name = self.fitting(names.get(kind.name)?, MAX_FILE_BYTES);
        self.put(&Record::Descriptor(Descriptor {
            id,
            line: kind.line.and_then(|line| i32::try_from(line).ok()).unwrap_or(0),
            color: kind.color.unwrap_or(NO_COLOR),
            block_type: kind.block_type,
            status: Status::ON,
            name: Name::new(name.as_bytes()),
            file: Name::new(file.as_bytes()),
            odd_size: None,
            odd_name_size: None,
        }))
    }

    /// A block, event or value, with times in file units.
    fn record(&mut self, entry: &Entry, block_type: BlockType, text: &[u8]) -> Result<()> {
        let (begin, end, descriptor) = (entry.begin_ns, entry.end_ns, entry.kind);
        if block_type != BlockType::VALUE {
            let name = self.fitting(&String::from_utf8_lossy(text), MAX_BYTES);
            let name = Name::new(name.as_bytes());
            return self.put(&Record::Block(Block { begin, end, descriptor, block_type, name, odd_size: None }));
        }
        let (data_type, mut data) =
            text.split_first().map_or((DataType::DOUBLE, text), |(kind, data)| (DataType(*kind), data));
        let cut;
        if data.len() > MAX_BYTES {
            self.loss.lose("long strings, now truncated", || format!("{} bytes", data.len()));
            cut = [data.get(..MAX_BYTES).unwrap_or_default(), b"\0"].concat();
            data = &cut;
        }
        self.put(&Record::Value(Value {
            begin,
            end,
            descriptor,
            filler: [0; 2],
            data_type,
            is_array: (data_type == BYTES).into(),
            value_id: entry.number,
            data,
            order: ByteOrder::Little,
            surplus: &[],
            odd_data_size: None,
            odd_size: None,
        }))
    }

    /// A text that fits, without NULs.
    fn fitting(&mut self, text: &str, max: usize) -> String {
        if text.contains('\0') {
            self.loss.lose("NULs in strings", || text.replace('\0', "\u{fffd}"));
        }
        let mut text = text.replace('\0', "\u{fffd}");
        if text.len() > max {
            self.loss.lose("long strings, now truncated", || format!("{} bytes", text.len()));
            text.truncate(text.floor_char_boundary(max));
        }
        text
    }
}

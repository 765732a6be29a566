//! Entries in order as records of the file: once to count them, once to write them.

use std::{io::Write, iter::Peekable};

use traceloom_core::{ByteOrder, Error, Loss, Result};
use traceloom_easyprofiler::{
    Block, Bookmark, Descriptor, Header, Name, Record, Switch, Tally, Thread, Value, create,
    raw::{BlockType, DataType, EASY_PROFILER_SIGNATURE, Layout, Status, Version},
};

use super::{
    entry::{Entries, Entry, Kind, NO_TEXT, SWITCH, read},
    points::BYTES,
    sections::Sections,
};
use traceloom_core::{Merge, Sorted, Store};
use traceloom_passes::{Gathered, NameId, NamePool};

/// Sizes are stored in 16 bits; what belongs to a record beside its text is shorter than the rest of them.
const MOST_BYTES: usize = 65_000;
/// Half of it for a file, as a descriptor has both.
const MOST_FILE_BYTES: usize = 32_000;
/// What the library gives blocks without a colour.
const NO_COLOR: u32 = 0xffff_ecb3;
const BOOKMARK_COLOR: u32 = 0xffaa_8773;

/// Writes the file.
pub(super) fn write(
    entries: Entries,
    sections: &Sections,
    gathered: &mut Gathered,
    loss: &mut Loss,
    out: &mut dyn Write,
) -> Result<()> {
    let layout = Layout::real(Version::V2_1_0, ByteOrder::Little);
    let mut header = Header::new(layout, Version::V2_1_0);
    header.pid = Some(gathered.roster.processes.first().and_then(|process| process.pid).unwrap_or(0));
    // 0 would mean that the begin is not known. Later times keep their distance from it.
    let native = match gathered.roster.traces.as_slice() {
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
    let mut file = File {
        sorted,
        counts: Vec::new(),
        texts,
        kinds,
        bookmarks,
        sections,
        names: &mut gathered.names,
        begin: header.begin_time,
    };
    file.count()?;
    let mut tally = Tally::default();
    file.emit(loss, &mut |record| {
        tally.count(record, &layout);
        Ok(())
    })?;
    tally.fill(&mut header);
    let mut writer = create(out, &header)?;
    file.emit(&mut Loss::default(), &mut |record| writer.write(record))?;
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
    sections: &'a Sections,
    names: &'a mut NamePool,
    begin: u64,
}

type Emit<'e> = &'e mut dyn FnMut(&Record<'_>) -> Result<()>;

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

    fn emit(&mut self, loss: &mut Loss, emit: Emit<'_>) -> Result<()> {
        let Self { sorted, counts, texts, kinds, bookmarks, sections, names, begin } = self;
        for (id, kind) in (0..).zip(kinds.iter()) {
            emit_descriptor(id, kind, names, loss, emit)?;
        }
        let mut rest = sorted.iter()?.peekable();
        for (number, (section, [switches, records])) in (0..).zip(sections.list.iter().zip(counts.iter())) {
            let name = fitting(&section.name, MOST_BYTES, loss);
            let name = if name.is_empty() { Name::default() } else { Name::new(name.as_bytes()) };
            emit(&Record::Thread(Thread { id: section.tid, name, switches: *switches }))?;
            while let Some(entry) = next_of(&mut rest, number, true)? {
                let name = fitting(names.get(NameId::from_raw(entry.kind))?, MOST_BYTES, loss);
                let (begin, end) = (*begin + entry.begin_ns, *begin + entry.end_ns);
                let name = Name::new(name.as_bytes());
                emit(&Record::Switch(Switch { begin, end, target: entry.number, name, odd_size: None }))?;
            }
            emit(&Record::Blocks(*records))?;
            let mut text = Vec::new();
            while let Some(entry) = next_of(&mut rest, number, false)? {
                text.clear();
                if entry.text != NO_TEXT {
                    read(texts, entry.text, &mut text)?;
                }
                emit_record(&entry, *begin, kinds, &text, loss, emit)?;
            }
        }
        emit(&Record::Mark(EASY_PROFILER_SIGNATURE))?;
        if bookmarks.is_empty() {
            return Ok(());
        }
        for bookmark in bookmarks.iter() {
            let text = fitting(names.get(bookmark.name)?, MOST_BYTES, loss);
            let (position_ns, color) = (*begin + bookmark.ts_ns, bookmark.color.unwrap_or(BOOKMARK_COLOR));
            let text = Name::new(text.as_bytes());
            emit(&Record::Bookmark(Bookmark { position_ns, color, text, odd_size: None }))?;
        }
        emit(&Record::Mark(EASY_PROFILER_SIGNATURE))
    }
}

fn next_of(rest: &mut Peekable<Merge<'_, Entry>>, section: u32, is_switch: bool) -> Result<Option<Entry>> {
    let is_next = |entry: &Result<Entry>| {
        entry.as_ref().map_or(true, |entry| entry.section == section && (entry.part == SWITCH) == is_switch)
    };
    rest.next_if(is_next).transpose()
}

fn emit_descriptor(id: u32, kind: &Kind, names: &mut NamePool, loss: &mut Loss, emit: Emit<'_>) -> Result<()> {
    let file = match kind.file {
        Some(file) => fitting(names.get(file)?, MOST_FILE_BYTES, loss),
        None => String::new(),
    };
    let name = fitting(names.get(kind.name)?, MOST_FILE_BYTES, loss);
    emit(&Record::Descriptor(Descriptor {
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

fn emit_record(entry: &Entry, begin: u64, kinds: &[Kind], text: &[u8], loss: &mut Loss, emit: Emit<'_>) -> Result<()> {
    let block_type = kinds.get(entry.kind as usize).map_or(BlockType::BLOCK, |kind| kind.block_type);
    let (begin, end, descriptor) = (begin + entry.begin_ns, begin + entry.end_ns, entry.kind);
    if block_type != BlockType::VALUE {
        let name = fitting(&String::from_utf8_lossy(text), MOST_BYTES, loss);
        let name = Name::new(name.as_bytes());
        return emit(&Record::Block(Block { begin, end, descriptor, block_type, name, odd_size: None }));
    }
    let (data_type, data) = text.split_first().map_or((DataType::DOUBLE, text), |(kind, data)| (DataType(*kind), data));
    let cut;
    let data = match data.len() > MOST_BYTES {
        true => {
            loss.lose("ends of long texts", || format!("{} bytes", data.len()));
            cut = [data.get(..MOST_BYTES).unwrap_or_default(), b"\0"].concat();
            &cut
        }
        false => data,
    };
    emit(&Record::Value(Value {
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
fn fitting(text: &str, most: usize, loss: &mut Loss) -> String {
    if text.contains('\0') {
        loss.lose("NULs in texts", || text.replace('\0', "\u{fffd}"));
    }
    let mut text = text.replace('\0', "\u{fffd}");
    if text.len() > most {
        loss.lose("ends of long texts", || format!("{} bytes", text.len()));
        let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
    }
    text
}

//! `.prof`: spans, events and values as EasyProfiler 2.1.0 writes them.
//!
//! The format wants counts before what they count and the records of a thread in one run, so records wait in a file of
//! their own until the end: hours of recording cost disk, not memory.

use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use traceloom_core::{ByteOrder, Result};
use traceloom_easyprofiler::{
    Block, Bookmark, Descriptor, Header, Name, Record, Tally, Thread, Value, create,
    raw::{BlockType, DEFAULT_COLOR, DataType, EASY_PROFILER_SIGNATURE, Layout, MAX_LEVELS, Version},
};

use super::{Rec, Sink, text::Messages};
use crate::{
    clock::{Timeline, tick},
    hub::ThreadInfo,
    record::Kind,
    site::SiteInfo,
    span::described,
    stats::COUNTERS,
};

/// Bytes of a thread that are gathered before they go to the spool.
const GATHERED: usize = 64 << 10;
/// Longest text of a record: sizes have 16 bits.
const MAX_TEXT: usize = 60_000;
/// Threads that stand for nothing in the system get ids from here on.
const LANE_IDS: u64 = 1 << 62;

pub(crate) struct Prof {
    path: PathBuf,
    spool: File,
    spooled: u64,
    threads: BTreeMap<u64, Section>,
    descriptors: Vec<Described>,
    by_site: HashMap<(u32, u8), u32>,
    by_name: HashMap<&'static str, u32>,
    bookmarks: Vec<(u64, String)>,
    /// Spans across threads: where each is shown, and since when.
    ranges: HashMap<u64, (usize, u32, u64)>,
    lanes: Vec<bool>,
    messages: Messages,
    begin: u64,
    /// Nothing is taken in but the ends of what is open.
    is_paused: bool,
}

/// What the file says of one thread.
struct Section {
    name: String,
    /// What is open: descriptor, start, text.
    open: Vec<(u32, u64, Vec<u8>)>,
    gathered: Vec<u8>,
    /// Where in the spool its records lie.
    extents: Vec<(u64, u64)>,
    records: u32,
    /// Spans below the deepest level that readers take.
    too_deep: u32,
}

struct Described {
    name: String,
    file: String,
    line: u32,
    color: u32,
    block_type: BlockType,
}

/// A record in the spool.
struct Row<'a> {
    descriptor: u32,
    begin: u64,
    /// A value has its id here.
    end: u64,
    /// Type, whether it is an array, and the bytes; else the bytes are a text.
    value: Option<(DataType, bool)>,
    bytes: &'a [u8],
}

impl Prof {
    /// A profile for this path; without one it waits to be saved.
    pub(crate) fn create(path: &Path, timeline: &Timeline) -> Result<Self> {
        if is_named(path) {
            // An error should come now, not after hours.
            File::create(path)?;
        }
        Ok(Self { path: path.to_owned(), ..Self::from_tick(timeline.first.tick)? })
    }

    /// A profile that begins at this tick, for [`write`](Self::write) alone.
    pub(super) fn from_tick(begin: u64) -> Result<Self> {
        Ok(Self {
            path: PathBuf::new(),
            spool: tempfile::tempfile()?,
            spooled: 0,
            threads: BTreeMap::new(),
            descriptors: Vec::new(),
            by_site: HashMap::new(),
            by_name: HashMap::new(),
            bookmarks: Vec::new(),
            ranges: HashMap::new(),
            lanes: Vec::new(),
            messages: Messages::default(),
            begin,
            is_paused: false,
        })
    }

    fn section(&mut self, thread: &ThreadInfo) -> &mut Section {
        self.threads.entry(thread.tid).or_insert_with(|| Section::named(thread.name()))
    }

    /// The descriptor of a site for records of this type.
    fn descriptor(&mut self, rec: &Rec<'_>, block_type: BlockType) -> u32 {
        let key = (rec.id, block_type.0);
        if let Some(known) = self.by_site.get(&key) {
            return *known;
        }
        let site: &Arc<SiteInfo> = rec.site;
        let id = self.describe(Described {
            name: cut(&site.name).to_owned(),
            file: cut(&site.file).to_owned(),
            line: site.line,
            color: site.color.unwrap_or(DEFAULT_COLOR),
            block_type,
        });
        self.by_site.insert(key, id);
        id
    }

    /// A descriptor of the recorder's own.
    fn own(&mut self, name: &'static str, block_type: BlockType) -> u32 {
        if let Some(known) = self.by_name.get(name) {
            return *known;
        }
        let file = "traceloom-record".to_owned();
        let id = self.describe(Described { name: name.to_owned(), file, line: 0, color: 0xff21_2121, block_type });
        self.by_name.insert(name, id);
        id
    }

    fn describe(&mut self, described: Described) -> u32 {
        self.descriptors.push(described);
        self.descriptors.len() as u32 - 1
    }

    fn row(&mut self, tid: u64, row: &Row<'_>) {
        let Some(section) = self.threads.get_mut(&tid) else { return };
        self.begin = self.begin.min(row.begin);
        section.put(row);
        if section.gathered.len() >= GATHERED && section.spool(&mut self.spool, &mut self.spooled).is_err() {
            COUNTERS.errors.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    }

    fn moment(&mut self, rec: &Rec<'_>, text: &[u8]) {
        let descriptor = self.descriptor(rec, BlockType::EVENT);
        self.section(rec.thread);
        self.row(rec.thread.tid, &Row { descriptor, begin: rec.tick, end: rec.tick, value: None, bytes: text });
    }

    fn value(&mut self, rec: &Rec<'_>, (data_type, is_array, id): (DataType, bool, u64), bytes: &[u8]) {
        let descriptor = self.descriptor(rec, BlockType::VALUE);
        self.section(rec.thread);
        let value = Some((data_type, is_array));
        self.row(rec.thread.tid, &Row { descriptor, begin: rec.tick, end: id, value, bytes });
    }

    /// A span that is over when it is recorded.
    fn block(&mut self, rec: &Rec<'_>) {
        let descriptor = self.descriptor(rec, BlockType::BLOCK);
        self.section(rec.thread);
        let mut words = rec.words;
        let (begin, end) = (words.next(), words.next());
        let mut text = Vec::new();
        words.bytes(&mut text);
        self.row(rec.thread.tid, &Row { descriptor, begin, end: end.max(begin), value: None, bytes: &text });
    }

    fn begin_span(&mut self, rec: &Rec<'_>) {
        let descriptor = self.descriptor(rec, BlockType::BLOCK);
        let mut text = Vec::new();
        // Frames bring a number, spans nothing or a text.
        if rec.kind == Kind::SpanBegin && !rec.words.0.is_empty() {
            let mut words = rec.words;
            words.bytes(&mut text);
        }
        let section = self.section(rec.thread);
        if section.open.len() as u32 >= MAX_LEVELS - 1 {
            section.too_deep += 1;
        } else {
            section.open.push((descriptor, rec.tick, text));
        }
    }

    /// Ends the innermost span of this site and what is open inside it; an end without a beginning belongs to an earlier
    /// recording.
    fn end_span(&mut self, rec: &Rec<'_>) {
        let descriptor = self.descriptor(rec, BlockType::BLOCK);
        let section = self.section(rec.thread);
        if section.too_deep > 0 {
            section.too_deep -= 1;
            COUNTERS.lost.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            return;
        }
        let Some(at) = section.open.iter().rposition(|open| open.0 == descriptor) else { return };
        let ended = section.open.split_off(at);
        for (descriptor, begin, text) in ended.into_iter().rev() {
            self.row(rec.thread.tid, &Row { descriptor, begin, end: rec.tick, value: None, bytes: &text });
        }
    }

    /// Spans across threads go to lanes of their own, where they do not overlap.
    fn begin_range(&mut self, rec: &Rec<'_>) {
        let descriptor = self.descriptor(rec, BlockType::BLOCK);
        let number = { rec.words }.next();
        let lane = self.lanes.iter().position(|taken| !taken).unwrap_or_else(|| {
            self.lanes.push(false);
            self.lanes.len() - 1
        });
        if let Some(taken) = self.lanes.get_mut(lane) {
            *taken = true;
        }
        self.ranges.insert(number, (lane, descriptor, rec.tick));
    }

    fn end_range(&mut self, number: u64, end: u64, text: &[u8]) {
        let Some((lane, descriptor, begin)) = self.ranges.remove(&number) else { return };
        if let Some(taken) = self.lanes.get_mut(lane) {
            *taken = false;
        }
        let tid = LANE_IDS + lane as u64;
        self.threads.entry(tid).or_insert_with(|| Section::named(format!("ranges {}", lane + 1)));
        self.row(tid, &Row { descriptor, begin, end, value: None, bytes: text });
    }

    /// Closes what is open now, and marks it.
    fn close_open(&mut self, end: u64) {
        let tids: Vec<u64> = self.threads.keys().copied().collect();
        for tid in tids {
            while let Some((descriptor, begin, text)) = self.threads.get_mut(&tid).and_then(|it| it.open.pop()) {
                let text = self.marked(descriptor, text);
                self.row(tid, &Row { descriptor, begin, end: end.max(begin), value: None, bytes: &text });
            }
        }
        let mut numbers: Vec<u64> = self.ranges.keys().copied().collect();
        numbers.sort_unstable();
        for number in numbers {
            let descriptor = self.ranges.get(&number).map_or(0, |range| range.1);
            let text = self.marked(descriptor, Vec::new());
            self.end_range(number, end, &text);
        }
    }

    fn marked(&self, descriptor: u32, mut text: Vec<u8>) -> Vec<u8> {
        if text.is_empty() {
            let name = self.descriptors.get(descriptor as usize).map_or("", |described| &described.name);
            text.extend_from_slice(name.as_bytes());
        }
        text.extend_from_slice(b" (open)");
        text
    }

    /// Writes everything that was put.
    pub(super) fn write(&mut self, out: &File, timeline: &Timeline) -> Result<()> {
        let end = tick();
        self.close_open(end);
        // A profile without a record is one that easy_profiler refuses.
        let descriptor = self.own("recording ends", BlockType::EVENT);
        let tid = crate::local::thread_id();
        self.threads.entry(tid).or_insert_with(|| Section::named("traceloom-record".to_owned()));
        self.row(tid, &Row { descriptor, begin: end, end, value: None, bytes: &[] });
        for section in self.threads.values_mut() {
            section.spool(&mut self.spool, &mut self.spooled)?;
        }
        let layout = Layout::real(Version::V2_1_0, ByteOrder::Little);
        let mut header = Header::new(layout, Version::V2_1_0);
        let mut tally = Tally::default();
        self.records(timeline, &mut |record| {
            tally.count(record, &layout);
            Ok(())
        })?;
        tally.fill(&mut header);
        header.pid = Some(std::process::id().into());
        header.cpu_frequency = timeline.frequency() as i64;
        (header.begin_time, header.end_time) = (self.begin, end);
        let mut writer = create(BufWriter::new(out), &header)?;
        self.records(timeline, &mut |record| writer.write(record))?;
        writer.finish().map(drop)
    }

    /// Everything behind the header.
    fn records(&self, timeline: &Timeline, emit: &mut dyn FnMut(&Record<'_>) -> Result<()>) -> Result<()> {
        for (id, described) in self.descriptors.iter().enumerate() {
            let descriptor = Descriptor::new(id as u32, described.block_type, described.name.as_bytes());
            let file = Name::new(described.file.as_bytes());
            let (line, color) = (described.line as i32, described.color);
            emit(&Record::Descriptor(Descriptor { line, color, file, ..descriptor }))?;
        }
        for (id, section) in &self.threads {
            let name = Name::new(section.name.as_bytes());
            emit(&Record::Thread(Thread { id: *id, name, switches: 0 }))?;
            emit(&Record::Blocks(section.records))?;
            section.read(&self.spool, |row| {
                let block = Block {
                    block_type: self
                        .descriptors
                        .get(row.descriptor as usize)
                        .map_or(BlockType::BLOCK, |it| it.block_type),
                    name: Name::new(row.bytes),
                    ..Block::new(row.descriptor, row.begin, row.end)
                };
                match row.value {
                    None => emit(&Record::Block(block)),
                    Some((data_type, is_array)) => {
                        let value = Value::new(row.descriptor, row.begin, data_type, row.bytes);
                        emit(&Record::Value(Value { is_array: is_array.into(), value_id: row.end, ..value }))
                    }
                }
            })?;
        }
        emit(&Record::Mark(EASY_PROFILER_SIGNATURE))?;
        for (at, text) in &self.bookmarks {
            // Counted as the ticks of the file are, so that it stands where it was set.
            let position_ns = (*at as f64 * (1e9 / timeline.frequency() as f64)) as u64;
            emit(&Record::Bookmark(Bookmark::new(position_ns, cut(text).as_bytes())))?;
        }
        if !self.bookmarks.is_empty() {
            emit(&Record::Mark(EASY_PROFILER_SIGNATURE))?;
        }
        Ok(())
    }
}

impl Sink for Prof {
    fn put(&mut self, rec: &Rec<'_>) {
        let is_end = matches!(rec.kind, Kind::SpanEnd | Kind::FrameEnd | Kind::RangeEnd | Kind::ThreadName);
        if self.is_paused && !is_end {
            return;
        }
        let mut words = rec.words;
        match rec.kind {
            Kind::SpanBegin | Kind::FrameBegin => self.begin_span(rec),
            Kind::SpanEnd | Kind::FrameEnd => self.end_span(rec),
            Kind::Event => {
                let mut text = Vec::new();
                if !words.0.is_empty() {
                    words.bytes(&mut text);
                }
                self.moment(rec, &text);
            }
            Kind::Value => {
                let described = described(words.next());
                let mut bytes = Vec::new();
                words.bytes(&mut bytes);
                if described.0 == DataType::STRING {
                    bytes.push(0);
                }
                self.value(rec, described, &bytes);
            }
            Kind::Log => {
                let mut message = self.messages.render(rec).to_vec();
                message.push(0);
                self.value(rec, (DataType::STRING, true, 0), &message);
            }
            Kind::FlowBegin | Kind::FlowStep | Kind::FlowEnd => {
                let number = words.next().to_le_bytes();
                self.value(rec, (DataType::UINT64, false, 0), &number);
            }
            Kind::ThreadName => {
                let name = words.text();
                self.section(rec.thread).name = name;
            }
            Kind::Bookmark => {
                if self.bookmarks.len() < usize::from(u16::MAX) {
                    self.bookmarks.push((rec.tick, words.text()));
                }
            }
            Kind::RangeBegin => self.begin_range(rec),
            Kind::RangeEnd => self.end_range(words.next(), rec.tick, &[]),
            Kind::Block => self.block(rec),
            Kind::Pad => {}
        }
    }

    fn dropped(&mut self, thread: &ThreadInfo, count: u64, tick: u64) {
        let descriptor = self.own("records dropped", BlockType::VALUE);
        self.section(thread);
        let value = Some((DataType::UINT64, false));
        self.row(thread.tid, &Row { descriptor, begin: tick, end: 0, value, bytes: &count.to_le_bytes() });
    }

    fn pause(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
    }

    fn save(&mut self, path: &Path, timeline: &Timeline) -> Result<u64> {
        self.write(&File::create(path)?, timeline)?;
        let records: u64 = self.threads.values().map(|section| u64::from(section.records)).sum();
        let (path, is_paused) = (std::mem::take(&mut self.path), self.is_paused);
        *self = Self { path, is_paused, ..Self::from_tick(tick())? };
        // The end of the recording is the recorder's own.
        Ok(records - 1)
    }

    fn close(mut self: Box<Self>, timeline: &Timeline) -> Result<()> {
        if !is_named(&self.path) {
            return Ok(());
        }
        let out = File::create(&self.path)?;
        self.write(&out, timeline)
    }
}

fn is_named(path: &Path) -> bool {
    !path.as_os_str().is_empty()
}

/// Bytes of a row before its text or data.
const ROW_FIXED: usize = 26;

impl Section {
    fn named(name: String) -> Self {
        let (open, gathered, extents) = (Vec::new(), Vec::new(), Vec::new());
        Self { name, open, gathered, extents, records: 0, too_deep: 0 }
    }

    fn put(&mut self, row: &Row<'_>) {
        let bytes = row.bytes.get(..MAX_TEXT).unwrap_or(row.bytes);
        let (kind, is_array) = row.value.map_or((u8::MAX, false), |(data_type, is_array)| (data_type.0, is_array));
        self.gathered.extend_from_slice(&row.descriptor.to_le_bytes());
        self.gathered.extend_from_slice(&row.begin.to_le_bytes());
        self.gathered.extend_from_slice(&row.end.to_le_bytes());
        self.gathered.extend_from_slice(&[kind, is_array.into()]);
        self.gathered.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        self.gathered.extend_from_slice(bytes);
        self.records = self.records.saturating_add(1);
    }

    fn spool(&mut self, spool: &mut File, spooled: &mut u64) -> Result<()> {
        spool.write_all(&self.gathered)?;
        self.extents.push((*spooled, self.gathered.len() as u64));
        *spooled += self.gathered.len() as u64;
        self.gathered.clear();
        Ok(())
    }

    fn read(&self, mut spool: &File, mut take: impl FnMut(&Row<'_>) -> Result<()>) -> Result<()> {
        let mut bytes = Vec::new();
        for (offset, len) in &self.extents {
            spool.seek(SeekFrom::Start(*offset))?;
            let mut extent = BufReader::new(spool.take(*len));
            let mut fixed = [0; ROW_FIXED];
            let mut left = *len;
            while left > 0 {
                extent.read_exact(&mut fixed)?;
                let (row, data) = parse_row(&fixed);
                bytes.resize(data, 0);
                extent.read_exact(&mut bytes)?;
                take(&Row { bytes: &bytes, ..row })?;
                left = left.saturating_sub((ROW_FIXED + data) as u64);
            }
        }
        Ok(())
    }
}

/// A row without its bytes, and how many these are.
fn parse_row(fixed: &[u8; ROW_FIXED]) -> (Row<'static>, usize) {
    let [a, b, c, d, begin @ .., _, _, _, _, _, _, _, _, kind, is_array, w, x, y, z] = fixed;
    let end = fixed.get(12..20).and_then(|bytes| bytes.first_chunk()).copied().unwrap_or_default();
    let row = Row {
        descriptor: u32::from_le_bytes([*a, *b, *c, *d]),
        begin: u64::from_le_bytes(*begin),
        end: u64::from_le_bytes(end),
        value: (*kind != u8::MAX).then_some((DataType(*kind), *is_array == 1)),
        bytes: &[],
    };
    (row, u32::from_le_bytes([*w, *x, *y, *z]) as usize)
}

/// As much of a text as a descriptor holds.
fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(30_000)).unwrap_or(text)
}

//! `.prof`: spans, events and values as EasyProfiler 2.1.0 writes them.
//!
//! The format needs counts before the counted items, and all records of a thread together. So records wait in a
//! temporary file until the end: hours of recording take disk space, not memory.

use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    io::BufWriter,
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering},
};

use traceloom_core::{ByteOrder, Result};
use traceloom_easyprofiler::{
    Block, Bookmark, Descriptor, Header, Name, Record, Tally, Thread, Value, create,
    raw::{BlockType, DEFAULT_COLOR, DataType, EASY_PROFILER_SIGNATURE, Layout, MAX_LEVELS, Version},
};

use super::{
    Rec, Sink,
    file::MAX_KEPT,
    spool::{GATHERED, Row, Rows, Spool},
    text::Messages,
};
use crate::{
    clock::{Timeline, tick},
    hub::ThreadInfo,
    record::Kind,
    site::SiteInfo,
    span::described,
    stats::COUNTERS,
};

/// Marks spans that were open at the end, and spans whose ends may be missing.
const OPEN: &str = " (open)";
const CUT: &str = " (cut)";
/// Ids from here on are for threads that do not exist in the system.
const LANE_IDS: u64 = 1 << 62;

pub(crate) struct Prof {
    path: PathBuf,
    spool: Spool,
    /// Bytes of all threads that are not in the spool yet.
    pub(super) gathered: usize,
    /// Max bytes that are kept in memory while writing to the spool fails.
    max_kept: usize,
    /// Whether the last write to the spool failed; it is tried again when the writer is idle.
    refuses: bool,
    threads: BTreeMap<u64, Section>,
    descriptors: Vec<Described>,
    by_site: HashMap<(u32, u8), u32>,
    by_name: HashMap<&'static str, u32>,
    bookmarks: Vec<(u64, String)>,
    /// Spans across threads: lane, descriptor and start.
    ranges: HashMap<u64, (usize, u32, u64)>,
    lanes: Vec<bool>,
    messages: Messages,
    begin: u64,
    /// Only the ends of open spans are recorded.
    is_paused: bool,
}

/// The data of one thread.
struct Section {
    name: String,
    /// Open spans: descriptor, start, text.
    open: Vec<(u32, u64, Vec<u8>)>,
    rows: Rows,
    /// Records that were lost while the spool could not be written to.
    lost: u64,
    /// Open spans below the deepest level that readers accept.
    too_deep: u32,
}

struct Described {
    name: String,
    file: String,
    line: u32,
    color: u32,
    block_type: BlockType,
}

impl Prof {
    /// A profile for this path; with an empty path, only `save` writes it.
    pub(crate) fn create(path: &Path, timeline: &Timeline) -> Result<Self> {
        if is_named(path) {
            // Errors should be reported now, not after hours.
            File::create(path)?;
        }
        Ok(Self { path: path.to_owned(), ..Self::from_tick(timeline.first.tick)? })
    }

    /// A profile that starts at this tick, for use with [`write`](Self::write) only.
    pub(super) fn from_tick(begin: u64) -> Result<Self> {
        Ok(Self::with_spool(Spool::new()?, begin))
    }

    pub(super) fn with_spool(spool: Spool, begin: u64) -> Self {
        Self {
            path: PathBuf::new(),
            spool,
            gathered: 0,
            max_kept: MAX_KEPT,
            refuses: false,
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
        }
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

    /// A descriptor of the recorder itself.
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

    /// Adds a record, unless the spool fails and no more can be kept. A record is a complete span, so every kept span
    /// has its end.
    fn row(&mut self, tid: u64, row: &Row<'_>) {
        let Some(section) = self.threads.get_mut(&tid) else { return };
        if self.refuses && self.gathered >= self.max_kept {
            section.lost += 1;
            COUNTERS.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.begin = self.begin.min(row.begin);
        let before = section.rows.gathered();
        section.rows.put(row);
        self.gathered += section.rows.gathered() - before;
        if self.refuses {
            return;
        }
        if section.rows.gathered() >= GATHERED {
            let gathered = section.rows.gathered();
            match section.rows.spool(&mut self.spool) {
                Ok(()) => self.gathered -= gathered,
                Err(_) => self.refuse(),
            }
        } else if self.gathered >= MAX_KEPT {
            // Many threads have a little each. `spool_all` counts errors.
            let _ = self.spool_all();
        }
    }

    fn refuse(&mut self) {
        self.refuses = true;
        COUNTERS.errors.fetch_add(1, Ordering::Relaxed);
    }

    /// Writes everything gathered to the spool, and records earlier losses.
    fn spool_all(&mut self) -> Result<()> {
        for section in self.threads.values_mut() {
            let gathered = section.rows.gathered();
            if gathered == 0 {
                continue;
            }
            if let Err(error) = section.rows.spool(&mut self.spool) {
                self.refuse();
                return Err(error.into());
            }
            self.gathered -= gathered;
        }
        self.refuses = false;
        self.tell_lost();
        Ok(())
    }

    fn tell_lost(&mut self) {
        let losers = self.threads.iter_mut().filter(|(_, section)| section.lost > 0);
        let losses: Vec<(u64, u64)> = losers.map(|(tid, section)| (*tid, std::mem::take(&mut section.lost))).collect();
        for (tid, lost) in losses {
            self.tell("records lost: the disk was full", tid, lost, tick());
        }
    }

    /// Records a value of the recorder itself on a thread.
    fn tell(&mut self, what: &'static str, tid: u64, count: u64, tick: u64) {
        let descriptor = self.own(what, BlockType::VALUE);
        let value = Some((DataType::UINT64, false));
        self.row(tid, &Row { descriptor, begin: tick, end: 0, value, bytes: &count.to_le_bytes() });
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

    /// Adds a complete span.
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
        // A frame has a number, a span nothing or a text.
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

    /// Ends the innermost span of this site and all spans inside it; an end without a start belongs to an earlier
    /// recording.
    fn end_span(&mut self, rec: &Rec<'_>) {
        let descriptor = self.descriptor(rec, BlockType::BLOCK);
        let section = self.section(rec.thread);
        if section.too_deep > 0 {
            section.too_deep -= 1;
            COUNTERS.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let Some(at) = section.open.iter().rposition(|open| open.0 == descriptor) else { return };
        let ended = section.open.split_off(at);
        for (descriptor, begin, text) in ended.into_iter().rev() {
            self.row(rec.thread.tid, &Row { descriptor, begin, end: rec.tick, value: None, bytes: &text });
        }
    }

    /// Spans across threads go to separate lanes, where they do not overlap.
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

    /// Closes the spans of a thread that are open now, and marks them.
    fn close_spans(&mut self, tid: u64, end: u64, mark: &str) {
        while let Some((descriptor, begin, text)) = self.threads.get_mut(&tid).and_then(|it| it.open.pop()) {
            let text = self.marked(descriptor, text, mark);
            self.row(tid, &Row { descriptor, begin, end: end.max(begin), value: None, bytes: &text });
        }
    }

    /// Closes all open spans, and marks them.
    fn close_open(&mut self, end: u64) {
        let tids: Vec<u64> = self.threads.keys().copied().collect();
        tids.into_iter().for_each(|tid| self.close_spans(tid, end, OPEN));
        let mut numbers: Vec<u64> = self.ranges.keys().copied().collect();
        numbers.sort_unstable();
        for number in numbers {
            let descriptor = self.ranges.get(&number).map_or(0, |range| range.1);
            let text = self.marked(descriptor, Vec::new(), OPEN);
            self.end_range(number, end, &text);
        }
    }

    fn marked(&self, descriptor: u32, mut text: Vec<u8>, mark: &str) -> Vec<u8> {
        if text.is_empty() {
            let name = self.descriptors.get(descriptor as usize).map_or("", |described| &described.name);
            text.extend_from_slice(name.as_bytes());
        }
        text.extend_from_slice(mark.as_bytes());
        text
    }

    /// Writes all records so far.
    pub(super) fn write(&mut self, out: &File, timeline: &Timeline) -> Result<()> {
        let end = tick();
        // If the spool fails now, the rest is written from memory; it is small.
        let _ = self.spool_all();
        self.max_kept = usize::MAX;
        self.tell_lost();
        self.close_open(end);
        // easy_profiler refuses a profile without records.
        let descriptor = self.own("recording ends", BlockType::EVENT);
        let tid = crate::local::thread_id();
        self.threads.entry(tid).or_insert_with(|| Section::named("traceloom-record".to_owned()));
        self.row(tid, &Row { descriptor, begin: end, end, value: None, bytes: &[] });
        let layout = Layout::real(Version::V2_1_0, ByteOrder::Little);
        let mut header = Header::new(layout, Version::V2_1_0);
        let mut tally = Tally::default();
        records(self, timeline, &mut |record| {
            tally.count(record, &layout);
            Ok(())
        })?;
        tally.fill(&mut header);
        header.pid = Some(std::process::id().into());
        header.cpu_frequency = timeline.frequency() as i64;
        (header.begin_time, header.end_time) = (self.begin, end);
        self.max_kept = MAX_KEPT;
        let mut writer = create(BufWriter::new(out), &header)?;
        records(self, timeline, &mut |record| writer.write(record))?;
        writer.finish().map(drop)
    }
}

/// Everything after the header.
fn records(prof: &mut Prof, timeline: &Timeline, emit: &mut dyn FnMut(&Record<'_>) -> Result<()>) -> Result<()> {
    let Prof { spool, threads, descriptors, bookmarks, .. } = prof;
    for (id, described) in descriptors.iter().enumerate() {
        let descriptor = Descriptor::new(id as u32, described.block_type, described.name.as_bytes());
        let file = Name::new(described.file.as_bytes());
        let (line, color) = (described.line as i32, described.color);
        emit(&Record::Descriptor(Descriptor { line, color, file, ..descriptor }))?;
    }
    for (id, section) in threads {
        let name = Name::new(section.name.as_bytes());
        emit(&Record::Thread(Thread { id: *id, name, switches: 0 }))?;
        emit(&Record::Blocks(section.rows.count))?;
        section.rows.read(spool, &mut |row| {
            let known = descriptors.get(row.descriptor as usize);
            let block = Block {
                block_type: known.map_or(BlockType::BLOCK, |it| it.block_type),
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
    for (at, text) in bookmarks.iter() {
        // Converted like the ticks of the file, so that the bookmark is at the same position as its moment.
        let position_ns = (*at as f64 * (1e9 / timeline.frequency() as f64)) as u64;
        emit(&Record::Bookmark(Bookmark::new(position_ns, cut(text).as_bytes())))?;
    }
    if !bookmarks.is_empty() {
        emit(&Record::Mark(EASY_PROFILER_SIGNATURE))?;
    }
    Ok(())
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
        self.section(thread);
        self.tell("records dropped", thread.tid, count, tick);
    }

    fn gap(&mut self, thread: &ThreadInfo, tick: u64) {
        if let Some(section) = self.threads.get_mut(&thread.tid) {
            section.too_deep = 0;
            self.close_spans(thread.tid, tick, CUT);
        }
    }

    fn tick(&mut self, _: &Timeline) {
        // Idle and ended threads should hold no memory. Errors are counted, and returned by the next flush.
        let _ = self.spool_all();
    }

    /// The spool is lost with the process, so there is nothing to write; but an error has to be reported.
    fn flush(&mut self) -> Result<()> {
        if self.refuses { self.spool_all() } else { Ok(()) }
    }

    fn pause(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
    }

    fn save(&mut self, path: &Path, timeline: &Timeline) -> Result<u64> {
        self.write(&File::create(path)?, timeline)?;
        let records: u64 = self.threads.values().map(|section| u64::from(section.rows.count)).sum();
        let (path, is_paused) = (std::mem::take(&mut self.path), self.is_paused);
        *self = Self { path, is_paused, ..Self::from_tick(tick())? };
        // Without the event for the end of the recording, which the recorder added.
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

impl Section {
    fn named(name: String) -> Self {
        Self { name, open: Vec::new(), rows: Rows::default(), lost: 0, too_deep: 0 }
    }
}

/// The text, cut to the size that a descriptor can hold.
fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(30_000)).unwrap_or(text)
}

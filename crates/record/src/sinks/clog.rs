//! `.clog`: log entries as CNanoLog writes them, and a journal in case the process dies.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use traceloom_cnanolog::{
    Arg, Entry, Header, Level as StoredLevel, Record, Site as StoredSite, Writer, create, journal, put_packed, put_raw,
    raw::{ArgType, CNANOLOG_MAX_ENTRY_SIZE, SLOTS_DOCUMENT, SLOTS_LIBRARY},
};
use traceloom_core::{ByteOrder, Result};

use super::{
    Rec, Sink,
    args::{RingArgs, gather_texts},
    file::{Medium, Output},
};
use crate::{
    Layout, Level, Rotation,
    clock::Timeline,
    config::{Config, Extras, with_part},
    hub::ThreadInfo,
    record::Kind,
    site::SiteInfo,
    stats::COUNTERS,
};

/// Bytes gathered before they go to the file.
const GATHERED: u64 = 64 << 10;
/// A count of entries has 32 bits.
const MAX_ENTRIES: u64 = u32::MAX as u64 - 1;

/// One log, or a series of them.
pub(crate) struct Clog {
    /// The path of the first file; further files get a number.
    base: PathBuf,
    files: u32,
    path: PathBuf,
    layout: Layout,
    rotation: Rotation,
    opened: Instant,
    header: Header,
    writer: Writer<Vec<u8>>,
    output: Output,
    /// Bytes of the writer that were passed to the output.
    passed_on: u64,
    /// The id of each site in this file.
    ids: Vec<Option<u32>>,
    sites: Vec<Arc<SiteInfo>>,
    /// Sites that are in the journal.
    journaled: usize,
    own: OwnSites,
    /// Entries that were lost while the file could not be written.
    lost: u64,
    /// Whether the last attempt to rotate failed; the next tick tries again.
    is_held_up: bool,
    timeline: Timeline,
    texts: Vec<u8>,
    data: Vec<u8>,
}

/// The sites of entries that the recorder itself writes.
struct OwnSites {
    dropped: Arc<SiteInfo>,
    lost: Arc<SiteInfo>,
    stepped: Arc<SiteInfo>,
}

impl OwnSites {
    fn new() -> Self {
        let own = |format, types: &[ArgType]| Arc::new(SiteInfo::own(format, Level::WARN, types));
        let (count, text) = (ArgType::UINT64, ArgType::STRING);
        Self {
            dropped: own("%u records dropped on thread %s", &[count, text]),
            lost: own("%u entries lost: %s", &[count, text]),
            stepped: own("the time of day jumped by %f s", &[ArgType::DOUBLE]),
        }
    }
}

impl Clog {
    /// Starts a log; the log of a killed process is not overwritten.
    pub(crate) fn create(path: &Path, config: &Config, timeline: &Timeline) -> Result<Self> {
        keep_journaled(path)?;
        let file = File::create(path)?;
        Self::with_medium(path, Box::new(file), config, timeline)
    }

    pub(super) fn with_medium(
        path: &Path,
        medium: Box<dyn Medium>,
        config: &Config,
        timeline: &Timeline,
    ) -> Result<Self> {
        let header = header(config, timeline);
        let mut clog = Self {
            base: path.to_owned(),
            files: 0,
            path: path.to_owned(),
            layout: config.layout,
            rotation: config.rotation,
            opened: Instant::now(),
            writer: create(Vec::new(), &header)?,
            header,
            output: Output::new(medium).at(path),
            passed_on: 0,
            ids: Vec::new(),
            sites: Vec::new(),
            journaled: 0,
            own: OwnSites::new(),
            lost: 0,
            is_held_up: false,
            timeline: *timeline,
            texts: Vec::new(),
            data: Vec::new(),
        };
        // A log without a journal is better than none; the journal is tried again later.
        let _ = clog.write_journal();
        clog.pass_on_entries()?;
        Ok(clog)
    }

    /// The number of a site in this file.
    fn id_of(&mut self, rec: &Rec<'_>) -> u32 {
        let index = rec.id as usize;
        if self.ids.len() <= index {
            self.ids.resize(index + 1, None);
        }
        match self.ids.get(index).copied().flatten() {
            Some(id) => id,
            None => {
                let id = self.add_site(rec.site);
                if let Some(slot) = self.ids.get_mut(index) {
                    *slot = Some(id);
                }
                id
            }
        }
    }

    fn add_site(&mut self, site: &Arc<SiteInfo>) -> u32 {
        self.sites.push(site.clone());
        self.sites.len() as u32 - 1
    }

    /// Writes an entry of the recorder itself.
    fn say(&mut self, site: fn(&OwnSites) -> &Arc<SiteInfo>, tick: u64, args: &[Arg<'_>]) {
        let site = site(&self.own).clone();
        let known = self.sites.iter().position(|known| Arc::ptr_eq(known, &site));
        let id = known.map_or_else(|| self.add_site(&site), |index| index as u32);
        self.data.clear();
        put_args(self.layout, args.iter().copied(), &mut self.data);
        self.entry(id, tick);
    }

    /// Writes the entry with the arguments in `data`.
    fn entry(&mut self, id: u32, tick: u64) {
        let entry = Entry::new(id, Some(tick), &self.data);
        if self.writer.write(&Record::Entry(entry)).is_err() {
            self.lose();
        }
    }

    fn lose(&mut self) {
        self.lost += 1;
        COUNTERS.lost.fetch_add(1, Ordering::Relaxed);
    }

    /// Writes the gathered bytes to the kernel, after new sites to the journal. If the journal cannot be written, that
    /// is an error, but the entries are still written.
    fn pass_on(&mut self) -> Result<()> {
        let journaled = self.write_journal();
        self.pass_on_entries()?;
        journaled
    }

    fn pass_on_entries(&mut self) -> Result<()> {
        let bytes = std::mem::take(self.writer.flush()?);
        self.passed_on = self.writer.tally().bytes;
        let refused = self.output.refuses.clone();
        self.output.write(&bytes)?;
        if let (Some(reason), true) = (refused, self.lost > 0) {
            let lost = std::mem::take(&mut self.lost);
            let tick = crate::tick();
            self.say(|own| &own.lost, tick, &[Arg::Uint64(lost), Arg::String(reason.as_bytes())]);
        }
        Ok(())
    }

    fn is_journaled(&self) -> bool {
        self.journaled == self.sites.len() && self.journaled > 0
    }

    /// Replaces the journal atomically if there are new sites; if that fails, the next call tries again.
    fn write_journal(&mut self) -> Result<()> {
        if self.is_journaled() {
            return Ok(());
        }
        let bytes = self.with_sections(|levels, sites, header| journal::journal(header, levels, sites))?;
        let path = journal::path_of(&self.path);
        let mut fresh = path.clone().into_os_string();
        fresh.push(".new");
        if let Err(error) = fs::write(&fresh, bytes).and_then(|()| fs::rename(&fresh, &path)) {
            COUNTERS.errors.fetch_add(1, Ordering::Relaxed);
            let _ = fs::remove_file(&fresh);
            return Err(error.into());
        }
        self.journaled = self.sites.len();
        Ok(())
    }

    fn with_sections<T>(&self, work: impl FnOnce(&[StoredLevel<'_>], &[StoredSite<'_>], &Header) -> T) -> T {
        let slots = if self.layout == Layout::Document { SLOTS_DOCUMENT } else { SLOTS_LIBRARY };
        let tables: Vec<Vec<u8>> = self
            .sites
            .iter()
            .map(|site| {
                let mut table = site.types.to_vec();
                table.resize(slots, 0);
                table
            })
            .collect();
        let sites: Vec<StoredSite<'_>> = self
            .sites
            .iter()
            .zip(&tables)
            .enumerate()
            .map(|(id, (site, table))| {
                let bytes = |text: &'_ str| text.len().min(usize::from(u16::MAX));
                StoredSite {
                    id: id as u32,
                    level: site.level.as_ref().map_or(0, |(number, _)| *number),
                    num_args: site.types.len().min(slots) as u8,
                    line: site.line,
                    arg_types: table,
                    file: site.file.as_bytes().get(..bytes(&site.file)).unwrap_or_default(),
                    format: site.name.as_bytes().get(..bytes(&site.name)).unwrap_or_default(),
                }
            })
            .collect();
        let mut levels: Vec<StoredLevel<'_>> = Vec::new();
        for (number, name) in self.sites.iter().filter_map(|site| site.level.as_ref()) {
            if *number > 3 && !levels.iter().any(|level| level.level == *number) {
                let name = name.as_bytes().get(..31).unwrap_or(name.as_bytes());
                levels.push(StoredLevel { level: *number, name, padding: [0; 2] });
            }
        }
        work(&levels, &sites, &self.header)
    }

    /// Writes the dictionary, then the header that points to it, and only then removes the journal. After an error, the
    /// file is as before, so that more entries can follow.
    fn finish_file(&mut self, timeline: &Timeline) -> Result<()> {
        // The second call is for an entry about lost entries. If the journal fails, the dictionary is needed all the
        // more.
        let _ = self.pass_on();
        self.pass_on_entries()?;
        let (tally, before) = (*self.writer.tally(), self.output.bytes);
        let sections = self.with_sections(|levels, sites, header| journal::sections(header, levels, sites))?;
        self.output.write_whole(&sections)?;
        self.header.timestamp_frequency = timeline.frequency();
        self.header.dictionary_offset = tally.bytes;
        self.header.entry_count = tally.entries as u32;
        if let Err(error) = self.patch_header() {
            (self.header.dictionary_offset, self.header.entry_count) = (0, 0);
            let _ = self.patch_header();
            self.output.take_back(before)?;
            return Err(error);
        }
        let _ = fs::remove_file(journal::path_of(&self.path));
        Ok(())
    }

    fn patch_header(&mut self) -> Result<()> {
        let bytes = create(Vec::new(), &self.header)?.finish()?;
        Ok(self.output.patch(0, &bytes)?)
    }

    /// Bytes of the file, without a last block whose size is not known yet.
    fn file_bytes(&self) -> u64 {
        self.output.bytes + (self.writer.tally().bytes - self.passed_on)
    }

    fn is_due(&self) -> bool {
        let Rotation { bytes, age } = self.rotation;
        let tally = self.writer.tally();
        tally.entries >= MAX_ENTRIES
            || tally.entries > 0
                && (bytes.is_some_and(|most| self.file_bytes() >= most)
                    || age.is_some_and(|most| self.opened.elapsed() >= most))
    }

    /// The number and the path of the next file, which does not exist yet.
    fn next_path(&self) -> (u32, PathBuf) {
        let numbered = |number: u32| (number, with_part(&self.base, &number.to_string()));
        let free = (self.files + 1..).map(numbered).find(|(_, path)| !path.exists());
        free.unwrap_or_else(|| numbered(u32::MAX))
    }

    /// Rotates if that is due.
    fn rotate_if_due(&mut self, timeline: &Timeline) {
        if self.is_due() && !self.is_held_up {
            self.is_held_up = self.rotate(timeline).is_err();
            COUNTERS.errors.fetch_add(self.is_held_up.into(), Ordering::Relaxed);
        }
    }

    /// Ends this file and continues in the new one.
    fn go_on_in(&mut self, (path, fresh): (&Path, File), timeline: &Timeline) -> Result<()> {
        self.finish_file(timeline)?;
        self.header = Header { dictionary_offset: 0, entry_count: 0, ..self.header.clone() };
        self.writer = create(Vec::new(), &self.header)?;
        self.output = Output::new(Box::new(fresh)).at(path);
        // Sites keep their numbers, so the files of one run, which share one start, can supply each other's dictionary.
        (self.path, self.passed_on, self.journaled, self.opened) = (path.to_owned(), 0, 0, Instant::now());
        Ok(())
    }

    /// Whether an entry can be kept.
    fn has_room(&self) -> bool {
        !self.output.is_full() && self.writer.tally().entries < MAX_ENTRIES
    }
}

impl Sink for Clog {
    fn put(&mut self, rec: &Rec<'_>) {
        if rec.kind != Kind::Log {
            return;
        }
        if !self.has_room() || self.layout == Layout::Document && rec.site.types.len() > SLOTS_DOCUMENT {
            return self.lose();
        }
        let id = self.id_of(rec);
        self.texts.clear();
        gather_texts(&rec.site.types, rec.words, &mut self.texts);
        self.data.clear();
        let args = RingArgs::new(rec, &self.texts);
        put_args(self.layout, args.clone(), &mut self.data);
        if self.data.len() > CNANOLOG_MAX_ENTRY_SIZE {
            COUNTERS.cut.fetch_add(1, Ordering::Relaxed);
            self.data.clear();
            // All other arguments together take less than 1000 bytes.
            let max = (CNANOLOG_MAX_ENTRY_SIZE - 1000) / rec.site.types.len();
            put_args(self.layout, args.with_max(max), &mut self.data);
        }
        self.entry(id, rec.tick);
        if self.writer.tally().bytes - self.passed_on >= GATHERED {
            // The output keeps the bytes and counts the error.
            let _ = self.pass_on();
        }
        let timeline = self.timeline;
        self.rotate_if_due(&timeline);
    }

    fn dropped(&mut self, thread: &ThreadInfo, count: u64, tick: u64) {
        let name = thread.name();
        self.say(|own| &own.dropped, tick, &[Arg::Uint64(count), Arg::String(name.as_bytes())]);
    }

    fn clock_stepped(&mut self, step_ns: i64, tick: u64) {
        self.say(|own| &own.stepped, tick, &[Arg::Double(step_ns as f64 / 1e9)]);
    }

    fn tick(&mut self, timeline: &Timeline) {
        self.timeline = *timeline;
        self.header.timestamp_frequency = timeline.frequency();
        // If the process dies, the file then has the best frequency so far.
        let _ = self.patch_header();
        // A writer that is never idle would otherwise not try again.
        let _ = self.flush();
        self.is_held_up = false;
        self.rotate_if_due(timeline);
    }

    fn flush(&mut self) -> Result<()> {
        let is_passed_on = self.writer.tally().bytes == self.passed_on && self.output.refuses.is_none();
        if is_passed_on && (self.is_journaled() || self.sites.is_empty()) {
            return Ok(());
        }
        self.pass_on()
    }

    fn sync(&mut self) -> Result<()> {
        self.pass_on()?;
        File::open(journal::path_of(&self.path))?.sync_all()?;
        Ok(self.output.sync()?)
    }

    /// Creates the new file before it closes the old one, so that no entry is lost between them.
    fn rotate(&mut self, timeline: &Timeline) -> Result<()> {
        // If the old file cannot be written, a new one is no use.
        self.pass_on_entries()?;
        let (number, path) = self.next_path();
        let fresh = File::create_new(&path)?;
        if let Err(error) = self.go_on_in((&path, fresh), timeline) {
            let _ = fs::remove_file(&path);
            return Err(error);
        }
        self.files = number;
        self.pass_on()
    }

    fn close(mut self: Box<Self>, timeline: &Timeline) -> Result<()> {
        self.finish_file(timeline)
    }
}

/// Renames the log of a killed process together with its journal.
fn keep_journaled(path: &Path) -> Result<()> {
    let sites = journal::path_of(path);
    if !sites.exists() || !path.exists() {
        return Ok(());
    }
    let free = (1..).map(|number| with_part(path, &format!("killed-{number}"))).find(|path| !path.exists());
    if let Some(kept) = free {
        fs::rename(path, &kept)?;
        fs::rename(sites, journal::path_of(&kept))?;
    }
    Ok(())
}

fn header(config: &Config, timeline: &Timeline) -> Header {
    let first = timeline.first;
    let mut header = Header {
        timestamp_frequency: timeline.frequency(),
        start_timestamp: first.tick,
        start_time_sec: first.wall_ns.div_euclid(1_000_000_000),
        start_time_nsec: first.wall_ns.rem_euclid(1_000_000_000) as i32,
        ..Header::new(ByteOrder::Little)
    };
    if config.layout == Layout::Document {
        header.flags = 0;
    }
    if config.extras != Extras::default() {
        // Later versions include the ids.
        header.set_ids(std::process::id(), crate::local::thread_id() as u32);
    }
    if config.extras.is_compressed {
        header.set_compressed();
    }
    if config.extras.has_checksums {
        header.set_checksums();
    }
    header
}

/// Appends arguments in the given layout; the packed layout cannot store the sign of long numbers.
fn put_args<'a>(layout: Layout, args: impl Iterator<Item = Arg<'a>> + Clone, data: &mut Vec<u8>) {
    let survives = |arg: Arg<'_>| !matches!(arg, Arg::Int64(value) if value.unsigned_abs() >> 56 != 0);
    if layout == Layout::Library && args.clone().all(survives) {
        put_packed(args, data);
    } else {
        put_raw(args, ByteOrder::Little, data);
    }
}

#[cfg(all(test, not(any(traceloom_loom, traceloom_shuttle))))]
mod tests {
    use traceloom_core::{Options, Records, Source};

    use super::*;
    use crate::sinks::file::tests::Disk;

    #[test]
    fn a_jump_of_the_time_of_day_is_told_in_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let (disk, timeline) = (Disk::of(1 << 20), Timeline::start());
        let path = folder.path().join("stepped.clog");
        let mut clog = Clog::with_medium(&path, Box::new(disk.clone()), &Config::default(), &timeline).unwrap();
        // The time of day is set back by an hour.
        clog.clock_stepped(-3_600_000_000_000, 7);
        Box::new(clog).close(&timeline).unwrap();

        let mut reader = traceloom_cnanolog::open(Source::bytes(disk.content()), &Options::strict()).unwrap();
        let mut told = Vec::new();
        while let Some(located) = reader.next().unwrap() {
            let Record::Entry(entry) = located.record else { continue };
            told.extend(entry.args().unwrap().map(|arg| format!("{arg:?}")));
        }
        assert_eq!(told, ["Double(-3600.0)"]);
    }
}

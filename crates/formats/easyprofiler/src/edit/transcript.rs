//! Writes the records of one or several files anew, with every count right.

use std::io::Write;

use traceloom_core::{Error, Findings, Loss, Mode, Options, Records, Result, Source, Text};

use crate::{
    Block, Bookmark, Descriptor, Header, Name, Reader, Record, Switch, Tally, Thread, Value, Writer, create,
    raw::{BLOCK_FIXED, BOOKMARK_FIXED, DESCRIPTOR_FIXED, EASY_PROFILER_SIGNATURE, Layout},
};

/// Bytes of a switch before its name, at the most.
const SWITCH_FIXED: usize = 24;

/// What becomes of each record; asked twice for every record, and to answer the same.
pub(super) trait Plan {
    /// A walk over an input begins.
    fn start(&mut self, _input: usize) -> Result<()> {
        Ok(())
    }

    /// What is written for this descriptor, thread, switch, block, value or bookmark, which has been
    /// cleaned: itself, another, or nothing.
    fn apply<'a>(&mut self, input: usize, record: Record<'a>) -> Result<Option<Record<'a>>>;

    /// What is not written, and why.
    fn loss(&mut self) -> &mut Loss;

    /// Descriptors that follow those of the inputs.
    fn extra_descriptors(&self) -> Vec<Record<'static>> {
        Vec::new()
    }

    /// Whether a thread section without records is written.
    fn keeps_empty_threads(&self) -> bool {
        true
    }
}

/// Files to be read, opened anew for each walk.
pub(super) struct Inputs {
    pub(super) sources: Vec<Source>,
    pub(super) headers: Vec<Header>,
    options: Options,
}

impl Inputs {
    /// Recognises the files; edits read leniently whatever the caller says.
    pub(super) fn open(sources: &[Source], options: &Options) -> Result<Self> {
        let options = options.clone().with_mode(Mode::Lenient);
        let headers = sources.iter().map(|source| Ok(crate::open(source.clone(), &options)?.header().clone()));
        let headers = headers.collect::<Result<_>>()?;
        Ok(Self { sources: sources.to_vec(), headers, options })
    }

    /// Puts the files into the order of their captures.
    pub(super) fn sort_by_origin(&mut self) -> Result<()> {
        let origins: Vec<u64> = self.indices().map(|input| self.origin_ns(input)).collect::<Result<_>>()?;
        let mut order: Vec<usize> = self.indices().collect();
        order.sort_by_key(|input| origins.get(*input));
        self.sources = order.iter().filter_map(|input| self.sources.get(*input).cloned()).collect();
        self.headers = order.iter().filter_map(|input| self.headers.get(*input).cloned()).collect();
        Ok(())
    }

    /// The origin of a trace: the begin of the capture or, in a live one, the first timed record.
    pub(super) fn origin_ns(&self, input: usize) -> Result<u64> {
        let mut reader = self.reader(input)?;
        let clock = reader.clock();
        if reader.header().begin_time != 0 {
            return Ok(clock.begin_ns());
        }
        while let Some(located) = reader.next()? {
            if let Some((begin, _)) = located.record.times() {
                return Ok(clock.ns(begin));
            }
        }
        Ok(0)
    }

    /// A reader at the first record of an input.
    pub(super) fn reader(&self, input: usize) -> Result<Reader> {
        match (self.sources.get(input), self.headers.get(input)) {
            (Some(source), Some(header)) => Reader::with_header(source.clone(), header.clone(), &self.options),
            _ => Err(Error::usage("no such input")),
        }
    }

    /// The same with every check.
    pub(super) fn thorough_reader(&self, input: usize) -> Result<Reader> {
        match (self.sources.get(input), self.headers.get(input)) {
            (Some(source), Some(header)) => {
                Reader::with_header(source.clone(), header.clone(), &self.options.clone().thorough())
            }
            _ => Err(Error::usage("no such input")),
        }
    }

    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    fn indices(&self) -> std::ops::Range<usize> {
        0..self.headers.len()
    }
}

/// What a first walk over all inputs counted.
pub(super) struct Counted {
    tally: Tally,
    /// What is kept of each thread section, of all inputs.
    sections: Vec<Kept>,
    /// Few enough to be kept; the format wants them in order of position.
    bookmarks: Vec<(u64, u32, Vec<u8>)>,
    pub(super) findings: Findings,
}

/// What is kept of a thread section.
#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    thread: bool,
    switches: u32,
    blocks: u32,
}

impl Kept {
    fn is_empty(&self) -> bool {
        self.switches == 0 && self.blocks == 0
    }
}

impl Counted {
    /// Switches and blocks that will be written.
    pub(super) fn records(&self) -> u32 {
        self.tally.records
    }

    /// Bookmarks that there are; the header can count only so many.
    pub(super) fn bookmarks(&self) -> usize {
        self.bookmarks.len()
    }
}

/// Walks all inputs and counts what the plan keeps.
pub(super) fn count(inputs: &Inputs, layout: &Layout, plan: &mut dyn Plan) -> Result<Counted> {
    let mut counted = Counted {
        tally: Tally::default(),
        sections: Vec::new(),
        bookmarks: Vec::new(),
        findings: Findings::new(Mode::Lenient, &inputs.options.limits),
    };
    for input in inputs.indices() {
        plan.start(input)?;
        let mut reader = inputs.thorough_reader(input)?;
        let mut in_threads = false;
        while let Some(located) = reader.next()? {
            if matches!(located.record, Record::Thread(_)) {
                in_threads = true;
                counted.sections.push(Kept::default());
            }
            if let Some(record) = planned(plan, input, located.record, in_threads)? {
                counted.take(&record, layout);
            }
        }
        counted.findings.absorb(reader.into_findings());
    }
    if !plan.keeps_empty_threads() {
        counted.sections.iter_mut().for_each(|section| section.thread &= !section.is_empty());
    }
    counted.tally.threads = counted.sections.iter().filter(|section| section.thread).count() as u32;
    plan.extra_descriptors().iter().for_each(|record| counted.tally.count(record, layout));
    counted.bookmarks.sort_by_key(|(position, ..)| *position);
    Ok(counted)
}

impl Counted {
    fn take(&mut self, record: &Record<'_>, layout: &Layout) {
        match (record, self.sections.last_mut()) {
            (Record::Thread(_), Some(section)) => section.thread = true,
            (Record::Switch(_), Some(section)) => section.switches += 1,
            (Record::Block(_) | Record::Value(_), Some(section)) => section.blocks += 1,
            (Record::Bookmark(bookmark), _) => {
                self.bookmarks.push((bookmark.position_ns, bookmark.color, bookmark.text.text.to_vec()));
                return;
            }
            _ => {}
        }
        self.tally.count(record, layout);
    }
}

/// Writes what was counted.
pub(super) fn write<W: Write>(
    inputs: &Inputs,
    out: W,
    mut header: Header,
    counted: &Counted,
    plan: &mut dyn Plan,
) -> Result<()> {
    counted.tally.fill(&mut header);
    header.bookmarks_count = header.layout.marks.then_some(counted.bookmarks.len().min(MOST_BOOKMARKS) as u16);
    header.stored_bytes = header.layout.header_bytes();
    let mut writer = create(out, &header)?;
    for input in inputs.indices() {
        plan.start(input)?;
        let mut reader = inputs.reader(input)?;
        while let Some(located) = reader.next()? {
            if matches!(located.record, Record::Thread(_)) {
                break;
            }
            if let Some(record) = planned(plan, input, located.record, false)? {
                writer.write(&record)?;
            }
        }
    }
    plan.extra_descriptors().iter().try_for_each(|record| writer.write(record))?;
    let mut sections = counted.sections.iter().copied();
    for input in inputs.indices() {
        plan.start(input)?;
        write_threads(inputs.reader(input)?, input, &mut sections, plan, &mut writer)?;
    }
    if header.layout.marks {
        writer.write(&Record::Mark(EASY_PROFILER_SIGNATURE))?;
        for (position_ns, color, text) in counted.bookmarks.iter().take(MOST_BOOKMARKS) {
            let text = Name::new(text);
            let bookmark = Bookmark { position_ns: *position_ns, color: *color, text, odd_size: None };
            writer.write(&Record::Bookmark(bookmark))?;
        }
        if !counted.bookmarks.is_empty() {
            writer.write(&Record::Mark(EASY_PROFILER_SIGNATURE))?;
        }
    }
    writer.finish()?;
    Ok(())
}

/// What becomes of a record: what only says how the file is laid out is dropped, the rest is cleaned
/// and goes to the plan.
fn planned<'a>(plan: &mut dyn Plan, input: usize, record: Record<'a>, in_threads: bool) -> Result<Option<Record<'a>>> {
    let cleaned = match record {
        Record::Mark(_) | Record::Blocks(_) => None,
        // Its index must stay taken.
        Record::Malformed(bytes) if !in_threads => {
            plan.loss().lose("descriptors too short for their fields", || format!("{bytes:02x?}"));
            Some(Record::Hole)
        }
        Record::Malformed(bytes) => {
            plan.loss().lose("records too short for their fields", || format!("{bytes:02x?}"));
            None
        }
        Record::Residue(bytes) => {
            plan.loss().lose("runs of bytes that no record explains", || {
                let start = bytes.get(..bytes.len().min(16)).unwrap_or_default();
                format!("{} bytes, beginning \"{}\"", bytes.len(), Text(start))
            });
            None
        }
        record => Some(cleaned(record, plan.loss())),
    };
    cleaned.map_or(Ok(None), |record| plan.apply(input, record))
}

/// The header counts bookmarks in 16 bits.
pub(super) const MOST_BOOKMARKS: usize = u16::MAX as usize;

fn write_threads<W: Write>(
    mut reader: Reader,
    input: usize,
    sections: &mut impl Iterator<Item = Kept>,
    plan: &mut dyn Plan,
    writer: &mut Writer<W>,
) -> Result<()> {
    let mut section = Section::default();
    while let Some(located) = reader.next()? {
        if matches!(located.record, Record::Thread(_)) {
            section.close(writer)?;
            section = Section { kept: sections.next().unwrap_or_default(), head_due: true };
        }
        match planned(plan, input, located.record, true)? {
            _ if !section.kept.thread => {}
            Some(Record::Thread(thread)) => {
                writer.write(&Record::Thread(Thread { switches: section.kept.switches, ..thread }))?;
            }
            Some(record @ Record::Switch(_)) => writer.write(&record)?,
            Some(record @ (Record::Block(_) | Record::Value(_))) => {
                section.write_head(writer)?;
                writer.write(&record)?;
            }
            _ => {}
        }
    }
    section.close(writer)
}

/// A thread section while it is written: the block count comes due after the last switch.
#[derive(Default)]
struct Section {
    kept: Kept,
    head_due: bool,
}

impl Section {
    fn write_head<W: Write>(&mut self, writer: &mut Writer<W>) -> Result<()> {
        if std::mem::take(&mut self.head_due) {
            writer.write(&Record::Blocks(self.kept.blocks))?;
        }
        Ok(())
    }

    fn close<W: Write>(&mut self, writer: &mut Writer<W>) -> Result<()> {
        if self.kept.thread { self.write_head(writer) } else { Ok(()) }
    }
}

/// A record with canonical sizes and names.
fn cleaned<'a>(record: Record<'a>, loss: &mut Loss) -> Record<'a> {
    const LONGEST: usize = u16::MAX as usize;
    match record {
        Record::Descriptor(descriptor) => {
            let room = LONGEST - DESCRIPTOR_FIXED;
            let name = clean(descriptor.name, room - 1, loss);
            let file = clean(descriptor.file, room - name.len(), loss);
            Record::Descriptor(Descriptor { name, file, odd_size: None, odd_name_size: None, ..descriptor })
        }
        Record::Thread(thread) if !thread.name.is_empty() => {
            Record::Thread(Thread { name: clean(thread.name, LONGEST, loss), ..thread })
        }
        Record::Switch(switch) => {
            let name = clean(switch.name, LONGEST - SWITCH_FIXED, loss);
            Record::Switch(Switch { name, odd_size: None, ..switch })
        }
        Record::Block(block) => {
            let name = clean(block.name, LONGEST - BLOCK_FIXED, loss);
            Record::Block(Block { name, odd_size: None, ..block })
        }
        Record::Value(value) => {
            if !value.surplus.is_empty() {
                loss.lose("bytes behind the data of a value", || format!("{:02x?}", value.surplus));
            }
            Record::Value(Value { filler: [0, 0], surplus: &[], odd_data_size: None, odd_size: None, ..value })
        }
        Record::Bookmark(bookmark) => {
            let text = clean(bookmark.text, LONGEST - BOOKMARK_FIXED, loss);
            Record::Bookmark(Bookmark { text, odd_size: None, ..bookmark })
        }
        other => other,
    }
}

/// The text with one NUL; it gives way where a NUL that was missing no longer fits.
fn clean<'a>(name: Name<'a>, room: usize, loss: &mut Loss) -> Name<'a> {
    if name.tail.len() > 1 {
        loss.lose("bytes behind the NUL of a text", || format!("{:02x?}", name.tail));
    }
    let fits = name.text.get(..name.text.len().min(room - 1)).unwrap_or_default();
    if fits.len() < name.text.len() {
        loss.lose("ends of texts that fill their record without a NUL", || Text(fits).to_string());
    }
    Name::new(fits)
}

//! Writes the records of one or several files anew, with every count right.

use std::io::Write;

use traceloom_bytes::{Error, Findings, Mode, Options, Records, Result, Source};

use crate::{
    Header, Name, Reader, Record, Tally, create,
    raw::{EASY_PROFILER_SIGNATURE, Layout},
};

/// What becomes of each record; asked twice for every record, and to answer the same.
pub(super) trait Plan {
    /// A walk over an input begins.
    fn start(&mut self, _input: usize) -> Result<()> {
        Ok(())
    }

    /// What is written for this record: itself, another, or nothing.
    fn apply<'a>(&mut self, input: usize, record: Record<'a>) -> Result<Option<Record<'a>>>;

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
        let options = Options { mode: Mode::Lenient, ..options.clone() };
        let headers = sources.iter().map(|source| Ok(crate::open(source.clone(), &options)?.header().clone()));
        let headers = headers.collect::<Result<_>>()?;
        Ok(Self { sources: sources.to_vec(), headers, options })
    }

    /// A reader at the first record of an input.
    pub(super) fn reader(&self, input: usize) -> Result<Reader> {
        match (self.sources.get(input), self.headers.get(input)) {
            (Some(source), Some(header)) => Reader::with_header(source.clone(), header.clone(), &self.options),
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
    /// Kept switches and blocks of each thread section, of all inputs.
    sections: Vec<(u32, u32)>,
    /// Few enough to be kept; the format wants them in order of position.
    bookmarks: Vec<(u64, u32, Vec<u8>)>,
    pub(super) findings: Findings,
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
        let mut reader = inputs.reader(input)?;
        reader.check_depth();
        let mut in_threads = false;
        while let Some(located) = reader.next()? {
            if matches!(located.record, Record::Thread(_)) {
                in_threads = true;
                counted.sections.push((0, 0));
            }
            let record = if in_threads { located.record } else { as_descriptor(located.record) };
            if let Some(record) = plan.apply(input, record)? {
                counted.take(&record, layout);
            }
        }
        counted.findings.absorb(reader.into_findings());
    }
    let empty = counted.sections.iter().filter(|section| **section == (0, 0)).count() as u32;
    if !plan.keeps_empty_threads() {
        counted.tally.threads = counted.tally.threads.saturating_sub(empty);
    }
    plan.extra_descriptors().iter().for_each(|record| counted.tally.count(record, layout));
    counted.bookmarks.sort_by_key(|(position, ..)| *position);
    Ok(counted)
}

impl Counted {
    fn take(&mut self, record: &Record<'_>, layout: &Layout) {
        match (record, self.sections.last_mut()) {
            (Record::Switch(_), Some((switches, _))) => *switches += 1,
            (Record::Block(_) | Record::Value(_), Some((_, blocks))) => *blocks += 1,
            (Record::Bookmark(bookmark), _) => {
                if layout.marks {
                    self.bookmarks.push((bookmark.position_ns, bookmark.color, bookmark.text.text.to_vec()));
                }
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
            let record = plan.apply(input, as_descriptor(located.record))?;
            if let Some(record @ (Record::Descriptor(_) | Record::Hole)) = record {
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
            let bookmark = crate::Bookmark { position_ns: *position_ns, color: *color, text, odd_size: None };
            writer.write(&Record::Bookmark(bookmark))?;
        }
        if !counted.bookmarks.is_empty() {
            writer.write(&Record::Mark(EASY_PROFILER_SIGNATURE))?;
        }
    }
    writer.finish()?;
    Ok(())
}

/// A descriptor too short for its fields becomes a hole: its index must stay taken.
fn as_descriptor(record: Record<'_>) -> Record<'_> {
    if let Record::Malformed(_) = record { Record::Hole } else { record }
}

/// The header counts bookmarks in 16 bits.
pub(super) const MOST_BOOKMARKS: usize = u16::MAX as usize;

fn write_threads<W: Write>(
    mut reader: Reader,
    input: usize,
    sections: &mut impl Iterator<Item = (u32, u32)>,
    plan: &mut dyn Plan,
    writer: &mut crate::Writer<W>,
) -> Result<()> {
    let mut section = Section::default();
    while let Some(located) = reader.next()? {
        match plan.apply(input, located.record)? {
            Some(Record::Thread(thread)) => {
                section.close(writer)?;
                let (switches, blocks) = sections.next().unwrap_or_default();
                section = Section { open: plan.keeps_empty_threads() || switches + blocks > 0, head_due: true, blocks };
                if section.open {
                    writer.write(&Record::Thread(crate::Thread { switches, ..thread }))?;
                }
            }
            Some(record @ Record::Switch(_)) if section.open => writer.write(&record)?,
            Some(record @ (Record::Block(_) | Record::Value(_))) if section.open => {
                section.write_head(writer)?;
                writer.write(&record)?;
            }
            None if matches!(located.record, Record::Thread(_)) => {
                section.close(writer)?;
                sections.next();
                section = Section::default();
            }
            _ => {}
        }
    }
    section.close(writer)
}

/// A thread section while it is written: the block count comes due after the last switch.
#[derive(Default)]
struct Section {
    open: bool,
    head_due: bool,
    blocks: u32,
}

impl Section {
    fn write_head<W: Write>(&mut self, writer: &mut crate::Writer<W>) -> Result<()> {
        if std::mem::take(&mut self.head_due) {
            writer.write(&Record::Blocks(self.blocks))?;
        }
        Ok(())
    }

    fn close<W: Write>(&mut self, writer: &mut crate::Writer<W>) -> Result<()> {
        if self.open { self.write_head(writer) } else { Ok(()) }
    }
}

/// A record with canonical sizes and names.
pub(super) fn cleaned(record: Record<'_>) -> Record<'_> {
    match record {
        Record::Descriptor(descriptor) => Record::Descriptor(crate::Descriptor {
            name: name_of(descriptor.name),
            file: name_of(descriptor.file),
            odd_size: None,
            odd_name_size: None,
            ..descriptor
        }),
        Record::Thread(thread) if !thread.name.is_empty() => {
            Record::Thread(crate::Thread { name: name_of(thread.name), ..thread })
        }
        Record::Switch(switch) => {
            Record::Switch(crate::Switch { name: name_of(switch.name), odd_size: None, ..switch })
        }
        Record::Block(block) => Record::Block(crate::Block { name: name_of(block.name), odd_size: None, ..block }),
        Record::Value(value) => {
            Record::Value(crate::Value { filler: [0, 0], surplus: &[], odd_data_size: None, odd_size: None, ..value })
        }
        other => other,
    }
}

/// The text with one NUL, shortened where the NUL would no longer fit into the record.
fn name_of(name: Name<'_>) -> Name<'_> {
    const LONGEST: usize = 32_000;
    Name::new(name.text.get(..LONGEST.min(name.text.len())).unwrap_or_default())
}

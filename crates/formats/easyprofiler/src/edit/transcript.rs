//! Writes the records of one or several files, with correct counts.

use std::io::Write;

use traceloom_core::{Edited, Error, Findings, Limits, Loss, Mode, Records, Result};

use super::{clean::cleaned, input::Input};
use crate::{
    Bookmark, Header, Name, Reader, Record, Tally, Thread, Writer, create,
    raw::{EASY_PROFILER_SIGNATURE, Layout},
};

/// Decides about each record; it is asked twice for every record and must answer the same.
pub(super) trait Plan {
    /// Called at the start of a walk over an input.
    fn start(&mut self, _input: usize) -> Result<()> {
        Ok(())
    }

    /// The replacement for a cleaned descriptor, thread, switch, block, value or bookmark: itself, another record, or
    /// nothing.
    fn apply<'a>(&mut self, input: usize, record: Record<'a>) -> Result<Option<Record<'a>>>;

    /// What is not written, and why.
    fn loss(&mut self) -> &mut Loss;

    /// Descriptors after those of the inputs.
    fn extra_descriptors(&self) -> Vec<Record<'static>> {
        Vec::new()
    }

    /// Whether a thread section without records is written.
    fn keeps_empty_threads(&self) -> bool {
        true
    }
}

/// Writes what the plan keeps of all inputs.
pub(super) fn run<W: Write>(inputs: &[Input], out: W, header: Header, plan: &mut dyn Plan) -> Result<Edited> {
    let counted = count(inputs, &header.layout, plan)?;
    write(inputs, out, header, counted, plan)
}

/// The counts of a first walk over all inputs.
pub(super) struct Counted {
    tally: Tally,
    /// The kept records of each thread section, of all inputs.
    sections: Vec<Kept>,
    /// Few enough to be kept in memory; the format requires them in order of position.
    bookmarks: Vec<(u64, u32, Vec<u8>)>,
    findings: Findings,
    loss: Loss,
}

/// The kept records of a thread section.
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
}

/// Walks all inputs and counts what the plan keeps.
pub(super) fn count(inputs: &[Input], layout: &Layout, plan: &mut dyn Plan) -> Result<Counted> {
    let limits = inputs.first().map_or_else(Limits::default, |input| input.options.limits.clone());
    let mut counted = Counted {
        tally: Tally::default(),
        sections: Vec::new(),
        bookmarks: Vec::new(),
        findings: Findings::new(Mode::Lenient, &limits),
        loss: Loss::default(),
    };
    for (input, file) in inputs.iter().enumerate() {
        plan.start(input)?;
        let mut reader = file.thorough_reader()?;
        let mut in_threads = false;
        reader.walk(|located| {
            if matches!(located.record, Record::Thread(_)) {
                in_threads = true;
                counted.sections.push(Kept::default());
            }
            if let Some(record) = planned(plan, input, located.record, in_threads)? {
                counted.take(&record, layout);
            }
            Ok::<_, Error>(())
        })?;
        counted.findings.absorb(reader.into_findings());
    }
    if !plan.keeps_empty_threads() {
        counted.sections.iter_mut().for_each(|section| section.thread &= !section.is_empty());
    }
    counted.tally.threads = counted.sections.iter().filter(|section| section.thread).count() as u32;
    plan.extra_descriptors().iter().for_each(|record| counted.tally.count(record, layout));
    counted.bookmarks.sort_by_key(|(position, ..)| *position);
    // The second walk meets the same losses again.
    counted.loss = std::mem::take(plan.loss());
    let left_over = counted.bookmarks.len().saturating_sub(MAX_BOOKMARKS) as u64;
    counted.loss.lose_many("bookmarks after the first 65535", left_over, || format!("{left_over} of them"));
    counted.bookmarks.truncate(MAX_BOOKMARKS);
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

/// Writes the records that were counted.
pub(super) fn write<W: Write>(
    inputs: &[Input],
    out: W,
    mut header: Header,
    counted: Counted,
    plan: &mut dyn Plan,
) -> Result<Edited> {
    counted.tally.fill(&mut header);
    header.bookmarks_count = header.layout.marks.then_some(counted.bookmarks.len() as u16);
    header.stored_bytes = header.layout.header_bytes();
    let mut writer = create(out, &header)?;
    for (input, file) in inputs.iter().enumerate() {
        plan.start(input)?;
        let mut reader = file.reader()?;
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
    for (input, file) in inputs.iter().enumerate() {
        plan.start(input)?;
        write_threads(file.reader()?, input, &mut sections, plan, &mut writer)?;
    }
    if header.layout.marks {
        writer.write(&Record::Mark(EASY_PROFILER_SIGNATURE))?;
        for (position_ns, color, text) in &counted.bookmarks {
            let text = Name::new(text);
            let bookmark = Bookmark { position_ns: *position_ns, color: *color, text, odd_size: None };
            writer.write(&Record::Bookmark(bookmark))?;
        }
        if !counted.bookmarks.is_empty() {
            writer.write(&Record::Mark(EASY_PROFILER_SIGNATURE))?;
        }
    }
    writer.finish()?;
    Ok(Edited { findings: counted.findings, loss: counted.loss })
}

/// What is written for a record, if anything.
fn planned<'a>(plan: &mut dyn Plan, input: usize, record: Record<'a>, in_threads: bool) -> Result<Option<Record<'a>>> {
    match cleaned(record, in_threads, plan.loss()) {
        Some(record) => plan.apply(input, record),
        None => Ok(None),
    }
}

/// The header counts bookmarks in 16 bits.
const MAX_BOOKMARKS: usize = u16::MAX as usize;

fn write_threads<W: Write>(
    mut reader: Reader,
    input: usize,
    sections: &mut impl Iterator<Item = Kept>,
    plan: &mut dyn Plan,
    writer: &mut Writer<W>,
) -> Result<()> {
    let mut section = Section::default();
    reader.walk(|located| {
        if matches!(located.record, Record::Thread(_)) {
            section.close(writer)?;
            section = Section { kept: sections.next().unwrap_or_default(), head_due: true };
        }
        match planned(plan, input, located.record, true)? {
            _ if !section.kept.thread => Ok(()),
            Some(Record::Thread(thread)) => {
                writer.write(&Record::Thread(Thread { switches: section.kept.switches, ..thread }))
            }
            Some(record @ Record::Switch(_)) => writer.write(&record),
            Some(record @ (Record::Block(_) | Record::Value(_))) => {
                section.write_head(writer)?;
                writer.write(&record)
            }
            _ => Ok(()),
        }
    })?;
    section.close(writer)
}

/// A thread section being written: the block count comes after the last switch.
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

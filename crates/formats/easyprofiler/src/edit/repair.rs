//! Makes a file that easy_profiler loads from one that it refuses.

use std::{collections::HashSet, io::Write};

use traceloom_core::{ByteOrder, Describe, Edited, Error, Loss, Options, Records, Result, Source};

use super::{
    ids::Ids,
    input::Input,
    transcript::{self, Plan},
};
use crate::{
    Block, Clock, Descriptor, Header, Nodes, Record, Tree, TreeBuilder, Value,
    findings::TOO_DEEP,
    plausible::Plausible,
    probe,
    raw::{BlockType, Layout, MAX_LEVELS, SwitchOrder},
};

/// Writes everything that can be read so that easy_profiler loads it; `loss` says what is missing and why.
///
/// Records that lack their descriptor get one, and the start of the capture moves before the first record: everything
/// that can be kept is kept.
pub fn repair<W: Write>(source: &Source, out: W, options: &Options) -> Result<Edited> {
    let mut input = Input::open(source, options)?;
    let layout = Layout::real(input.header.version, ByteOrder::Little);
    let mut survey = Survey::of(&input)?;
    if survey.are_targets_first(&input)? {
        input.header.layout.switch = SwitchOrder::TargetFirst;
        survey = Survey::of(&input)?;
    }
    let header = Header { layout, ..survey.header(&input.header) };
    let tree = if survey.too_deep { Some(tree(&input, &header.clock(), &survey)?) } else { None };
    let mut plan = RepairPlan {
        loss: Loss::default(),
        clock: header.clock(),
        nodes: tree.as_ref().map(Tree::nodes),
        tree: tree.as_ref(),
        survey,
        index: 0,
        ids: Ids::of(&input, &layout)?,
    };
    let inputs = [input];
    let counted = transcript::count(&inputs, &layout, &mut plan)?;
    if counted.records() == 0 {
        let message = "nothing to repair: no block or switch can be read, and easy_profiler refuses an empty file";
        return Err(Error::unrecognized(message));
    }
    transcript::write(&inputs, out, header, counted, &mut plan)
}

/// Rounds in which the plausible times and the start of the capture may change each other.
const MAX_ROUNDS: usize = 4;

/// What has to be known before the first record is written.
struct Survey {
    begin_time: u64,
    end_time: u64,
    /// The first and last time of all records that are kept.
    reach: (u64, u64),
    descriptors: u32,
    /// Whether any of them is not a hole.
    described: bool,
    /// Holes that blocks refer to.
    used_holes: HashSet<u32>,
    /// Whether a block refers to an index after the list.
    beyond: bool,
    too_deep: bool,
    plausible: Plausible,
}

impl Survey {
    /// A repair of the repaired file has to keep all of it, so what is plausible must be so for the new header too.
    fn of(input: &Input) -> Result<Self> {
        let mut header = input.header.clone();
        for _ in 0..MAX_ROUNDS {
            let survey = Self::with(input, Self::plausible(input, &header)?)?;
            let repaired = survey.header(&input.header);
            let (first, last) = survey.reach;
            if repaired.begin_time == header.begin_time || Plausible::of(&repaired).takes(first, last) {
                return Ok(survey);
            }
            header = repaired;
        }
        let mut survey = Self::with(input, Plausible::ALL)?;
        let (first, last) = survey.reach;
        (survey.begin_time, survey.end_time) = (survey.begin_time.min(first), survey.end_time.max(last));
        Ok(survey)
    }

    /// The plausible times according to the header, unless most records are elsewhere.
    fn plausible(input: &Input, header: &Header) -> Result<Plausible> {
        let (mut timed, mut taken) = (0u64, 0u64);
        let plausible = Plausible::of(header);
        input.reader()?.walk(|located| {
            if let Some((begin, end)) = located.record.times().filter(|_| is_whole(&located.record)) {
                timed += 1;
                taken += u64::from(plausible.takes(begin, end));
            }
            Ok::<_, Error>(())
        })?;
        Ok(if Plausible::are_most(taken, timed) { plausible } else { Plausible::ALL })
    }

    /// Whether the context switches that are kept only make sense with their targets first. Damaged ones may have hidden
    /// this, and the repaired file would be read so.
    fn are_targets_first(&self, input: &Input) -> Result<bool> {
        let header = self.header(&input.header);
        let (mut switches, mut inside, mut turned) = (0u64, 0u64, 0u64);
        input.reader()?.walk(|located| {
            if let Record::Switch(switch) = located.record
                && self.keeps(&located.record)
            {
                switches += 1;
                inside += u64::from(probe::is_inside(&switch, &header));
                turned += u64::from(probe::is_turned_inside(&switch, &header));
            }
            Ok::<_, Error>(())
        })?;
        let is_real = header.layout.switch == SwitchOrder::TimesFirst;
        Ok(is_real && header.begin_time != 0 && switches > 0 && inside == 0 && turned == switches)
    }

    /// The header with the times of the repaired file.
    fn header(&self, header: &Header) -> Header {
        Header { begin_time: self.begin_time, end_time: self.end_time, ..header.clone() }
    }

    fn with(input: &Input, plausible: Plausible) -> Result<Self> {
        let mut survey = Self {
            begin_time: input.header.begin_time,
            end_time: input.header.end_time,
            reach: (u64::MAX, 0),
            descriptors: 0,
            described: false,
            used_holes: HashSet::new(),
            beyond: false,
            too_deep: false,
            plausible,
        };
        let mut holes = HashSet::new();
        let clock = input.header.clock();
        let mut reader = input.thorough_reader()?;
        let mut in_threads = false;
        while let Some(located) = reader.next()? {
            if let Some((begin, end)) = located.record.times().filter(|_| survey.keeps(&located.record)) {
                survey.reach = (survey.reach.0.min(begin).min(end), survey.reach.1.max(begin).max(end));
            }
            match located.record {
                record if !survey.keeps(&record) => {}
                Record::Descriptor(_) => {
                    survey.descriptors += 1;
                    survey.described = true;
                }
                Record::Hole | Record::Malformed(_) | Record::Residue(_) if !in_threads => {
                    holes.insert(survey.descriptors);
                    survey.descriptors += 1;
                }
                Record::Thread(_) => in_threads = true,
                Record::Switch(switch) if !clock.keeps_switch(switch.end) => {
                    survey.begin_before(&clock, switch.end);
                    survey.begin_time = survey.begin_time.min(switch.begin);
                }
                Record::Block(Block { begin, end, descriptor, .. })
                | Record::Value(Value { begin, end, descriptor, .. }) => {
                    // Readers cut off everything before the start, so the start has to be before the whole block.
                    if !clock.keeps_block(end) {
                        survey.begin_time = survey.begin_time.min(begin).min(end);
                    }
                    if holes.contains(&descriptor) {
                        survey.used_holes.insert(descriptor);
                    }
                    survey.beyond |= descriptor >= survey.descriptors;
                }
                _ => {}
            }
        }
        survey.too_deep = reader.findings().counts().contains_key(TOO_DEEP.code);
        Ok(survey)
    }

    /// Whether a record has anything to keep.
    fn keeps(&self, record: &Record<'_>) -> bool {
        is_whole(record) && record.times().is_none_or(|(begin, end)| self.plausible.takes(begin, end))
    }

    /// A switch is kept only if it ends after the start: moves the start before it, in the file's ticks.
    fn begin_before(&mut self, clock: &Clock, end: u64) {
        let mut step = 1;
        while clock.ns(end.saturating_sub(step)) >= clock.ns(end) && step < end {
            step = step.saturating_mul(2);
        }
        self.begin_time = self.begin_time.min(end.saturating_sub(step));
    }
}

/// Whether a value has the bytes that its type requires: easy_profiler reads them whatever the sizes say. A text may
/// have any length, because it gets its NUL.
fn is_whole(record: &Record<'_>) -> bool {
    match record {
        Record::Block(block) => block.block_type != BlockType::VALUE,
        Record::Value(value) => value.text().is_some() || value.missing_bytes() == 0,
        _ => true,
    }
}

fn tree(input: &Input, clock: &Clock, survey: &Survey) -> Result<Tree> {
    let mut builder = TreeBuilder::new(&input.options.limits);
    let mut reader = input.reader()?;
    reader.walk(|located| match located.record {
        record if !survey.keeps(&record) => Ok(()),
        Record::Thread(thread) => builder.thread(thread.id),
        Record::Block(Block { begin, end, .. }) | Record::Value(Value { begin, end, .. }) => {
            let (begin, end) = clock.span(begin, end);
            builder.push(begin, end)
        }
        _ => Ok(()),
    })?;
    builder.finish()
}

struct RepairPlan<'t> {
    loss: Loss,
    clock: Clock,
    tree: Option<&'t Tree>,
    /// In step with the blocks of the walk.
    nodes: Option<Nodes<'t>>,
    survey: Survey,
    index: u32,
    ids: Ids,
}

impl RepairPlan<'_> {
    /// The descriptor of a block: its own, or the one made for blocks without one.
    fn descriptor(&self, descriptor: u32) -> u32 {
        descriptor.min(self.survey.descriptors)
    }

    fn is_too_deep(&mut self) -> Result<bool> {
        let node = self.nodes.as_mut().and_then(Iterator::next).transpose()?;
        Ok(node.is_some_and(|node| node.depth >= MAX_LEVELS))
    }

    fn keep_timed<'a>(&mut self, end: u64, descriptor: u32, record: Record<'a>) -> Result<Option<Record<'a>>> {
        if self.is_too_deep()? {
            self.loss
                .lose("blocks below the 255th level, where easy_profiler stops", || format!("descriptor {descriptor}"));
            return Ok(None);
        }
        debug_assert!(self.clock.keeps_block(end), "the survey moved the begin before every block");
        Ok(Some(record))
    }
}

impl Plan for RepairPlan<'_> {
    fn start(&mut self, _input: usize) -> Result<()> {
        self.nodes = self.tree.map(Tree::nodes);
        self.index = 0;
        Ok(())
    }

    fn apply<'a>(&mut self, _input: usize, record: Record<'a>) -> Result<Option<Record<'a>>> {
        match record {
            record if !self.survey.keeps(&record) => {
                let what = if is_whole(&record) {
                    "records with no plausible time"
                } else {
                    "values too short for their data"
                };
                self.loss.lose(what, || shown(&record));
                Ok(None)
            }
            record @ Record::Descriptor(_) => {
                self.index += 1;
                Ok(Some(record))
            }
            Record::Hole => {
                let index = self.index;
                self.index += 1;
                let used = self.survey.used_holes.contains(&index);
                Ok(Some(if used { stand_in(index) } else { Record::Hole }))
            }
            Record::Block(block) => {
                let descriptor = self.descriptor(block.descriptor);
                self.keep_timed(block.end, block.descriptor, Record::Block(Block { descriptor, ..block }))
            }
            Record::Value(value) => {
                let descriptor = self.descriptor(value.descriptor);
                self.keep_timed(value.end, value.descriptor, Record::Value(Value { descriptor, ..value }))
            }
            Record::Switch(switch) if !self.clock.keeps_switch(switch.end) => {
                self.loss.lose("context switches that end at time 0", || format!("target {}", switch.target));
                Ok(None)
            }
            other => Ok(Some(self.ids.apply(other, &mut self.loss))),
        }
    }

    fn loss(&mut self) -> &mut Loss {
        &mut self.loss
    }

    fn extra_descriptors(&self) -> Vec<Record<'static>> {
        // easy_profiler also refuses a file whose descriptors are all holes.
        let described = self.survey.described || !self.survey.used_holes.is_empty();
        let needed = self.survey.beyond || !described;
        needed.then(|| stand_in(self.survey.descriptors)).into_iter().collect()
    }
}

/// A record for people: its kind and its times.
fn shown(record: &Record<'_>) -> String {
    let kind = record.kind();
    record.times().map_or(kind.to_owned(), |(begin, end)| format!("a {kind} from {begin} to {end} ticks"))
}

/// A replacement for a descriptor that the file has lost.
fn stand_in(id: u32) -> Record<'static> {
    Record::Descriptor(Descriptor::new(id, BlockType::BLOCK, b"(missing descriptor)"))
}

//! Merges several files into one.

use std::{
    collections::{HashMap, HashSet},
    io::Write,
};

use traceloom_core::{ByteOrder, Edited, Error, Hertz, Loss, Options, Records, Result, Source};

use super::{
    input::Input,
    transcript::{self, Plan},
};
use crate::{
    Block, Clock, Descriptor, Header, Record, Switch, Thread, Value,
    raw::{BlockType, Layout, Status, Version},
};

/// Writes all files to one file of version 2.1.0.
///
/// Files are ordered by time. Times are kept if all files have one clock; otherwise they become nanoseconds. Equal
/// descriptors become one. If two processes share a thread id, it is replaced in the later file; within one process, it
/// is the same thread.
pub fn merge<W: Write>(sources: &[Source], out: W, options: &Options) -> Result<Edited> {
    let inputs = sorted_by_origin(sources, options)?;
    let Some(first) = inputs.first() else { return Err(Error::usage("nothing to merge")) };
    let mut loss = Loss::default();
    let has_one_clock = has_one_clock(&inputs, &first.header, &mut loss);
    let mut plan = MergePlan::new(&inputs, has_one_clock)?;
    let header = plan.header(&inputs, &first.header);
    plan.loss = loss;
    let mut edited = transcript::run(&inputs, out, header, &mut plan)?;
    plan.thread_ids.iter().filter(|((_, old), new)| old != *new).for_each(|((_, old), new)| {
        edited.loss.lose("thread ids that two processes share", || format!("{old} became {new}"));
    });
    Ok(edited)
}

/// The files in the order of their captures: a thread's blocks nest by the order in which they are stored.
fn sorted_by_origin(sources: &[Source], options: &Options) -> Result<Vec<Input>> {
    let mut inputs = Vec::new();
    for source in sources {
        let input = Input::open(source, options)?;
        inputs.push((input.origin_ns()?, input));
    }
    inputs.sort_by_key(|(origin_ns, _)| *origin_ns);
    Ok(inputs.into_iter().map(|(_, input)| input).collect())
}

/// Whether the ticks of all files can be kept.
fn has_one_clock(inputs: &[Input], first: &Header, loss: &mut Loss) -> bool {
    let headers = || inputs.iter().map(|input| &input.header);
    let frequency = first.cpu_frequency;
    let has_one_frequency = headers().all(|header| header.cpu_frequency == frequency);
    // Each dump of a process measures the frequency again; the counter is the same.
    let is_one_process = first.pid.is_some()
        && headers().all(|header| header.pid == first.pid && (header.cpu_frequency == 0) == (frequency == 0));
    let has_one_clock = has_one_frequency || is_one_process;
    let hertz = |header: &Header| Hertz(header.cpu_frequency.try_into().unwrap_or(0)).to_string();
    for header in headers() {
        if is_one_process && header.cpu_frequency != frequency {
            loss.lose("clock frequencies other than the first", || hertz(header));
        }
        if header.pid != first.pid {
            loss.lose("process ids other than the first", || format!("{:?}", header.pid.unwrap_or(0)));
        }
        if !has_one_clock {
            loss.lose("ticks, now nanoseconds", || hertz(header));
        }
    }
    has_one_clock
}

/// Everything in a descriptor except its number.
type DescriptorKey = (i32, u32, BlockType, Status, Vec<u8>, Vec<u8>);

struct MergePlan {
    clocks: Vec<Clock>,
    has_one_clock: bool,
    begin: u64,
    /// For each input, the new index of each descriptor.
    indices: Vec<Vec<u32>>,
    /// Inputs and old indices of descriptors not seen before.
    fresh: HashSet<(usize, u32)>,
    /// For each input and thread id, the new id.
    thread_ids: HashMap<(usize, u64), u64>,
    /// The old index of the next descriptor.
    next_index: u32,
    loss: Loss,
}

/// The contents of all files so far.
#[derive(Default)]
struct Seen {
    descriptors: HashMap<DescriptorKey, u32>,
    /// The process of each thread id.
    owners: HashMap<u64, Option<u64>>,
}

impl MergePlan {
    fn new(inputs: &[Input], has_one_clock: bool) -> Result<Self> {
        let mut plan = Self {
            clocks: inputs.iter().map(|input| input.header.clock()).collect(),
            has_one_clock,
            begin: u64::MAX,
            indices: Vec::new(),
            fresh: HashSet::new(),
            thread_ids: HashMap::new(),
            next_index: 0,
            loss: Loss::default(),
        };
        let mut seen = Seen::default();
        for (index, input) in inputs.iter().enumerate() {
            plan.begin = plan.begin.min(plan.time(index, input.header.begin_time));
            plan.survey(index, input, &mut seen)?;
        }
        Ok(plan)
    }

    fn header(&self, inputs: &[Input], first: &Header) -> Header {
        let layout = Layout::real(Version::V2_1_0, ByteOrder::Little);
        let mut header = Header::new(layout, Version::V2_1_0);
        header.pid = Some(first.pid.unwrap_or(0));
        header.cpu_frequency = if self.has_one_clock { first.cpu_frequency } else { 0 };
        header.begin_time = self.begin;
        let ends = inputs.iter().enumerate().map(|(index, input)| self.time(index, input.header.end_time));
        header.end_time = ends.max().unwrap_or(0);
        header
    }

    fn survey(&mut self, input: usize, file: &Input, seen: &mut Seen) -> Result<()> {
        let mut indices = Vec::new();
        let mut in_threads = false;
        file.reader()?.walk(|located| {
            match located.record {
                Record::Descriptor(descriptor) => {
                    let next = seen.descriptors.len() as u32;
                    let index = *seen.descriptors.entry(key(&descriptor)).or_insert(next);
                    if index == next {
                        self.fresh.insert((input, indices.len() as u32));
                    }
                    indices.push(index);
                }
                // No block may refer to a hole, so it need not be copied.
                Record::Hole | Record::Malformed(_) | Record::Residue(_) if !in_threads => indices.push(HOLE),
                Record::Thread(thread) => {
                    in_threads = true;
                    self.claim((input, thread.id), file.header.pid, &mut seen.owners);
                }
                _ => {}
            }
            Ok::<_, Error>(())
        })?;
        self.indices.push(indices);
        Ok(())
    }

    /// Determines the new id of a thread: unchanged unless another process has it.
    fn claim(&mut self, thread: (usize, u64), pid: Option<u64>, owners: &mut HashMap<u64, Option<u64>>) {
        if self.thread_ids.contains_key(&thread) {
            return;
        }
        let mut new = thread.1;
        let mine = |owner: Option<&Option<u64>>| owner.is_none_or(|owner| pid.is_some() && *owner == pid);
        while !mine(owners.get(&new)) {
            new = new.wrapping_add(1 << 32);
        }
        owners.insert(new, pid);
        self.thread_ids.insert(thread, new);
    }

    fn time(&self, input: usize, ticks: u64) -> u64 {
        match self.clocks.get(input) {
            Some(clock) if !self.has_one_clock => clock.ns(ticks),
            _ => ticks,
        }
    }

    /// Times on the common clock, with the start clamped according to the file's header; `None` if easy_profiler would
    /// drop the record.
    fn span(&mut self, input: usize, (begin, end): (u64, u64), kept: bool) -> Option<(u64, u64)> {
        if !kept {
            self.loss.lose("records that ended before their capture started", || format!("at {end}"));
            return None;
        }
        let capture = self.clocks.get(input).map_or(0, Clock::first_kept);
        Some((self.time(input, begin.max(capture)), self.time(input, end)))
    }

    fn block(&mut self, input: usize, times: (u64, u64), descriptor: u32) -> Option<(u64, u64, u32)> {
        let kept = self.clocks.get(input).is_none_or(|clock| clock.keeps_block(times.1));
        let (begin, end) = self.span(input, times, kept)?;
        let index = self.new_index(input, descriptor);
        if index.is_none() {
            self.loss.lose("blocks without a descriptor", || format!("descriptor {descriptor}"));
        }
        Some((begin, end, index?))
    }

    fn new_index(&self, input: usize, descriptor: u32) -> Option<u32> {
        let index = self.indices.get(input)?.get(descriptor as usize)?;
        (*index != HOLE).then_some(*index)
    }
}

/// The new index of a descriptor without contents.
const HOLE: u32 = u32::MAX;

fn key(descriptor: &Descriptor<'_>) -> DescriptorKey {
    let Descriptor { line, color, block_type, status, name, file, .. } = descriptor;
    (*line, *color, *block_type, *status, name.text.to_vec(), file.text.to_vec())
}

impl Plan for MergePlan {
    fn start(&mut self, _input: usize) -> Result<()> {
        self.next_index = 0;
        Ok(())
    }

    fn apply<'a>(&mut self, input: usize, record: Record<'a>) -> Result<Option<Record<'a>>> {
        Ok(match record {
            Record::Descriptor(descriptor) => {
                let index = self.next_index;
                self.next_index += 1;
                let id = self.new_index(input, index).unwrap_or(HOLE);
                self.fresh.contains(&(input, index)).then_some(Record::Descriptor(Descriptor { id, ..descriptor }))
            }
            Record::Hole => {
                self.next_index += 1;
                None
            }
            Record::Thread(thread) => {
                let id = self.thread_ids.get(&(input, thread.id)).copied().unwrap_or(thread.id);
                Some(Record::Thread(Thread { id, ..thread }))
            }
            Record::Switch(switch) => {
                let kept = self.clocks.get(input).is_none_or(|clock| clock.keeps_switch(switch.end));
                let target = self.thread_ids.get(&(input, switch.target)).copied().unwrap_or(switch.target);
                let span = self.span(input, (switch.begin, switch.end), kept);
                span.map(|(begin, end)| Record::Switch(Switch { begin, end, target, ..switch }))
            }
            Record::Block(block) => self
                .block(input, (block.begin, block.end), block.descriptor)
                .map(|(begin, end, descriptor)| Record::Block(Block { begin, end, descriptor, ..block })),
            Record::Value(value) => self
                .block(input, (value.begin, value.end), value.descriptor)
                .map(|(begin, end, descriptor)| Record::Value(Value { begin, end, descriptor, ..value })),
            other => Some(other),
        })
    }

    fn loss(&mut self) -> &mut Loss {
        &mut self.loss
    }
}

//! Several files as one.

use std::{
    collections::{HashMap, HashSet},
    io::Write,
};

use traceloom_core::{ByteOrder, Edited, Error, Loss, Options, Records, Result, Source};

use super::transcript::{self, Inputs, MOST_BOOKMARKS, Plan};
use crate::{
    Block, Clock, Descriptor, Header, Record, Switch, Thread, Value,
    raw::{BlockType, Layout, Status, Version},
};

/// Writes all files into one of version 2.1.0.
///
/// Files go in by time. Times stay as they are where all files have one clock, else they become
/// nanoseconds. Equal descriptors become one. A thread id that two processes share is given anew for
/// the later file; within one process it is the same thread.
pub fn merge<W: Write>(sources: &[Source], out: W, options: &Options) -> Result<Edited> {
    let mut inputs = Inputs::open(sources, options)?;
    // A thread's blocks nest by the order in which they come: an earlier dump has to come first.
    inputs.sort_by_origin()?;
    let Some(first) = inputs.headers.first() else { return Err(Error::usage("there is nothing to merge")) };
    let layout = Layout::real(Version::V2_1_0, ByteOrder::Little);
    let mut loss = Loss::default();
    let frequency = first.cpu_frequency;
    let one_frequency = inputs.headers.iter().all(|header| header.cpu_frequency == frequency);
    // Each dump of a process measures the frequency anew; the counter is the same.
    let one_process = first.pid.is_some()
        && inputs
            .headers
            .iter()
            .all(|header| header.pid == first.pid && (header.cpu_frequency == 0) == (frequency == 0));
    let one_clock = one_frequency || one_process;
    for header in &inputs.headers {
        if one_process && header.cpu_frequency != frequency {
            loss.lose("clock frequencies: the first file's counts", || format!("{} Hz", header.cpu_frequency));
        }
        if header.pid != first.pid {
            loss.lose("process ids: a file has room for one", || format!("{:?}", header.pid.unwrap_or(0)));
        }
        if !one_clock {
            loss.lose("ticks, which became nanoseconds", || format!("{} Hz", header.cpu_frequency));
        }
    }
    let mut plan = Merge::new(&inputs, one_clock)?;
    let mut header = Header::new(layout, Version::V2_1_0);
    header.pid = Some(first.pid.unwrap_or(0));
    header.cpu_frequency = if one_clock { frequency } else { 0 };
    header.begin_time = plan.begin;
    let ends = inputs.headers.iter().zip(&plan.clocks);
    header.end_time = ends
        .map(|(header, clock)| if one_clock { header.end_time } else { clock.ns(header.end_time) })
        .max()
        .unwrap_or(0);
    std::mem::swap(&mut loss, &mut plan.loss);
    let counted = transcript::count(&inputs, &layout, &mut plan)?;
    std::mem::swap(&mut loss, &mut plan.loss);
    if counted.bookmarks() > MOST_BOOKMARKS {
        loss.lose("bookmarks: a file has room for 65535", || format!("{} of them", counted.bookmarks()));
    }
    transcript::write(&inputs, out, header, &counted, &mut plan)?;
    plan.ids.iter().filter(|((_, old), new)| old != *new).for_each(|((_, old), new)| {
        loss.lose("thread ids that two processes share", || format!("{old} became {new}"));
    });
    Ok(Edited { findings: counted.findings, loss })
}

/// All of a descriptor but its number.
type Key = (i32, u32, BlockType, Status, Vec<u8>, Vec<u8>);

struct Merge {
    clocks: Vec<Clock>,
    one_clock: bool,
    begin: u64,
    /// For each input, the new place of each descriptor.
    places: Vec<Vec<u32>>,
    /// Old places that bring a descriptor not seen before.
    fresh: HashSet<(usize, u32)>,
    /// For each input and thread id, the new id.
    ids: HashMap<(usize, u64), u64>,
    index: u32,
    loss: Loss,
}

impl Merge {
    fn new(inputs: &Inputs, one_clock: bool) -> Result<Self> {
        let clocks = inputs.headers.iter().map(Header::clock).collect();
        let mut merge = Self {
            clocks,
            one_clock,
            begin: u64::MAX,
            places: Vec::new(),
            fresh: HashSet::new(),
            ids: HashMap::new(),
            index: 0,
            loss: Loss::default(),
        };
        let mut known = HashMap::new();
        let mut owners: HashMap<u64, Option<u64>> = HashMap::new();
        for (input, header) in inputs.headers.iter().enumerate() {
            merge.begin = merge.begin.min(merge.time(input, header.begin_time));
            merge.survey(inputs, input, header.pid, &mut known, &mut owners)?;
        }
        Ok(merge)
    }

    fn survey(
        &mut self,
        inputs: &Inputs,
        input: usize,
        pid: Option<u64>,
        known: &mut HashMap<Key, u32>,
        owners: &mut HashMap<u64, Option<u64>>,
    ) -> Result<()> {
        let mut places = Vec::new();
        let mut reader = inputs.reader(input)?;
        let mut in_threads = false;
        while let Some(located) = reader.next()? {
            match located.record {
                Record::Descriptor(descriptor) => {
                    let d = &descriptor;
                    let key = (d.line, d.color, d.block_type, d.status, d.name.text.to_vec(), d.file.text.to_vec());
                    let next = known.len() as u32;
                    let place = *known.entry(key).or_insert(next);
                    if place == next {
                        self.fresh.insert((input, places.len() as u32));
                    }
                    places.push(place);
                }
                // No block may refer to a hole, so it need not come along.
                Record::Hole | Record::Malformed(_) if !in_threads => places.push(HOLE),
                Record::Thread(thread) => {
                    in_threads = true;
                    self.claim(input, thread.id, pid, owners);
                }
                _ => {}
            }
        }
        self.places.push(places);
        Ok(())
    }

    /// Finds the new id of a thread: its own unless another process has it.
    fn claim(&mut self, input: usize, id: u64, pid: Option<u64>, owners: &mut HashMap<u64, Option<u64>>) {
        if self.ids.contains_key(&(input, id)) {
            return;
        }
        let mut new = id;
        let mine = |owner: Option<&Option<u64>>| owner.is_none_or(|owner| pid.is_some() && *owner == pid);
        while !mine(owners.get(&new)) {
            new = new.wrapping_add(1 << 32);
        }
        owners.insert(new, pid);
        self.ids.insert((input, id), new);
    }

    fn time(&self, input: usize, ticks: u64) -> u64 {
        match self.clocks.get(input) {
            Some(clock) if !self.one_clock => clock.ns(ticks),
            _ => ticks,
        }
    }

    /// Times on the common clock, the begin clamped as the file's own header asks for; `None` where
    /// the original would drop the record.
    fn span(&mut self, input: usize, (begin, end): (u64, u64), kept: bool) -> Option<(u64, u64)> {
        if !kept {
            self.loss.lose("records that ended before their capture began", || format!("at {end}"));
            return None;
        }
        let capture = self.clocks.get(input).map_or(0, Clock::first_kept);
        Some((self.time(input, begin.max(capture)), self.time(input, end)))
    }

    fn block(&mut self, input: usize, times: (u64, u64), descriptor: u32) -> Option<(u64, u64, u32)> {
        let kept = self.clocks.get(input).is_none_or(|clock| clock.keeps_block(times.1));
        let (begin, end) = self.span(input, times, kept)?;
        let place = self.place(input, descriptor);
        if place.is_none() {
            self.loss.lose("blocks without a descriptor", || format!("descriptor {descriptor}"));
        }
        Some((begin, end, place?))
    }

    fn place(&self, input: usize, descriptor: u32) -> Option<u32> {
        let place = self.places.get(input)?.get(descriptor as usize)?;
        (*place != HOLE).then_some(*place)
    }
}

/// The place of a descriptor that is none.
const HOLE: u32 = u32::MAX;

impl Plan for Merge {
    fn start(&mut self, _input: usize) -> Result<()> {
        self.index = 0;
        Ok(())
    }

    fn apply<'a>(&mut self, input: usize, record: Record<'a>) -> Result<Option<Record<'a>>> {
        Ok(match record {
            Record::Descriptor(descriptor) => {
                let index = self.index;
                self.index += 1;
                let id = self.place(input, index).unwrap_or(HOLE);
                self.fresh.contains(&(input, index)).then_some(Record::Descriptor(Descriptor { id, ..descriptor }))
            }
            Record::Hole => {
                self.index += 1;
                None
            }
            Record::Thread(thread) => {
                let id = self.ids.get(&(input, thread.id)).copied().unwrap_or(thread.id);
                Some(Record::Thread(Thread { id, ..thread }))
            }
            Record::Switch(switch) => {
                let kept = self.clocks.get(input).is_none_or(|clock| clock.keeps_switch(switch.end));
                let target = self.ids.get(&(input, switch.target)).copied().unwrap_or(switch.target);
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

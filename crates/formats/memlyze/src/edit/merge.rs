//! Merges several traces into one, in time order.

use std::{collections::HashMap, io::Write};

use traceloom_core::{Edited, Error, Findings, Limits, Loss, Options, Records, Result, Source};

use super::{edited, lose_residue, repair::complete, retimed, shortest};
use crate::{
    Clock, Frame, Header, MetadataBuilder, Reader, Record, Threads, create_with_metadata,
    metadata::IdSet,
    raw::{Dialect, Packing},
};

/// Writes the events of all traces in time order; equal names and stacks become one.
///
/// The traces may be of different processes: threads get new small numbers, and the upper 16 bits of an address are the
/// number of its trace, so that equal addresses stay distinct.
pub fn merge<W: Write>(sources: &[Source], out: W, options: &Options) -> Result<Edited> {
    if sources.is_empty() || sources.len() > usize::from(u16::MAX) {
        return Err(Error::usage(format!("cannot merge {} traces; expected 1 to 65535", sources.len())));
    }
    let mut metadata = MetadataBuilder::new(&options.limits);
    let mut inputs = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        inputs.push(Input::open(source, number, &mut metadata, options)?);
    }
    let start_us = inputs.iter().map(|input| input.reader.header().start_us).min().unwrap_or(0);
    let mut ids = NewIds::new(&metadata, &options.limits);
    let mut metadata = metadata.finish()?;
    let is_growth = |input: &Input| input.next.is_none() || input.reader.header().dialect == Dialect::Growth;
    let dialect = if metadata.is_empty() && inputs.iter().all(is_growth) { Dialect::Growth } else { Dialect::Document };
    let is_packed = inputs.iter().all(|input| input.reader.header().packing() == Packing::Blocks);
    let packing = if is_packed { Packing::Blocks } else { Packing::Plain };
    let header = Header { dialect, ..Header::new(start_us) }.packed(packing);
    let (mut clock, mut loss) = (Clock::new(dialect), Loss::default());
    if dialect == Dialect::Document {
        let (stacks, markers) = ids.missing(sources, options)?;
        metadata = complete(metadata, &stacks, markers, &options.limits, &mut loss)?;
    }
    let mut writer = create_with_metadata(out, &header, &metadata)?;
    while let Some(input) = earliest(&mut inputs, start_us) {
        if let Some(event) = input.next {
            let event = ids.renumber(event, input, start_us, &mut loss)?;
            writer.write(&retimed(&event, &mut clock, &mut loss))?;
        }
        input.advance(&mut loss)?;
    }
    writer.finish()?;
    let mut findings = Findings::new(options.mode, &options.limits);
    inputs.into_iter().for_each(|input| findings.absorb(input.reader.into_findings()));
    Ok(edited(findings, loss))
}

struct Input {
    reader: Reader,
    number: usize,
    next: Option<Record<'static>>,
    /// New ids of the stacks and functions, by row of the old tables.
    stacks: Vec<u64>,
    functions: Vec<u64>,
}

impl Input {
    fn open(source: &Source, number: usize, metadata: &mut MetadataBuilder, options: &Options) -> Result<Self> {
        let reader = crate::open(source.clone(), options)?;
        let tables = reader.metadata();
        let mut files = HashMap::new();
        for (id, path) in tables.files() {
            files.insert(id, metadata.file(path)?);
        }
        let mut by_id = HashMap::new();
        let mut functions = Vec::new();
        for (id, name) in tables.functions() {
            by_id.insert(id, metadata.function(name)?);
            set(&mut functions, tables.functions.ids.row(id), metadata.function(name)?);
        }
        let mut stacks = Vec::new();
        for (id, frames) in tables.stacks() {
            // A name that is missing here must not become a name of another trace.
            let frames: Vec<Frame> = frames
                .map(|frame| Frame {
                    file: frame.file.and_then(|id| files.get(&id).copied()),
                    line: frame.line,
                    function: frame.function.and_then(|id| by_id.get(&id).copied()),
                })
                .collect();
            set(&mut stacks, tables.stacks.ids.row(id), metadata.stack(&frames)?);
        }
        let mut input = Self { reader, number, next: None, stacks, functions };
        input.advance(&mut Loss::default())?;
        Ok(input)
    }

    fn advance(&mut self, loss: &mut Loss) -> Result<()> {
        self.next = None;
        while let Some(located) = self.reader.next()? {
            if let Record::Residue(bytes) = located.record {
                lose_residue(loss, located.offset, bytes);
            }
            self.next = shortest(&located.record);
            if self.next.is_some() {
                break;
            }
        }
        Ok(())
    }

    /// Microseconds from the start of the merged trace.
    fn time_us(&self, record: &Record<'_>, start_us: u64) -> u64 {
        let shift = self.reader.header().start_us.saturating_sub(start_us);
        shift.saturating_add(record.time_us().unwrap_or(0))
    }
}

fn set(ids: &mut Vec<u64>, row: Option<usize>, id: u64) {
    let Some(row) = row else { return };
    if ids.len() <= row {
        ids.resize(row + 1, 0);
    }
    if let Some(place) = ids.get_mut(row) {
        *place = id;
    }
}

/// The input whose next event is the earliest; the first input if times are equal.
fn earliest(inputs: &mut [Input], start_us: u64) -> Option<&mut Input> {
    let waiting = inputs.iter_mut().filter(|input| input.next.is_some());
    waiting.min_by_key(|input| input.next.map(|next| input.time_us(&next, start_us)))
}

/// Ids that one trace cannot keep in the merged trace.
struct NewIds<'a> {
    threads: Threads,
    /// Ids that are not in any metadata, by trace and old id, numbered after the known ones.
    stacks: HashMap<(usize, u64), u64>,
    markers: HashMap<(usize, u64), u64>,
    first_stack: u64,
    first_marker: u64,
    limits: &'a Limits,
}

impl<'a> NewIds<'a> {
    fn new(metadata: &MetadataBuilder, limits: &'a Limits) -> Self {
        Self {
            threads: Threads::default(),
            stacks: HashMap::new(),
            markers: HashMap::new(),
            first_stack: metadata.next_stack(),
            first_marker: metadata.next_function(),
            limits,
        }
    }

    /// The new ids of stacks and markers that events use and no metadata has.
    fn missing(&mut self, sources: &[Source], options: &Options) -> Result<(IdSet, IdSet)> {
        let (mut stacks, mut markers) = (IdSet::default(), IdSet::default());
        for (number, source) in sources.iter().enumerate() {
            let mut reader = crate::open(source.clone(), options)?;
            reader.walk(|_| Ok::<_, Error>(()))?;
            for id in reader.missing.stacks.iter() {
                stacks.insert(fresh(&mut self.stacks, (number, id), self.first_stack, self.limits)?)?;
            }
            for id in reader.missing.markers.iter() {
                markers.insert(fresh(&mut self.markers, (number, id), self.first_marker, self.limits)?)?;
            }
        }
        Ok((stacks, markers))
    }

    fn renumber(
        &mut self,
        mut event: Record<'static>,
        input: &Input,
        start_us: u64,
        loss: &mut Loss,
    ) -> Result<Record<'static>> {
        let time_us = input.time_us(&event, start_us);
        let tables = input.reader.metadata();
        match &mut event {
            Record::Alloc(alloc) => {
                alloc.time_us = time_us;
                alloc.address = tagged(alloc.address, input.number, loss);
                alloc.thread = self.threads.number((input.number as u64) << 16 | u64::from(alloc.thread))?;
                let known = tables.stacks.ids.row(alloc.stack).and_then(|row| input.stacks.get(row));
                let key = (input.number, alloc.stack);
                alloc.stack =
                    known.map_or_else(|| fresh(&mut self.stacks, key, self.first_stack, self.limits), |id| Ok(*id))?;
            }
            Record::Free(free) => {
                free.time_us = time_us;
                free.address = tagged(free.address, input.number, loss);
            }
            Record::Gc(gc) => gc.time_us = time_us,
            Record::Marker(marker) => {
                marker.time_us = time_us;
                let known = tables.functions.ids.row(marker.name).and_then(|row| input.functions.get(row));
                let key = (input.number, marker.name);
                marker.name = known
                    .map_or_else(|| fresh(&mut self.markers, key, self.first_marker, self.limits), |id| Ok(*id))?;
            }
            Record::Metadata(_) | Record::Block(_) | Record::Residue(_) => {}
        }
        Ok(event)
    }
}

/// Programs use 47 bits of an address, so the number of the trace fits above them; the growth dialect has no addresses.
fn tagged(address: u64, number: usize, loss: &mut Loss) -> u64 {
    if address == 0 || number == 0 {
        return address;
    }
    let tagged = address ^ (number as u64) << 48;
    loss.lose("addresses, now tagged with the number of their trace", || format!("{address:#x} became {tagged:#x}"));
    tagged
}

fn fresh(ids: &mut HashMap<(usize, u64), u64>, key: (usize, u64), first: u64, limits: &Limits) -> Result<u64> {
    limits.check_entries("ids without an entry", ids.len() as u64 + 1)?;
    let next = first.saturating_add(ids.len() as u64);
    Ok(*ids.entry(key).or_insert(next))
}

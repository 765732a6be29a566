//! Merges several files into one, in time order as far as each file is in time order.

use std::io::Write;

use traceloom_core::{ByteOrder, Edited, Error, Findings, Loss, Options, Records, Result, Source};

use super::{
    lose_unreadable,
    plan::{Dialect, Plan},
    relay::Relay,
};
use crate::{Clock, Entry, Header, Moment, Reader, Record, Tally, Writer, create, open};

/// Writes the entries of all files to one 1.0.7 file; equal sites become one.
///
/// Files of one run (same start, same clock) keep their ticks; others get nanoseconds since the earliest start.
pub fn merge<W: Write>(sources: &[Source], out: W, options: &Options) -> Result<Edited> {
    let mut headers = Vec::new();
    for source in sources {
        headers.push(open(source.clone(), options)?.header().clone());
    }
    let first = headers.first().ok_or_else(|| Error::usage("nothing to merge"))?;
    let is_one_run = headers.iter().all(|header| clock_fields(header) == clock_fields(first));
    let mut like = first.clone();
    if !is_one_run {
        like = common_clock(&headers);
    }
    let mut loss = Loss::default();
    let mut merger = Merger::new(sources, &like, is_one_run, options, &mut loss)?;
    let mut tally = Tally::new(&merger.plan().header);
    merger.run(&mut Loss::default(), |entry| {
        tally.count(&Record::Entry(*entry));
        Ok(())
    })?;
    merger.plan().trailer(|record| {
        tally.count(record);
        Ok(())
    })?;
    let mut header = merger.plan().header.clone();
    tally.fill(&mut header)?;
    let mut writer: Writer<W> = create(out, &header)?;
    merger.rewind(sources, options)?;
    merger.run(&mut loss, |entry| writer.write(&Record::Entry(*entry)))?;
    merger.plan().finish(writer)?;
    Ok(Edited { findings: merger.into_findings(options), loss })
}

fn clock_fields(header: &Header) -> (u64, u64, i64, i32, bool) {
    let ticks = (header.timestamp_frequency, header.start_timestamp);
    (ticks.0, ticks.1, header.start_time_sec, header.start_time_nsec, header.has_timestamps)
}

/// Nanoseconds since the earliest start; with timestamps if any file has them.
fn common_clock(headers: &[Header]) -> Header {
    let start = headers.iter().map(|header| header.clock().start()).min().unwrap_or(Moment { sec: 0, nsec: 0 });
    let has_timestamps = headers.iter().any(|header| header.has_timestamps);
    Header {
        timestamp_frequency: if has_timestamps { 1_000_000_000 } else { 0 },
        start_time_sec: start.sec,
        start_time_nsec: start.nsec as i32,
        has_timestamps,
        ..Header::new(ByteOrder::Little)
    }
}

struct Merger {
    inputs: Vec<Input>,
    /// The plan, and the ids of the input whose entry is being converted.
    relay: Relay,
    start: Moment,
    keeps_ticks: bool,
}

struct Input {
    reader: Reader,
    clock: Clock,
    ids: Vec<u32>,
    head: Option<Head>,
}

/// The next entry of an input, as it will be in the output.
struct Head {
    moment: Moment,
    timestamp: Option<u64>,
    id: u32,
    data: Vec<u8>,
}

impl Merger {
    fn new(sources: &[Source], like: &Header, keeps_ticks: bool, options: &Options, loss: &mut Loss) -> Result<Self> {
        let mut plan = Plan::new(Dialect::Library, ByteOrder::Little, like, &options.limits);
        let mut inputs = Vec::new();
        for source in sources {
            let reader = open(source.clone(), options)?;
            let ids = match reader.dictionary() {
                Some(dictionary) => plan.add_sites(dictionary, true, loss)?,
                None => Vec::new(),
            };
            inputs.push(Input { clock: reader.clock(), reader, ids, head: None });
        }
        let relay = Relay { plan, ids: Vec::new(), id: 0, data: Vec::new() };
        Ok(Self { inputs, relay, start: like.clock().start(), keeps_ticks })
    }

    fn plan(&self) -> &Plan {
        &self.relay.plan
    }

    fn rewind(&mut self, sources: &[Source], options: &Options) -> Result<()> {
        for (input, source) in self.inputs.iter_mut().zip(sources) {
            input.reader = open(source.clone(), options)?;
        }
        Ok(())
    }

    fn run(&mut self, loss: &mut Loss, mut each: impl FnMut(&Entry<'_>) -> Result<()>) -> Result<()> {
        for index in 0..self.inputs.len() {
            self.advance(index, loss)?;
        }
        loop {
            let heads = self.inputs.iter().enumerate();
            let earliest = heads.filter_map(|(index, input)| Some((input.head.as_ref()?.moment, index))).min();
            let Some((_, index)) = earliest else { return Ok(()) };
            if let Some(head) = self.inputs.get(index).and_then(|input| input.head.as_ref()) {
                each(&Entry::new(head.id, head.timestamp, &head.data))?;
            }
            self.advance(index, loss)?;
        }
    }

    /// Reads the next entry of an input into its head.
    fn advance(&mut self, index: usize, loss: &mut Loss) -> Result<()> {
        let Some(input) = self.inputs.get_mut(index) else { return Ok(()) };
        let mut head = input.head.take().map_or_else(Vec::new, |head| head.data);
        while let Some(located) = input.reader.next()? {
            let Record::Entry(entry) = &located.record else {
                lose_unreadable(&located, loss);
                continue;
            };
            std::mem::swap(&mut self.relay.ids, &mut input.ids);
            let converted = self.relay.convert(entry, loss);
            std::mem::swap(&mut self.relay.ids, &mut input.ids);
            if !converted? {
                loss.lose("types of unreadable arguments, kept as hexadecimal text", || {
                    format!("entry at {}, id {}", located.offset, entry.id)
                });
            }
            let moment = entry.timestamp.map_or(input.clock.start(), |ticks| input.clock.moment(ticks));
            let timestamp = match (self.relay.plan.header.has_timestamps, self.keeps_ticks) {
                (false, _) => None,
                (true, true) => entry.timestamp,
                (true, false) => Some(nanoseconds_between(self.start, moment)),
            };
            std::mem::swap(&mut head, &mut self.relay.data);
            input.head = Some(Head { moment, timestamp, id: self.relay.id, data: head });
            return Ok(());
        }
        Ok(())
    }

    fn into_findings(self, options: &Options) -> Findings {
        let mut findings = Findings::new(options.mode, &options.limits);
        for input in self.inputs {
            findings.absorb(input.reader.into_findings());
        }
        findings
    }
}

/// May be before the start: the counter wraps, like the library's.
fn nanoseconds_between(start: Moment, moment: Moment) -> u64 {
    let sec = moment.sec.wrapping_sub(start.sec).wrapping_mul(1_000_000_000);
    sec.wrapping_add(i64::from(moment.nsec)).wrapping_sub(i64::from(start.nsec)) as u64
}

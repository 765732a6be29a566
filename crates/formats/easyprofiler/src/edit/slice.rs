//! Extracts a time range and some threads of a file.

use std::io::Write;

use traceloom_core::{Edited, Loss, Options, Result, Slice, Source};

use super::{
    input::Input,
    transcript::{self, Plan},
};
use crate::{Block, Clock, Record, Value};

/// Writes the threads and the time range in `slice`.
///
/// Blocks that overlap the range are kept whole; the header's start and end become its bounds, so that readers cut them
/// at its start. An empty range gives a file without threads, which easy_profiler refuses as it refuses every empty
/// profile.
pub fn slice<W: Write>(source: &Source, out: W, slice: &Slice, options: &Options) -> Result<Edited> {
    let input = Input::open(source, options)?;
    let clock = input.header.clock();
    let origin_ns = input.origin_ns()?;
    let tick = |ns: i64| clock.first_tick_at(origin_ns.saturating_add_signed(ns));
    let mut header = input.header.clone();
    if let Some(from_ns) = slice.range.from_ns() {
        header.begin_time = header.begin_time.max(tick(from_ns));
    }
    if let Some(to_ns) = slice.range.to_ns() {
        header.end_time = tick(to_ns);
    }
    let begin_ns = clock.ns(header.begin_time);
    let mut plan = SlicePlan { slice, clock, origin_ns, begin_ns, in_thread: false, loss: Loss::default() };
    transcript::run(&[input], out, header, &mut plan)
}

struct SlicePlan<'s> {
    slice: &'s Slice,
    clock: Clock,
    origin_ns: u64,
    /// Start of the capture according to the new header.
    begin_ns: u64,
    in_thread: bool,
    loss: Loss,
}

impl SlicePlan<'_> {
    /// Nanoseconds from the origin.
    fn ts_ns(&self, ns: u64) -> i64 {
        let ts_ns = i128::from(ns) - i128::from(self.origin_ns);
        ts_ns.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    fn overlaps(&self, begin: u64, end: u64) -> bool {
        let range = self.slice.range;
        let (begin_ns, end_ns) = self.clock.span(begin, end);
        !range.is_empty() && range.overlaps(self.ts_ns(begin_ns), self.ts_ns(end_ns))
    }

    /// easy_profiler drops a switch that ends at the start of the capture, and refuses a file that counts it.
    fn keeps_switch(&mut self, begin: u64, end: u64) -> bool {
        let overlaps = self.in_thread && self.overlaps(begin, end);
        let kept = overlaps && self.clock.ns(end) > self.begin_ns;
        if overlaps && !kept {
            self.loss.lose("context switches that end where the range starts", || format!("at {end}"));
        }
        kept
    }
}

impl Plan for SlicePlan<'_> {
    fn apply<'a>(&mut self, _input: usize, record: Record<'a>) -> Result<Option<Record<'a>>> {
        let kept = match record {
            Record::Descriptor(_) | Record::Hole => true,
            Record::Thread(thread) => {
                self.in_thread = self.slice.keeps_thread(thread.id, thread.name.text);
                self.in_thread
            }
            Record::Switch(switch) => self.keeps_switch(switch.begin, switch.end),
            Record::Block(Block { begin, end, .. }) | Record::Value(Value { begin, end, .. }) => {
                self.in_thread && self.overlaps(begin, end)
            }
            Record::Bookmark(bookmark) => self.slice.range.contains(self.ts_ns(bookmark.position_ns)),
            _ => false,
        };
        Ok(kept.then_some(record))
    }

    fn loss(&mut self) -> &mut Loss {
        &mut self.loss
    }

    fn keeps_empty_threads(&self) -> bool {
        false
    }
}

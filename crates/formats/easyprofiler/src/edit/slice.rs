//! A part of a file: a stretch of time, some of the threads.

use std::io::Write;

use traceloom_core::{Edited, Error, Loss, Options, Result, Slice, Source};

use super::transcript::{self, Inputs, Plan};
use crate::{Block, Clock, Record};

/// Writes the threads and the stretch of time that `slice` names.
///
/// Whatever reaches into the stretch is kept whole; the header's begin and end become its bounds, so
/// that readers cut what sticks out in front.
pub fn slice<W: Write>(source: &Source, out: W, slice: &Slice, options: &Options) -> Result<Edited> {
    let inputs = Inputs::open(std::slice::from_ref(source), options)?;
    let Some(old) = inputs.headers.first() else { return Err(Error::usage("no input")) };
    let clock = old.clock();
    let origin = inputs.origin_ns(0)?;
    let absolute = |ns: i64| origin.saturating_add_signed(ns);
    let from_ns = slice.range.from_ns().map(absolute).unwrap_or(0);
    let to_ns = slice.range.to_ns().map(absolute);
    let mut header = old.clone();
    if slice.range.from_ns().is_some() {
        header.begin_time = header.begin_time.max(clock.first_tick_at(from_ns));
    }
    if let Some(to_ns) = to_ns {
        header.end_time = clock.first_tick_at(to_ns);
    }
    let begin_ns = clock.ns(header.begin_time);
    let mut plan = Part { slice, clock, from_ns, to_ns, begin_ns, in_thread: false, loss: Loss::default() };
    let counted = transcript::count(&inputs, &header.layout, &mut plan)?;
    if counted.records() == 0 {
        return Err(Error::usage("nothing of the trace lies in this part of it"));
    }
    let loss = std::mem::take(&mut plan.loss);
    transcript::write(&inputs, out, header, &counted, &mut plan)?;
    Ok(Edited { findings: counted.findings, loss })
}

struct Part<'s> {
    slice: &'s Slice,
    clock: Clock,
    from_ns: u64,
    to_ns: Option<u64>,
    begin_ns: u64,
    in_thread: bool,
    loss: Loss,
}

impl Part<'_> {
    fn is_before_end(&self, ns: u64) -> bool {
        self.to_ns.is_none_or(|to_ns| ns < to_ns)
    }

    fn holds(&self, begin: u64, end: u64) -> bool {
        let (begin, end) = (self.clock.ns(begin), self.clock.ns(end));
        let reaches_in = if begin == end { end >= self.from_ns } else { end > self.from_ns };
        self.in_thread && reaches_in && self.is_before_end(begin)
    }
}

impl Plan for Part<'_> {
    fn apply<'a>(&mut self, _input: usize, record: Record<'a>) -> Result<Option<Record<'a>>> {
        let kept = match record {
            Record::Descriptor(_) | Record::Hole => true,
            Record::Thread(thread) => {
                self.in_thread = self.slice.keeps_thread(thread.id, thread.name.text);
                self.in_thread
            }
            Record::Switch(switch) => self.holds(switch.begin, switch.end) && self.clock.ns(switch.end) > self.begin_ns,
            Record::Block(Block { begin, end, .. }) | Record::Value(crate::Value { begin, end, .. }) => {
                self.holds(begin, end)
            }
            Record::Bookmark(bookmark) => {
                bookmark.position_ns >= self.from_ns && self.is_before_end(bookmark.position_ns)
            }
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

//! Seeks to a time in a trace without reading everything before it.

use traceloom_core::Result;

use super::{Index, Reader, State, ahead::Ahead, blocks::Unpacked};
use crate::{
    Clock,
    encoding::{block::Head, thorough},
    findings::INDEX_UNUSABLE,
    raw::{BLOCK_HEADER_BYTES, EVENT_BYTES, NO_RUN, Packing},
};

/// An offset from which events can be read, and the time there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Checkpoint {
    /// Offset in the file.
    pub(super) offset: u64,
    /// Offset it would have if no block were packed.
    pub(super) plain_offset: u64,
    /// Time at the previous event.
    pub(super) time_us: u64,
    /// Delta of the current run there, or [`NO_RUN`].
    pub(super) run_delta: u64,
}

impl Reader {
    /// Skips everything before `time_us`, in microseconds since the start: the next event is the first one at or after
    /// it.
    ///
    /// With an index, few bytes are read. Without one, a file with blocks is skipped head by head and a plain file
    /// event by event. Seeking backward is possible, too. Skipped events are not checked.
    pub fn seek(&mut self, time_us: u64, index: Option<&Index>) -> Result<()> {
        let mut checkpoint =
            Checkpoint { offset: self.events, plain_offset: self.events, time_us: 0, run_delta: NO_RUN };
        if let Some(index) = index {
            match index.before(time_us, self)? {
                Ok(found) => checkpoint = found.unwrap_or(checkpoint),
                Err(reason) => self.report(&INDEX_UNUSABLE, 0, |odd| odd.with("reason", reason))?,
            }
        }
        if self.header.packing() == Packing::Blocks {
            checkpoint = self.last_block_before(time_us, checkpoint)?;
        }
        self.window.seek(checkpoint.offset);
        self.clock = Clock::at(self.header.dialect, checkpoint.time_us, checkpoint.run_delta);
        self.block = Unpacked::before(checkpoint.plain_offset);
        // A reader that seeks often reads only a few blocks.
        self.ahead = Ahead::Off;
        self.state = self.state_at_events();
        self.pass_events(time_us)
    }

    /// The last block that starts before `time_us`, found by reading only heads.
    fn last_block_before(&self, time_us: u64, from: Checkpoint) -> Result<Checkpoint> {
        let (mut best, mut next) = (from, from);
        loop {
            let mut bytes = [0; BLOCK_HEADER_BYTES];
            let read = self.window.source().read_full(next.offset, &mut bytes)?;
            let head = Head::read(bytes.get(..read).unwrap_or_default(), self.header.order);
            let Some(head) = head.ok().filter(|head| head.time_us < time_us || next == from) else {
                return Ok(best);
            };
            best = Checkpoint { time_us: head.time_us, run_delta: head.run_delta, ..next };
            next.offset = next.offset.saturating_add(head.block_len() as u64);
            next.plain_offset = next.plain_offset.saturating_add(head.plain_len as u64);
        }
    }

    /// Skips events until the next one is at or after `time_us`.
    fn pass_events(&mut self, time_us: u64) -> Result<()> {
        loop {
            let ahead = match self.state {
                State::Plain | State::PlainBig => self.window.fill(EVENT_BYTES)?,
                State::InBlock => self.block.left(),
                State::BlockHead => match self.unpack_ahead()? {
                    Some(head) => {
                        self.window.consume(head.block_len());
                        continue;
                    }
                    None => continue,
                },
                State::Tail if self.header.packing() == Packing::Blocks => {
                    self.next_tail()?;
                    continue;
                }
                State::Metadata { .. } | State::Tail | State::Rest | State::Done => return Ok(()),
            };
            let Ok(event) = thorough::decode(ahead, self.header.order) else {
                if self.state != State::InBlock || !ahead.is_empty() {
                    return Ok(());
                }
                self.state = State::BlockHead;
                continue;
            };
            let mut clock = self.clock;
            clock.pass(&event);
            if clock.now_us() >= time_us {
                return Ok(());
            }
            self.clock = clock;
            match self.state {
                State::InBlock => self.block.taken += event.len,
                _ => self.window.consume(event.len),
            }
        }
    }
}

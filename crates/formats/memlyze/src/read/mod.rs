//! Walks the records of a file, front to back.

mod ahead;
mod blocks;
mod checks;
mod index;
mod seek;

pub(crate) use self::checks::Missing;
pub use self::index::{Index, build_index};

use traceloom_core::{ByteOrder, Finding, Findings, Located, Options, Position, Records, Result, Source, Window};

use self::{ahead::Ahead, blocks::Unpacked};
use crate::{
    Clock, Header, Metadata, Record,
    encoding::{
        quick::{QUICK_BYTES, QuickRules},
        thorough::{self, Fault},
    },
    findings::GROWTH_MODE,
    metadata::{self, IdSet},
    probe,
    raw::{Dialect, EVENT_BYTES, Packing},
};

/// Opens a file: reads the metadata and detects the dialect.
pub fn open(source: Source, options: &Options) -> Result<Reader> {
    let mut findings = Findings::new(options.mode, &options.limits);
    let mut header = probe::header(&source, &mut findings)?;
    let max_plain = source.max_unpacked(&options.limits)?;
    let mut window = Window::new(source, &options.limits);
    let (metadata, events) = metadata::read(&mut window, &header, &options.limits, &mut findings)?;
    header.dialect = probe::dialect(&mut window, &header, &metadata, events)?;
    if header.dialect == Dialect::Growth {
        findings.report(Finding::new(&GROWTH_MODE, Position::at(events)))?;
    }
    window.seek(header.stored_bytes as u64);
    let left = events.saturating_sub(window.offset());
    Ok(Reader {
        quick: QuickRules {
            dense_stacks: metadata.stacks.ids.dense(),
            seen_stacks: IdSet::default(),
            dense_names: metadata.functions.ids.dense(),
            odd_address_bits: if header.dialect == Dialect::Growth { u64::MAX } else { 0 },
        },
        window,
        clock: Clock::new(header.dialect),
        header,
        metadata,
        findings,
        state: State::Metadata { left },
        events,
        max_plain,
        block: Unpacked::before(events),
        ahead: Ahead::new(&options.limits),
        missing: Missing::default(),
        overflowed: false,
    })
}

/// Reads one file; see [`Records`].
#[derive(Debug)]
pub struct Reader {
    window: Window,
    header: Header,
    pub(crate) metadata: Metadata,
    findings: Findings,
    clock: Clock,
    state: State,
    /// Where the events start.
    events: u64,
    /// Maximum size of the file if no block were packed.
    max_plain: u64,
    block: Unpacked,
    ahead: Ahead,
    pub(crate) missing: Missing,
    quick: QuickRules,
    overflowed: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Metadata {
        left: u64,
    },
    /// Little-endian events in the window.
    Plain,
    /// Big-endian events in the window.
    PlainBig,
    /// At the head of a block, or at the end.
    BlockHead,
    /// Events in the unpacked block.
    InBlock,
    /// Nothing that follows can be decoded, up to the next block.
    Tail,
    /// Nothing that follows is decoded.
    Rest,
    Done,
}

/// Size of a piece of metadata or residue.
const PIECE_BYTES: usize = 4 << 10;

impl Reader {
    /// The metadata as tables.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The stacks that events so far refer to but the metadata does not have, by ascending id.
    pub fn missing_stacks(&self) -> impl Iterator<Item = u64> {
        self.missing.stacks.iter()
    }

    /// The marker names that events so far refer to but the metadata does not have, by ascending id.
    pub fn missing_markers(&self) -> impl Iterator<Item = u64> {
        self.missing.markers.iter()
    }

    /// Makes bytes available in the window; an error is final.
    #[inline]
    fn fill(&mut self, wanted: usize) -> Result<()> {
        let filled = self.window.fill(wanted).map(|_| ());
        if filled.is_err() {
            self.state = State::Done;
        }
        filled
    }

    fn next_metadata(&mut self, left: u64) -> Result<Option<Located<Record<'_>>>> {
        let offset = self.window.offset();
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(PIECE_BYTES);
        self.fill(wanted)?;
        let ahead = self.window.bytes();
        let len = whole_characters(ahead.get(..wanted).unwrap_or(ahead));
        self.state = match left.saturating_sub(len as u64) {
            0 => self.state_at_events(),
            // The file became shorter while it was read.
            _ if len == 0 => State::Tail,
            left => State::Metadata { left },
        };
        if len == 0 {
            return self.next();
        }
        let record = Record::Metadata(self.window.take(len));
        Ok(Some(Located { offset, len: len as u64, record }))
    }

    fn state_at_events(&self) -> State {
        match (self.header.packing(), self.header.order) {
            (Packing::Plain, ByteOrder::Little) => State::Plain,
            (Packing::Plain, ByteOrder::Big) => State::PlainBig,
            (Packing::Blocks, _) => State::BlockHead,
        }
    }

    #[inline]
    fn next_plain(&mut self) -> Result<Option<Located<Record<'_>>>> {
        // Checking the length separately makes the start of the bytes known a few cycles sooner, and every event
        // depends on that. Near its end, the window is refilled by the other path.
        if self.window.bytes().len() < QUICK_BYTES {
            return self.next_unusual();
        }
        if let Some(ahead) = self.window.bytes().first_chunk()
            && let Some(front) = self.quick.front(ahead)
        {
            if front.is_free {
                if let Some(free) = front.free(&mut self.clock) {
                    return Ok(Some(self.passed(free, front.len)));
                }
            } else if let Some((alloc, len)) = self.quick.alloc(ahead, &front, &mut self.clock) {
                return Ok(Some(self.passed(alloc, len)));
            }
        }
        self.next_other()
    }

    /// The next event, if it is not an ordinary ALLOC or FREE.
    #[inline(never)]
    fn next_other(&mut self) -> Result<Option<Located<Record<'_>>>> {
        if let Some(ahead) = self.window.bytes().first_chunk()
            && let Some((event, len)) = self.quick.event(ahead, &mut self.clock)
        {
            return Ok(Some(self.passed(event, len)));
        }
        self.next_unusual()
    }

    #[inline(always)]
    fn passed(&mut self, event: Record<'static>, len: usize) -> Located<Record<'static>> {
        let offset = self.window.offset();
        self.window.consume(len);
        Located { offset, len: len as u64, record: event }
    }

    #[inline(never)]
    fn next_unusual(&mut self) -> Result<Option<Located<Record<'_>>>> {
        self.fill(EVENT_BYTES)?;
        match thorough::decode(self.window.bytes(), self.header.order) {
            Ok(event) => {
                let offset = self.window.offset();
                self.window.consume(event.len);
                let record = self.record(&event, offset)?;
                Ok(Some(Located { offset, len: event.len as u64, record }))
            }
            Err(fault) => self.end_of_plain(fault),
        }
    }

    #[cold]
    fn end_of_plain(&mut self, fault: Fault) -> Result<Option<Located<Record<'_>>>> {
        self.state = State::Tail;
        if !self.window.bytes().is_empty() {
            let offset = self.window.offset();
            let left = self.window.source().len()?.saturating_sub(offset);
            self.report_fault(fault, offset, left)?;
        }
        self.next_tail()
    }
}

impl Records for Reader {
    traceloom_core::records_of!(crate::Memlyze, findings);

    #[inline]
    fn next(&mut self) -> Result<Option<Located<Record<'_>>>> {
        if self.state == State::Plain {
            return self.next_plain();
        }
        match self.state {
            State::Plain | State::PlainBig => self.next_unusual(),
            State::InBlock => self.next_in_block(),
            State::BlockHead => self.next_block(),
            State::Metadata { left } => self.next_metadata(left),
            State::Tail | State::Rest => self.next_tail(),
            State::Done => Ok(None),
        }
    }
}

/// How many of these bytes can be shown without cutting a character.
fn whole_characters(bytes: &[u8]) -> usize {
    let incomplete = match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes.len() - error.valid_up_to(),
        _ => 0,
    };
    match bytes.len() - incomplete {
        0 => bytes.len(),
        whole => whole,
    }
}

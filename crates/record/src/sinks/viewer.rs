//! One live viewer, with a separate trace, on a connection that never makes the writer wait.
//!
//! With a trace per viewer, each trace is valid from its first byte, whenever the viewer connects. A viewer that falls
//! behind misses complete spans, so its trace still nests.

use std::{
    collections::VecDeque,
    io::{self, Seek, SeekFrom, Write},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use traceloom_core::{
    Result,
    live::{self, MAX_FRAME_BYTES, Socket},
};

use super::{
    Rec, Sink,
    file::Medium,
    wtf::{Fate, WtfTrace},
};
use crate::{clock::Timeline, hub::ThreadInfo, stats::COUNTERS};

/// A viewer with more unconfirmed bytes misses the next records.
const MAX_BEHIND: u64 = 8 << 20;
/// A viewer that falls this far behind, by ends of spans alone, is disconnected.
const HOPELESS: u64 = 4 * MAX_BEHIND;
/// How often a viewer gets a status message.
const STATUS_EVERY: Duration = Duration::from_millis(200);

/// A viewer, on the writer's side.
pub(crate) struct Viewer {
    trace: WtfTrace,
    line: Arc<Line>,
    /// Records missed since the last report.
    missed: u64,
}

impl Viewer {
    pub(crate) fn new(line: Arc<Line>, timeline: &Timeline) -> Result<Self> {
        let trace = WtfTrace::with_medium(Box::new(LineEnd(Arc::clone(&line))), timeline)?;
        Ok(Self { trace, line, missed: 0 })
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.line.is_closed.load(Ordering::Relaxed)
    }

    pub(crate) fn put(&mut self, rec: &Rec<'_>) {
        let has_room = self.line.behind() < MAX_BEHIND;
        if has_room && self.missed > 0 {
            let missed = std::mem::take(&mut self.missed);
            self.trace.dropped(rec.thread, missed, rec.tick);
        }
        // A span that started before the viewer connected is unknown, so its end does not count as missed.
        if self.trace.put_if(rec, has_room) == Fate::Missed {
            self.missed += 1;
            self.line.dropped.fetch_add(1, Ordering::Relaxed);
            COUNTERS.unseen.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn dropped(&mut self, thread: &ThreadInfo, count: u64, tick: u64) {
        self.line.dropped.fetch_add(count, Ordering::Relaxed);
        self.trace.dropped(thread, count, tick);
    }

    pub(crate) fn tick(&mut self, timeline: &Timeline) {
        self.trace.tick(timeline);
    }

    /// Ends the chunk, so that the viewer gets everything recorded so far.
    pub(crate) fn flush(&mut self) {
        // Writing to a line cannot fail.
        let _ = self.trace.flush();
    }

    /// Ends the trace.
    pub(crate) fn end(mut self) -> Arc<Line> {
        self.flush();
        self.line.lock().has_ended = true;
        self.line.changed.notify_all();
        self.line
    }
}

/// The queue of bytes to a viewer.
#[derive(Debug, Default)]
pub(crate) struct Line {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    /// Bytes of the trace that were queued, and those that the viewer has confirmed.
    put: AtomicU64,
    confirmed: AtomicU64,
    dropped: AtomicU64,
    is_closed: AtomicBool,
}

#[derive(Debug, Default)]
struct Waiting {
    pieces: VecDeque<Vec<u8>>,
    has_ended: bool,
}

impl Line {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn behind(&self) -> u64 {
        self.put.load(Ordering::Relaxed).saturating_sub(self.confirmed.load(Ordering::Relaxed))
    }

    /// The viewer has this many bytes in its file; larger numbers are limited to the bytes that were queued.
    pub(crate) fn confirm(&self, bytes: u64) {
        self.confirmed.fetch_max(bytes.min(self.put.load(Ordering::Relaxed)), Ordering::Relaxed);
    }

    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        self.lock().pieces.clear();
        self.changed.notify_all();
    }

    /// Waits until `until`; returns whether everything has been sent.
    pub(crate) fn is_empty_by(&self, until: Instant) -> bool {
        let mut waiting = self.lock();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if self.is_closed.load(Ordering::Relaxed) || left.is_zero() {
                return self.is_closed.load(Ordering::Relaxed);
            }
            waiting = self.changed.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Sends everything up to the end of the trace; fails if the connection is closed earlier.
    pub(crate) fn send(&self, socket: &mut Socket) -> io::Result<()> {
        let mut told_at = None;
        loop {
            let is_due = told_at.is_none_or(|at: Instant| at.elapsed() >= STATUS_EVERY);
            if is_due {
                socket.write_all(&live::status(self.dropped.load(Ordering::Relaxed)))?;
                told_at = Some(Instant::now());
            }
            let (piece, has_ended) = self.next();
            if let Some(piece) = &piece {
                for bytes in piece.chunks(MAX_FRAME_BYTES) {
                    socket.write_all(&live::data_head(bytes.len()))?;
                    socket.write_all(bytes)?;
                }
            }
            if self.is_closed.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            if piece.is_none() && has_ended {
                socket.write_all(&live::status(self.dropped.load(Ordering::Relaxed)))?;
                return socket.write_all(&live::end());
            }
        }
    }

    /// The next bytes, if there are some soon, and whether they are the last.
    fn next(&self) -> (Option<Vec<u8>>, bool) {
        let mut waiting = self.lock();
        if waiting.pieces.is_empty() && !waiting.has_ended && !self.is_closed.load(Ordering::Relaxed) {
            waiting = self.changed.wait_timeout(waiting, STATUS_EVERY).unwrap_or_else(PoisonError::into_inner).0;
        }
        (waiting.pieces.pop_front(), waiting.has_ended)
    }
}

/// The writing end of a line.
struct LineEnd(Arc<Line>);

impl Write for LineEnd {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let line = &self.0;
        if line.behind() > HOPELESS {
            line.close();
        }
        if !line.is_closed.load(Ordering::Relaxed) {
            line.put.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            line.lock().pieces.push_back(bytes.to_vec());
            line.changed.notify_all();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for LineEnd {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Medium for LineEnd {
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn cut(&mut self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

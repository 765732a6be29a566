//! Statements: the time between calls, written as line times.

use traceloom_core::{Loss, Result};
use traceloom_model::{LineLevel, Table, select};
use traceloom_nytprof::{Record, TimeLine};

use super::{
    Ticks,
    stream::{MAX_LINES, Stream},
    sums::Place,
};
use traceloom_passes::{Pass, phrase};

select! {
    /// Times of lines.
    pub(crate) struct LineRows of line_times {
        trace_id, id, file_id, file, line, level, calls, incl_ns, excl_ns,
    }
}

/// The times of a line in a trace.
#[derive(Clone, Copy, Debug)]
struct Line {
    trace: usize,
    place: Place,
    ticks: u64,
    count: u64,
}

/// Line times that wait to be written.
///
/// Only statements advance the clock of a profile. The time between two calls belongs to statements, but tables do not
/// show which ones. So it is taken from the lines in their order, and in the end each line has its sum.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// By trace; the last one is written first.
    waiting: Vec<Line>,
    /// Whether each trace has line times.
    known: Vec<bool>,
    /// Number of statements that may still be written for the sums.
    left: u64,
}

impl Lines {
    /// Reads the sums of whole traces; sums of a range of a trace are unknown.
    pub(super) fn read(pass: &mut Pass<'_>, ticks: Ticks, stream: &mut Stream<'_>) -> Result<Self> {
        let known = vec![false; pass.roster.traces.len()];
        let mut lines = Self { waiting: Vec::new(), known, left: MAX_STATEMENTS };
        let (rest, is_whole, limits) = (pass.rest(), pass.is_whole(), &pass.options.limits);
        let Pass { roster, names, loss, .. } = pass;
        rest.pour(&[Table::LineTimes], |_, batch| {
            let rows = LineRows::of(batch)?;
            for row in 0..rows.rows {
                let example = || format!("line_times {}", rows.id.get(row));
                if LineLevel::of(rows.level.get(row)) != Some(LineLevel::Line) {
                    loss.lose("times of blocks and subs", example);
                    continue;
                }
                if !is_whole {
                    loss.lose(phrase(Table::LineTimes), example);
                    continue;
                }
                limits.check_entries("times of lines", lines.waiting.len() as u64 + 1)?;
                let trace = roster.trace_number(rows.trace_id.get(row))?;
                lines.known[trace] = true;
                let (incl_ns, line) = (rows.incl_ns.get(row), rows.line.get(row));
                let excl_ns = rows.excl_ns.get(row).unwrap_or(incl_ns);
                if excl_ns != incl_ns {
                    loss.lose("inclusive times of lines", example);
                }
                if excl_ns < 0 {
                    loss.lose("negative times", example);
                }
                let ticks = ticks.of(excl_ns.max(0).unsigned_abs());
                let fid = match rows.file_id.get(row).and_then(|id| stream.by_id(trace, id)) {
                    Some(fid) => fid,
                    None => stream.by_name(names.intern(rows.file.get(row))?, names)?,
                };
                let (place, count) = (Place { fid, line }, rows.calls.get(row));
                lines.add(Line { trace, place, ticks, count }, loss);
            }
            Ok(())
        })?;
        // The last one is taken first.
        lines.waiting.reverse();
        lines.waiting.sort_by_key(|line| std::cmp::Reverse(line.trace));
        Ok(lines)
    }

    fn add(&mut self, mut line: Line, loss: &mut Loss) {
        let parts = line.ticks.div_ceil(MAX_TICKS);
        let example = || format!("line {}: {} visits, {} ticks", line.place.line, line.count, line.ticks);
        if line.place.line > MAX_LINES || parts > self.left {
            loss.lose("line numbers, times or counts too large for a NYTProf file", example);
            return;
        }
        if line.count > self.left {
            loss.lose("visits of lines beyond four million", example);
            line.count = self.left;
        }
        self.left -= parts.max(line.count);
        self.waiting.push(line);
    }

    /// Whether a trace has line times.
    pub(super) fn knows(&self, trace: usize) -> bool {
        self.known.get(trace) == Some(&true)
    }

    /// Writes the lines that account for a number of ticks of a trace; returns the ticks that no line accounts for.
    pub(super) fn pass(&mut self, trace: usize, mut ticks: u64, stream: &mut Stream<'_>) -> Result<u64> {
        while ticks > 0
            && let Some(line) = self.waiting.last_mut().filter(|line| line.trace == trace)
        {
            let own = ticks.min(line.ticks);
            tell(line.place, own, &mut line.count, stream)?;
            line.ticks -= own;
            ticks -= own;
            if line.ticks == 0 {
                self.end_line(stream)?;
            }
        }
        Ok(ticks)
    }

    /// Writes all remaining lines of a trace; returns their ticks.
    pub(super) fn drain(&mut self, trace: usize, stream: &mut Stream<'_>) -> Result<u64> {
        let mut sum = 0_u64;
        while let Some(line) = self.waiting.last_mut().filter(|line| line.trace == trace) {
            sum = sum.saturating_add(line.ticks);
            tell(line.place, line.ticks, &mut line.count, stream)?;
            self.end_line(stream)?;
        }
        Ok(sum)
    }

    /// Writes the visits that took no time.
    fn end_line(&mut self, stream: &mut Stream<'_>) -> Result<()> {
        let Some(Line { place, count, .. }) = self.waiting.pop() else { return Ok(()) };
        (0..count).try_for_each(|_| stream.put(&time_line(place, 0)))
    }
}

/// Maximum number of ticks in a statement.
pub(super) const MAX_TICKS: u64 = i32::MAX as u64;
/// Maximum number of statements. Each visit of a line is a statement, so a file of a few bytes could ask for any number
/// of them.
const MAX_STATEMENTS: u64 = 4 << 20;

/// Writes the ticks of a line, in as many statements as necessary; the first `count` of them count as visits.
pub(super) fn tell(place: Place, mut ticks: u64, count: &mut u64, stream: &mut Stream<'_>) -> Result<()> {
    while ticks > 0 {
        let part = ticks.min(MAX_TICKS);
        ticks -= part;
        match count.checked_sub(1) {
            Some(left) => *count = left,
            None => stream.put(&Record::Discount)?,
        }
        stream.put(&time_line(place, part as i32))?;
    }
    Ok(())
}

fn time_line(place: Place, ticks: i32) -> Record<'static> {
    Record::TimeLine(TimeLine { ticks, fid: place.fid, line: place.line, odd_bytes: None })
}

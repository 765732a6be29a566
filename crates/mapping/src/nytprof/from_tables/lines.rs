//! Statements: the time between calls, told as time of lines.

use std::io::Write;

use traceloom_core::{Limits, Loss, Result};
use traceloom_model::{Table, TableSource, line_times};
use traceloom_nytprof::{Record, TimeLine, Writer};

use super::{
    Ticks,
    files::{Files, MOST_LINES},
    sums::Place,
};
use traceloom_passes::{Gathered, phrase};

/// What a trace knows of a line.
#[derive(Clone, Copy, Debug)]
struct Line {
    trace: usize,
    place: Place,
    ticks: u64,
    count: u64,
}

/// Times of lines that wait to be told.
///
/// Only statements move the clock of a profile. The time between two calls is that of statements, but tables do
/// not tell of which: so it is taken from the lines in their order, and each line has its sum in the end.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// By trace; the last one is told first.
    waiting: Vec<Line>,
    /// Traces that have any.
    known: Vec<bool>,
    /// Statements that the sums may still ask for.
    left: u64,
}

impl Lines {
    /// Reads the sums of whole traces; of a part nobody knows them.
    pub(super) fn read<W: Write>(
        source: &dyn TableSource,
        gathered: &mut Gathered,
        (is_whole, limits): (bool, &Limits),
        ticks: Ticks,
        files: &mut Files,
        writer: &mut Writer<W>,
        loss: &mut Loss,
    ) -> Result<Self> {
        let known = vec![false; gathered.roster.traces.len()];
        let mut lines = Self { waiting: Vec::new(), known, left: MOST_STATEMENTS };
        if gathered.rows(Table::LineTimes) == 0 {
            return Ok(lines);
        }
        let rest = gathered.rest();
        let Gathered { roster, names, .. } = gathered;
        rest.pour(source, &[Table::LineTimes], |_, batch| {
            let view = line_times::View::of(batch);
            for row in 0..view.rows {
                let example = || format!("line_times {}", view.id.get(row));
                if view.level.get(row) != "line" {
                    loss.lose("times of blocks and subs", example);
                    continue;
                }
                if !is_whole {
                    loss.lose(phrase(Table::LineTimes), example);
                    continue;
                }
                limits.check_entries("times of lines", lines.waiting.len() as u64 + 1)?;
                let trace = roster.trace_number(view.trace_id.get(row))?;
                lines.known[trace] = true;
                let (incl_ns, line) = (view.incl_ns.get(row), view.line.get(row));
                let excl_ns = view.excl_ns.get(row).unwrap_or(incl_ns);
                if excl_ns != incl_ns {
                    loss.lose("inclusive times of lines", example);
                }
                if excl_ns < 0 {
                    loss.lose("negative times", example);
                }
                let ticks = ticks.of(excl_ns.max(0).unsigned_abs());
                let fid = match view.file_id.get(row).and_then(|id| files.by_id(trace, id)) {
                    Some(fid) => fid,
                    None => files.by_name(names.intern(view.file.get(row))?, names, writer)?,
                };
                let (place, count) = (Place { fid, line }, view.calls.get(row));
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
        let parts = line.ticks.div_ceil(MOST_TICKS);
        let example = || format!("line {}: {} visits, {} ticks", line.place.line, line.count, line.ticks);
        if line.place.line > MOST_LINES || parts > self.left {
            loss.lose("figures of lines too large for a stream", example);
            return;
        }
        if line.count > self.left {
            loss.lose("visits of lines beyond four million", example);
            line.count = self.left;
        }
        self.left -= parts.max(line.count);
        self.waiting.push(line);
    }

    /// Whether a trace has times of lines of its own.
    pub(super) fn knows(&self, trace: usize) -> bool {
        self.known.get(trace) == Some(&true)
    }

    /// Tells what so many ticks of a trace went into, as far as its lines know; gives the ticks that are left.
    pub(super) fn pass<W: Write>(&mut self, trace: usize, mut ticks: u64, writer: &mut Writer<W>) -> Result<u64> {
        while ticks > 0
            && let Some(line) = self.waiting.last_mut().filter(|line| line.trace == trace)
        {
            let own = ticks.min(line.ticks);
            tell(line.place, own, &mut line.count, writer)?;
            line.ticks -= own;
            ticks -= own;
            if line.ticks == 0 {
                self.end_line(writer)?;
            }
        }
        Ok(ticks)
    }

    /// Tells all that is left of a trace; gives its ticks.
    pub(super) fn drain<W: Write>(&mut self, trace: usize, writer: &mut Writer<W>) -> Result<u64> {
        let mut sum = 0_u64;
        while let Some(line) = self.waiting.last_mut().filter(|line| line.trace == trace) {
            sum = sum.saturating_add(line.ticks);
            tell(line.place, line.ticks, &mut line.count, writer)?;
            self.end_line(writer)?;
        }
        Ok(sum)
    }

    /// Visits that took no time.
    fn end_line<W: Write>(&mut self, writer: &mut Writer<W>) -> Result<()> {
        let Some(Line { place, count, .. }) = self.waiting.pop() else { return Ok(()) };
        (0..count).try_for_each(|_| writer.write(&time_line(place, 0)))
    }
}

const MOST_TICKS: u64 = i32::MAX as u64;
/// Each visit of a line is a statement of its own, so a file of a few bytes could ask for any number of them.
const MOST_STATEMENTS: u64 = 4 << 20;

/// Tells that a line took so many ticks, in as many statements as that takes; of these the first ones count.
pub(super) fn tell<W: Write>(place: Place, mut ticks: u64, count: &mut u64, writer: &mut Writer<W>) -> Result<()> {
    while ticks > 0 {
        let part = ticks.min(MOST_TICKS);
        ticks -= part;
        match count.checked_sub(1) {
            Some(left) => *count = left,
            None => writer.write(&Record::Discount)?,
        }
        writer.write(&time_line(place, part as i32))?;
    }
    Ok(())
}

fn time_line(place: Place, ticks: i32) -> Record<'static> {
    Record::TimeLine(TimeLine { ticks, fid: place.fid, line: place.line, odd_bytes: None })
}

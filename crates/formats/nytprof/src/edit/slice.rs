//! Extracts a range of a profile, by time and by process.

use std::{collections::VecDeque, io::Write};

use traceloom_core::{Edited, Loss, Options, Records, Result, Slice, Source};

use super::frames::{Frames, Missing};
use crate::{Pair, Record, SubReturn, Writer, check::leading_number, create, open, raw::DEFAULT_TICKS_PER_SEC};

/// Writes the part of `source` that `slice` describes.
///
/// A stream has no times except those of processes; the clock is the sum of all statements so far. A statement is in
/// the range if it starts in it, so adjacent ranges share none; an empty range keeps the text, the processes and the
/// definitions. Threads are processes, by number. The profiler sums calls at its end, and these sums cannot be divided,
/// so they are left out of a slice. Frames that are open at the end of the range end there.
pub fn slice<W: Write>(source: &Source, out: W, slice: &Slice, options: &Options) -> Result<Edited> {
    let mut reader = open(source.clone(), options)?;
    let header = reader.header().clone();
    let mut cut = Cut {
        writer: create(out, &header)?,
        slice,
        loss: Loss::default(),
        ticks: 0,
        ticks_per_sec: DEFAULT_TICKS_PER_SEC,
        is_kept_pid: true,
        discounts: 0,
        frames: Frames::new(source.len()?),
        unended: VecDeque::new(),
    };
    reader.walk(|located| cut.record(&located.record))?;
    cut.end_process()?;
    cut.writer.finish()?;
    Ok(Edited { findings: reader.into_findings(), loss: cut.loss })
}

struct Cut<'a, W: Write> {
    writer: Writer<W>,
    slice: &'a Slice,
    loss: Loss,
    /// Sum of all statements so far.
    ticks: i128,
    ticks_per_sec: u32,
    is_kept_pid: bool,
    /// Number of discounts that wait for their statement.
    discounts: u32,
    /// Frames that are open inside the range.
    frames: Frames,
    /// Returns of frames that were open at the end of the range, the innermost first; their names come with the real
    /// returns.
    unended: VecDeque<Missing>,
}

impl<W: Write> Cut<'_, W> {
    fn is_inside(&self) -> bool {
        let now_ns = self.ticks * 1_000_000_000 / i128::from(self.ticks_per_sec);
        let now_ns = i64::try_from(now_ns).unwrap_or(if now_ns < 0 { i64::MIN } else { i64::MAX });
        self.is_kept_pid && self.slice.range.contains(now_ns)
    }

    fn record(&mut self, record: &Record<'_>) -> Result<()> {
        match record {
            Record::Attribute(Pair { key: b"ticks_per_sec", value: Some(value) }) => {
                self.ticks_per_sec =
                    Some(leading_number(value)).filter(|ticks| *ticks > 0).unwrap_or(DEFAULT_TICKS_PER_SEC);
            }
            Record::PidStart(start) => {
                self.end_process()?;
                self.is_kept_pid = self.slice.keeps_thread(start.pid.into(), b"");
                if !self.is_kept_pid {
                    return Ok(());
                }
            }
            Record::PidEnd(end) => {
                self.end_process()?;
                if !self.slice.keeps_thread(end.pid.into(), b"") {
                    return Ok(());
                }
            }
            Record::Discount => {
                self.discounts += 1;
                return Ok(());
            }
            // Part of a record, which has to stay last.
            Record::Residue(_) => self.end_process()?,
            Record::TimeLine(time) => return self.time(record, time.ticks),
            Record::TimeBlock(time) => return self.time(record, time.ticks),
            Record::SubEntry(_) if !self.is_inside() => {
                self.end_range();
                return Ok(());
            }
            Record::SubEntry(_) => self.frames.enter(self.ticks),
            Record::SubReturn(left) => return self.sub_return(record, left),
            Record::SubCallers(calls) if *self.slice != Slice::default() && calls.count > 0 => {
                self.loss.lose("sums over calls, which cannot be divided", || {
                    format!("{} calls to {}", calls.count, calls.called.text())
                });
                return Ok(());
            }
            _ => {}
        }
        self.writer.write(record)
    }

    fn time(&mut self, record: &Record<'_>, ticks: i32) -> Result<()> {
        let is_inside = self.is_inside();
        self.write_discounts(is_inside)?;
        if is_inside {
            self.writer.write(record)?;
        } else {
            self.end_range();
        }
        self.ticks += i128::from(ticks);
        Ok(())
    }

    fn write_discounts(&mut self, is_inside: bool) -> Result<()> {
        for _ in 0..std::mem::take(&mut self.discounts) {
            if is_inside {
                self.writer.write(&Record::Discount)?;
            }
        }
        Ok(())
    }

    fn sub_return(&mut self, record: &Record<'_>, left: &SubReturn<'_>) -> Result<()> {
        if self.is_inside() {
            let Some(missing) = self.frames.leave(left, self.ticks) else {
                self.loss.lose("returns from impossible depths", || format!("depth {}", left.depth));
                return Ok(());
            };
            for missing in missing {
                self.writer.write(&missing.record(None))?;
            }
            return self.writer.write(record);
        }
        self.end_range();
        while let Some(missing) = self.unended.front().filter(|missing| missing.depth >= left.depth) {
            self.writer.write(&missing.record((missing.depth == left.depth).then_some(left.name)))?;
            self.unended.pop_front();
        }
        Ok(())
    }

    /// After the range: open frames wait for their names.
    fn end_range(&mut self) {
        self.unended.extend(self.frames.end(0, self.ticks));
    }

    /// What a process leaves open, including discounts, must not carry over to the next one.
    fn end_process(&mut self) -> Result<()> {
        self.write_discounts(self.is_inside())?;
        self.end_range();
        for missing in std::mem::take(&mut self.unended) {
            self.loss.lose("names of frames without a return", || format!("depth {}", missing.depth));
            self.writer.write(&missing.record(None))?;
        }
        Ok(())
    }
}

//! Cuts a range out of a profile, by time and by process.

use std::io::Write;

use traceloom_core::{Edited, Loss, Options, Records, Result, Slice, Source};

use crate::{Pair, Record, Writer, check::leading_number, create, open, raw::DEFAULT_TICKS_PER_SEC};

/// Writes the part of `source` that `slice` describes.
///
/// A stream has no times but those of processes; the clock is the sum of all statements so far. A statement is in the
/// range if it starts there, so that adjacent ranges share none; an empty range keeps the text, the processes and the
/// definitions. Threads are processes, by number. Sums over calls are made by the profiler at its end and cannot be
/// divided, so they are left out of a slice.
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
    };
    reader.walk(|located| cut.record(&located.record))?;
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
    /// Discounts that wait for their statement.
    discounts: u32,
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
                self.is_kept_pid = self.slice.keeps_thread(start.pid.into(), b"");
                if !self.is_kept_pid {
                    return Ok(());
                }
            }
            Record::PidEnd(end) if !self.slice.keeps_thread(end.pid.into(), b"") => return Ok(()),
            Record::Discount => {
                self.discounts += 1;
                return Ok(());
            }
            Record::TimeLine(time) => return self.time(record, time.ticks),
            Record::TimeBlock(time) => return self.time(record, time.ticks),
            Record::SubEntry(_) | Record::SubReturn(_) if !self.is_inside() => return Ok(()),
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
        let discounts = std::mem::take(&mut self.discounts);
        let is_inside = self.is_inside();
        self.ticks += i128::from(ticks);
        if !is_inside {
            return Ok(());
        }
        for _ in 0..discounts {
            self.writer.write(&Record::Discount)?;
        }
        self.writer.write(record)
    }
}

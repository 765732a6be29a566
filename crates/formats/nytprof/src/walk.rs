//! The quick way through a file: runs of events in one loop.

use traceloom_core::{Finding, Located, Records, Result};

use crate::{
    NvLayout, Reader, Record, SubReturn, TimeLine,
    aggregate::Profile,
    findings::TIMES_EXCEED,
    parse,
    read::{AHEAD, State, place},
};

/// Receives the records of a walk.
pub trait Visit {
    /// Takes a record.
    fn visit(&mut self, located: Located<Record<'_>>) -> Result<()>;

    /// Takes a statement; most records are.
    #[inline]
    fn time_line(&mut self, located: Located<TimeLine<'_>>) -> Result<()> {
        let Located { offset, len, record } = located;
        self.visit(Located { offset, len, record: Record::TimeLine(record) })
    }

    /// Takes the end of a call.
    #[inline]
    fn sub_return(&mut self, located: Located<SubReturn<'_>>) -> Result<()> {
        let Located { offset, len, record } = located;
        self.visit(Located { offset, len, record: Record::SubReturn(record) })
    }
}

impl Reader {
    /// Walks all that is left; quicker than [`Records::next`], since runs of events stay in one loop.
    ///
    /// The walk ends early with the first error, also of the visitor; it is final.
    pub fn visit_all(&mut self, visitor: &mut impl Visit) -> Result<()> {
        loop {
            let result = match self.run(visitor) {
                Ok(()) => match self.next()? {
                    Some(located) => visitor.visit(located),
                    None => return Ok(()),
                },
                Err(error) => Err(error),
            };
            if result.is_err() {
                self.state = State::Done;
                return result;
            }
        }
    }

    /// Visits the events at the front that no rule has anything to say about.
    fn run(&mut self, visitor: &mut impl Visit) -> Result<()> {
        if self.state != State::Records {
            return Ok(());
        }
        let is_inflated = self.is_inflating();
        let (bytes, start) = (self.window.bytes(), self.window.offset());
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| rest.len() >= AHEAD) {
            let offset = start + at as u64;
            at += match rest.first() {
                Some(b'+') => match parse::time_line(rest) {
                    Some((ticks, fid, line, len, false)) if self.checks.passes_time(ticks, fid, line) => {
                        let record = TimeLine { ticks, fid, line, odd_bytes: None };
                        visitor.time_line(Located { offset, len: len as u64, record })?;
                        len
                    }
                    _ => break,
                },
                Some(b'-') if self.checks.passes_discount(|| place(offset, is_inflated)) => {
                    visitor.visit(Located { offset, len: 1, record: Record::Discount })?;
                    1
                }
                Some(b'<') if self.nv == Some(NvLayout::COMMON) => match parse::sub_return(rest) {
                    Some((record, len)) if self.checks.passes_return(&record) => {
                        visitor.sub_return(Located { offset, len: len as u64, record })?;
                        len
                    }
                    _ => break,
                },
                _ => break,
            };
        }
        self.window.consume(at);
        Ok(())
    }

    /// Adds the finding that follows from the sums: the original doubts its clock when the statements take longer than
    /// the run.
    pub fn report_times(&mut self, profile: &Profile) -> Result<()> {
        if profile.end_time.is_some_and(|time| time != 0.0) && profile.stmts_seconds > profile.duration * 1.1 {
            let percent = (profile.stmts_seconds / profile.duration * 100.0).round();
            let exceeds = Finding::new(&TIMES_EXCEED, self.position()).with("percent", percent.to_string());
            self.checks.findings.report(exceeds)?;
        }
        Ok(())
    }
}

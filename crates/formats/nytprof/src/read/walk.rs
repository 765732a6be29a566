//! The fast path through a file: runs of events in one loop.

use traceloom_core::{Located, Result};

use super::{AHEAD, Reader, State, position_of};
use crate::{
    NvLayout, Record, TimeLine,
    parse::{self, Statement},
    raw::Tag,
};

const TIME_LINE: u8 = Tag::TIME_LINE.0;
const DISCOUNT: u8 = Tag::DISCOUNT.0;
const SUB_RETURN: u8 = Tag::SUB_RETURN.0;

impl Reader {
    /// Passes on the events at the front that break no rule.
    ///
    /// The kind of record is known at each call, so an inlined visitor needs no branch.
    #[inline]
    pub(super) fn walk_run<E>(
        &mut self,
        visit: &mut impl FnMut(Located<Record<'_>>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.state != State::Records {
            return Ok(());
        }
        let is_inflated = self.is_inflating();
        let (bytes, start) = (self.window.bytes(), self.window.offset());
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| rest.len() >= AHEAD) {
            let offset = start + at as u64;
            at += match rest.first() {
                Some(&TIME_LINE) => match parse::time_line(rest) {
                    Some(Statement { ticks, fid, line, len, is_padded: false })
                        if self.checker.passes_time(ticks, fid, line) =>
                    {
                        let record = Record::TimeLine(TimeLine { ticks, fid, line, odd_bytes: None });
                        visit(Located { offset, len: len as u64, record })?;
                        len
                    }
                    _ => break,
                },
                Some(&DISCOUNT) if self.checker.passes_discount(|| position_of(offset, is_inflated)) => {
                    visit(Located { offset, len: 1, record: Record::Discount })?;
                    1
                }
                Some(&SUB_RETURN) if self.nv == Some(NvLayout::COMMON) => match parse::sub_return(rest) {
                    Some((left, len)) if self.checker.passes_return(&left) => {
                        visit(Located { offset, len: len as u64, record: Record::SubReturn(left) })?;
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
}

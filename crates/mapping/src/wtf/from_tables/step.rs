//! Steps, in the order in which they are written.

use traceloom_core::{Cursor, Result, Sorter, SpillRow, Store, spill_row};
use traceloom_passes::NameId;

/// The kind of a step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub(super) enum What {
    /// A scope starts; `detail` is its look.
    Enter,
    /// The innermost scope ends.
    Leave,
    /// A frame starts; `detail` is its number.
    FrameStart,
    /// A frame ends; `detail` is its number.
    FrameEnd,
    /// A time range starts; `detail` is its id.
    RangeBegin,
    /// A time range ends; `detail` is its id.
    RangeEnd,
    /// A row of `events`.
    Event,
    /// A row of `events` for which the format has a built-in type; `detail` is 1 for a mark.
    BuiltinEvent,
    /// A row of `events` that divides the trace.
    Mark,
    /// A counter value; `detail` is the offset of its details.
    Counter,
    /// A log entry; `detail` is the offset of its details.
    Log,
}

impl What {
    const ALL: [Self; 11] = [
        Self::Enter,
        Self::Leave,
        Self::FrameStart,
        Self::FrameEnd,
        Self::RangeBegin,
        Self::RangeEnd,
        Self::Event,
        Self::BuiltinEvent,
        Self::Mark,
        Self::Counter,
        Self::Log,
    ];
}

impl SpillRow for What {
    const BYTES: usize = 1;

    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.push(*self as u8);
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self::ALL.get(usize::from(u8::take(cursor)?)).copied().unwrap_or(Self::Event))
    }
}

/// Ends of scopes that started earlier.
pub(super) const ENDS: u8 = 0;
/// Steps between the ends and the starts at one time.
pub(super) const BETWEEN: u8 = 1;
/// Starts of scopes, and everything that follows them at the same time.
pub(super) const BEGINS: u8 = 2;

spill_row! {
    /// The position of a step in the order.
    #[derive(Debug, Eq, Ord, PartialEq, PartialOrd)]
    pub(super) struct Moment {
        /// In output time.
        pub(super) ts_ns: i64,
        pub(super) zone: u32,
        /// [`ENDS`], [`BETWEEN`] or [`BEGINS`].
        pub(super) phase: u8,
        /// The order within a phase.
        pub(super) number: u64,
    }
}

spill_row! {
    /// A step.
    #[derive(Debug, Eq, PartialEq)]
    pub(super) struct Step {
        pub(super) moment: Moment,
        pub(super) what: What,
        /// The number of the trace.
        pub(super) trace: u32,
        /// The id of the row.
        pub(super) id: i64,
        pub(super) name: NameId,
        pub(super) detail: u64,
    } by (moment, id)
}

/// All steps, and the details of some of them.
#[derive(Debug)]
pub(super) struct Steps {
    pub(super) sorter: Sorter<Step>,
    pub(super) details: Store,
}

#[cfg(test)]
mod tests {
    use traceloom_core::ByteOrder;

    use super::*;

    #[test]
    fn a_step_comes_back_as_it_was() {
        for (what, number) in What::ALL.into_iter().zip(0..) {
            assert_eq!(what as u8, number as u8, "the list is in the order of the words");
            let moment = Moment { ts_ns: -7, zone: 3, phase: BEGINS, number };
            let step = Step { moment, what, trace: 2, id: -9, name: NameId::from_raw(11), detail: u64::MAX };
            let mut bytes = Vec::new();
            step.put(&mut bytes);
            assert_eq!(bytes.len(), Step::BYTES);
            assert_eq!(Step::take(&mut Cursor::new(&bytes, 0, ByteOrder::Little)).unwrap(), step);
        }
    }
}

//! What happens, in the order in which it is written.

use traceloom_core::{Cursor, Result, Sorter, SpillRow, Store, spill_row};
use traceloom_passes::NameId;

/// What is written at a step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub(super) enum What {
    /// A scope begins; `detail` is its look.
    Enter,
    /// The innermost scope ends.
    Leave,
    /// A frame begins; `detail` is its number.
    FrameStart,
    /// A frame ends; `detail` is its number.
    FrameEnd,
    /// A range of time begins; `detail` is its id.
    RangeBegin,
    /// A range of time ends; `detail` is its id.
    RangeEnd,
    /// A row of `events` happens.
    Event,
    /// So does one that the format has a type of its own for; `detail` is 1 for a mark.
    BuiltinEvent,
    /// So does one that divides the trace.
    Mark,
    /// A counter has a value; `detail` is where its details are.
    Counter,
    /// Something is logged; `detail` is where its details are.
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

/// Ends of scopes that began earlier.
pub(super) const ENDS: u8 = 0;
/// What happens between the ends and the begins of a moment.
pub(super) const BETWEEN: u8 = 1;
/// Begins of scopes, and all that follows them at the same moment.
pub(super) const BEGINS: u8 = 2;

spill_row! {
    /// When something happens: its place in the order.
    #[derive(Debug, Eq, Ord, PartialEq, PartialOrd)]
    pub(super) struct Moment {
        /// In the time of the output.
        pub(super) ts_ns: i64,
        pub(super) zone: u32,
        /// [`ENDS`], [`BETWEEN`] or [`BEGINS`].
        pub(super) phase: u8,
        /// The order within a phase.
        pub(super) number: u64,
    }
}

spill_row! {
    /// Something that happens.
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

/// All steps, and what belongs to some of them.
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

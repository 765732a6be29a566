//! What happens, in the order in which it is written.

use std::cmp::Ordering;

use traceloom_core::{Cursor, Entry, Result};

use traceloom_core::{Sorter, Store};
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

/// Ends of scopes that began earlier.
pub(super) const ENDS: u8 = 0;
/// What happens between the ends and the begins of a moment.
pub(super) const BETWEEN: u8 = 1;
/// Begins of scopes, and all that follows them at the same moment.
pub(super) const BEGINS: u8 = 2;

/// When something happens: its place in the order.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Moment {
    /// In the time of the output.
    pub(super) ts_ns: i64,
    pub(super) zone: u32,
    /// [`ENDS`], [`BETWEEN`] or [`BEGINS`].
    pub(super) phase: u8,
    /// The order within a phase.
    pub(super) number: u64,
}

/// Something that happens.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Step {
    pub(super) moment: Moment,
    pub(super) what: What,
    /// The number of the trace.
    pub(super) trace: u32,
    /// The id of the row.
    pub(super) id: i64,
    pub(super) name: NameId,
    pub(super) detail: u64,
}

impl Ord for Step {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.moment, self.id).cmp(&(other.moment, other.id))
    }
}

impl PartialOrd for Step {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Entry for Step {
    const BYTES: usize = 46;

    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.moment.ts_ns.to_le_bytes());
        bytes.extend_from_slice(&self.moment.zone.to_le_bytes());
        bytes.push(self.moment.phase);
        bytes.extend_from_slice(&self.moment.number.to_le_bytes());
        bytes.push(self.what as u8);
        bytes.extend_from_slice(&self.trace.to_le_bytes());
        bytes.extend_from_slice(&self.id.to_le_bytes());
        bytes.extend_from_slice(&self.name.raw().to_le_bytes());
        bytes.extend_from_slice(&self.detail.to_le_bytes());
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        let moment = Moment {
            ts_ns: cursor.i64("time")?,
            zone: cursor.u32("zone")?,
            phase: cursor.u8("phase")?,
            number: cursor.u64("number")?,
        };
        let what = What::ALL.get(usize::from(cursor.u8("what")?)).copied().unwrap_or(What::Event);
        let (trace, id) = (cursor.u32("trace")?, cursor.i64("id")?);
        let name = NameId::from_raw(cursor.u32("name")?);
        Ok(Self { moment, what, trace, id, name, detail: cursor.u64("detail")? })
    }
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

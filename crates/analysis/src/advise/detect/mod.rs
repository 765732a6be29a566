//! Detectors: each turns measurements into advice.

pub(super) mod hot;
pub(super) mod logs;
pub(super) mod memory;
pub(super) mod names;
pub(super) mod slow;
pub(super) mod threads;
pub(super) mod values;

use super::{Options, look::Questions, measure::Measured};

/// The input of a detector.
pub(super) struct Case<'a> {
    pub(super) measured: &'a Measured,
    pub(super) questions: &'a Questions,
    /// The first line of the burst of errors.
    pub(super) first_line: Option<String>,
    pub(super) options: &'a Options,
}

impl Case<'_> {
    pub(super) fn thread(&self, number: u32) -> String {
        self.measured.threads.list.get(number as usize).map(|thread| thread.label()).unwrap_or_default()
    }
}

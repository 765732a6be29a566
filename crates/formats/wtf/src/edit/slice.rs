//! Extracts a range of a trace, with what it needs from outside.

use std::io::Write;

use traceloom_core::{Edited, Options, Records, Result, Slice, Source};

use super::{compose, loadable_form};

/// Writes a range of the file, with the definitions, zones and zone settings that it needs.
///
/// Scopes, frames, marks and time ranges that cross an edge are cut there. Every other event is in exactly one of two
/// adjacent ranges.
pub fn slice<W: Write>(source: &Source, out: W, slice: &Slice, options: &Options) -> Result<Edited> {
    let reader = crate::open(source.clone(), options)?;
    let form = loadable_form(reader.header().container);
    let cut = Cut::new(slice, reader.header().info.times_as_count());
    compose(reader, out, form, Some(cut))
}

/// The wanted range and zones.
#[derive(Debug)]
pub(super) struct Cut {
    slice: Slice,
    /// The first tick of the range.
    pub(super) from: i64,
    /// The first tick after the range.
    pub(super) to: i64,
    /// Whether the range starts exactly at a tick, and not before it.
    pub(super) starts_on_tick: bool,
}

impl Cut {
    fn new(slice: &Slice, times_as_count: bool) -> Self {
        // A count is shown as nanoseconds; a time is stored in microseconds.
        let unit = if times_as_count { 1 } else { 1000 };
        let first_at = |ns: i64| ns.div_euclid(unit) + i64::from(ns.rem_euclid(unit) > 0);
        Self {
            slice: slice.clone(),
            from: slice.range.from_ns().map_or(i64::MIN, first_at),
            to: slice.range.to_ns().map_or(i64::MAX, first_at),
            starts_on_tick: slice.range.from_ns().is_some_and(|ns| ns.rem_euclid(unit) == 0),
        }
    }

    /// Whether the range is empty; a range shorter than a tick may contain no tick and yet be inside scopes.
    pub(super) fn is_empty(&self) -> bool {
        self.slice.range.is_empty()
    }

    pub(super) fn keeps_zone(&self, id: u64, name: &[u8]) -> bool {
        self.slice.keeps_thread(id, name)
    }

    /// Number of times that the 32-bit clock wraps before the range starts.
    pub(super) fn turns(&self) -> i64 {
        self.from.max(0) >> 32
    }
}

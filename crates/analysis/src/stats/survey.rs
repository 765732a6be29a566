//! Facts about a whole trace that are needed to group its spans by parent or frame.
//!
//! A span may come before its parent, because some formats store spans when they end, so the trace is read twice.

use arrow_array::RecordBatch;
use hashbrown::HashMap;
use traceloom_core::Result;
use traceloom_model::{Columns, Flow, SpanCategory, Table, TableSink, Wanted, select};
use traceloom_passes::{Interner, NO_NUMBER, Translation, Words};

select! { struct Named of spans { id, name } }
select! { struct Placed of spans { thread_id, depth, ts_ns, dur_ns, category } }

/// A first pass over the spans of one trace.
#[derive(Debug, Default)]
pub struct Survey {
    wants_names: bool,
    wants_frames: bool,
    pub(super) names: Interner,
    span_names: Translation,
    categories: Words<SpanCategory>,
    by_id: SpanNames,
    outermost: Vec<Frame>,
    frames: Vec<Frame>,
}

/// A frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Frame {
    pub(super) thread_id: i64,
    pub(super) ts_ns: i64,
    pub(super) end_ns: i64,
    pub(super) name: u32,
}

/// The name of each span by its id; most formats number spans from 0.
#[derive(Debug, Default)]
struct SpanNames {
    dense: Vec<u32>,
    sparse: HashMap<i64, u32>,
    rows: usize,
}

/// Ids may be this far ahead of the row count and still be treated as dense, because other tables share the ids.
const AHEAD: usize = 1 << 16;

impl SpanNames {
    fn insert(&mut self, id: i64, name: u32) {
        self.rows += 1;
        match usize::try_from(id) {
            Ok(index) if index < self.rows * 4 + AHEAD => {
                if self.dense.len() <= index {
                    self.dense.resize(index + 1, NO_NUMBER);
                }
                self.dense[index] = name;
            }
            _ => {
                self.sparse.insert(id, name);
            }
        }
    }

    fn get(&self, id: i64) -> u32 {
        let dense = usize::try_from(id).ok().and_then(|index| self.dense.get(index)).copied();
        dense.filter(|name| *name != NO_NUMBER).or_else(|| self.sparse.get(&id).copied()).unwrap_or(NO_NUMBER)
    }
}

impl Survey {
    pub(super) fn new(names: Interner, wants_names: bool, wants_frames: bool) -> Self {
        Self { wants_names, wants_frames, names, ..Self::default() }
    }

    /// The sorted facts, and the borrowed names.
    pub(super) fn finish(self) -> (Places, Interner) {
        let is_framed = !self.frames.is_empty();
        let mut frames = if is_framed { self.frames } else { self.outermost };
        frames.sort_unstable_by_key(|frame| (if is_framed { 0 } else { frame.thread_id }, frame.ts_ns, frame.end_ns));
        (Places { by_id: self.by_id, frames, is_framed }, self.names)
    }

    fn take_names(&mut self, view: &Named<'_>) {
        let names = self.span_names.of(view.name.values(), &mut self.names);
        for (id, key) in view.id.values().iter().zip(view.name.keys()) {
            self.by_id.insert(*id, names[*key as usize]);
        }
    }

    fn take_frames(&mut self, named: &Named<'_>, view: &Placed<'_>) {
        let names = self.span_names.of(named.name.values(), &mut self.names);
        let categories = self.categories.of(view.category.values(), SpanCategory::of);
        for row in 0..view.rows {
            let name = names[named.name.keys()[row] as usize];
            let (thread_id, ts_ns) = (view.thread_id.get(row), view.ts_ns.get(row));
            let end_ns = view.dur_ns.get(row).map_or(i64::MAX, |dur| ts_ns.saturating_add(dur));
            let frame = Frame { thread_id, ts_ns, end_ns, name };
            match categories[view.category.keys()[row] as usize] {
                Some(SpanCategory::Frame) => self.frames.push(frame),
                Some(SpanCategory::Range) => {}
                _ if view.depth.get(row) == 0 => self.outermost.push(frame),
                _ => {}
            }
        }
    }
}

impl TableSink for Survey {
    fn wants(&self, table: Table) -> Columns {
        let placed = if self.wants_frames { Placed::COLUMNS } else { Columns::NONE };
        Wanted::nothing().and(Table::Spans, Named::COLUMNS).and(Table::Spans, placed).columns(table)
    }

    fn batch(&mut self, _table: Table, batch: RecordBatch) -> Result<Flow> {
        let named = Named::of(&batch)?;
        if self.wants_names {
            self.take_names(&named);
        }
        if self.wants_frames {
            self.take_frames(&named, &Placed::of(&batch)?);
        }
        Ok(Flow::Continue)
    }
}

/// The parents and frames of spans.
#[derive(Debug, Default)]
pub(super) struct Places {
    by_id: SpanNames,
    pub(super) frames: Vec<Frame>,
    /// Whether the trace has frames, which apply to all threads.
    is_framed: bool,
}

impl Places {
    /// The name of the enclosing span.
    pub(super) fn parent(&self, parent_id: Option<i64>) -> u32 {
        parent_id.map_or(NO_NUMBER, |id| self.by_id.get(id))
    }

    /// The number of the frame at a time; [`NO_NUMBER`] between frames.
    pub(super) fn frame(&self, thread_id: i64, ts_ns: i64) -> u32 {
        let key = |frame: &Frame| (if self.is_framed { 0 } else { frame.thread_id }, frame.ts_ns);
        let wanted = (if self.is_framed { 0 } else { thread_id }, ts_ns);
        let after = self.frames.partition_point(|frame| key(frame) <= wanted);
        let Some(number) = after.checked_sub(1) else { return NO_NUMBER };
        let frame = &self.frames[number];
        let is_on = key(frame).0 == wanted.0 && ts_ns <= frame.end_ns;
        if is_on { number as u32 } else { NO_NUMBER }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_belongs_to_the_frame_that_was_on() {
        let frame = |thread_id, ts_ns, end_ns| Frame { thread_id, ts_ns, end_ns, name: 0 };
        let survey =
            Survey { outermost: vec![frame(2, 0, 100), frame(1, 50, 60), frame(1, 10, 20)], ..Survey::default() };
        let (places, _) = survey.finish();
        assert_eq!(places.frame(1, 10), 0);
        assert_eq!(places.frame(1, 30), NO_NUMBER);
        assert_eq!(places.frame(1, 55), 1);
        assert_eq!(places.frame(2, 55), 2);
        assert_eq!(places.frame(1, 5), NO_NUMBER);
    }

    #[test]
    fn ids_need_not_be_dense() {
        let mut names = SpanNames::default();
        for (name, id) in [0, 5, i64::MAX, -3].into_iter().enumerate() {
            names.insert(id, name as u32);
        }
        assert_eq!([0, 5, i64::MAX, -3, 1].map(|id| names.get(id)), [0, 1, 2, 3, NO_NUMBER]);
    }
}

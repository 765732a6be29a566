//! Spans sorted by start, parents before children, thread by thread.
//!
//! [`crate::span_sorter`] turns spans into rows of fixed size and sorts them; this file reads them back.

use traceloom_core::{Loss, Merge, Result, Sorted, spill_row};
use traceloom_model::{SpanCategory, Table};

use crate::{LookId, Owner, Roster, ThreadIndex};

/// A loss: the output cannot hold spans without an end.
pub const NEVER_CLOSED: &str = "spans that were never closed, now closed";
/// A loss: the output has only calls.
pub const FRAMES_AND_RANGES: &str = "frames and time ranges";
/// A loss: the output cannot represent such times.
pub const TOO_FAR: &str = "timestamps too far from the origin";
/// A loss: [`crate::Nest`] has no lane left.
pub const TOO_MANY_OVERLAP: &str = "ends of spans beyond the limit of overlapping spans";

/// Spans of a thread that nest among themselves.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Layer {
    /// Blocks, calls, scopes.
    Stack,
    /// Frames.
    Frames,
    /// Ranges of time, which may overlap.
    Ranges,
    /// Times when the thread did not run: rows of `switches`.
    Switches,
}

impl Layer {
    const ALL: [Self; 4] = [Self::Stack, Self::Frames, Self::Ranges, Self::Switches];

    /// The label of this layer for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stack => "overlapping or too deep",
            Self::Frames => "frames",
            Self::Ranges => "ranges",
            Self::Switches => "not running",
        }
    }

    pub(crate) fn of_category(category: &str) -> Self {
        match SpanCategory::of(category) {
            Some(SpanCategory::Frame) => Self::Frames,
            Some(SpanCategory::Range) => Self::Ranges,
            _ => Self::Stack,
        }
    }
}

/// A span of a [`SpanOrder`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ordered {
    /// Its thread.
    pub thread: ThreadIndex,
    /// The layer in which it nests.
    pub layer: Layer,
    /// Its `id`, in `spans` or `switches`.
    pub id: i64,
    /// The span around it.
    pub parent_id: Option<i64>,
    /// For a switch, the thread that ran instead.
    pub target_tid: Option<u64>,
    /// Spans around it.
    pub depth: u32,
    /// Its start.
    pub ts_ns: i64,
    /// Its duration; `None` if it was never closed.
    pub dur_ns: Option<i64>,
    /// Its end; the end of the trace if it was never closed.
    pub end_ns: i64,
    /// Its name, category, source location and color.
    pub look: LookId,
}

impl Ordered {
    /// The table that its row is in.
    #[inline]
    pub fn table(&self) -> Table {
        if self.layer == Layer::Switches { Table::Switches } else { Table::Spans }
    }

    /// Its row as an owner of arguments; `trace` is the number of its trace in the roster.
    #[inline]
    pub fn owner(&self, trace: usize) -> Owner {
        Owner::new(self.table(), trace, self.id)
    }

    /// Counts a property of the span as lost.
    pub fn lose(&self, what: &'static str, loss: &mut Loss) {
        loss.lose(what, || format!("{} {}", self.table().name(), self.id));
    }
}

spill_row! {
    /// A span as sorted and spilled: values that neighbors share take few bytes.
    #[derive(Debug, Eq, PartialEq)]
    pub(crate) struct Row {
        pub(crate) ts_ns: i64,
        /// [`OPEN`] if it was never closed.
        pub(crate) dur_ns: i64,
        pub(crate) id: i64,
        /// The difference between its id and that of its parent; for a switch, the thread that ran instead.
        pub(crate) above: i64,
        pub(crate) thread: u32,
        pub(crate) depth: u32,
        pub(crate) look: u32,
        pub(crate) layer: u8,
        pub(crate) has_parent: bool,
    } by (thread, layer, ts_ns, depth, id)
}

pub(crate) const OPEN: i64 = -1;

impl Row {
    #[inline]
    fn place(&self) -> (u32, u8, i64) {
        (self.thread, self.layer, self.ts_ns)
    }

    #[inline]
    fn parent_id(&self) -> Option<i64> {
        self.has_parent.then(|| self.id.wrapping_add(self.above))
    }

    fn end_or_max(&self) -> i64 {
        if self.dur_ns == OPEN { i64::MAX } else { self.ts_ns.saturating_add(self.dur_ns) }
    }
}

/// Sorted spans, which can be read any number of times.
#[derive(Debug)]
pub struct SpanOrder {
    pub(crate) sorted: Sorted<Row>,
}

impl SpanOrder {
    /// Number of spans.
    pub fn len(&self) -> u64 {
        self.sorted.len()
    }

    /// Whether there are no spans.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// Walks thread by thread, layer by layer, in order of start.
    pub fn iter(&self, roster: &Roster) -> Result<SpanIter<'_>> {
        let last = |thread: &crate::Thread| roster.traces[thread.trace].last_ts_ns.unwrap_or(i64::MIN);
        let last_ts_ns = roster.threads().iter().map(last).collect();
        Ok(SpanIter { merge: self.sorted.iter()?, rows: Vec::new(), next: 0, untied: 0, last_ts_ns })
    }
}

/// Spans of a [`SpanOrder`].
#[derive(Debug)]
pub struct SpanIter<'a> {
    merge: Merge<'a, Row>,
    /// Buffered rows; those before `next` have been returned, and those before `untied` are in their final order.
    rows: Vec<Row>,
    next: usize,
    untied: usize,
    /// The end of the trace, for each thread.
    last_ts_ns: Vec<i64>,
}

/// Rows that are read at once.
const BLOCK: usize = 1 << 10;
/// Max number of spans with the same start that are sorted by their parents; the rest stay sorted by depth.
const MAX_TIED: usize = 1 << 20;

impl SpanIter<'_> {
    /// Reads more rows and sorts those with the same start; returns false at the end.
    #[cold]
    fn advance(&mut self) -> Result<bool> {
        let mut is_over = false;
        while self.untied == self.next && !is_over {
            self.rows.drain(..self.next);
            self.next = 0;
            let before = self.rows.len();
            self.merge.fill(&mut self.rows, BLOCK)?;
            is_over = self.rows.len() == before;
            self.untied = self.untie_all(is_over);
        }
        Ok(self.next < self.untied)
    }

    /// Sorts rows with the same start and returns the end of the finished rows: more rows with the last start may
    /// follow.
    fn untie_all(&mut self, is_over: bool) -> usize {
        let (mut begin, len) = (0, self.rows.len());
        for tied in self.rows.chunk_by_mut(|one, two| one.place() == two.place()) {
            let is_last = begin + tied.len() == len;
            if is_last && !is_over && tied.len() < MAX_TIED {
                return begin;
            }
            if tied.len() > 1 {
                untie(tied);
            }
            begin += tied.len();
        }
        begin
    }

    #[inline]
    fn ordered(&self, row: &Row) -> Ordered {
        let last_ts_ns = self.last_ts_ns.get(row.thread as usize).copied().unwrap_or(i64::MIN);
        let end_ns = match row.dur_ns {
            OPEN => last_ts_ns.max(row.ts_ns),
            dur => row.ts_ns.saturating_add(dur),
        };
        let layer = Layer::ALL.get(usize::from(row.layer)).copied().unwrap_or(Layer::Stack);
        let is_switch = layer == Layer::Switches;
        Ordered {
            thread: ThreadIndex(row.thread),
            layer,
            id: row.id,
            parent_id: row.parent_id(),
            target_tid: is_switch.then_some(row.above as u64),
            depth: row.depth,
            ts_ns: row.ts_ns,
            dur_ns: (row.dur_ns != OPEN).then_some(row.dur_ns),
            end_ns,
            look: LookId(row.look),
        }
    }
}

impl Iterator for SpanIter<'_> {
    type Item = Result<Ordered>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.next == self.untied {
            match self.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
        let row = self.ordered(&self.rows[self.next]);
        self.next += 1;
        Some(Ok(row))
    }
}

/// Sorts spans that start at the same time in pre-order of the tree.
///
/// Depth alone is not enough: of two siblings with the same start, the first has no duration, and its children come
/// before the second. The rows are sorted by depth and id.
fn untie(rows: &mut [Row]) {
    let is_chain = rows.windows(2).all(|pair| pair[1].parent_id() == Some(pair[0].id));
    if is_chain {
        return;
    }
    // The index of the parent plus one; 0 means none, so that outermost spans come first.
    let parent_of = |row: &Row| {
        let key = (row.depth.checked_sub(1)?, row.parent_id()?);
        rows.binary_search_by_key(&key, |other| (other.depth, other.id)).ok()
    };
    let parents: Vec<usize> = rows.iter().map(|row| parent_of(row).map_or(0, |place| place + 1)).collect();
    let mut by_parent: Vec<usize> = (0..rows.len()).collect();
    by_parent.sort_unstable_by_key(|place| (parents[*place], rows[*place].end_or_max(), rows[*place].id));
    let children_of = |parent: usize| {
        let begin = by_parent.partition_point(|place| parents[*place] < parent);
        let end = by_parent.partition_point(|place| parents[*place] <= parent);
        by_parent[begin..end].iter().rev()
    };
    let mut walked = Vec::with_capacity(rows.len());
    let mut waiting: Vec<usize> = children_of(0).copied().collect();
    while let Some(place) = waiting.pop() {
        walked.push(rows[place]);
        waiting.extend(children_of(place + 1));
    }
    // A parent is always less deep, so there are no cycles and no row is left out.
    debug_assert_eq!(walked.len(), rows.len());
    rows.copy_from_slice(&walked);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use traceloom_core::{Limits, Slice, TimeRange};

    use super::*;
    use crate::{
        Need, Options, SpanRows, Target,
        fixture::{Brief, Synthetic, pass, push_main, push_span, push_thread},
    };

    static SPANS: Target = Target {
        id: "spans",
        needs: &[&[Need::of::<SpanRows<'_>>(), Need::shown(Table::Processes), Need::shown(Table::Threads)]],
        ..Target::EMPTY
    };

    fn gathered(source: &Synthetic, options: &Options) -> Vec<Ordered> {
        let pass = pass(source, options, &SPANS);
        assert!(pass.loss.is_empty());
        assert_eq!(pass.spans.len(), pass.spans.iter(&pass.roster).unwrap().count() as u64);
        pass.spans.iter(&pass.roster).unwrap().map(Result::unwrap).collect()
    }

    fn ids(spans: &[Ordered]) -> Vec<i64> {
        spans.iter().map(|span| span.id).collect()
    }

    #[test]
    fn parents_come_before_children_that_begin_with_them() {
        let post_order: &[Brief] = &[
            ("a1", 0, 1, Some(1), 5, Some(0)),
            ("a", 1, 0, None, 5, Some(0)),
            ("b1", 2, 1, Some(4), 5, Some(1)),
            ("b2", 3, 1, Some(4), 6, Some(1)),
            ("b", 4, 0, None, 5, Some(2)),
        ];
        assert_eq!(ids(&gathered(&Synthetic::spans(post_order), &Options::default())), [1, 0, 4, 2, 3]);
        let pre_order: &[Brief] = &[
            ("a", 0, 0, None, 5, Some(0)),
            ("a1", 1, 1, Some(0), 5, Some(0)),
            ("b", 2, 0, None, 5, Some(2)),
            ("b1", 3, 1, Some(2), 5, Some(1)),
        ];
        assert_eq!(ids(&gathered(&Synthetic::spans(pre_order), &Options::default())), [0, 1, 2, 3]);
    }

    #[test]
    fn what_was_never_closed_ends_with_the_trace() {
        let spans = gathered(
            &Synthetic::spans(&[("a", 0, 0, None, 3, None), ("b", 1, 1, Some(0), 4, Some(6))]),
            &Options::default(),
        );
        assert_eq!((spans[0].dur_ns, spans[0].end_ns), (None, 10));
    }

    #[test]
    fn a_slice_takes_what_reaches_into_it_and_the_threads_it_names() {
        let trace = Synthetic::new(|tables| {
            for thread in 0..3 {
                push_span(tables, thread, "block", ("early", 10 * thread, 0, None, 0, Some(4)))?;
                push_span(tables, thread, "block", ("across", 10 * thread + 1, 0, None, 5, Some(6)))?;
                push_span(tables, thread, "block", ("late", 10 * thread + 2, 0, None, 21, Some(4)))?;
            }
            push_thread(tables, 1, "one")?;
            push_thread(tables, 2, "two")?;
            push_main(tables, traceloom_model::trackers::Extent::default())
        });
        let slice = Slice { range: TimeRange::between(10, 20), threads: vec!["two".to_owned(), "101".to_owned()] };
        let spans = gathered(&trace, &Options { slice, ..Options::default() });
        assert_eq!(ids(&spans), [11, 21]);
    }

    #[test]
    fn frames_and_ranges_are_layers_of_their_own() {
        let trace = Synthetic::new(|tables| {
            push_span(tables, 0, "range", ("range", 0, 0, None, 0, Some(4)))?;
            push_span(tables, 0, "scope", ("scope", 1, 0, None, 2, Some(5)))?;
            push_span(tables, 0, "frame", ("frame", 2, 0, None, 1, Some(9)))?;
            push_main(tables, traceloom_model::trackers::Extent::default())
        });
        let spans = gathered(&trace, &Options::default());
        let layers: Vec<_> = spans.iter().map(|span| (span.id, span.layer)).collect();
        assert_eq!(layers, [(1, Layer::Stack), (2, Layer::Frames), (0, Layer::Ranges)]);
    }

    #[test]
    fn several_traces_keep_their_threads_apart() {
        let mut trace = Synthetic::spans(&[("a", 0, 0, None, 3, Some(1))]);
        trace.traces.extend(Synthetic::spans(&[("a", 0, 0, None, 1, Some(1))]).traces);
        trace.traces[1].0 = 8;
        let spans = gathered(&trace, &Options::default());
        assert_eq!(spans.iter().map(|span| (span.thread.index(), span.ts_ns)).collect::<Vec<_>>(), [(0, 3), (1, 1)]);
    }

    /// A tree from the depths of a walk, with small times, so that many are equal.
    fn tree(steps: &[(u8, u8, u8)]) -> Vec<Brief> {
        let mut spans: Vec<Brief> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        let mut now = 0_i64;
        for (up, gap, _) in steps {
            for _ in 0..*up {
                if let Some(index) = open.pop() {
                    spans[index].5 = Some(now - spans[index].4);
                }
            }
            now += i64::from(*gap);
            let parent = open.last().map(|index| *index as i64);
            spans.push(("x", spans.len() as i64, open.len() as u32, parent, now, None));
            open.push(spans.len() - 1);
        }
        for index in open {
            spans[index].5 = Some(now - spans[index].4);
        }
        spans
    }

    /// The same rows in the order of a file that is sorted by end, including ids.
    fn by_end(pre_order: &[Brief]) -> Vec<Brief> {
        let mut order: Vec<usize> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        for (index, span) in pre_order.iter().enumerate() {
            while open.len() > span.2 as usize {
                order.extend(open.pop());
            }
            open.push(index);
        }
        order.extend(open.into_iter().rev());
        let place = |index: i64| order.iter().position(|other| *other as i64 == index).map(|place| place as i64);
        order
            .iter()
            .map(|index| {
                let (name, id, depth, parent, ts, dur) = pre_order[*index];
                (name, place(id).unwrap(), depth, parent.and_then(place), ts, dur)
            })
            .collect()
    }

    proptest! {
        #[test]
        fn both_orders_of_a_file_give_the_same_walk(
            steps in prop::collection::vec((0_u8..4, 0_u8..2, 0_u8..1), 1..60),
            spill in any::<bool>(),
        ) {
            let limits = Limits::with(|limits| limits.tree_bytes = if spill { 0 } else { u64::MAX });
            let options = Options { limits, ..Options::default() };
            let pre_order = tree(&steps);
            let walk = gathered(&Synthetic::spans(&pre_order), &options);
            prop_assert_eq!(ids(&walk), (0..pre_order.len() as i64).collect::<Vec<_>>());
            let post_order = by_end(&pre_order);
            let walk: Vec<_> = gathered(&Synthetic::spans(&post_order), &options);
            let shape: Vec<_> = walk.iter().map(|span| (span.depth, span.ts_ns, span.dur_ns)).collect();
            prop_assert_eq!(shape, pre_order.iter().map(|span| (span.2, span.4, span.5)).collect::<Vec<_>>());
            // Each span comes directly below its parent in the walk.
            let mut path: Vec<i64> = Vec::new();
            for span in &walk {
                path.truncate(span.depth as usize);
                prop_assert_eq!(path.last().copied(), span.parent_id);
                path.push(span.id);
            }
        }
    }
}

//! Spans in the order of their begin, parents before children, thread by thread.
//!
//! A source gives spans as the file has them, which may be the order of their ends. Here they become rows of fixed
//! size, sorted in runs that go to a temporary file when memory runs out.

use std::cmp::Ordering;

use traceloom_bytes::{Arena, Cursor, Entry, Result, Slice};
use traceloom_model::spans;

use crate::{
    KeyMap, Look, LookId, Looks, Merge, NamePool, Roster, Sorted, Sorter, ThreadIndex, pour::span_is_taken,
};

/// Spans of a thread that nest among themselves.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Layer {
    /// What the thread did: blocks, calls, scopes.
    Stack,
    /// Frames.
    Frames,
    /// Ranges of time, which may overlap.
    Ranges,
}

impl Layer {
    const ALL: [Self; 3] = [Self::Stack, Self::Frames, Self::Ranges];

    fn of_category(category: &str) -> Self {
        match category {
            "frame" => Self::Frames,
            "range" => Self::Ranges,
            _ => Self::Stack,
        }
    }
}

/// A span, at its place in the order.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ordered {
    /// Its thread.
    pub thread: ThreadIndex,
    /// What it nests with.
    pub layer: Layer,
    /// Its `id`.
    pub id: i64,
    /// The span around it.
    pub parent_id: Option<i64>,
    /// Spans around it.
    pub depth: u32,
    /// When it began.
    pub ts_ns: i64,
    /// How long it took; none where it was never closed.
    pub dur_ns: Option<i64>,
    /// When it ended; where it was never closed, the end of the trace.
    pub end_ns: i64,
    /// Its name and the like.
    pub look: LookId,
}

/// As it is sorted and spilled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Row {
    ts_ns: i64,
    /// [`OPEN`] where it was never closed.
    dur_ns: i64,
    id: i64,
    /// [`NO_PARENT`] where there is none.
    parent_id: i64,
    thread: u32,
    depth: u32,
    look: u32,
    layer: u8,
}

const OPEN: i64 = -1;
const NO_PARENT: i64 = i64::MIN;

impl Row {
    #[inline]
    fn place(&self) -> (u32, u8, i64) {
        (self.thread, self.layer, self.ts_ns)
    }

    fn end_or_max(&self) -> i64 {
        if self.dur_ns == OPEN { i64::MAX } else { self.ts_ns.saturating_add(self.dur_ns) }
    }
}

impl Ord for Row {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.place().cmp(&other.place()).then_with(|| (self.depth, self.id).cmp(&(other.depth, other.id)))
    }
}

impl PartialOrd for Row {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Entry for Row {
    const BYTES: usize = 45;

    fn put(&self, bytes: &mut Vec<u8>) {
        for number in [self.ts_ns, self.dur_ns, self.id, self.parent_id] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        for number in [self.thread, self.depth, self.look] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.push(self.layer);
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self {
            ts_ns: cursor.i64("begin")?,
            dur_ns: cursor.i64("duration")?,
            id: cursor.i64("id")?,
            parent_id: cursor.i64("parent")?,
            thread: cursor.u32("thread")?,
            depth: cursor.u32("depth")?,
            look: cursor.u32("look")?,
            layer: cursor.u8("layer")?,
        })
    }
}

/// Takes spans as they come.
#[derive(Debug)]
pub struct SpanSorter {
    sorter: Sorter<Row>,
    names: KeyMap,
    categories: KeyMap,
    files: KeyMap,
    slice: Slice,
}

impl SpanSorter {
    /// Empty; takes what reaches into the slice.
    pub fn new(arena: &Arena, slice: &Slice) -> Self {
        let (names, categories, files) = Default::default();
        Self { sorter: Sorter::new(arena), names, categories, files, slice: slice.clone() }
    }

    /// Takes a batch.
    pub fn take(
        &mut self,
        view: &spans::View<'_>,
        roster: &mut Roster,
        pool: &mut NamePool,
        looks: &mut Looks,
    ) -> Result<()> {
        self.names.turn_to(view.name.values());
        self.categories.turn_to(view.category.values());
        self.files.turn_to(view.file.values());
        for row in 0..view.rows {
            let thread = roster.index(view.trace_id.get(row), view.thread_id.get(row))?;
            let (ts_ns, dur_ns) = (view.ts_ns.get(row), view.dur_ns.get(row));
            if !roster.thread(thread).is_taken || !span_is_taken(&self.slice, ts_ns, dur_ns) {
                continue;
            }
            let category = match view.category.keys().get(row) {
                Some(key) => self.categories.get(*key, pool)?,
                None => pool.intern("")?,
            };
            let name = match view.name.keys().get(row) {
                Some(key) => self.names.get(*key, pool)?,
                None => pool.intern("")?,
            };
            let look = Look {
                name,
                category,
                definition_id: view.definition_id.get(row),
                file: view.file.key(row).map(|key| self.files.get(key, pool)).transpose()?,
                line: view.line.get(row),
                color: view.color.get(row),
            };
            let layer = match view.category.keys().is_empty() {
                true => Layer::Stack,
                false => Layer::of_category(view.category.get(row)),
            };
            self.sorter.push(Row {
                ts_ns,
                dur_ns: dur_ns.map_or(OPEN, |dur| dur.max(0)),
                id: view.id.get(row),
                parent_id: view.parent_id.get(row).unwrap_or(NO_PARENT),
                thread: thread.0,
                depth: view.depth.get(row),
                look: looks.intern(look)?.0,
                layer: layer as u8,
            })?;
        }
        Ok(())
    }

    /// All spans in order.
    pub fn finish(self) -> Result<SpanOrder> {
        Ok(SpanOrder { sorted: self.sorter.finish()? })
    }
}

/// Spans in order, as often as they are asked for.
#[derive(Debug)]
pub struct SpanOrder {
    sorted: Sorted<Row>,
}

impl SpanOrder {
    /// Number of spans.
    pub fn len(&self) -> u64 {
        self.sorted.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// Walks thread by thread, layer by layer, by begin.
    pub fn iter(&self, roster: &Roster) -> Result<SpanIter<'_>> {
        let last = |thread: &crate::Thread| roster.traces[thread.trace].last_ts_ns.unwrap_or(i64::MIN);
        let last_ts_ns = roster.threads().iter().map(last).collect();
        Ok(SpanIter { merge: self.sorted.iter()?, ahead: None, tied: Vec::new(), next_tied: 0, last_ts_ns })
    }
}

/// Spans of a [`SpanOrder`].
#[derive(Debug)]
pub struct SpanIter<'a> {
    merge: Merge<'a, Row>,
    ahead: Option<Row>,
    /// Spans that begin at the same time, in order; those before `next_tied` are gone.
    tied: Vec<Row>,
    next_tied: usize,
    /// The end of the trace, for each thread.
    last_ts_ns: Vec<i64>,
}

/// Spans of one begin that are put in order by their parents; of more, the rest stays in the order of depth.
const MOST_TIED: usize = 1 << 20;

impl SpanIter<'_> {
    #[inline]
    fn next_row(&mut self) -> Result<Option<Row>> {
        if let Some(row) = self.tied.get(self.next_tied) {
            self.next_tied += 1;
            return Ok(Some(*row));
        }
        let first = match self.ahead.take() {
            Some(row) => row,
            None => match self.merge.next() {
                Some(row) => row?,
                None => return Ok(None),
            },
        };
        self.ahead = self.merge.next().transpose()?;
        match self.ahead {
            Some(ahead) if ahead.place() == first.place() => self.untie(first).map(Some),
            _ => Ok(Some(first)),
        }
    }

    #[cold]
    fn untie(&mut self, first: Row) -> Result<Row> {
        self.tied.clear();
        self.tied.push(first);
        while let Some(ahead) = self.ahead.filter(|ahead| ahead.place() == first.place()) {
            if self.tied.len() >= MOST_TIED {
                break;
            }
            self.tied.push(ahead);
            self.ahead = self.merge.next().transpose()?;
        }
        untie(&mut self.tied);
        self.next_tied = 1;
        Ok(self.tied[0])
    }

    fn ordered(&self, row: &Row) -> Ordered {
        let last_ts_ns = self.last_ts_ns.get(row.thread as usize).copied().unwrap_or(i64::MIN);
        let end_ns = match row.dur_ns {
            OPEN => last_ts_ns.max(row.ts_ns),
            dur => row.ts_ns.saturating_add(dur),
        };
        Ordered {
            thread: ThreadIndex(row.thread),
            layer: Layer::ALL[usize::from(row.layer).min(2)],
            id: row.id,
            parent_id: (row.parent_id != NO_PARENT).then_some(row.parent_id),
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
        self.next_row().map(|row| row.map(|row| self.ordered(&row))).transpose()
    }
}

/// Puts spans that begin at the same time into the order of a walk through the tree.
///
/// Depth alone does not do: of two siblings that begin together the first took no time, and its children come
/// before the second. The rows are in the order of depth and id.
fn untie(rows: &mut Vec<Row>) {
    let is_chain = rows.windows(2).all(|pair| pair[1].parent_id == pair[0].id);
    if is_chain {
        return;
    }
    // The place of the parent plus one; none is 0, so that outermost spans come first.
    let parent_of = |row: &Row| {
        let key = (row.depth.checked_sub(1)?, row.parent_id);
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
    // A parent is always less deep, so there are no circles and nobody is left out.
    debug_assert_eq!(walked.len(), rows.len());
    *rows = walked;
}

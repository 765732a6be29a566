//! Events, log entries and values, gathered by thread: they become markers.

use std::cmp::Ordering;

use traceloom_core::{Arena, Cursor, Entry, Loss, Result};
use traceloom_model::{Table, TableSource, counters, events, logs};

use super::details::Details;
use traceloom_core::{Sorted, Sorter, Store};
use traceloom_passes::{Gathered, KeyMap, NameId, Options, PointSink, ThreadIndex, Timeline};

/// A point in time on a thread.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Point {
    pub(super) thread: u32,
    pub(super) at_ns: u64,
    pub(super) name: NameId,
    pub(super) category: NameId,
    /// Where its details are in the store, and how long they are.
    pub(super) details: (u64, u32),
    number: u64,
}

impl Ord for Point {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.thread, self.at_ns, self.number).cmp(&(other.thread, other.at_ns, other.number))
    }
}

impl PartialOrd for Point {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Entry for Point {
    const BYTES: usize = 40;

    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.thread.to_le_bytes());
        bytes.extend_from_slice(&self.at_ns.to_le_bytes());
        bytes.extend_from_slice(&self.name.raw().to_le_bytes());
        bytes.extend_from_slice(&self.category.raw().to_le_bytes());
        bytes.extend_from_slice(&self.details.0.to_le_bytes());
        bytes.extend_from_slice(&self.details.1.to_le_bytes());
        bytes.extend_from_slice(&self.number.to_le_bytes());
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self {
            thread: cursor.u32("thread")?,
            at_ns: cursor.u64("time")?,
            name: NameId::from_raw(cursor.u32("name")?),
            category: NameId::from_raw(cursor.u32("category")?),
            details: (cursor.u64("offset")?, cursor.u32("length")?),
            number: cursor.u64("number")?,
        })
    }
}

/// All points, thread by thread, and their details.
#[derive(Debug)]
pub(super) struct Points {
    pub(super) sorted: Sorted<Point>,
    pub(super) texts: Store,
}

impl Points {
    pub(super) fn read(
        source: &dyn TableSource,
        gathered: &mut Gathered,
        options: &Options,
        timeline: &Timeline,
        loss: &mut Loss,
    ) -> Result<Self> {
        let rest = gathered.rest();
        let firsts = first_threads(gathered);
        let sorter = Sorter::new(&Arena::new(options.limits.tree_bytes));
        let texts = Store::new(options.limits.tree_bytes / 4);
        let mut reader = Reader {
            gathered,
            options,
            timeline,
            loss,
            firsts,
            sorter,
            texts,
            names: KeyMap::default(),
            number: 0,
            details: Details::default(),
        };
        rest.pour_points(source, &mut reader)?;
        Ok(Self { sorted: reader.sorter.finish()?, texts: reader.texts })
    }
}

/// The first thread of each trace, for what belongs to no thread.
fn first_threads(gathered: &Gathered) -> Vec<Option<u32>> {
    let mut firsts = vec![None; gathered.roster.traces.len()];
    for (thread, index) in gathered.roster.threads().iter().zip(0..) {
        if thread.is_taken {
            firsts[thread.trace].get_or_insert(index);
        }
    }
    firsts
}

struct Reader<'a> {
    gathered: &'a mut Gathered,
    options: &'a Options,
    timeline: &'a Timeline,
    loss: &'a mut Loss,
    firsts: Vec<Option<u32>>,
    sorter: Sorter<Point>,
    texts: Store,
    names: KeyMap,
    number: u64,
    details: Details,
}

impl PointSink for Reader<'_> {
    fn events(&mut self, view: &events::View<'_>) -> Result<()> {
        self.names.turn_to(view.name.values());
        for row in 0..view.rows {
            let place =
                self.find(view.trace_id.get(row), view.thread_id.get(row), view.ts_ns.get(row), Table::Events)?;
            let Some((trace, thread, at_ns)) = place else { continue };
            let name = self.names.get(view.name.keys().get(row).copied().unwrap_or(-1), &mut self.gathered.names)?;
            self.details.args(Table::Events, trace, view.id.get(row), self.gathered)?;
            self.push(thread, at_ns, name, view.category.get(row))?;
        }
        Ok(())
    }

    fn counters(&mut self, view: &counters::View<'_>) -> Result<()> {
        self.names.turn_to(view.name.values());
        for row in 0..view.rows {
            let place =
                self.find(view.trace_id.get(row), view.thread_id.get(row), view.ts_ns.get(row), Table::Counters)?;
            let Some((trace, thread, at_ns)) = place else { continue };
            let name = self.names.get(view.name.keys().get(row).copied().unwrap_or(-1), &mut self.gathered.names)?;
            self.details.args(Table::Counters, trace, view.id.get(row), self.gathered)?;
            if self.details.is_empty() {
                match (view.text.get(row), view.value.get(row)) {
                    (Some(text), _) => self.details.add("value", None, text),
                    (None, Some(value)) => self.details.add("value", None, &value.to_string()),
                    (None, None) => {}
                }
            }
            self.push(thread, at_ns, name, "value")?;
        }
        Ok(())
    }

    fn logs(&mut self, view: &logs::View<'_>) -> Result<()> {
        for row in 0..view.rows {
            let (trace_id, id) = (view.trace_id.get(row), view.id.get(row));
            let ts_ns = self.gathered.roster.log_ts_ns(view, row, self.loss)?;
            let place = self.find(trace_id, view.thread_id.get(row), ts_ns, Table::Logs)?;
            let Some((trace, thread, at_ns)) = place else { continue };
            // Messages differ from each other: as names of markers they could not be counted.
            let name = self.gathered.names.intern("log")?;
            self.details.add("message", None, view.message.get(row));
            if let Some(file) = view.file.get(row) {
                self.details.source(file, view.line.get(row));
            }
            self.details.args(Table::Logs, trace, id, self.gathered)?;
            self.push(thread, at_ns, name, view.level_name.get(row))?;
        }
        Ok(())
    }
}

impl Reader<'_> {
    /// Trace, thread and time; none where the slice leaves the row out.
    fn find(
        &mut self,
        trace_id: u64,
        thread_id: Option<i64>,
        ts_ns: i64,
        table: Table,
    ) -> Result<Option<(usize, ThreadIndex, u64)>> {
        let found = self.gathered.roster.point(&self.options.slice, trace_id, thread_id, Some(ts_ns))?;
        let Some((trace, thread)) = found else { return Ok(None) };
        let thread = thread.or_else(|| self.firsts.get(trace).copied().flatten().map(ThreadIndex));
        if thread.is_none() {
            self.loss.lose("points of traces without threads", || format!("a row of {}", table.name()));
        }
        Ok(thread.map(|thread| (trace, thread, self.timeline.at(trace, ts_ns))))
    }

    fn push(&mut self, thread: ThreadIndex, at_ns: u64, name: NameId, category: &str) -> Result<()> {
        let category = self.gathered.names.intern(category)?;
        let text = self.details.take();
        let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let begin = self.texts.append(&text.as_bytes()[..len as usize])?;
        self.number += 1;
        self.sorter.push(Point { thread: thread.0, at_ns, name, category, details: (begin, len), number: self.number })
    }
}

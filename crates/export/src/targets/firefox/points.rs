//! Events, log entries and values, collected by thread: they become markers.

use traceloom_core::{Arena, Result, Sorted, Sorter, Store, spill_row};

use super::details::Details;
use traceloom_passes::{CounterRows, EventRows, Found, KeyMap, LogRows, NameId, Pass, PointSink, Roster, ThreadIndex};

spill_row! {
    /// A point in time on a thread.
    #[derive(Debug, Eq, PartialEq)]
    pub(super) struct Point {
        pub(super) thread: u32,
        pub(super) at_ns: u64,
        pub(super) name: NameId,
        pub(super) category: NameId,
        /// Offset of its details in the store, and their length.
        pub(super) offset: u64,
        pub(super) len: u32,
        number: u64,
    } by (thread, at_ns, number)
}

/// All points, thread by thread, and their details.
#[derive(Debug)]
pub(super) struct Points {
    pub(super) sorted: Sorted<Point>,
    pub(super) texts: Store,
}

impl Points {
    pub(super) fn read(pass: &mut Pass<'_>) -> Result<Self> {
        let (rest, limit) = (pass.rest(), pass.options.limits.tree_bytes);
        let mut reader = Reader {
            firsts: first_threads(&pass.roster),
            pass,
            sorter: Sorter::new(&Arena::new(limit)),
            texts: Store::new(limit / 4),
            names: KeyMap::default(),
            number: 0,
            details: Details::default(),
        };
        rest.pour_points(&mut reader)?;
        Ok(Self { sorted: reader.sorter.finish()?, texts: reader.texts })
    }
}

/// The first thread of each trace, for rows that belong to no thread.
fn first_threads(roster: &Roster) -> Vec<Option<ThreadIndex>> {
    let mut firsts = vec![None; roster.traces.len()];
    for (thread, index) in roster.threads().iter().zip(0..) {
        if thread.is_taken {
            firsts[thread.trace].get_or_insert(ThreadIndex(index));
        }
    }
    firsts
}

struct Reader<'a, 'p> {
    pass: &'a mut Pass<'p>,
    firsts: Vec<Option<ThreadIndex>>,
    sorter: Sorter<Point>,
    texts: Store,
    names: KeyMap,
    number: u64,
    details: Details,
}

impl PointSink for Reader<'_, '_> {
    fn events(&mut self, rows: &EventRows<'_>) -> Result<()> {
        self.names.turn_to(rows.name.values());
        for row in 0..rows.rows {
            let Some((found, thread)) = self.find(&rows.point(row))? else { continue };
            let name = self.names.get(rows.name.keys().get(row).copied().unwrap_or(-1), &mut self.pass.names)?;
            self.put_args(&found)?;
            self.push(&found, thread, name, rows.category.get(row))?;
        }
        Ok(())
    }

    fn counters(&mut self, rows: &CounterRows<'_>) -> Result<()> {
        self.names.turn_to(rows.name.values());
        for row in 0..rows.rows {
            let Some((found, thread)) = self.find(&rows.point(row))? else { continue };
            let name = self.names.get(rows.name.keys().get(row).copied().unwrap_or(-1), &mut self.pass.names)?;
            self.put_args(&found)?;
            if self.details.is_empty() {
                match (rows.text.get(row), rows.value.get(row)) {
                    (Some(text), _) => self.details.add("value", None, text),
                    (None, Some(value)) => self.details.add("value", None, &value.to_string()),
                    (None, None) => {}
                }
            }
            self.push(&found, thread, name, "value")?;
        }
        Ok(())
    }

    fn logs(&mut self, rows: &LogRows<'_>) -> Result<()> {
        for row in 0..rows.rows {
            let Some((found, thread)) = self.find(&rows.point(row))? else { continue };
            // Messages differ from each other: as names of markers they could not be counted.
            let name = self.pass.names.intern("log")?;
            self.details.add("message", None, rows.message.get(row));
            if let Some(file) = rows.file.get(row) {
                self.details.source(file, rows.line.get(row));
            }
            self.put_args(&found)?;
            self.push(&found, thread, name, rows.level_name.get(row))?;
        }
        Ok(())
    }
}

impl Reader<'_, '_> {
    /// A row and its thread; none if the slice leaves the row out.
    fn find(&mut self, point: &traceloom_passes::Point) -> Result<Option<(Found, ThreadIndex)>> {
        let Some(found) = self.pass.find(point)? else { return Ok(None) };
        let thread = found.thread.or_else(|| self.firsts.get(found.owner.trace()).copied().flatten());
        if thread.is_none() {
            let table = found.owner.table().name();
            self.pass.loss.lose("points of traces without threads", || format!("a row of {table}"));
        }
        Ok(thread.map(|thread| (found, thread)))
    }

    fn put_args(&mut self, found: &Found) -> Result<()> {
        let Pass { args, names, .. } = &mut *self.pass;
        self.details.args(found.owner, args, names)
    }

    fn push(&mut self, found: &Found, thread: ThreadIndex, name: NameId, category: &str) -> Result<()> {
        let (category, at_ns) = (self.pass.names.intern(category)?, self.pass.timeline.at(found.ts_ns));
        let text = self.details.take();
        let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let offset = self.texts.append(&text.as_bytes()[..len as usize])?;
        self.number += 1;
        self.sorter.push(Point { thread: thread.0, at_ns, name, category, offset, len, number: self.number })
    }
}

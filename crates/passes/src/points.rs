//! Rows with a single timestamp: events, counter values, log entries.

use traceloom_core::{Loss, Result};
use traceloom_model::{EventCategory, Table, select};

use crate::{Args, Datum, Need, Owner, Pass, Rest, ThreadIndex};

select! {
    /// Events, as targets read them.
    pub struct EventRows of events { trace_id, id, ts_ns, thread_id, span_id, name, category, definition_id }
}

select! {
    /// Counter values, as targets read them.
    pub struct CounterRows of counters { trace_id, id, ts_ns, thread_id, name, value_id, value, text }
}

select! {
    /// Log entries, as targets read them.
    pub struct LogRows of logs {
        trace_id, id, ts_ns, thread_id, level, level_name, file, line, format, message, definition_id,
    }
}

/// Events.
pub const EVENTS: Need = Need::of::<EventRows<'_>>();
/// Counter values.
pub const COUNTERS: Need = Need::of::<CounterRows<'_>>();
/// Log entries.
pub const LOGS: Need = Need::of::<LogRows<'_>>();

/// The columns that all of these tables have.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Its table.
    pub table: Table,
    /// Its trace.
    pub trace_id: u64,
    /// Its id.
    pub id: i64,
    /// Its thread, unless it belongs to the whole process.
    pub thread_id: Option<i64>,
    /// Its timestamp; only log entries can lack one.
    pub ts_ns: Option<i64>,
}

/// The row, thread and time of a [`Point`].
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// Its row.
    pub owner: Owner,
    /// Its thread, unless it belongs to the whole process.
    pub thread: Option<ThreadIndex>,
    /// Its time on the axis that the traces share.
    pub ts_ns: i64,
}

macro_rules! points {
    ($($rows:ident $table:ident $ts_ns:ident => $time:expr;)+) => {$(
        impl $rows<'_> {
            /// One row as a point.
            #[inline]
            pub fn point(&self, row: usize) -> Point {
                let $ts_ns = self.ts_ns.get(row);
                Point {
                    table: Table::$table,
                    trace_id: self.trace_id.get(row),
                    id: self.id.get(row),
                    thread_id: self.thread_id.get(row),
                    ts_ns: $time,
                }
            }
        }
    )+};
}

points! {
    EventRows Events ts_ns => Some(ts_ns);
    CounterRows Counters ts_ns => Some(ts_ns);
    LogRows Logs ts_ns => ts_ns;
}

impl EventRows<'_> {
    /// Whether an event is a landmark for people: a bookmark, a mark or a marker.
    pub fn is_mark(&self, row: usize) -> bool {
        use EventCategory::{Bookmark, Mark, Marker};
        matches!(EventCategory::of(self.category.get(row)), Some(Bookmark | Mark | Marker))
    }
}

/// Receives points, batch by batch.
pub trait PointSink {
    /// Receives events.
    fn events(&mut self, rows: &EventRows<'_>) -> Result<()>;
    /// Receives counter values.
    fn counters(&mut self, rows: &CounterRows<'_>) -> Result<()>;
    /// Receives log entries.
    fn logs(&mut self, rows: &LogRows<'_>) -> Result<()>;
}

impl Rest<'_> {
    /// Passes all points to the sink, in file order.
    pub fn pour_points(&self, sink: &mut impl PointSink) -> Result<()> {
        self.pour(&[Table::Events, Table::Counters, Table::Logs], |table, batch| match table {
            Table::Events => sink.events(&EventRows::of(batch)?),
            Table::Counters => sink.counters(&CounterRows::of(batch)?),
            _ => sink.logs(&LogRows::of(batch)?),
        })
    }
}

impl Pass<'_> {
    /// The row and the thread of a point, with or without a timestamp; `None` if the point is not in the slice.
    #[inline]
    pub fn place(&mut self, point: &Point) -> Result<Option<(Owner, Option<ThreadIndex>)>> {
        if point.thread_id.is_none() && !self.options.slice.threads.is_empty() {
            return Ok(None);
        }
        self.place_in_any_thread(point)
    }

    /// The same, but a point without a thread is included whichever threads the slice names.
    #[inline]
    pub fn place_in_any_thread(&mut self, point: &Point) -> Result<Option<(Owner, Option<ThreadIndex>)>> {
        let owner = Owner::new(point.table, self.roster.trace_number(point.trace_id)?, point.id);
        if point.ts_ns.is_some_and(|ts_ns| !self.options.slice.range.contains(ts_ns)) {
            return Ok(None);
        }
        let Some(thread_id) = point.thread_id else { return Ok(Some((owner, None))) };
        let index = self.roster.index(point.trace_id, thread_id)?;
        Ok(self.roster.thread(index).is_taken.then_some((owner, Some(index))))
    }

    /// The row, thread and time of a point; `None` if the point is not in the slice. A point without a timestamp gets
    /// the start of its trace, which is a loss.
    #[inline]
    pub fn find(&mut self, point: &Point) -> Result<Option<Found>> {
        let ts_ns = match point.ts_ns {
            Some(ts_ns) => ts_ns,
            None => self.start_of(point)?,
        };
        let place = self.place(&Point { ts_ns: Some(ts_ns), ..*point })?;
        Ok(place.map(|(owner, thread)| Found { owner, thread, ts_ns }))
    }

    /// The start of the trace, for a point without a timestamp, which is a loss.
    pub fn start_of(&mut self, point: &Point) -> Result<i64> {
        self.loss.lose("log entries without a time, now at the start of the trace", || {
            format!("{} {}", point.table.name(), point.id)
        });
        let trace = self.roster.trace_number(point.trace_id)?;
        Ok(self.roster.traces[trace].first_ts_ns.unwrap_or(0))
    }
}

impl Args {
    /// The index of a counter value, if it is an element of an array. Counts numbers that a double cannot represent.
    #[inline]
    pub fn element(&mut self, owner: Owner, value: f64, loss: &mut Loss) -> Result<Option<u32>> {
        let mut idx = None;
        self.visit(owner, |arg| {
            idx = arg.idx;
            let exact = match arg.value {
                Datum::Int(number) => Some(i128::from(number)),
                Datum::Unsigned(number) => Some(i128::from(number)),
                _ => None,
            };
            if exact.is_some_and(|exact| exact != value as i128) {
                loss.lose("last digits of large values", || format!("{:?} is now {value}", arg.value));
            }
            Ok(())
        })?;
        Ok(idx)
    }
}

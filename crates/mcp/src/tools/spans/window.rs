//! `window`: lists what ran between two times.

use std::{cmp::Reverse, collections::HashMap};

use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde_json::json;
use traceloom::tables::{Filter, TableSource};
use traceloom_core::{Error, Result, TimeRange};
use traceloom_model::{select, sink};
use traceloom_passes::{Interner, NO_NUMBER, Translation};

use super::{
    super::{
        Answer, Call, Kind,
        first::{First, lists},
    },
    EventRows, LogRows, ThreadNames, ThreadRows, event_row, log_row, present,
};

/// Max number of groups that are distinguished; others have no names.
const MAX_GROUPS: usize = 1 << 18;

pub(super) const TOOL: Kind = Kind::new::<Window>(
    "window",
    "What ran between two times: spans by thread and name, with their time inside the window, and the log lines \
     and events in it.",
    "spans:[name:str, category:str, calls:int, in_window_ns:int, first_ts_ns:int], logs:[message:str], events:[name:str, \
     ts_ns:int]",
    window,
);

select! { struct Rows of spans { thread_id, depth, ts_ns, dur_ns, name, category } }
select! { struct Traces of traces { last_ts_ns } }

/// Which time.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Window {
    /// Handle or path of the trace; may be omitted if only one is open.
    trace: Option<String>,
    /// The start, in nanoseconds from the start of the trace.
    from_ns: i64,
    /// The exclusive end, in nanoseconds from the start of the trace.
    to_ns: i64,
    /// Max rows per list (default 20, at most 1000).
    limit: Option<usize>,
}

fn window(call: &Call<'_>) -> Result<Answer> {
    let Window { trace, from_ns, to_ns, limit } = call.arguments()?;
    if from_ns > to_ns {
        return Err(Error::usage("the window ends before it starts: from_ns must not be greater than to_ns"));
    }
    let trace = call.trace(trace.as_deref())?;
    let mut inside = Inside {
        range: TimeRange::new(Some(from_ns), Some(to_ns)),
        from_ns,
        to_ns,
        names: Interner::default(),
        of_names: Translation::default(),
        of_categories: Translation::default(),
        groups: HashMap::new(),
        last_ns: None,
        threads: ThreadNames::default(),
        logs: First::new(limit),
        events: First::new(limit),
    };
    // A span in the window may have started long before it.
    trace.pour(&Filter::in_range(TimeRange::new(None, Some(to_ns))), &mut inside)?;
    let spans = inside.spans(limit);
    Ok(lists([("spans", spans), ("logs", inside.logs.finish()), ("events", inside.events.finish())], limit))
}

/// Spans of one thread, name and category.
type Key = (i64, u32, u32);

#[derive(Default)]
struct Group {
    calls: u64,
    in_window_ns: i64,
    first_ts_ns: i64,
    depth: u32,
    /// Spans that were never closed: their number, and the sum of their starts in the window.
    open: (i64, i64),
}

struct Inside {
    range: TimeRange,
    from_ns: i64,
    to_ns: i64,
    names: Interner,
    of_names: Translation,
    of_categories: Translation,
    groups: HashMap<Key, Group>,
    /// The end of the trace, at which spans end that were never closed.
    last_ns: Option<i64>,
    threads: ThreadNames,
    logs: First<(i64, i64)>,
    events: First<(i64, i64)>,
}

impl Inside {
    fn add(&mut self, view: &Rows<'_>) {
        let Self { from_ns, to_ns, names, groups, .. } = self;
        let of_names = self.of_names.within(view.name.values(), names, MAX_GROUPS);
        let of_categories = self.of_categories.within(view.category.values(), names, MAX_GROUPS);
        for row in 0..view.rows {
            let (ts_ns, dur_ns) = (view.ts_ns.get(row), view.dur_ns.get(row));
            let end_ns = dur_ns.map_or(i64::MAX, |dur_ns| ts_ns.saturating_add(dur_ns));
            if self.range.is_empty() || !self.range.overlaps_span(ts_ns, dur_ns) {
                continue;
            }
            let number = |numbers: &[u32], key: i32| numbers.get(key as usize).copied().unwrap_or(NO_NUMBER);
            let name = number(of_names, view.name.keys()[row]);
            let category = number(of_categories, view.category.keys()[row]);
            let mut key = (view.thread_id.get(row), name, category);
            if groups.len() >= MAX_GROUPS && !groups.contains_key(&key) {
                key.1 = NO_NUMBER;
            }
            let new = Group { first_ts_ns: ts_ns, depth: u32::MAX, ..Group::default() };
            let group = groups.entry(key).or_insert(new);
            let start_ns = ts_ns.max(*from_ns);
            group.calls += 1;
            group.first_ts_ns = group.first_ts_ns.min(ts_ns);
            group.depth = group.depth.min(view.depth.get(row));
            if dur_ns.is_some() {
                group.in_window_ns = group.in_window_ns.saturating_add(end_ns.min(*to_ns) - start_ns);
            } else {
                group.open = (group.open.0 + 1, group.open.1.saturating_add(start_ns));
            }
        }
    }

    fn add_logs(&mut self, view: &LogRows<'_>) {
        for row in 0..view.rows {
            if let Some(ts_ns) = view.ts_ns.get(row).filter(|ts_ns| self.range.contains(*ts_ns)) {
                self.logs.offer((ts_ns, view.id.get(row)), || log_row(view, row));
            }
        }
    }

    fn add_events(&mut self, view: &EventRows<'_>) {
        for row in (0..view.rows).filter(|row| self.range.contains(view.ts_ns.get(*row))) {
            self.events.offer((view.ts_ns.get(row), view.id.get(row)), || event_row(view, row));
        }
    }

    /// The groups with the most time in the window, and the number of all groups.
    fn spans(&self, limit: Option<usize>) -> (Vec<serde_json::Value>, u64) {
        let end_ns = self.last_ns.unwrap_or(self.to_ns).min(self.to_ns);
        let mut rows = First::new(limit);
        for ((thread_id, name, category), group) in &self.groups {
            let (open, starts_ns) = group.open;
            let open_ns = open.saturating_mul(end_ns).saturating_sub(starts_ns).max(0);
            let in_window_ns = group.in_window_ns.saturating_add(open_ns);
            let name = self.names.get(*name).unwrap_or("(other)");
            let category = self.names.get(*category);
            rows.offer((Reverse(in_window_ns), group.depth, name, *thread_id, category), || {
                let mut row = present(json!({
                    "name": name, "category": category, "thread": null, "thread_id": thread_id, "calls": group.calls,
                    "in_window_ns": in_window_ns, "first_ts_ns": group.first_ts_ns, "depth": group.depth,
                }));
                self.threads.name(&mut row);
                row
            });
        }
        rows.finish()
    }
}

sink! {
    impl for Inside as inside {
        Rows(rows) => inside.add(rows),
        Traces(rows) => inside.last_ns = (0..rows.rows).filter_map(|row| rows.last_ts_ns.get(row)).max(),
        LogRows(rows) => inside.add_logs(rows),
        EventRows(rows) => inside.add_events(rows),
        ThreadRows(rows) => inside.threads.take(rows),
    }
}

//! Example queries, by the contents of the traces. `desc` alone would put rows without a value first.

use traceloom_model::Table;

use super::answer::SqlExample;
use crate::scene::Contents;

/// A title and a query.
type Example = (&'static str, &'static str);

/// Queries that return rows for these traces; general ones come last.
pub(super) fn of(contents: &Contents, has_frames: bool) -> Vec<SqlExample> {
    let groups = [
        (contents.has(Table::LineTimes), LINES),
        (contents.has(Table::Calls), CALLS),
        (contents.has(Table::Spans), SPANS),
        (contents.has(Table::Logs), LOGS),
        (contents.has(Table::Allocations), MEMORY),
        (contents.has(Table::Switches), SWITCHES),
        (contents.has(Table::Counters), COUNTERS),
        (has_frames, FRAMES),
        (contents.has(Table::Events), EVENTS),
        (true, ANY),
    ];
    let wanted = groups.into_iter().filter(|(is_there, _)| *is_there).flat_map(|(_, examples)| examples);
    wanted.map(|(title, sql)| SqlExample { title: (*title).to_owned(), sql: (*sql).to_owned() }).collect()
}

const SPANS: &[Example] = &[
    (
        "Where the time goes",
        "select name, count(*) as calls, sum(dur_ns) as total_ns, sum(self_ns) as self_ns\n\
         from spans group by name order by self_ns desc nulls last limit 50",
    ),
    (
        "The longest spans",
        "select name, human_time(dur_ns) as duration, trace_id, thread_id, id, ts_ns, dur_ns\n\
         from spans where dur_ns is not null order by dur_ns desc limit 100",
    ),
    (
        "Median and 99th percentile",
        "select name, count(*) as calls, human_time(percentile(dur_ns, 0.5)) as median,\n       \
         human_time(percentile(dur_ns, 0.99)) as p99\n\
         from spans group by name order by count(*) desc limit 50",
    ),
    (
        "How busy each thread is",
        "select path, thread, count(*) as spans, human_time(sum(self_ns)) as busy\n\
         from spans_named group by path, thread order by sum(self_ns) desc nulls last",
    ),
];

const SWITCHES: &[Example] = &[(
    "Who took the processor",
    "select name, count(*) as switches, human_time(sum(dur_ns)) as off\n\
         from switches group by name order by sum(dur_ns) desc nulls last limit 50",
)];

const COUNTERS: &[Example] = &[(
    "Values over time",
    "select name, trace_id, thread_id, ts_ns, value, text from counters order by ts_ns limit 1000",
)];

const FRAMES: &[Example] = &[(
    "The slowest frames",
    "select name, human_time(dur_ns) as duration, trace_id, thread_id, id, ts_ns, dur_ns\n\
         from spans where category = 'frame' and dur_ns is not null order by dur_ns desc limit 50",
)];

const EVENTS: &[Example] = &[(
    "Events by name",
    "select name, category, count(*) as events from events group by name, category order by events desc limit 50",
)];

const LINES: &[Example] = &[(
    "The most costly lines",
    "select file, line, calls, human_time(coalesce(excl_ns, incl_ns)) as self\n\
         from line_times_merged where level = 'line' order by coalesce(excl_ns, incl_ns) desc nulls last limit 50",
)];

const CALLS: &[Example] = &[(
    "Who calls whom",
    "select caller, callee, sum(count) as calls, human_time(sum(incl_ns)) as total\n\
         from calls_merged group by caller, callee order by sum(incl_ns) desc nulls last limit 50",
)];

const LOGS: &[Example] = &[
    ("Lines by level", "select level_name, count(*) as lines from logs group by level_name order by lines desc"),
    (
        "Warnings and errors",
        "select unix_time(trace_id, ts_ns) as time, level_name, message, file, line, trace_id, ts_ns\n\
         from logs where level_name in ('WARN', 'ERROR', 'FATAL') order by ts_ns limit 500",
    ),
    (
        "Sites that log most",
        "select file, line, format, count(*) as lines from logs group by file, line, format order by lines desc limit 50",
    ),
    (
        "Lines per second",
        "select bucket(ts_ns, '1s') as ts_ns, count(*) as lines from logs where ts_ns is not null\n\
         group by bucket(ts_ns, '1s') order by ts_ns limit 1000",
    ),
];

const MEMORY: &[Example] = &[
    (
        "Never freed",
        "select function, file, line, count(*) as blocks, sum(size_bytes) as bytes\n\
         from allocation_sites where fate = 'live' group by function, file, line order by bytes desc limit 50",
    ),
    (
        "The largest allocations",
        "select function, size_bytes, fate, human_time(lifetime_ns) as lifetime, trace_id, ts_ns\n\
         from allocation_sites order by size_bytes desc limit 100",
    ),
    (
        "Bytes per second",
        "select bucket(ts_ns, '1s') as ts_ns, count(*) as blocks, sum(size_bytes) as bytes from allocations\n\
         group by bucket(ts_ns, '1s') order by ts_ns limit 1000",
    ),
];

const ANY: &[Example] = &[
    (
        "Rows per table",
        "select path, format, version, producer, clock, human_time(last_ts_ns - first_ts_ns) as length, bytes from traces",
    ),
    ("Problems", "select severity, code, position, message from findings order by severity, position"),
];

//! Rows of the tables, as plain values.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use traceloom_model::{
    Batches, Table, args, attributes, calls, calls_merged, definitions, files, findings, frames, line_times, processes,
    sources, spans, stacks, traces,
};

/// A span.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SpanRow {
    pub(crate) id: i64,
    pub(crate) parent_id: Option<i64>,
    pub(crate) thread_id: i64,
    pub(crate) depth: u32,
    pub(crate) ts_ns: i64,
    pub(crate) dur_ns: Option<i64>,
    pub(crate) self_ns: Option<i64>,
    pub(crate) name: String,
    pub(crate) definition_id: Option<i64>,
}

pub(crate) fn spans(batches: &Batches) -> Vec<SpanRow> {
    let mut rows = Vec::new();
    for batch in batches.table(Table::Spans) {
        let view = spans::View::of(batch).unwrap();
        rows.extend((0..view.rows).map(|row| SpanRow {
            id: view.id.get(row),
            parent_id: view.parent_id.get(row),
            thread_id: view.thread_id.get(row),
            depth: view.depth.get(row),
            ts_ns: view.ts_ns.get(row),
            dur_ns: view.dur_ns.get(row),
            self_ns: view.self_ns.get(row),
            name: view.name.get(row).to_owned(),
            definition_id: view.definition_id.get(row),
        }));
    }
    rows
}

/// Keys with values; the last value if a key is repeated.
pub(crate) fn attributes(batches: &Batches) -> BTreeMap<String, Option<String>> {
    let mut rows = BTreeMap::new();
    for batch in batches.table(Table::Attributes) {
        let view = attributes::View::of(batch).unwrap();
        let pair = |row| (view.key.get(row).to_owned(), view.value.get(row).map(str::to_owned));
        rows.extend((0..view.rows).map(pair));
    }
    rows
}

/// Name, parent, its line, flags.
pub(crate) type FileRow = (String, Option<i64>, Option<u32>, Option<u64>);

pub(crate) fn files(batches: &Batches) -> BTreeMap<i64, FileRow> {
    let mut rows = BTreeMap::new();
    for batch in batches.table(Table::Files) {
        let view = files::View::of(batch).unwrap();
        rows.extend((0..view.rows).map(|row| {
            let (name, flags) = (view.name.get(row).to_owned(), view.flags.get(row));
            (view.id.get(row), (name, view.parent_file_id.get(row), view.parent_line.get(row), flags))
        }));
    }
    rows
}

/// File, line, text, in order.
pub(crate) fn sources(batches: &Batches) -> Vec<(i64, u32, String)> {
    let mut rows = Vec::new();
    for batch in batches.table(Table::Sources) {
        let view = sources::View::of(batch).unwrap();
        let row = |row| (view.file_id.get(row), view.line.get(row), view.text.get(row).to_owned());
        rows.extend((0..view.rows).map(row));
    }
    rows
}

/// File, level and line.
pub(crate) type LineKey = (Option<i64>, String, u32);

/// Calls, total time, self time.
pub(crate) fn line_times(batches: &Batches) -> BTreeMap<LineKey, (u64, i64, Option<i64>)> {
    let mut rows = BTreeMap::new();
    for batch in batches.table(Table::LineTimes) {
        let view = line_times::View::of(batch).unwrap();
        for row in 0..view.rows {
            let key = (view.file_id.get(row), view.level.get(row).to_owned(), view.line.get(row));
            let times = (view.calls.get(row), view.incl_ns.get(row), view.excl_ns.get(row));
            assert_eq!(rows.insert(key, times), None, "a line comes twice");
        }
    }
    rows
}

/// Calls of one sub from one call site, or in total.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CallSum {
    pub(crate) count: u64,
    pub(crate) times_ns: [i64; 3],
    pub(crate) max_depth: u64,
    pub(crate) by: BTreeSet<String>,
}

/// By callee, file and line; the loader's golden has no more.
pub(crate) type CallSums = BTreeMap<(String, Option<String>, Option<u32>), CallSum>;

pub(crate) fn calls(batches: &Batches) -> CallSums {
    let mut sums = CallSums::new();
    /// Sums the rows of either table; they differ in the type of one column.
    macro_rules! add {
        ($table:expr, $view:ty, $callers:expr) => {
            for batch in batches.table($table) {
                let view = <$view>::of(batch).unwrap();
                for row in 0..view.rows {
                    let file = view.file.get(row).map(str::to_owned);
                    let sum = sums.entry((view.callee.get(row).to_owned(), file, view.line.get(row))).or_default();
                    let recursive_ns = view.recursive_ns.get(row).unwrap_or(0);
                    sum.count += view.count.get(row);
                    let times = [view.incl_ns.get(row), view.excl_ns.get(row), recursive_ns];
                    sum.times_ns = std::array::from_fn(|of| sum.times_ns[of].saturating_add(times[of]));
                    sum.max_depth = sum.max_depth.max(view.max_depth.get(row).unwrap_or(0));
                    let callers: fn(&$view, usize) -> Vec<String> = $callers;
                    sum.by.extend(callers(&view, row));
                }
            }
        };
    }
    add!(Table::Calls, calls::View<'_>, |view, row| view.caller.get(row).into_iter().map(str::to_owned).collect());
    add!(Table::CallsMerged, calls_merged::View<'_>, |view, row| view.caller.get(row));
    sums
}

/// Id, file, first and last line.
pub(crate) type SubRow = (i64, Option<String>, Option<u32>, Option<u32>);

pub(crate) fn subs(batches: &Batches) -> BTreeMap<String, SubRow> {
    let mut rows = BTreeMap::new();
    for batch in batches.table(Table::Definitions) {
        let view = definitions::View::of(batch).unwrap();
        for row in 0..view.rows {
            assert_eq!(view.kind.get(row), "sub");
            let file = view.file.get(row).map(str::to_owned);
            let sub = (view.id.get(row), file, view.line.get(row), view.last_line.get(row));
            rows.insert(view.name.get(row).to_owned(), sub);
        }
    }
    rows
}

/// Pid, ppid, start, end.
pub(crate) type ProcessRow = (Option<u64>, Option<u64>, Option<i64>, Option<i64>);

pub(crate) fn processes(batches: &Batches) -> Vec<ProcessRow> {
    let mut rows = Vec::new();
    for batch in batches.table(Table::Processes) {
        let view = processes::View::of(batch).unwrap();
        let row = |row| (view.pid.get(row), view.ppid.get(row), view.start_ts_ns.get(row), view.end_ts_ns.get(row));
        rows.extend((0..view.rows).map(row));
    }
    rows
}

/// By owner and key: the value, as text.
pub(crate) fn args(batches: &Batches, owner: Table) -> HashMap<(i64, String), String> {
    let mut rows = HashMap::new();
    for batch in batches.table(Table::Args) {
        let view = args::View::of(batch).unwrap();
        for row in (0..view.rows).filter(|row| view.owner_table.get(*row) == owner.name()) {
            let value = view.text_value.get(row).map(str::to_owned);
            let value = value.or(view.uint_value.get(row).map(|value| value.to_string()));
            let value = value.or(view.float_value.get(row).map(|value| value.to_string()));
            let key = (view.owner_id.get(row), view.key.get(row).to_owned());
            assert_eq!(rows.insert(key, value.expect("an argument has a value")), None, "an argument comes twice");
        }
    }
    rows
}

/// The functions of each stack, the innermost first.
pub(crate) fn stacks(batches: &Batches) -> BTreeSet<Vec<String>> {
    let (mut functions, mut stacks) = (HashMap::new(), HashMap::new());
    for batch in batches.table(Table::Frames) {
        let view = frames::View::of(batch).unwrap();
        functions.extend((0..view.rows).map(|row| (view.id.get(row), view.function.get(row).to_owned())));
    }
    for batch in batches.table(Table::Stacks) {
        let view = stacks::View::of(batch).unwrap();
        let stack = |row| (view.id.get(row), (view.parent_id.get(row), view.frame_id.get(row)));
        stacks.extend((0..view.rows).map(stack));
    }
    let path = |id: &i64| {
        let around = std::iter::successors(Some(*id), |id| stacks[id].0);
        around.map(|id| functions[&stacks[&id].1].clone()).collect()
    };
    stacks.keys().map(path).collect()
}

/// Codes, positions and messages, without those that only tables report.
pub(crate) fn findings(batches: &Batches) -> Vec<(String, Option<u64>, String)> {
    let mut rows = Vec::new();
    for batch in batches.table(Table::Findings) {
        let view = findings::View::of(batch).unwrap();
        let row = |row| (view.code.get(row).to_owned(), view.position.get(row), view.message.get(row).to_owned());
        rows.extend((0..view.rows).map(row).filter(|(code, ..)| !code.starts_with("tables.")));
    }
    rows
}

/// The origin as time of day, the first and the last timestamp.
pub(crate) fn times(batches: &Batches) -> (Option<i64>, Option<i64>, Option<i64>) {
    let view = traces::View::of(batches.table(Table::Traces).next().expect("a trace has its row")).unwrap();
    (view.unix_origin_ns.get(0), view.first_ts_ns.get(0), view.last_ts_ns.get(0))
}

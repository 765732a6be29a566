//! The contents of a trace, in a form in which traces of several formats can be compared.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use traceloom_model::{
    Batches, Filter, Table, TableSource, Wanted, allocations, args, calls, counters, events, files, frames, frees,
    line_times, logs, sources, spans, stacks, threads, traces,
};

/// Arguments by key; each is a list, with one element if it is not an array.
pub(crate) type Arguments = BTreeMap<String, Vec<String>>;

/// A span as people see it.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Span {
    pub(crate) thread: String,
    pub(crate) category: String,
    pub(crate) ts_ns: i64,
    pub(crate) end_ns: Option<i64>,
    pub(crate) depth: u32,
    pub(crate) name: String,
    pub(crate) source: Option<(String, Option<u32>)>,
    pub(crate) args: Arguments,
}

/// A row without a duration.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Point {
    pub(crate) thread: Option<String>,
    pub(crate) category: String,
    pub(crate) ts_ns: i64,
    pub(crate) name: String,
    pub(crate) args: Arguments,
}

/// A log entry.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Log {
    pub(crate) thread: Option<String>,
    pub(crate) ts_ns: Option<i64>,
    pub(crate) level: String,
    pub(crate) source: Option<(String, Option<u32>)>,
    pub(crate) format: Option<String>,
    pub(crate) message: String,
    pub(crate) args: Arguments,
}

/// Calls as summed by the profiler: caller, callee, file, line, count, and total, self and recursive time.
pub(crate) type Call = (Option<String>, String, Option<String>, Option<u32>, u64, [i64; 3]);

/// Times of a line: file, line, visits, total and self time.
pub(crate) type Line = (String, u32, u64, [i64; 2]);

/// An allocation: time, thread, address, size, stack, fate and end.
pub(crate) type Allocation = (i64, Option<String>, u64, u64, String, String, Option<i64>);

/// A trace.
#[derive(Debug, Default)]
pub(crate) struct Picture {
    pub(crate) clock: String,
    /// The earliest time; 0 if none is negative.
    pub(crate) start_ns: i64,
    pub(crate) last_ns: i64,
    pub(crate) threads: Vec<String>,
    pub(crate) spans: Vec<Span>,
    pub(crate) events: Vec<Point>,
    pub(crate) counters: Vec<Point>,
    pub(crate) logs: Vec<Log>,
    pub(crate) calls: Vec<Call>,
    pub(crate) lines: Vec<Line>,
    /// File, line, text.
    pub(crate) sources: Vec<(String, u32, String)>,
    pub(crate) allocations: Vec<Allocation>,
    /// Time, address, and whether there was an allocation.
    pub(crate) frees: Vec<(i64, u64, bool)>,
}

impl Picture {
    pub(crate) fn of(source: &dyn TableSource) -> Self {
        let mut batches = Batches::of(Wanted::everything());
        source.pour(&Filter::default(), &mut batches).unwrap();
        let mut picture = Self::default();
        for batch in batches.table(Table::Traces) {
            let view = traces::View::of(batch).unwrap();
            picture.clock = view.clock.get(0).to_owned();
            picture.start_ns = view.first_ts_ns.get(0).unwrap_or(0).min(0);
            picture.last_ns = view.last_ts_ns.get(0).unwrap_or(0);
        }
        let (threads, args) = (threads_of(&batches), args_of(&batches));
        picture.threads = threads.values().cloned().collect();
        let label = |id: i64| threads.get(&id).cloned().unwrap_or_else(|| format!("thread #{id}"));
        let args = |table: &str, id: i64| args.get(&(table.to_owned(), id)).cloned().unwrap_or_default();
        for batch in batches.table(Table::Spans) {
            let view = spans::View::of(batch).unwrap();
            picture.spans.extend((0..view.rows).map(|row| Span {
                thread: label(view.thread_id.get(row)),
                category: view.category.get(row).to_owned(),
                ts_ns: view.ts_ns.get(row),
                end_ns: view.dur_ns.get(row).map(|dur| view.ts_ns.get(row) + dur.max(0)),
                depth: view.depth.get(row),
                name: view.name.get(row).to_owned(),
                source: view.file.get(row).map(|file| (file.to_owned(), view.line.get(row))),
                args: args("spans", view.id.get(row)),
            }));
        }
        picture.start_ns = picture.spans.iter().map(|span| span.ts_ns).fold(picture.start_ns, i64::min);
        for batch in batches.table(Table::Events) {
            let view = events::View::of(batch).unwrap();
            picture.events.extend((0..view.rows).map(|row| Point {
                thread: view.thread_id.get(row).map(label),
                category: view.category.get(row).to_owned(),
                ts_ns: view.ts_ns.get(row),
                name: view.name.get(row).to_owned(),
                args: args("events", view.id.get(row)),
            }));
        }
        for batch in batches.table(Table::Counters) {
            let view = counters::View::of(batch).unwrap();
            picture.counters.extend((0..view.rows).map(|row| Point {
                thread: view.thread_id.get(row).map(label),
                category: "counter".to_owned(),
                ts_ns: view.ts_ns.get(row),
                name: view.name.get(row).to_owned(),
                args: args("counters", view.id.get(row)),
            }));
        }
        for batch in batches.table(Table::Logs) {
            let view = logs::View::of(batch).unwrap();
            picture.logs.extend((0..view.rows).map(|row| Log {
                thread: view.thread_id.get(row).map(label),
                ts_ns: view.ts_ns.get(row),
                level: view.level_name.get(row).to_owned(),
                source: view.file.get(row).map(|file| (file.to_owned(), view.line.get(row))),
                format: view.format.get(row).map(str::to_owned),
                message: view.message.get(row).to_owned(),
                args: args("logs", view.id.get(row)),
            }));
        }
        picture.take_sums(&batches);
        picture.take_memory(&batches, label);
        picture
    }

    fn take_sums(&mut self, batches: &Batches) {
        for batch in batches.table(Table::Calls) {
            let view = calls::View::of(batch).unwrap();
            self.calls.extend((0..view.rows).map(|row| {
                let times = [view.incl_ns.get(row), view.excl_ns.get(row), view.recursive_ns.get(row).unwrap_or(0)];
                let [caller, file] = [view.caller.get(row), view.file.get(row)].map(|name| name.map(str::to_owned));
                (caller, view.callee.get(row).to_owned(), file, view.line.get(row), view.count.get(row), times)
            }));
        }
        for batch in batches.table(Table::LineTimes) {
            let view = line_times::View::of(batch).unwrap();
            self.lines.extend((0..view.rows).filter(|row| view.level.get(*row) == "line").map(|row| {
                let incl_ns = view.incl_ns.get(row);
                let times = [incl_ns, view.excl_ns.get(row).unwrap_or(incl_ns)];
                (view.file.get(row).to_owned(), view.line.get(row), view.calls.get(row), times)
            }));
        }
        let mut names = BTreeMap::new();
        for batch in batches.table(Table::Files) {
            let view = files::View::of(batch).unwrap();
            names.extend((0..view.rows).map(|row| (view.id.get(row), view.name.get(row).to_owned())));
        }
        for batch in batches.table(Table::Sources) {
            let view = sources::View::of(batch).unwrap();
            self.sources.extend((0..view.rows).map(|row| {
                let file = names.get(&view.file_id.get(row)).cloned().unwrap_or_default();
                (file, view.line.get(row), view.text.get(row).to_owned())
            }));
        }
        self.calls.sort_unstable();
        self.lines.sort_unstable();
        self.sources.sort_unstable();
    }

    fn take_memory(&mut self, batches: &Batches, label: impl Fn(i64) -> String + Copy) {
        let stacks = stacks_of(batches);
        for batch in batches.table(Table::Allocations) {
            let view = allocations::View::of(batch).unwrap();
            self.allocations.extend((0..view.rows).map(|row| {
                let stack = view.stack_id.get(row).and_then(|id| stacks.get(&id).cloned()).unwrap_or_default();
                (
                    view.ts_ns.get(row),
                    view.thread_id.get(row).map(label),
                    view.address.get(row),
                    view.size_bytes.get(row),
                    stack,
                    view.fate.get(row).to_owned(),
                    view.freed_ts_ns.get(row),
                )
            }));
        }
        for batch in batches.table(Table::Frees) {
            let view = frees::View::of(batch).unwrap();
            self.frees.extend(
                (0..view.rows)
                    .map(|row| (view.ts_ns.get(row), view.address.get(row), view.allocation_id.get(row).is_some())),
            );
        }
        self.allocations.sort_unstable();
        self.frees.sort_unstable();
    }
}

/// Stacks as text, the outermost frame first.
fn stacks_of(batches: &Batches) -> BTreeMap<i64, String> {
    let mut names = BTreeMap::new();
    for batch in batches.table(Table::Frames) {
        let view = frames::View::of(batch).unwrap();
        names.extend((0..view.rows).map(|row| {
            let place = (view.function.get(row), view.file.get(row), view.line.get(row));
            (view.id.get(row), format!("{place:?}"))
        }));
    }
    let mut stacks: BTreeMap<i64, String> = BTreeMap::new();
    for batch in batches.table(Table::Stacks) {
        let view = stacks::View::of(batch).unwrap();
        for row in 0..view.rows {
            let below = view.parent_id.get(row).and_then(|id| stacks.get(&id).cloned()).unwrap_or_default();
            stacks.insert(view.id.get(row), below + &names[&view.frame_id.get(row)]);
        }
    }
    stacks
}

fn threads_of(batches: &Batches) -> BTreeMap<i64, String> {
    let mut threads = BTreeMap::new();
    for batch in batches.table(Table::Threads) {
        let view = threads::View::of(batch).unwrap();
        for row in 0..view.rows {
            let id = view.id.get(row);
            let label = match (view.name.get(row), view.tid.get(row)) {
                (Some(name), _) if !name.is_empty() => name.to_owned(),
                (_, Some(tid)) => format!("thread {tid}"),
                _ => format!("thread #{id}"),
            };
            threads.insert(id, label);
        }
    }
    threads
}

fn args_of(batches: &Batches) -> BTreeMap<(String, i64), Arguments> {
    let mut all: BTreeMap<(String, i64), Arguments> = BTreeMap::new();
    for batch in batches.table(Table::Args) {
        let view = args::View::of(batch).unwrap();
        for row in 0..view.rows {
            let owner = all.entry((view.owner_table.get(row).to_owned(), view.owner_id.get(row))).or_default();
            let values = owner.entry(view.key.get(row).to_owned()).or_default();
            if let Some(text) = view.text_value.get(row) {
                match (view.r#type.get(row), text) {
                    ("any", _) => values.extend(plain(text)),
                    // An array without elements.
                    (kind, "[]") if kind.ends_with("[]") => {}
                    _ => values.push(text.to_owned()),
                }
            } else if let Some(number) = view.int_value.get(row) {
                values.push(number.to_string());
            } else if let Some(number) = view.uint_value.get(row) {
                values.push(number.to_string());
            } else if let Some(number) = view.float_value.get(row) {
                values.push(format!("{number:?}"));
            } else if let Some(bytes) = view.bytes_value.get(row) {
                values.extend(bytes.iter().map(u8::to_string));
            } else {
                values.push("null".to_owned());
            }
        }
    }
    all
}

/// A JSON value as the list that the same typed value would be; an object is unchanged.
pub(crate) fn plain(text: &str) -> Vec<String> {
    if let Some(number) = exact(text) {
        return vec![number];
    }
    if let Some(inner) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        // Only numbers: all digits of the text count, while the JSON parser rounds.
        let numbers: Option<Vec<String>> = inner.split(',').map(exact).collect();
        if let Some(numbers) = numbers {
            return numbers;
        }
    }
    match serde_json::from_str::<Json>(text) {
        Ok(Json::Array(list)) => list.iter().map(flat).collect(),
        Ok(Json::Object(_)) | Err(_) => vec![text.to_owned()],
        Ok(value) => vec![flat(&value)],
    }
}

fn exact(text: &str) -> Option<String> {
    if text.parse::<i128>().is_ok() {
        return Some(text.to_owned());
    }
    text.parse::<f64>().ok().map(|number| format!("{number:?}"))
}

fn flat(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Moves the members of an object into the arguments.
pub(crate) fn spread(args: &mut Arguments, key: &str) {
    let Some([text]) = args.get(key).map(Vec::as_slice) else { return };
    if let Ok(Json::Object(members)) = serde_json::from_str::<Json>(text) {
        args.remove(key);
        for (key, value) in members {
            args.insert(key, plain(&value.to_string()));
        }
    }
}

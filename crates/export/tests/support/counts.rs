//! Perfetto's counts for a trace, and the expected ones.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use serde_json::Value as Json;
use traceloom_core::Loss;
use traceloom_core::text::json::push_escaped;
use traceloom_export::by_id;
use traceloom_mapping::Trace;
use traceloom_model::{
    Batches, Filter, Integrity, Table, TableSource, Wanted, allocations, args, counters, events, logs, spans, switches,
    traces as traces_table,
};

use super::{place, write};

/// Slices by name and category: count, total duration, count without an end.
const SLICES: &str = "SELECT COALESCE(name, ''), COALESCE(category, ''), COUNT(*), SUM(MAX(dur, 0)), SUM(dur = -1) FROM slice \
     GROUP BY 1, 2 ORDER BY 1, 2";
/// Counters by name.
const COUNTERS: &str = "SELECT t.name, COUNT(*), SUM(c.value) FROM counter c JOIN counter_track t ON c.track_id = t.id GROUP BY 1 ORDER BY 1";
const FLOWS: &str = "SELECT COUNT(*) FROM flow";
const LOGS: &str = "SELECT msg, COUNT(*) FROM android_logs GROUP BY 1 ORDER BY 1";
/// Arguments of slices, array elements counted individually; Chrome's events have the source location as an additional
/// one.
const ARGS: &str = "SELECT COUNT(*) FROM slice JOIN args USING (arg_set_id) WHERE (flat_key GLOB 'debug.*' OR flat_key GLOB \
     'args.*') AND flat_key != 'args.(source)'";
/// The depth of slices on threads.
const DEPTHS: &str = "SELECT s.depth, COUNT(*) FROM slice s JOIN thread_track t ON s.track_id = t.id WHERE s.category IN \
     ('block', 'call', 'scope') GROUP BY 1 ORDER BY 1";
/// What the engine could not interpret.
const PROBLEMS: &str = "SELECT name, value FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0";

#[derive(Debug, Default, PartialEq)]
struct Numbers {
    slices: BTreeMap<(String, String), (i64, i64, i64)>,
    /// Count and sum, to nine digits: the order in which floats are summed affects the last ones.
    counters: BTreeMap<String, (i64, String)>,
    logs: BTreeMap<String, i64>,
    args: i64,
    /// Those that have no value.
    null_args: i64,
    flows: i64,
    last_ts_ns: i64,
    /// Number of spans per depth; `None` if some depths are impossible, because spans overlap or are too deep.
    depths: Option<BTreeMap<i64, i64>>,
}

/// The expected numbers, from the tables.
fn expected(trace: &Trace) -> Numbers {
    let mut batches = Batches::of(Wanted::everything());
    trace.pour(&Filter::default(), &mut batches).unwrap();
    let mut numbers = Numbers::default();
    let mut depths: BTreeMap<i64, i64> = BTreeMap::new();
    let mut sums: BTreeMap<String, (i64, f64)> = BTreeMap::new();
    let mut slice = |name: &str, category: &str, dur: Option<i64>| {
        let entry = numbers.slices.entry((name.to_owned(), category.to_owned())).or_default();
        *entry = (entry.0 + 1, entry.1 + dur.unwrap_or(0), entry.2 + i64::from(dur.is_none()));
    };
    for view in batches.table(Table::Spans).map(|batch| spans::View::of(batch).unwrap()) {
        for row in 0..view.rows {
            slice(view.name.get(row), view.category.get(row), view.dur_ns.get(row));
            if matches!(view.category.get(row), "block" | "call" | "scope") {
                *depths.entry(i64::from(view.depth.get(row))).or_default() += 1;
            }
        }
    }
    for view in batches.table(Table::Switches).map(|batch| switches::View::of(batch).unwrap()) {
        for row in 0..view.rows {
            slice(view.name.get(row), "switch", Some(view.dur_ns.get(row)));
            // The thread that ran instead.
            numbers.args += 1;
        }
    }
    for view in batches.table(Table::Events).map(|batch| events::View::of(batch).unwrap()) {
        (0..view.rows).for_each(|row| slice(view.name.get(row), view.category.get(row), Some(0)));
    }
    for view in batches.table(Table::Logs).map(|batch| logs::View::of(batch).unwrap()) {
        for row in 0..view.rows {
            slice(view.message.get(row), view.level_name.get(row), Some(0));
            *numbers.logs.entry(view.message.get(row).to_owned()).or_default() += 1;
        }
    }
    let elements = elements(&batches);
    for view in batches.table(Table::Counters).map(|batch| counters::View::of(batch).unwrap()) {
        for row in 0..view.rows {
            match view.value.get(row) {
                None => {
                    slice(view.name.get(row), "value", Some(0));
                    numbers.args += 1;
                }
                Some(value) => {
                    let element = elements.get(&view.id.get(row)).map(|idx| format!("[{idx}]")).unwrap_or_default();
                    let entry = sums.entry(format!("{}{element}", view.name.get(row))).or_default();
                    *entry = (entry.0 + 1, entry.1 + value);
                }
            }
        }
    }
    for view in batches.table(Table::Args).map(|batch| args::View::of(batch).unwrap()) {
        let shown = |row: &usize| matches!(view.owner_table.get(*row), "spans" | "events" | "logs");
        numbers.args += (0..view.rows).filter(shown).count() as i64;
        let is_null = |row: &usize| {
            view.int_value.get(*row).is_none()
                && view.uint_value.get(*row).is_none()
                && view.float_value.get(*row).is_none()
                && view.text_value.get(*row).is_none()
                && view.bytes_value.get(*row).is_none()
        };
        numbers.null_args += (0..view.rows).filter(shown).filter(is_null).count() as i64;
    }
    add_memory(&batches, &mut sums);
    numbers.flows = batches.rows(Table::Links) as i64;
    for view in batches.table(Table::Traces).map(|batch| traces_table::View::of(batch).unwrap()) {
        numbers.last_ts_ns = (0..view.rows).filter_map(|row| view.last_ts_ns.get(row)).max().unwrap_or(0);
    }
    let mut integrity = Integrity::default();
    trace.pour(&Filter::default(), &mut integrity).unwrap();
    let is_plain = integrity.finish().overlaps.is_empty() && depths.keys().all(|depth| *depth < 500);
    numbers.depths = is_plain.then_some(depths);
    numbers.counters = sums.into_iter().map(|(name, (count, sum))| (name, (count, digits(sum)))).collect();
    numbers
}

/// The array index of a counter.
fn elements(batches: &Batches) -> BTreeMap<i64, u32> {
    let mut elements = BTreeMap::new();
    for view in batches.table(Table::Args).map(|batch| args::View::of(batch).unwrap()) {
        let of_counters = (0..view.rows).filter(|row| view.owner_table.get(*row) == "counters");
        elements.extend(of_counters.filter_map(|row| Some((view.owner_id.get(row), view.idx.get(row)?))));
    }
    elements
}

fn digits(number: f64) -> String {
    if number.is_finite() { format!("{number:.9e}") } else { NOT_FINITE.to_owned() }
}

const NOT_FINITE: &str = "not finite";

/// The curve of the memory in use, with one value per time at which it changes.
fn add_memory(batches: &Batches, sums: &mut BTreeMap<String, (i64, f64)>) {
    let mut changes: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    for view in batches.table(Table::Allocations).map(|batch| allocations::View::of(batch).unwrap()) {
        for row in 0..view.rows {
            let size = view.size_bytes.get(row) as i64;
            let mut change = |ts_ns: i64, sign: i64| {
                let entry = changes.entry(ts_ns).or_default();
                *entry = (entry.0 + sign * size, entry.1 + sign);
            };
            change(view.ts_ns.get(row), 1);
            view.freed_ts_ns.get(row).into_iter().for_each(|ts_ns| change(ts_ns, -1));
        }
    }
    let (mut bytes, mut pieces) = (0, 0);
    for (size, count) in changes.into_values() {
        (bytes, pieces) = (bytes + size, pieces + count);
        for (name, value) in [("memory in use", bytes), ("live allocations", pieces)] {
            let entry = sums.entry(name.to_owned()).or_default();
            *entry = (entry.0 + 1, entry.1 + value as f64);
        }
    }
}

/// The engine's numbers.
fn found(answers: &Json) -> Numbers {
    let rows = |query: usize| answers[query].as_array().unwrap().iter();
    let text = |cell: &Json| cell.as_str().unwrap_or("").to_owned();
    let int = |cell: &Json| cell.as_i64().unwrap_or_else(|| panic!("{cell} is no integer"));
    // NaN has no JSON.
    let float = |cell: &Json| digits(cell.as_f64().unwrap_or(f64::NAN));
    let mut slices = BTreeMap::new();
    for row in rows(0) {
        // The engine uses a placeholder for some empty names.
        let name = Some(text(&row[0])).filter(|name| name != "[No name]").unwrap_or_default();
        let entry: &mut (i64, i64, i64) = slices.entry((name, text(&row[1]))).or_default();
        *entry = (entry.0 + int(&row[2]), entry.1 + int(&row[3]), entry.2 + int(&row[4]));
    }
    Numbers {
        slices,
        counters: rows(1).map(|row| (text(&row[0]), (int(&row[1]), float(&row[2])))).collect(),
        logs: rows(2).map(|row| (text(&row[0]), int(&row[1]))).collect(),
        args: int(&answers[3][0][0]),
        depths: Some(rows(4).map(|row| (int(&row[0]), int(&row[1]))).collect()),
        flows: int(&answers[5][0][0]),
        ..Numbers::default()
    }
}

/// Answers to queries about files, by file: `{"error": TEXT or null, "answers": [[[CELL, …], …], …]}`.
pub(crate) type Answers = BTreeMap<PathBuf, Json>;

/// Writes traces with a target and compares what `ask` finds in the files.
pub(crate) fn compare(
    traces: &[(String, Trace)],
    folder: &str,
    target: &str,
    ask: impl FnOnce(&[PathBuf], &[&str]) -> Answers,
) {
    let (place, target) = (place(folder), by_id(target).unwrap());
    let extension = target.extensions[0];
    let files: Vec<_> = traces.iter().map(|(name, _)| place.join(format!("{name}.{extension}"))).collect();
    let losses: Vec<Loss> =
        traces.iter().zip(&files).map(|((_, trace), file)| write(target, trace, false, file)).collect();
    let answers = ask(&files, &[SLICES, COUNTERS, LOGS, ARGS, DEPTHS, FLOWS, PROBLEMS]);
    let (mut wrong, mut flows) = (Vec::new(), 0);
    for (((name, trace), file), loss) in traces.iter().zip(&files).zip(&losses) {
        let answer = answers.get(file).unwrap_or_else(|| panic!("{name}: the engine says nothing"));
        if answer["error"] != Json::Null {
            wrong.push(format!("{name}: {}", answer["error"]));
            continue;
        }
        let answers = &answer["answers"];
        let mut expected = expected(trace);
        // Microseconds that a double can count, and nanoseconds that Perfetto can.
        let far = if extension == "pftrace" { i64::MAX } else { 1 << 60 };
        if expected.last_ts_ns >= far {
            continue;
        }
        if extension != "pftrace" {
            as_chrome(&mut expected);
        }
        let lost =
            loss.entries().filter(|(what, ..)| what.starts_with("flows ")).map(|(_, count, _)| count).sum::<u64>();
        expected.flows -= lost as i64;
        flows += expected.flows;
        differences(name, &found(answers), &expected, &mut wrong);
        if answers[6].as_array().is_some_and(|problems| !problems.is_empty()) {
            wrong.push(format!("{name}: the engine complains: {}", answers[6]));
        }
    }
    assert!(flows > 0, "no trace has a flow");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Adjusts for what Chrome's events cannot express, and for how the engine reads them.
fn as_chrome(numbers: &mut Numbers) {
    numbers.args -= numbers.null_args;
    numbers.slices = std::mem::take(&mut numbers.slices)
        .into_iter()
        .map(|((name, category), counts)| ((as_read(name), as_read(category)), counts))
        .collect();
    // Logs are only instants, and the engine adds the key of the value to the name of a counter.
    numbers.logs.clear();
    numbers.counters = std::mem::take(&mut numbers.counters)
        .into_iter()
        .filter(|(_, (_, sum))| sum != NOT_FINITE)
        .map(|(name, sums)| (format!("{name} value"), sums))
        .collect();
    // A parent of zero length does not hold its children.
    numbers.depths = None;
}

/// The engine resolves the escapes of a string only if one of them is a quote.
fn as_read(name: String) -> String {
    let mut escaped = Vec::new();
    push_escaped(&mut escaped, &name);
    let escaped = String::from_utf8(escaped).unwrap();
    if escaped.contains("\\\"") { name } else { escaped }
}

/// Lists the numbers that differ.
fn differences(name: &str, found: &Numbers, expected: &Numbers, wrong: &mut Vec<String>) {
    fn maps<K: Ord + std::fmt::Debug, V: PartialEq + std::fmt::Debug>(
        what: &str,
        [found, expected]: [&BTreeMap<K, V>; 2],
        wrong: &mut Vec<String>,
    ) {
        let keys: BTreeSet<&K> = found.keys().chain(expected.keys()).collect();
        let differing = keys.into_iter().filter(|key| found.get(key) != expected.get(key)).take(3);
        wrong.extend(
            differing
                .map(|key| format!("{what} {key:?}: {:?} found, {:?} expected", found.get(key), expected.get(key))),
        );
    }
    maps(&format!("{name}: slices"), [&found.slices, &expected.slices], wrong);
    maps(&format!("{name}: counters"), [&found.counters, &expected.counters], wrong);
    maps(&format!("{name}: logs"), [&found.logs, &expected.logs], wrong);
    if let (Some(found), Some(expected)) = (&found.depths, &expected.depths) {
        maps(&format!("{name}: depths"), [found, expected], wrong);
    }
    if found.flows != expected.flows {
        wrong.push(format!("{name}: {} flows found, {} expected", found.flows, expected.flows));
    }
    if found.args != expected.args {
        wrong.push(format!("{name}: {} args found, {} expected", found.args, expected.args));
    }
}

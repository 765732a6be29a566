//! Every trace is written as each target that can hold its data, and the numbers match ours.
//!
//! No other program is used here. `TRACELOOM_CORPUS` names a folder of additional traces.

mod support;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use traceloom_core::{Loss, Source};
use traceloom_export::{Options, Target, targets, write};
use traceloom_mapping::{Trace, open};
use traceloom_model::{
    Batches, Filter, Integrity, Table, TableSource, Wanted, allocations, args, spans, switches, traces as trace_table,
};
use traceloom_passes::phrase;

use support::sums::{Sums, sums};

/// Traces in a folder and its subfolders, with their paths relative to it.
fn traces_in(root: &Path) -> Vec<(String, Trace)> {
    // Goldens, notes and unreadable files are next to the traces.
    let opened = |path: PathBuf| {
        let trace = open(&path, None, &traceloom_mapping::Options::default()).ok()?;
        trace.pour(&Filter::default(), &mut Batches::of(Wanted::nothing())).ok()?;
        Some((path.strip_prefix(root).unwrap().display().to_string(), trace))
    };
    traceloom_testkit::files(root).unwrap().into_iter().filter_map(opened).collect()
}

/// Facts from the tables of a trace.
struct Facts {
    rows: BTreeMap<Table, u64>,
    /// Rows of `args` by the table of their owner.
    args: BTreeMap<String, u64>,
    spans: i128,
    total_ns: i128,
    /// Including spans that were never closed, up to the end of the trace.
    closed_total_ns: i128,
    own_ns: i128,
    stack_spans: i128,
    bytes: i128,
    has_open: bool,
    nests: bool,
}

impl Facts {
    fn of(trace: &Trace) -> Self {
        let mut batches = Batches::of(Wanted::everything());
        trace.pour(&Filter::default(), &mut batches).unwrap();
        let mut integrity = Integrity::default();
        trace.pour(&Filter::default(), &mut integrity).unwrap();
        let rows = Table::ALL.into_iter().map(|table| (table, batches.rows(table) as u64)).collect();
        let nests = integrity.finish().overlaps.is_empty();
        let mut facts = Self {
            rows,
            args: BTreeMap::new(),
            spans: 0,
            total_ns: 0,
            closed_total_ns: 0,
            own_ns: 0,
            stack_spans: 0,
            bytes: 0,
            has_open: false,
            nests,
        };
        facts.add_spans(&batches);
        for view in batches.table(Table::Allocations).map(|batch| allocations::View::of(batch).unwrap()) {
            facts.bytes += (0..view.rows).map(|row| i128::from(view.size_bytes.get(row))).sum::<i128>();
        }
        for view in batches.table(Table::Args).map(|batch| args::View::of(batch).unwrap()) {
            for row in 0..view.rows {
                *facts.args.entry(view.owner_table.get(row).to_owned()).or_default() += 1;
            }
        }
        facts
    }

    fn add_spans(&mut self, batches: &Batches) {
        let last = batches
            .table(Table::Traces)
            .map(|batch| trace_table::View::of(batch).unwrap())
            .find_map(|view| view.last_ts_ns.get(0));
        for view in batches.table(Table::Spans).map(|batch| spans::View::of(batch).unwrap()) {
            for row in 0..view.rows {
                let closed = view.dur_ns.get(row);
                let to_end = (i128::from(last.unwrap_or(0)) - i128::from(view.ts_ns.get(row))).max(0);
                let dur_ns = closed.map_or(to_end, i128::from);
                self.spans += 1;
                self.total_ns += closed.map_or(0, i128::from);
                self.closed_total_ns += dur_ns;
                self.has_open |= closed.is_none();
                if !matches!(view.category.get(row), "frame" | "range") {
                    self.stack_spans += 1;
                    self.own_ns += if view.parent_id.get(row).is_none() { dur_ns } else { 0 };
                }
            }
        }
        for view in batches.table(Table::Switches).map(|batch| switches::View::of(batch).unwrap()) {
            for row in 0..view.rows {
                self.spans += 1;
                self.total_ns += i128::from(view.dur_ns.get(row));
                self.closed_total_ns += i128::from(view.dur_ns.get(row));
            }
        }
    }

    fn rows(&self, table: Table) -> u64 {
        self.rows[&table]
    }

    fn all_rows(&self) -> u64 {
        self.rows.values().sum()
    }
}

/// Tables that make a trace worth converting; the others only describe rows of these.
const CONTENT: [Table; 9] = [
    Table::Spans,
    Table::Events,
    Table::Counters,
    Table::Logs,
    Table::Allocations,
    Table::Switches,
    Table::LineTimes,
    Table::Calls,
    Table::Attributes,
];

/// Whether a target can hold some of the data. Targets of tables can hold all of it.
fn fits(target: &Target, facts: &Facts) -> bool {
    target.needs.is_empty() || CONTENT.iter().any(|table| target.shows(*table) && facts.rows(*table) > 0)
}

fn lost(loss: &Loss, what: &str) -> u64 {
    loss.entries().find(|(entry, ..)| *entry == what).map_or(0, |(_, count, _)| count)
}

fn loses_some(loss: &Loss, words: &[&str]) -> bool {
    loss.entries().any(|(what, ..)| words.iter().any(|word| what.contains(word)))
}

/// Rows of tables that the target does not show are counted, each once.
fn check_loss(target: &Target, loss: &Loss, facts: &Facts, wrong: &mut Vec<String>) {
    // Merged calls replace calls, and only if they are requested.
    let silent = [Table::Traces, Table::Processes, Table::Threads, Table::Findings, Table::CallsMerged];
    for table in Table::ALL.into_iter().filter(|table| !silent.contains(table)) {
        if target.needs.is_empty() || target.shows(table) {
            continue;
        }
        let (found, expected) = (lost(loss, phrase(table)), facts.rows(table));
        if found != expected {
            wrong.push(format!("{found} {} are lost, of {expected}", phrase(table)));
        }
    }
    if target.shows(Table::Args) {
        let is_foreign = |owner: &str| !Table::by_name(owner).is_some_and(|owner| target.shows(owner));
        let expected: u64 = facts.args.iter().filter(|(owner, _)| is_foreign(owner)).map(|(_, count)| count).sum();
        if lost(loss, phrase(Table::Args)) < expected {
            wrong.push(format!("of {expected} arguments of rows that are not shown, fewer are lost"));
        }
    }
}

/// Compares the numbers that can be read from the output.
///
/// Returns how many numbers were compared.
fn check_sums(id: &str, out: &[u8], loss: &Loss, facts: &Facts, wrong: &mut Vec<String>) -> usize {
    let Some(found) = sums(id, out) else { return 0 };
    // Times that a target reports as cut cannot have their original length.
    let is_cut = loses_some(loss, &["overlapping spans", "too far from the origin", "last digits", "too large"]);
    let of_time = facts.rows(Table::Spans) > 0 || facts.rows(Table::Allocations) == 0;
    let own = if of_time { facts.own_ns } else { facts.bytes };
    let markers = [Table::Spans, Table::Switches, Table::Events, Table::Counters, Table::Logs];
    let expected = match id {
        "arrow" | "csv" => Sums { rows: Some(main_rows(facts).into()), ..Sums::default() },
        "json" => {
            let rows = Some(facts.all_rows().into());
            Sums { spans: Some(facts.spans), total_ns: Some(facts.total_ns), rows, own: None }
        }
        "chrome" => Sums { spans: Some(facts.spans), total_ns: Some(facts.total_ns), ..Sums::default() },
        "otlp" => {
            let has_traces = facts.spans > 0 || facts.rows(Table::Logs) + facts.rows(Table::Events) == 0;
            let records = facts.rows(Table::Logs) + facts.rows(Table::Events);
            let rows = Some(if has_traces { 0 } else { records.into() });
            Sums { spans: Some(facts.spans), total_ns: Some(facts.total_ns), rows, own: None }
        }
        "perfetto" => {
            let total_ns = (!facts.has_open).then_some(facts.total_ns);
            Sums { spans: Some(facts.spans), total_ns, ..Sums::default() }
        }
        "speedscope" => Sums { spans: Some(facts.spans), total_ns: Some(facts.closed_total_ns), ..Sums::default() },
        "firefox" => {
            let rows = markers.iter().map(|table| i128::from(facts.rows(*table))).sum();
            Sums { rows: Some(rows), ..Sums::default() }
        }
        "pprof" if of_time => Sums { spans: Some(facts.stack_spans), own: Some(own), ..Sums::default() },
        "pprof" => Sums { spans: Some(facts.rows(Table::Allocations).into()), own: Some(own), ..Sums::default() },
        "callgrind" if facts.rows(Table::Calls) > 0 => found,
        _ => Sums { own: Some(own), ..Sums::default() },
    };
    let mut compared = 0;
    let mut differ = |what: &str, found: Option<i128>, expected: Option<i128>| {
        let (Some(found), Some(expected)) = (found, expected) else { return };
        compared += usize::from(expected > 0);
        if found != expected {
            wrong.push(format!("{what}: {found} found, {expected} expected"));
        }
    };
    differ("spans", found.spans, expected.spans);
    differ("rows", found.rows, expected.rows);
    if !is_cut {
        differ("time", found.total_ns, expected.total_ns);
    }
    if !is_cut && facts.nests {
        differ("own", found.own, expected.own);
    }
    compared
}

/// Number of rows of the table that is chosen if none is named.
fn main_rows(facts: &Facts) -> u64 {
    let tables =
        [Table::Spans, Table::Logs, Table::Allocations, Table::Calls, Table::LineTimes, Table::Events, Table::Counters];
    tables.into_iter().map(|table| facts.rows(table)).find(|rows| *rows > 0).unwrap_or(0)
}

/// Output in one of Traceloom's formats is read again.
fn check_format(id: &str, out: &[u8], wrong: &mut Vec<String>) {
    if traceloom_open::by_id(id).is_err() {
        return;
    }
    let source = Source::bytes(out.to_vec());
    let trace = Trace::new(Path::new("converted"), source, Some(id), &traceloom_mapping::Options::default());
    match trace.and_then(|trace| trace.pour(&Filter::default(), &mut Batches::of(Wanted::everything()))) {
        Ok(()) => {}
        Err(error) => wrong.push(format!("it cannot be read again: {error}")),
    }
}

fn check(name: &str, trace: &Trace, target: &Target, facts: &Facts, wrong: &mut Vec<String>) -> usize {
    let (mut out, mut here, mut compared) = (Vec::new(), Vec::new(), 0);
    match write(target, trace, &Options::default(), &mut out) {
        Err(error) => here.push(error.to_string()),
        Ok(loss) => {
            // Stacks without cost have no line.
            if out.is_empty() && target.id != "folded" {
                here.push("nothing was written".to_owned());
            }
            check_loss(target, &loss, facts, &mut here);
            compared = check_sums(target.id, &out, &loss, facts, &mut here);
            check_format(target.id, &out, &mut here);
        }
    }
    wrong.extend(here.into_iter().map(|text| format!("{name} as {}: {text}", target.id)));
    compared
}

/// How many traces of each format were written as each target, and how many numbers were compared.
fn check_all(root: &Path) -> (BTreeMap<String, usize>, usize) {
    let (mut wrong, mut converted, mut compared) = (Vec::new(), BTreeMap::new(), 0);
    for (name, trace) in traces_in(root) {
        let facts = Facts::of(&trace);
        for target in targets().filter(|target| fits(target, &facts)) {
            compared += check(&name, &trace, target, &facts, &mut wrong);
            *converted.entry(format!("{} as {}", trace.format(), target.id)).or_default() += 1;
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    (converted, compared)
}

#[test]
fn every_fixture_becomes_what_fits_it() {
    let (converted, compared) = check_all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures"));
    assert!(compared > 1000, "only {compared} numbers were compared");
    for format in ["cnanolog", "easyprofiler", "memlyze", "nytprof", "pynytprof", "wtf"] {
        let targets = converted.keys().filter(|key| key.starts_with(&format!("{format} as "))).count();
        assert!(targets >= 3, "{format} becomes {targets} others only: {converted:?}");
    }
}

#[test]
fn every_trace_of_the_corpus_becomes_what_fits_it() {
    let Some(corpus) = std::env::var_os("TRACELOOM_CORPUS") else { return };
    let (converted, compared) = check_all(Path::new(&corpus));
    eprintln!("{converted:#?}, {compared} numbers compared");
}

#[test]
fn every_variant_takes_a_trace_of_each_format() {
    let traces = support::one_of_each();
    for target in targets() {
        for variant in target.variants {
            for (name, trace) in &traces {
                let options = Options { variant: Some(variant.id.to_owned()), ..Options::default() };
                let mut out = Vec::new();
                let written = write(target, trace, &options, &mut out);
                assert!(written.is_ok(), "{name} as {}:{}: {written:?}", target.id, variant.id);
            }
        }
    }
}

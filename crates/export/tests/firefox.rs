//! Firefox Profiler's command-line program reads our output and counts the same.

mod support;

#[allow(dead_code, reason = "memory is not asked for here")]
#[path = "hostile/trace.rs"]
mod trace;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use serde_json::Value as Json;
use traceloom_export::by_id;
use traceloom_model::{
    Batches, Filter, Table, TableSource, Wanted, counters, events, logs, spans, switches, traces as trace_table,
};
use traceloom_testkit::npm;

use support::{Made, one_of_each, place, write};

#[derive(Debug, Default, PartialEq)]
struct Numbers {
    /// Number and total duration of the markers with a name.
    markers: BTreeMap<String, (i64, i64)>,
    /// Self time of functions.
    own: BTreeMap<String, i64>,
}

fn expected(batches: &Batches) -> Numbers {
    let mut numbers = Numbers::default();
    let mut marker = |name: &str, dur_ns: i64| {
        let name = if name.is_empty() { "(no name)" } else { name };
        let entry = numbers.markers.entry(name.to_owned()).or_default();
        *entry = (entry.0 + 1, entry.1 + dur_ns);
    };
    let last = batches
        .table(Table::Traces)
        .map(|batch| trace_table::View::of(batch).unwrap())
        .find_map(|view| view.last_ts_ns.get(0));
    let mut own: BTreeMap<i64, (&str, i64)> = BTreeMap::new();
    let mut children = Vec::new();
    for view in batches.table(Table::Spans).map(|batch| spans::View::of(batch).unwrap()) {
        for row in 0..view.rows {
            // Open spans end with the trace.
            let dur_ns = view.dur_ns.get(row).unwrap_or_else(|| (last.unwrap_or(0) - view.ts_ns.get(row)).max(0));
            marker(view.name.get(row), dur_ns);
            if !matches!(view.category.get(row), "frame" | "range") {
                own.insert(view.id.get(row), (view.name.get(row), dur_ns));
                children.extend(view.parent_id.get(row).map(|parent| (parent, dur_ns)));
            }
        }
    }
    for (parent, dur_ns) in children {
        own.entry(parent).and_modify(|(_, own_ns)| *own_ns -= dur_ns);
    }
    own.into_values().for_each(|(name, ns)| *numbers.own.entry(name.to_owned()).or_default() += ns);
    for view in batches.table(Table::Switches).map(|batch| switches::View::of(batch).unwrap()) {
        (0..view.rows).for_each(|row| marker(view.name.get(row), view.dur_ns.get(row)));
    }
    for view in batches.table(Table::Events).map(|batch| events::View::of(batch).unwrap()) {
        (0..view.rows).for_each(|row| marker(view.name.get(row), 0));
    }
    for view in batches.table(Table::Counters).map(|batch| counters::View::of(batch).unwrap()) {
        (0..view.rows).for_each(|row| marker(view.name.get(row), 0));
    }
    for view in batches.table(Table::Logs).map(|batch| logs::View::of(batch).unwrap()) {
        (0..view.rows).for_each(|_| marker("log", 0));
    }
    numbers.own.retain(|_, ns| *ns > 0);
    numbers
}

/// The program, with a separate home folder.
struct Profiler {
    folder: PathBuf,
}

impl Profiler {
    fn run(&self, arguments: &[&str]) -> String {
        self.try_run(arguments).unwrap_or_else(|said| panic!("{arguments:?}: {said}"))
    }

    fn try_run(&self, arguments: &[&str]) -> Result<String, String> {
        let modules = self.folder.join("node_modules");
        let out = Command::new(modules.join("node/bin/node"))
            .arg(modules.join("@firefox-devtools/profiler-cli/dist/profiler-cli.js"))
            .args(arguments)
            .env("HOME", &self.folder)
            // Its socket is here, and the path of a socket has at most 107 bytes.
            .env("PROFILER_CLI_SESSION_DIR", std::env::temp_dir().join("traceloom-firefox"))
            .output()
            .unwrap();
        if out.status.success() {
            Ok(String::from_utf8(out.stdout).unwrap())
        } else {
            Err(String::from_utf8_lossy(&out.stderr).into_owned())
        }
    }

    /// The program waits half a second for its server to be ready; on a busy machine that takes longer.
    fn load(&self, file: &Path, session: &str) {
        let Err(said) = self.try_run(&["load", file.to_str().unwrap(), "--session", session]) else { return };
        assert!(said.contains("did not become ready"), "{said}");
        for _ in 0..60 {
            std::thread::sleep(Duration::from_secs(1));
            if self.try_run(&["thread", "list", "--session", session]).is_ok() {
                return;
            }
        }
        panic!("{said}");
    }

    fn ask(&self, arguments: &[&str], thread: &str, session: &str) -> Json {
        let rest = ["--thread", thread, "--limit", "0", "--json", "--session", session];
        let text = self.run(&[arguments, rest.as_slice()].concat());
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    fn numbers(&self, file: &Path, session: &str) -> (Numbers, u64) {
        self.load(file, session);
        let list = self.run(&["thread", "list", "--json", "--session", session]);
        let list: Json = serde_json::from_str(&list).unwrap();
        let ns = |millis: &Json| (millis.as_f64().unwrap() * 1e6).round() as i64;
        let mut numbers = Numbers::default();
        for thread in list["threads"].as_array().unwrap() {
            let thread = thread["threadHandle"].as_str().unwrap();
            for kind in self.ask(&["thread", "markers"], thread, session)["byType"].as_array().unwrap() {
                let count = kind["count"].as_i64().unwrap();
                let average = kind["durationStats"]["avg"].as_f64().unwrap_or(0.0);
                let entry = numbers.markers.entry(kind["markerName"].as_str().unwrap().to_owned()).or_default();
                *entry = (entry.0 + count, entry.1 + (average * 1e6 * count as f64).round() as i64);
            }
            for function in self.ask(&["thread", "functions"], thread, session)["functions"].as_array().unwrap() {
                let name = function["name"].as_str().unwrap().to_owned();
                *numbers.own.entry(name).or_default() += ns(&function["selfSamples"]);
            }
        }
        numbers.own.retain(|_, ns| *ns > 0);
        let counters = self.run(&["counter", "list", "--json", "--session", session]);
        let counters: Json = serde_json::from_str(&counters).unwrap();
        let samples = counters["counters"].as_array().unwrap().iter().map(|counter| &counter["rangeSampleCount"]);
        let samples = samples.map(|count| count.as_u64().unwrap()).sum();
        self.run(&["stop", session]);
        (numbers, samples)
    }
}

#[test]
fn markers_and_times_are_ours() {
    let modules = modules().inspect_err(|reason| npm::skip(reason));
    let Ok(folder) = modules else { return };
    let (profiler, place, target) = (Profiler { folder }, place("firefox"), by_id("firefox").unwrap());
    for (number, (name, trace)) in one_of_each().into_iter().enumerate() {
        let file = place.join(format!("{name}.firefox.json"));
        write(target, &trace, false, &file);
        let mut batches = Batches::of(Wanted::everything());
        trace.pour(&Filter::default(), &mut batches).unwrap();
        let (found, samples) = profiler.numbers(&file, &session(&number.to_string()));
        let expected = expected(&batches);
        assert_eq!(found, expected, "{name}");
        assert!(batches.rows(Table::Allocations) == 0 || samples > 1, "{name}: {samples} values of memory in use");
    }
}

#[test]
fn hostile_names_are_shown_as_they_are() {
    let modules = modules().inspect_err(|reason| npm::skip(reason));
    let Ok(folder) = modules else { return };
    let file = place("hostile-firefox").join("hostile.firefox.json");
    write(by_id("firefox").unwrap(), &Made(trace::fill), false, &file);
    let (found, _) = Profiler { folder }.numbers(&file, &session("hostile"));
    for name in trace::NAMES.iter() {
        let shown = if name.is_empty() { "(no name)" } else { name };
        // Both a span and an event have it.
        assert_eq!(found.markers.get(shown).map(|(count, _)| *count), Some(2), "{shown:.80}");
    }
}

/// A name that no earlier run has used.
fn session(name: &str) -> String {
    format!("traceloom-{}-{name}", std::process::id())
}

/// The program, and the version of Node that it needs.
fn modules() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("firefox-npm");
    let is_there = |name: &str| folder.join("node_modules").join(name).is_file();
    if !(is_there("node/bin/node") && is_there("@firefox-devtools/profiler-cli/dist/profiler-cli.js")) {
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        // The script of the package `node` moves the program to its final location.
        let out = Command::new("npm")
            .args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"])
            .arg(&folder)
            .args(["@firefox-devtools/profiler-cli@0.10", "node@24"])
            .output()
            .map_err(|error| format!("npm is not installed: {error}"))?;
        if !out.status.success() {
            return Err(format!("npm install profiler-cli failed: {}", String::from_utf8_lossy(&out.stderr)));
        }
    }
    Ok(folder)
}

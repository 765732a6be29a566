//! Statistics of the corpus of the Web Tracing Framework (WTF), equal to those of WTF except for its known errors.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value as Json;
use traceloom_analysis::stats::{self, Options, Report};
use traceloom_mapping::open;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wtf")
}

fn report(path: &Path) -> Report {
    let trace = open(path, None, &traceloom_mapping::Options::default()).expect("the fixture opens");
    stats::of_traces(&[trace], &Options::default()).expect("the fixture is read")
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Figures {
    count: u64,
    total_us: u64,
    own_us: u64,
}

/// The table of WTF, plus the last event of each zone, which WTF omits.
fn expected(golden: &Json) -> BTreeMap<(String, u64), Figures> {
    let mut all: BTreeMap<(String, u64), Figures> = BTreeMap::new();
    let number = |json: &Json, key: &str| json[key].as_u64().unwrap_or(0);
    for row in golden["statistics"].as_array().expect("statistics") {
        let name = row["name"].as_str().expect("a name").to_owned();
        let figures =
            Figures { count: number(row, "count"), total_us: number(row, "totalUs"), own_us: number(row, "ownUs") };
        all.insert((name, number(row, "class")), figures);
    }
    let types = golden["eventTypes"].as_array().expect("types");
    for zone in golden["zones"].as_array().expect("zones") {
        let Some(event) = zone["events"].as_array().and_then(|events| events.last()) else { continue };
        let kind = types.iter().find(|kind| kind["id"] == event["type"]).expect("the type");
        let (class, is_closed) = (number(kind, "class"), event.get("end").is_some());
        if number(kind, "flags") & 8 != 0 || (class == 1 && !is_closed) {
            continue;
        }
        let figures = all.entry((kind["name"].as_str().expect("a name").to_owned(), class)).or_default();
        figures.count += 1;
        if is_closed {
            figures.total_us += number(event, "end") - number(event, "t");
            figures.own_us += number(event, "own");
        }
    }
    all
}

/// Other errors of WTF besides the omitted last event: the file, the name, and the correct values.
const DIFFERS: [(&str, &str, Figures); 2] = [
    // A scope that ends at 0 is closed; WTF treats 0 as no end.
    ("hc-scope-at-zero.wtf-trace", "a#scope", Figures { count: 2, total_us: 5, own_us: 5 }),
    // Times continue past 2^32; WTF sorts later events before all others and loses the open scope.
    ("js-timewrap.wtf-trace", "tw#s", Figures { count: 20, total_us: 10_000, own_us: 10_000 }),
];

/// Names of generic scopes, and the names in WTF, which parses them as signatures.
const GIVEN: [(&str, &str); 3] =
    [("invalid_0", "bad{name}"), ("namewithspaces", "name with spaces"), ("typed.name", "typed.name(uint8 a)")];

#[test]
fn statistics_are_those_of_the_original() {
    let (mut files, mut names) = (0, 0);
    let mut differences = Vec::new();
    let tools = ["hand-made", "wtf-cpp", "wtf-js"].map(|tool| fs::read_dir(folder().join(tool)).expect("the corpus"));
    for entry in tools.into_iter().flatten() {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        let golden: Json = serde_json::from_slice(&fs::read(&path).expect("a golden")).expect("JSON");
        let file = ["wtf-trace", "wtf-json", "wtf-calls"].map(|ending| path.with_extension(ending));
        let Some(file) = file.into_iter().find(|file| file.exists()) else { continue };
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        if golden["ok"] != true || golden["crashed"] == true {
            continue;
        }
        // If times are counts, one count represents one nanosecond.
        let unit_ns = if golden["header"]["flags"].as_u64().unwrap_or(0) & 2 != 0 { 1 } else { 1000 };
        let report = report(&file);
        for ((event, class), mut expected) in expected(&golden) {
            names += 1;
            if let Some((.., right)) = DIFFERS.iter().find(|(file, of, _)| *file == name && *of == event) {
                assert_ne!(expected, *right, "{name}: the golden has it right");
                expected = *right;
            }
            let given = GIVEN.iter().find(|(made, _)| class == 1 && *made == event);
            let event = given.map_or(event.as_str(), |(_, given)| given);
            let found =
                match class {
                    1 => report.spans.iter().find(|row| row.name == event && row.category.is_none()).map(|row| {
                        Figures { count: row.calls, total_us: row.total_ns / unit_ns, own_us: row.self_ns / unit_ns }
                    }),
                    _ => {
                        let of_name = report.events.iter().filter(|row| row.name == event);
                        Some(Figures { count: of_name.map(|row| row.count).sum(), ..Figures::default() })
                    }
                };
            if found != Some(expected) {
                differences.push(format!("{name}: {event}: {found:?}, not {expected:?}"));
            }
        }
        files += 1;
    }
    assert!(differences.is_empty(), "{differences:#?}");
    assert!(files > 50 && names > 100, "{names} names of {files} files compared");
}

//! The program on Web Tracing Framework files, as a user runs it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value as Json;

use super::{Folder, fixture_of, stderr, stdout, traceloom};

fn fixture(name: &str) -> String {
    fixture_of("wtf", name)
}

/// Every trace with the golden of the Web Tracing Framework.
fn verdicts() -> impl Iterator<Item = (String, bool)> {
    let tools = ["hand-made", "wtf-cpp", "wtf-js"].map(|tool| fs::read_dir(fixture(tool)).expect("the fixtures"));
    let entries = tools.into_iter().flatten().map(|entry| entry.expect("an entry").path());
    let traces = entries.filter(|path| path.to_string_lossy().contains(".wtf-"));
    traces.map(|path: PathBuf| {
        let golden = fs::read(path.with_extension("json")).expect("a golden");
        let golden: Json = serde_json::from_slice(&golden).expect("JSON");
        (path.to_str().expect("the path is UTF-8").to_owned(), golden["ok"] == true)
    })
}

/// Name, time and arguments of every event except definitions and zones, in file order.
fn events(path: &str) -> Vec<String> {
    let output = traceloom(&["dump", "--json", path]);
    let records = stdout(&output);
    let records = records.lines().map(|line| serde_json::from_str::<Json>(line).expect("JSON"));
    let events = records.filter(|record| matches!(record["kind"].as_str(), Some("event" | "scope")));
    let told = events.filter(|event| {
        !["wtf.event#define", "wtf.zone#create", "wtf.zone#set"].iter().any(|name| event["name"] == *name)
    });
    let mut told: Vec<String> =
        told.map(|event| format!("{} {} {} {}", event["time"], event["zone"], event["name"], event["args"])).collect();
    told.sort();
    told
}

fn demo(folder: &Folder) -> String {
    assert!(traceloom(&["demo", &folder.path("demo")]).status.success());
    folder.path("demo/game.wtf-trace")
}

#[test]
fn strict_verdicts_are_the_originals() {
    let mut checked = 0;
    for (path, is_good) in verdicts() {
        // The original does not notice that some files lack data.
        let code = traceloom(&["check", "--strict", "--allow-damaged", &path]).status.code();
        assert_eq!(code, Some(if is_good { 0 } else { 1 }), "{path}");
        checked += 1;
    }
    assert!(checked > 80, "{checked}");
}

#[test]
fn every_form_holds_the_same_events_and_leads_back() {
    let folder = Folder::new();
    let game = demo(&folder);
    for input in [
        game,
        fixture("wtf-js/js-mix.wtf-trace"),
        fixture("wtf-js/js-scalars.wtf-trace"),
        fixture("wtf-js/js-arrays.wtf-trace"),
    ] {
        let (text, back) = (folder.path("a.wtf-json"), folder.path("b.wtf-trace"));
        assert!(traceloom(&["convert", "--to", "wtf:binary", &input, &back]).status.success());
        let expected = events(&back);
        assert!(!expected.is_empty());
        for variant in ["json", "json-partial", "json-events"] {
            let to = format!("wtf:{variant}");
            let written = traceloom(&["convert", "--to", &to, &input, &text]);
            assert!(written.status.success(), "{variant}: {}", stderr(&written));
            let read = traceloom(&["convert", "--to", "wtf:binary", &text, &back]);
            assert!(read.status.success(), "{variant}: {}", stderr(&read));
            assert!(events(&back) == expected, "{input}: {variant}");
        }
    }
}

#[test]
fn the_ending_decides_the_form() {
    let folder = Folder::new();
    let first_byte = |path: &str| fs::read(path).expect("a file").first().copied();
    let (game, text, back) = (demo(&folder), folder.path("a.wtf-json"), folder.path("b.wtf-trace"));
    assert!(traceloom(&["convert", &game, &text]).status.success());
    assert_eq!(first_byte(&text), Some(b'{'));
    assert!(traceloom(&["convert", &text, &back]).status.success());
    assert_eq!(first_byte(&back), first_byte(&game));
    assert_eq!(events(&back), events(&game));
    // The same extension, the same bytes.
    let copy = folder.path("copy.wtf-trace");
    assert!(traceloom(&["convert", &game, &copy]).status.success());
    assert_eq!(fs::read(&copy).expect("a file"), fs::read(&game).expect("a file"));
    // From another format as well.
    let capture = fixture("../easyprofiler/v210_values.prof");
    assert!(traceloom(&["convert", &capture, &text]).status.success());
    assert_eq!(first_byte(&text), Some(b'{'));
}

#[test]
fn a_slice_repeats_definitions_and_zones() {
    let folder = Folder::new();
    let (game, part) = (demo(&folder), folder.path("part.wtf-trace"));
    let sliced = traceloom(&["slice", "--range", "1s..1.1s", "--thread", "Script", &game, &part]);
    assert!(sliced.status.success(), "{}", stderr(&sliced));
    assert_eq!(traceloom(&["check", "--strict", &part]).status.code(), Some(0));
    let dump = stdout(&traceloom(&["dump", &part]));
    for needed in ["wtf.event#define", "wtf.zone#create", "wtf.zone#set", "game.World#update"] {
        assert!(dump.contains(needed), "{needed}");
    }
    let info: Json = serde_json::from_str(&stdout(&traceloom(&["info", "--json", &part]))).expect("JSON");
    assert_eq!(info["facts"]["zones"], 1);
    assert!(info["facts"]["first_event"]["ns"].as_u64() >= Some(1_000_000_000), "{info}");
    assert!(info["facts"]["recorded"]["ns"].as_u64() <= Some(100_000_000), "{info}");
}

#[test]
fn what_is_repaired_the_original_accepts() {
    let folder = Folder::new();
    let output = folder.path("good.wtf-trace");
    let mut repaired = 0;
    for (path, _) in verdicts().filter(|(_, is_good)| !is_good) {
        if traceloom(&["repair", &path, &output]).status.success() {
            assert_eq!(traceloom(&["check", "--strict", &output]).status.code(), Some(0), "{path}");
            repaired += 1;
        }
    }
    assert!(repaired > 20, "{repaired}");
}

#[test]
fn resources_are_listed_and_written_once() {
    let folder = Folder::new();
    let (input, out) = (fixture("hand-made/hc-resources.wtf-trace"), folder.path("out"));
    let listed = traceloom(&["dump", "--resources", &out, &input]);
    assert_eq!(listed.status.code(), Some(0), "{}", stderr(&listed));
    let names: Vec<String> =
        stdout(&listed).lines().filter_map(|line| line.split_whitespace().last().map(str::to_owned)).collect();
    assert_eq!(names, ["resource-1.txt", "resource-2.bin", "resource-3.bin"]);
    let sizes: Vec<u64> =
        names.iter().map(|name| fs::metadata(Path::new(&out).join(name)).expect("a file").len()).collect();
    assert_eq!(sizes, [16, 37, 0]);
    let again = traceloom(&["dump", "--resources", &out, &input]);
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr(&again).contains("already exists"), "{}", stderr(&again));
    let other = fixture("../easyprofiler/v210_values.prof");
    let refused = traceloom(&["dump", "--resources", &folder.path("none"), &other]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(!Path::new(&folder.path("none")).exists());
}

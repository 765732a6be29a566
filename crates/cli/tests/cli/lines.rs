//! `lines`: next to the source, as lists, and as the files of NYTProf's tools.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use serde_json::Value as Json;

use crate::{Folder, assert_snapshot, fixture_of, stderr, stdout, traceloom};

fn profile(name: &str) -> String {
    fixture_of("nytprof", name)
}

fn golden(name: &str) -> String {
    fs::read_to_string(profile(name)).expect("the golden")
}

fn lines(arguments: &[&str]) -> String {
    // Some profiles come from killed programs.
    let output = traceloom(&[&["lines", "--allow-damaged"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    stdout(&output)
}

const WITH_REPORTS: [&str; 3] =
    ["devel-nytprof-6.12/evals-c0", "devel-nytprof-6.12/inventory-c0", "devel-nytprof-6.12/recurse-calls2"];

/// Reports by the name of their file.
fn sheets(text: &str) -> BTreeMap<String, String> {
    let mut sheets: Vec<(String, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        match (line.strip_prefix("== "), sheets.last_mut()) {
            (Some(name), _) => sheets.push((name.trim_end().to_owned(), String::new())),
            (None, Some((_, text))) => text.push_str(line),
            (None, None) => panic!("{line} belongs to no report"),
        }
    }
    sheets.into_iter().collect()
}

#[test]
fn csv_is_that_of_the_original() {
    for name in WITH_REPORTS {
        // The reports contain the paths of the programs at that time.
        let expected = golden(&format!("{name}.csv.txt")).replace("tmp-lab-nyt", "srv-app-nyt");
        let trace = profile(&format!("{name}.nytprof"));
        let found = lines(&["--csv", &trace]);
        assert_eq!(sheets(&found), sheets(&expected), "{name}");
        let folder = Folder::new();
        assert_eq!(lines(&["--csv", "-o", &folder.path("report"), &trace]), "");
        let names: BTreeSet<String> = folder.names_in("report").into_iter().collect();
        assert_eq!(names, sheets(&expected).into_keys().collect(), "{name}");
        for (file, text) in sheets(&expected) {
            assert_eq!(fs::read_to_string(folder.path(&format!("report/{file}"))).expect("the report"), text, "{file}");
        }
    }
}

#[test]
fn callgrind_is_that_of_the_original() {
    let blocks = |text: &str| {
        let mut blocks: Vec<String> = text.split("\n\n").map(str::to_owned).collect();
        blocks.sort();
        blocks
    };
    for name in WITH_REPORTS {
        let found = lines(&["--callgrind", &profile(&format!("{name}.nytprof"))]);
        assert_eq!(blocks(&found), blocks(&golden(&format!("{name}.callgrind.txt"))), "{name}");
    }
}

#[test]
fn figures_stand_beside_the_source() {
    assert_snapshot("lines", &lines(&[&profile("devel-nytprof-6.12/evals-c0.nytprof")]));
    assert_snapshot(
        "lines_recursion",
        &lines(&["--file", "recurse.pl", &profile("devel-nytprof-6.12/recurse-calls2.nytprof")]),
    );
    assert_snapshot(
        "lines_blocks",
        &lines(&["--all", "--level", "block", &profile("devel-nytprof-6.12/inventory-blocks1.nytprof")]),
    );
    let colors = traceloom(&["--color", "always", "lines", &profile("devel-nytprof-6.12/inventory-c0.nytprof")]);
    assert!(stdout(&colors).contains("\u{1b}[1m\u{1b}[31m"), "{}", stdout(&colors));
}

#[test]
fn subs_and_packages_are_listed() {
    assert_snapshot("lines_subs", &lines(&["--subs", &profile("devel-nytprof-6.12/xsops-c0.nytprof")]));
    assert_snapshot("lines_packages", &lines(&["--packages", &profile("devel-nytprof-6.12/xsops-c0.nytprof")]));
    assert_snapshot("lines_dot", &lines(&["--dot", &profile("devel-nytprof-6.12/recurse-calls2.nytprof")]));
}

#[test]
fn evals_can_be_kept_apart() {
    let names = |text: &str| sheets(text).into_keys().collect::<BTreeSet<_>>();
    let trace = profile("devel-nytprof-6.12/evals-c0.nytprof");
    let (merged, separate) = (lines(&["--csv", &trace]), lines(&["--csv", "--separate-evals", &trace]));
    assert!(names(&merged).is_subset(&names(&separate)) && names(&merged).len() < names(&separate).len());
}

#[test]
fn json_has_the_same_figures() {
    let trace = profile("devel-nytprof-6.12/inventory-c0.nytprof");
    let all: Json = serde_json::from_str(&lines(&["--json", &trace])).expect("JSON");
    let golden: Json = serde_json::from_str(&golden("devel-nytprof-6.12/inventory-c0.summary.json")).expect("JSON");
    let golden = &golden["raw"];
    let file = &all["files"][0];
    assert_eq!(file["statements"], golden["files"][0]["stmts"]);
    let of_lines: u64 =
        file["lines"].as_array().expect("lines").iter().filter_map(|line| line["statements"].as_u64()).sum();
    assert_eq!(Some(of_lines), file["statements"].as_u64());
    let calls = |subs: &Json| -> BTreeMap<String, u64> {
        let subs = subs.as_array().expect("subs").iter();
        let pairs =
            subs.map(|sub| (sub["name"].as_str().expect("a name").to_owned(), sub["calls"].as_u64().expect("calls")));
        pairs.filter(|(_, calls)| *calls > 0).collect()
    };
    assert_eq!(calls(&all["subs"]), calls(&golden["subs"]));
    let packages = all["packages"].as_array().expect("packages");
    let of_packages: u64 = packages.iter().filter_map(|package| package["calls"].as_u64()).sum();
    assert_eq!(of_packages, calls(&all["subs"]).values().sum::<u64>());
    let subs: Json = serde_json::from_str(&lines(&["--json", "--subs", &trace])).expect("JSON");
    assert!(subs.get("files").is_none() && subs["subs"] == all["subs"]);
}

#[test]
fn source_comes_from_a_folder_where_none_is_stored() {
    let trace = profile("devel-nytprof-6.12/inventory-savesrc0.nytprof");
    let without = lines(&[&trace]);
    assert!(without.contains("does not contain the source"), "{without}");
    let folder = Folder::new();
    fs::create_dir(folder.path("p")).expect("a folder");
    let source = "# line 1\nmy %stock; # line two\n";
    fs::write(folder.path("p/inventory.pl"), source).expect("a file");
    let with = lines(&["--source-dir", &folder.path("."), &trace]);
    assert!(with.contains("line two") && !with.contains("does not contain the source"), "{with}");
    assert_eq!(traceloom(&["lines", "--source-dir", &folder.path("none"), &trace]).status.code(), Some(2));
}

#[test]
fn the_other_dialect_has_lines_too() {
    let trace = profile("pynytprof/a986d58/seed-many.nytprof");
    let json: Json = serde_json::from_str(&lines(&["--json", &trace])).expect("JSON");
    assert_eq!(json["format"], "pynytprof");
    let golden: Json = serde_json::from_str(&golden("pynytprof/a986d58/seed-many.pyn.json")).expect("JSON");
    let statements: u64 =
        json["files"].as_array().expect("files").iter().filter_map(|file| file["statements"].as_u64()).sum();
    assert!(statements > 0, "{golden}");
    assert!(!lines(&[&trace]).is_empty() && lines(&["--callgrind", &trace]).starts_with("events: Ticks"));
}

#[test]
fn every_profile_has_reports() {
    let folders = ["devel-nytprof-6.12", "synthetic"].map(|folder| fixture_of("nytprof", folder));
    for entry in folders.iter().flat_map(|folder| fs::read_dir(folder).expect("the corpus")) {
        let path = entry.expect("an entry").path();
        // The process of this one was killed before anything was written.
        let is_empty = path.file_stem().is_some_and(|name| name == "killed-c6");
        if path.extension().is_some_and(|ending| ending == "nytprof") && !is_empty {
            let path = path.to_str().expect("the path is UTF-8");
            for shape in ["--all", "--subs", "--packages", "--dot", "--csv", "--callgrind"] {
                assert!(!lines(&[shape, path]).is_empty(), "{shape} of {path}");
            }
        }
    }
}

#[test]
fn what_has_no_lines_is_refused() {
    let output = traceloom(&["lines", &fixture_of("easyprofiler", "v210_values.prof")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("has no line timings"), "{}", stderr(&output));
    let trace = profile("devel-nytprof-6.12/inventory-c0.nytprof");
    assert_eq!(traceloom(&["lines", "--file", "nothing.pl", &trace]).status.code(), Some(2));
    assert_eq!(traceloom(&["lines", "--csv", "--dot", &trace]).status.code(), Some(2));
}

//! NYTProf and Pynytprof through the program, with results checked by Devel::NYTProf.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;
use traceloom::nytprof::{
    Record,
    aggregate::{self, Profile},
    open,
};
use traceloom_core::{Options, Records, Source};

fn traceloom(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_traceloom")).args(arguments).output().expect("the program runs")
}

fn succeeds(arguments: &[&str]) -> String {
    let output = traceloom(arguments);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    stderr
}

fn fixture(name: &str) -> String {
    fixtures().join(name).display().to_string()
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/nytprof")
}

fn load(path: &str) -> Profile {
    let bytes = std::fs::read(path).expect("the file is there");
    aggregate::load(Source::bytes(bytes), &Options::strict()).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Statements, calls, and ticks of all statements, which no conversion may change.
fn figures(profile: &Profile) -> (i64, u64, i64) {
    let statements = profile.files.values().map(|file| file.total().count).sum();
    (statements, profile.sub_calls, (profile.stmts_seconds * 1e7).round() as i64)
}

/// The result of Devel::NYTProf's loader, if installed; required in CI.
fn original(path: &str) -> Option<String> {
    let has = Command::new("perl").args(["-MDevel::NYTProf::Data", "-e1"]).output();
    if !has.is_ok_and(|output| output.status.success()) {
        println!("skipped: perl or Devel::NYTProf is missing (Debian package libdevel-nytprof-perl)");
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "CI has to have Devel::NYTProf");
        return None;
    }
    let script = "my $data = Devel::NYTProf::Data->new({ filename => $ARGV[0], quiet => 1 });
        printf '%d %d', $data->attributes->{total_stmts_measured}, $data->attributes->{total_sub_calls};";
    let loaded = Command::new("perl").args(["-MDevel::NYTProf::Data", "-e", script, path]).output();
    let loaded = loaded.expect("perl runs");
    assert!(loaded.status.success(), "{path}: {}", String::from_utf8_lossy(&loaded.stderr));
    Some(String::from_utf8_lossy(&loaded.stdout).into_owned())
}

#[test]
fn info_says_plainly_that_the_original_cannot_load_a_pynytprof_file() {
    for name in [
        "a986d58/seed-small",
        "a986d58/tracer-py",
        "last/head-py",
        "other/early-ascii-A-chunk",
        "damaged/bad-truncated",
    ] {
        let file = fixture(&format!("pynytprof/{name}.nytprof"));
        let said = |verb: &str| String::from_utf8_lossy(&traceloom(&[verb, &file]).stdout).into_owned();
        assert!(said("info").contains("cannot load it; `convert --to nytprof`"), "{name}: {}", said("info"));
        assert!(!said("check").contains("Devel::NYTProf"), "{name}: {}", said("check"));
    }
    let good = fixture("devel-nytprof-6.12/inventory-c6.nytprof");
    assert!(traceloom(&["check", "--strict", &good]).status.success());
    let output = traceloom(&["info", "--from", "nytprof", &fixture("pynytprof/a986d58/seed-small.nytprof")]);
    assert_eq!(output.status.code(), Some(1), "a Pynytprof file is no profile of Devel::NYTProf");
}

#[test]
fn a_converted_pynytprof_file_is_one_that_the_original_loads() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("perl.out").display().to_string();
    let back = folder.path().join("py.out").display().to_string();
    let again = folder.path().join("again.out").display().to_string();
    for name in [
        "a986d58/seed-small",
        "a986d58/seed-many",
        "a986d58/seed-utf8",
        "a986d58/tracer-cwriter",
        "other/variant-range-defs",
        "damaged/bad-truncated",
    ] {
        for to in ["nytprof", "nytprof:zlib9"] {
            let file = fixture(&format!("pynytprof/{name}.nytprof"));
            succeeds(&["convert", "--allow-damaged", "--to", to, &file, &out]);
            let profile = load(&out);
            let (_, calls, _) = figures(&profile);
            if let Some(loaded) = original(&out) {
                assert_eq!(loaded, format!("{} {calls}", profile.stmts_measured), "{name}");
            }
            succeeds(&["convert", "--to", "pynytprof", &out, &back]);
            succeeds(&["check", "--strict", &back]);
            succeeds(&["convert", "--to", "nytprof", &back, &again]);
            assert_eq!(figures(&load(&again)), figures(&profile), "{name}");
        }
    }
}

#[test]
fn a_profile_keeps_its_figures_as_a_pynytprof_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let [py, perl] = ["py.out", "perl.out"].map(|name| folder.path().join(name).display().to_string());
    for name in ["inventory-c0", "recurse-calls2", "xsops-c0"] {
        let input = fixture(&format!("devel-nytprof-6.12/{name}.nytprof"));
        let said = succeeds(&["convert", "--to", "pynytprof", &input, &py]);
        assert!(said.contains("names of files"), "the loss is told: {said}");
        succeeds(&["check", "--strict", &py]);
        succeeds(&["convert", "--to", "nytprof", &py, &perl]);
        assert_eq!(figures(&load(&perl)), figures(&load(&input)), "{name}");
    }
}

#[test]
fn several_profiles_merge_into_one_that_the_original_loads() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("merged.out").display().to_string();
    let parts = [0, 1, 2, 3].map(|part| fixture(&format!("devel-nytprof-6.12/fork0-part{part}.nytprof")));
    succeeds(&["merge", &parts[0], &parts[1], &parts[2], &parts[3], &out]);
    let merged = load(&out);
    let sum = parts.iter().map(|part| load(part).stmts_measured).sum::<u64>();
    assert_eq!(merged.stmts_measured, sum);
    assert_eq!(merged.sub_calls, parts.iter().map(|part| load(part).sub_calls).sum::<u64>());
    if let Some(loaded) = original(&out) {
        assert_eq!(loaded, format!("{} {}", merged.stmts_measured, merged.sub_calls));
    }
}

/// `expect.json` lists how many records an independent reader can recover from each damaged file.
#[test]
fn repair_salvages_cut_zlib_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("good.out").display().to_string();
    let expected = std::fs::read(fixtures().join("damaged/expect.json")).expect("the file is there");
    let expected: Vec<Value> = serde_json::from_slice(&expected).expect("JSON");
    let cut = ["z-truncated", "z-cut-early", "z-no-tail", "z-corrupt", "z-checksum"];
    for entry in expected.iter().filter(|entry| cut.iter().any(|name| entry["name"] == *name)) {
        let name = entry["name"].as_str().unwrap_or_default();
        succeeds(&["repair", &fixture(&format!("damaged/{name}.nytprof")), &out]);
        succeeds(&["check", "--strict", &out]);
        original(&out);
        let bytes = std::fs::read(&out).expect("the file is there");
        let mut reader = open(Source::bytes(bytes), &Options::strict()).expect("it opens");
        // The version counts as a record, the end of the compressed part does not.
        let mut records = 1;
        while let Some(located) = reader.next().expect("it can be read") {
            records += u64::from(located.record != Record::EndDeflate);
        }
        assert!(Some(records) >= entry["salvage_chunks"].as_u64(), "{name}: {records} records of {entry}");
    }
}

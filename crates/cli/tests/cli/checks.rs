//! The exit code of `check`, compared with those of the verbs that read the same file.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::Value as Json;
use traceloom::{OpenOptions, Verdict};
use traceloom_core::Findings;
use traceloom_model::{Batches, Columns, Table, Wanted};
use traceloom_testkit::each_case;

use crate::{Folder, fixture, fixture_of, stderr, stdout, traceloom};

/// The files whose tables lack data.
static DAMAGED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn note(path: &Path, findings: &Findings) {
    if findings.is_data_missing() {
        DAMAGED.lock().expect("no thread panics here").insert(path.to_owned());
    }
}

/// Whether verbs such as `stats` exit with 1: tables of the file lack data, or cannot be read.
fn lacks_data(path: &Path) -> bool {
    let every = Table::ALL.into_iter().fold(Wanted::nothing(), |wanted, table| wanted.and(table, Columns::ALL));
    let options = OpenOptions::new().on_findings(note);
    let read = options.open(path).and_then(|trace| trace.tables().pour(&mut Batches::of(every)));
    read.is_err() || DAMAGED.lock().expect("no thread panics here").contains(path)
}

/// Read as its tool does, this file ends inside a record; the lenient reader finds a layout in which it is complete.
const COMPLETE_FOR_US: &str = "easyprofiler/document/literal_examples.prof";

/// A verdict of `check`, in the mode of `--strict` or not.
struct Checked {
    /// The exit code is 1 even with `--allow-damaged`.
    is_bad: bool,
    /// The exit code is 1.
    exits_with_1: bool,
}

impl Checked {
    fn of(path: &Path, is_strict: bool) -> Self {
        let verdict = Verdict::of(path, &OpenOptions::new().strict(is_strict)).expect("the file can be read");
        let exits_with_1 = verdict.is_bad() || verdict.is_complete() == Some(false);
        if let Verdict::Read { findings, .. } = &verdict {
            assert!(!exits_with_1 || !findings.kept().is_empty(), "{}: 1 without a problem", path.display());
        }
        Self { is_bad: verdict.is_bad(), exits_with_1 }
    }
}

#[test]
fn check_exits_with_1_if_another_verb_does() {
    let [files, lacking] = [const { AtomicUsize::new(0) }; 2];
    let different = Mutex::new(Vec::new());
    each_case(|_, case, _| {
        let [check, strict] = [false, true].map(|is_strict| Checked::of(&case.input, is_strict));
        let lacks = lacks_data(&case.input);
        files.fetch_add(1, Ordering::Relaxed);
        lacking.fetch_add(lacks.into(), Ordering::Relaxed);
        let is_odd = check.exits_with_1 != strict.exits_with_1 && case.name != COMPLETE_FOR_US;
        if is_odd || check.is_bad != strict.is_bad || lacks && !check.exits_with_1 {
            let [check, strict] = [check.exits_with_1, strict.exits_with_1];
            let line = format!("{}: check {check}, check --strict {strict}, other verbs {lacks}", case.name);
            different.lock().expect("no thread panics here").push(line);
        }
    });
    let different = different.into_inner().expect("no thread panicked");
    assert!(different.is_empty(), "{}", different.join("\n"));
    let [files, lacking] = [files, lacking].map(AtomicUsize::into_inner);
    assert!(files > 300 && lacking > 50 && lacking < files / 2, "{lacking} of {files} files lack data");
}

#[test]
fn missing_data_that_the_tool_does_not_notice_is_not_fine() {
    let folder = Folder::new();
    let two = folder.path("two.clog");
    let log = fs::read(fixture_of("cnanolog", "head_server.clog")).expect("the fixture");
    fs::write(&two, [log.as_slice(), &log].concat()).expect("room for it");
    for check in [&["check"] as &[&str], &["check", "--strict"]] {
        let run = |more: &[&str]| {
            let output = traceloom(&[check, more, &[two.as_str()]].concat());
            assert_eq!(stderr(&output), "");
            (output.status.code(), stdout(&output))
        };
        let (code, text) = run(&[]);
        assert_eq!(code, Some(1), "{check:?}: {text}");
        assert!(text.contains("warning:") && text.contains("[cnanolog.another-log]"), "{check:?}: {text}");
        assert!(!text.contains("error:"), "{check:?}: {text}");
        let (code, json) = run(&["--json"]);
        let json: Json = serde_json::from_str(&json).expect("JSON");
        assert_eq!((code, &json["accepted"], &json["complete"]), (Some(1), &true.into(), &false.into()), "{json}");
        assert_eq!(run(&["--allow-damaged"]), (Some(0), text), "{check:?}");
    }
    assert_eq!(traceloom(&["stats", &two]).status.code(), Some(1));
}

#[test]
fn an_error_is_not_fine_even_if_no_data_is_missing() {
    let refused = fixture("v210_deep_256_refused.prof");
    for more in [&[] as &[&str], &["--strict"], &["--allow-damaged"]] {
        let output = traceloom(&[&["check", "--json", &refused] as &[&str], more].concat());
        let json: Json = serde_json::from_str(&stdout(&output)).expect("JSON");
        let complete = if more == ["--strict"] { Json::Null } else { true.into() };
        assert_eq!((output.status.code(), &json["accepted"], &json["complete"]), (Some(1), &false.into(), &complete));
    }
    let good = traceloom(&["check", "--json", &fixture("v210_one_block.prof")]);
    let json: Json = serde_json::from_str(&stdout(&good)).expect("JSON");
    assert_eq!((good.status.code(), &json["accepted"], &json["complete"]), (Some(0), &true.into(), &true.into()));
}

//! The web pages of other tools open our output without errors, and count the same.

mod support;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value as Json, json};
use traceloom_export::by_id;
use traceloom_testkit::Browser;

use support::{
    counts::{Answers, compare},
    engine_or_skip, one_of_each, place, speedscope_or_skip, write,
};

fn browser() -> Option<Browser> {
    Browser::or_skip(Path::new(env!("CARGO_TARGET_TMPDIR")))
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages").join(name)
}

/// What Perfetto's page reports about files that are opened in it.
fn perfetto(target: &str) {
    let (Some(browser), Some(engine)) = (browser(), engine_or_skip()) else { return };
    let folder = format!("pages-{target}");
    compare(&one_of_each(), &folder, target, |files, queries| {
        let answers = files[0].with_extension("answers");
        let page = engine.parent().unwrap();
        let asked = json!({"page": page, "files": files, "queries": queries, "answers": answers});
        browser.run(&script("perfetto.mjs"), &asked);
        by_file(&fs::read_to_string(answers).unwrap())
    });
}

fn by_file(text: &str) -> Answers {
    let answers = text.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    answers.map(|answer| (PathBuf::from(answer["file"].as_str().unwrap()), answer)).collect::<BTreeMap<_, _>>()
}

#[test]
fn the_page_of_perfetto_counts_as_we_do() {
    perfetto("perfetto");
}

#[test]
fn the_page_of_perfetto_counts_the_same_in_chrome_events() {
    perfetto("chrome");
}

#[test]
fn the_page_of_speedscope_adds_up_as_we_do() {
    let (Some(browser), Some(page)) = (browser(), speedscope_or_skip()) else { return };
    let (place, target) = (place("pages-speedscope"), by_id("speedscope").unwrap());
    let mut files = Vec::new();
    for (name, trace) in one_of_each() {
        let file = place.join(format!("{name}.speedscope.json"));
        write(target, &trace, false, &file);
        // Lines of a log have no duration, and a file without a profile is not a profile.
        if trace.format() != "cnanolog" {
            files.push(file);
        }
    }
    browser.run(&script("speedscope.mjs"), &json!({"page": page, "files": files}));
}

//! The page of the viewer in a real browser, served by the program as a user starts it.
//!
//! Each test serves some traces and runs a script of `crates/viewer/web/tests`, which does what a person would do and
//! compares what the page shows with what the program prints.

mod access;
mod hostile;
mod live;
mod served;
mod several;
mod store;

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::json;

use traceloom_testkit::planted::{LogRow, Scene};

use served::{BROKEN, place, run, run_alone, sample, traceloom, written};

#[test]
fn keys_and_mouse_move_the_timeline() {
    run("timeline.mjs", &[sample("timeline", "game.prof")], json!({}));
}

#[test]
fn tracks_and_panels_follow_keys_and_mouse() {
    run("tracks.mjs", &[sample("tracks", "game.prof")], json!({}));
}

#[test]
fn links_pictures_and_dropped_files() {
    let file = sample("links", "game.prof");
    let other = file.with_file_name("game.wtf-trace");
    run("links.mjs", &[file], json!({"other": other}));
}

/// Every panel that a trace may fill, in the order of their tabs.
const PANELS: [&str; 13] = [
    "overview",
    "selection",
    "stats",
    "frames",
    "tree",
    "flame",
    "histogram",
    "log",
    "source",
    "memory",
    "sql",
    "findings",
    "definitions",
];

/// The samples, and the panels that each of them has nothing for.
static SAMPLES: &[(&str, &[&str])] = &[
    ("game.prof", &["log", "memory"]),
    ("game.wtf-trace", &["log", "source", "memory"]),
    ("nytprof.out", &["log", "memory"]),
    ("pynytprof.out", &["frames", "histogram", "log", "memory"]),
    ("service.clog", &["frames", "tree", "flame", "histogram", "memory"]),
    ("shop.mlyze", &["frames", "histogram", "log"]),
];

fn panels(name: &str) -> Vec<&'static str> {
    let (_, empty) = SAMPLES.iter().find(|(sample, _)| *sample == name).expect("it is a sample");
    PANELS.into_iter().filter(|panel| !empty.contains(panel)).collect()
}

/// Every panel of a sample, which has to be just these.
fn numbers(name: &str) {
    run("numbers.mjs", &[sample(&format!("numbers-{name}"), name)], json!({"panels": panels(name)}));
}

#[test]
fn numbers_of_cnanolog() {
    numbers("service.clog");
}

#[test]
fn numbers_of_easyprofiler() {
    numbers("game.prof");
}

#[test]
fn numbers_of_memlyze() {
    numbers("shop.mlyze");
}

#[test]
fn numbers_of_nytprof() {
    numbers("nytprof.out");
}

#[test]
fn numbers_of_pynytprof() {
    numbers("pynytprof.out");
}

#[test]
fn numbers_of_wtf() {
    numbers("game.wtf-trace");
}

/// The page that `cargo xtask page` built, without a server.
#[test]
#[ignore = "`cargo xtask test --page` builds the page and runs this"]
fn the_page_alone_shows_the_same() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../page").canonicalize();
    let folder = folder.expect("`cargo xtask page` was run");
    for (name, _) in SAMPLES {
        let file = sample(&format!("alone-{name}"), name);
        let report = file.with_file_name("report.html");
        traceloom(&["report", "--interactive", file.to_str().unwrap(), "-o", report.to_str().unwrap()]);
        let pictures = std::env::var("TRACELOOM_PICTURES").ok();
        run_alone(
            "alone.mjs",
            &[file],
            json!({"folder": folder, "report": report, "panels": panels(name), "pictures": pictures}),
        );
    }
}

#[test]
fn hostile_names_are_texts() {
    let names: Vec<String> = hostile::NAMES.map(str::to_owned).into_iter().chain([hostile::long_name()]).collect();
    run("hostile.mjs", &hostile::traces("hostile"), json!({"names": names}));
}

#[test]
fn trouble_is_told() {
    let file = sample("trouble", "game.prof");
    let place = place("trouble-made");
    let (damaged, broken) = (place.join("damaged.prof"), place.join("broken.prof.gz"));
    let bytes = fs::read(&file).unwrap();
    fs::write(&damaged, &bytes[..bytes.len() / 2]).unwrap();
    fs::write(&broken, BROKEN).unwrap();
    run("trouble.mjs", &[damaged.clone(), broken.clone()], json!({"damaged": damaged, "broken": broken}));
}

/// Declarations of a kind lead to what they were used for.
fn definitions(name: &str, kind: &str) {
    run("definitions.mjs", &[sample(&format!("definitions-{kind}"), name)], json!({"kind": kind}));
}

#[test]
fn blocks_and_values_lead_to_the_timeline() {
    definitions("game.prof", "block");
}

#[test]
fn files_lead_to_their_source() {
    definitions("nytprof.out", "file");
}

#[test]
fn functions_lead_to_their_memory() {
    definitions("shop.mlyze", "function");
}

#[test]
fn sites_lead_to_their_lines() {
    let file = sample("definitions-site", "service.clog");
    // Next to a trace of spans, so that the log is not open at first.
    let other = file.with_file_name("game.prof");
    run("definitions.mjs", &[file, other], json!({"kind": "site"}));
}

#[test]
fn values_that_are_texts_are_shown() {
    let file = traceloom_testkit::fixture("easyprofiler/v210_values.prof");
    run("odd.mjs", &[file], json!({"check": "texts"}));
}

#[test]
fn a_trace_without_times_has_links() {
    run("odd.mjs", &[sample("timeless", "pynytprof.out")], json!({"check": "timeless"}));
}

#[test]
fn a_narrow_window_hides_nothing() {
    let file = sample("narrow", "game.prof");
    let other = file.with_file_name("game.wtf-trace");
    run("odd.mjs", &[file, other], json!({"check": "narrow"}));
}

#[test]
fn keys_clicks_and_empty_views_leave_nothing_behind() {
    let file = sample("small", "game.prof");
    let other = file.with_file_name("service.clog");
    run("small.mjs", &[file, other], json!({}));
}

#[test]
fn labels_keep_what_distinguishes_them() {
    run("drawn.mjs", &[sample("labels", "game.prof")], json!({"check": "labels"}));
}

#[test]
fn bookmarks_have_a_lane_and_their_texts() {
    run("drawn.mjs", &[sample("bookmarks", "game.prof")], json!({"check": "bookmarks"}));
}

#[test]
fn even_lines_of_a_log_fill_its_track_evenly() {
    // Twelve lines in each fifth of a second, for two minutes.
    let line = |number: i64| LogRow {
        ts_ns: number * 50_000_000 / 3,
        level: "INFO",
        place: ("src/net.c".to_owned(), 7),
        text: "packet".to_owned(),
    };
    let scene = Scene { logs: (0..7_200).map(line).collect(), ..Scene::default() };
    let file = place("even").join("even.clog");
    written(&scene, "cnanolog", &file);
    run("drawn.mjs", &[file], json!({"check": "even"}));
}

#[test]
fn a_log_is_drawn_by_level_and_marks_what_is_searched_for() {
    run("drawn.mjs", &[sample("log-drawn", "service.clog")], json!({"check": "log"}));
}

#[test]
fn texts_have_room_or_a_tip() {
    for name in ["game.prof", "nytprof.out", "shop.mlyze"] {
        run("room.mjs", &[sample(&format!("room-{name}"), name)], json!({}));
    }
}

#[test]
fn the_first_panel_answers_before_it_is_asked() {
    for name in ["game.prof", "shop.mlyze", "service.clog"] {
        run("answers.mjs", &[sample(&format!("overview-{name}"), name)], json!({"check": "overview"}));
    }
}

/// Common questions of users, for every format that has the data.
fn clicks(test: &str, files: &[PathBuf], questions: &[&str]) {
    assert!(!files.is_empty(), "{test}");
    run("clicks.mjs", files, json!({"questions": questions}));
}

#[test]
fn two_clicks_answer_what_people_ask_of_one_trace() {
    let folder = sample("clicks", "");
    let questions: [(&str, &[&str]); 6] = [
        ("game.prof", &["slow", "callers"]),
        ("game.wtf-trace", &["slow", "callers"]),
        ("nytprof.out", &["slow", "callers"]),
        ("pynytprof.out", &["slow", "callers"]),
        ("service.clog", &["logged"]),
        ("shop.mlyze", &["leaks", "allocators"]),
    ];
    for (name, questions) in questions {
        clicks(name, &[folder.join(name)], questions);
    }
    clicks("both", &[folder.join("game.prof"), folder.join("service.clog")], &["loggedThen"]);
}

#[test]
fn two_clicks_answer_what_changed() {
    let folder = sample("changed", "");
    let file = |name: &str| folder.join(name);
    for (name, later, range) in [
        ("game.prof", "later.prof", "1s.."),
        ("game.wtf-trace", "later.wtf-trace", "1s.."),
        ("shop.mlyze", "later.mlyze", "2s.."),
    ] {
        let (from, to) = (file(name), file(later));
        traceloom(&["slice", "--range", range, from.to_str().unwrap(), to.to_str().unwrap()]);
        clicks(name, &[from, to], &["changed"]);
    }
    for (name, target) in [("nytprof.out", "nytprof:plain"), ("pynytprof.out", "pynytprof")] {
        let (from, to) = (file("nytprof.out"), file(&format!("other-{name}")));
        traceloom(&["convert", "--to", target, from.to_str().unwrap(), to.to_str().unwrap()]);
        clicks(name, &[file(name), to], &["changed"]);
    }
}

/// Common questions about a selection, about frames and about the whole page.
fn answers(name: &str, check: &str) {
    run("answers.mjs", &[sample(&format!("answers-{check}"), name)], json!({"check": check}));
}

#[test]
fn a_selected_span_explains_itself() {
    answers("game.prof", "span");
}

#[test]
fn a_flow_is_followed_both_ways() {
    answers("game.wtf-trace", "flows");
}

#[test]
fn what_is_inside_a_selected_span_keeps_its_color() {
    answers("game.prof", "strength");
}

#[test]
fn a_call_knows_the_line_of_its_caller() {
    answers("nytprof.out", "caller");
}

#[test]
fn a_selected_range_has_log_lines() {
    answers("service.clog", "logs");
}

#[test]
fn a_selected_range_has_memory() {
    answers("shop.mlyze", "memory");
}

#[test]
fn sites_that_grow_are_marked() {
    // Of its sites, many allocate much only once.
    let file = traceloom_testkit::fixture("memlyze/memlyze-0.1.0/killed.mlyze");
    run("answers.mjs", &[file], json!({"check": "growth"}));
}

#[test]
fn notes_stay_with_the_trace() {
    answers("game.prof", "notes");
}

#[test]
fn the_sql_panel_opens_with_an_answer() {
    for (name, _) in SAMPLES {
        run("answers.mjs", &[sample(&format!("answers-example-{name}"), name)], json!({"check": "example"}));
    }
}

#[test]
fn answers_in_sql_are_tracks_and_charts() {
    answers("game.prof", "queried");
}

#[test]
fn commands_are_found_by_typing() {
    answers("game.prof", "commands");
}

/// The pictures of the README; `TRACELOOM_BLESS` updates them.
#[test]
fn pictures_can_be_renewed() {
    if std::env::var_os("TRACELOOM_BLESS").is_none() {
        return;
    }
    let pictures = [
        ("service.clog", json!({"name": "cnanolog", "theme": "light", "panel": "log"})),
        ("game.prof", json!({"name": "easyprofiler", "theme": "dark", "panel": "stats", "zoom": "wwwwwwww"})),
        ("shop.mlyze", json!({"name": "memlyze", "theme": "light", "panel": "memory"})),
        ("nytprof.out", json!({"name": "nytprof", "theme": "dark", "panel": "source"})),
        ("pynytprof.out", json!({"name": "pynytprof", "theme": "light", "panel": "stats"})),
        ("game.wtf-trace", json!({"name": "wtf", "theme": "light", "panel": "flame"})),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/images");
    for (file, picture) in pictures {
        run("pictures.mjs", &[sample("pictures", file)], json!({"picture": picture, "folder": folder}));
    }
}

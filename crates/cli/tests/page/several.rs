//! Several threads or files: which is which, in which order, and where on the axis.

use serde_json::json;
use traceloom_testkit::{made::write_threads, planted::Scene};

use crate::served::{place, run, sample, traceloom, written};

#[test]
fn very_many_threads() {
    let file = place("threads").join("threads.prof");
    write_threads(&file, 2_000, 20);
    run("threads.mjs", &[file], json!({"threads": 2_000}));
}

#[test]
fn threads_of_one_name_are_distinguished_filtered_and_sorted() {
    let mut scene = Scene::new(&["io", "io", "main"]);
    for (thread, busy_ns) in [1_000_000, 5_000_000, 3_000_000].into_iter().enumerate() {
        scene.span(thread, "work", 0, busy_ns);
    }
    let file = place("alike").join("alike.prof");
    written(&scene, "easyprofiler", &file);
    run("several.mjs", &[file], json!({"check": "alike"}));
}

#[test]
fn files_of_different_length_are_zoomed_to_and_aligned() {
    // Both know the time of day.
    let long = sample("lengths", "game.wtf-trace");
    let short = long.with_file_name("nytprof.out");
    run("several.mjs", &[long, short], json!({"check": "lengths"}));
}

/// Two traces of one program, of which the second starts a second later.
fn two_traces(check: &str) {
    let file = sample(check, "game.prof");
    let later = file.with_file_name("later.prof");
    traceloom(&["slice", "--range", "1s..", file.to_str().unwrap(), later.to_str().unwrap()]);
    run("answers.mjs", &[file, later], json!({"check": check}));
}

#[test]
fn two_traces_are_compared() {
    two_traces("changes");
}

#[test]
fn two_traces_meet_at_a_chosen_span() {
    two_traces("aligned");
}

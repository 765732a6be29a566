//! `stats`, `diff`, `advise`, `summary` and `report`.

use serde_json::Value as Json;

use crate::{Folder, assert_snapshot, fixture, fixture_of, relative, stderr, stdout, traceloom};

fn json(arguments: &[&str]) -> Json {
    let output = traceloom(arguments);
    serde_json::from_str(&stdout(&output)).unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)))
}

/// The samples that `demo` writes.
fn demo() -> Folder {
    let folder = Folder::new();
    assert!(traceloom(&["demo", &folder.path("demo")]).status.success());
    folder
}

#[test]
fn stats_of_a_capture() {
    let file = fixture("v210_nested_threads.prof");
    let output = traceloom(&["stats", "--limit", "8", &file]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_snapshot("stats", &stdout(&output));
    let all = json(&["stats", "--json", &file]);
    let shares: f64 = all["spans"].as_array().expect("rows").iter().filter_map(|row| row["share"].as_f64()).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    assert_eq!(json(&["stats", "--json", "--limit", "2", &file])["spans"].as_array().map(Vec::len), Some(2));
}

#[test]
fn stats_tell_groups_apart() {
    let file = fixture("v210_nested_threads.prof");
    for (by, key) in
        [("thread", "thread"), ("parent", "parent"), ("frame", "frame"), ("category", "category"), ("line", "line")]
    {
        let rows = json(&["stats", "--json", "--by", by, &file]);
        assert!(rows["spans"][0].get(key).is_some() || by == "parent", "{by}: {rows}");
    }
    let sorted = json(&["stats", "--json", "--sort", "calls", &file]);
    let calls: Vec<u64> =
        sorted["spans"].as_array().expect("rows").iter().filter_map(|row| row["calls"].as_u64()).collect();
    assert!(calls.is_sorted_by(|one, other| one >= other), "{calls:?}");
    let output = traceloom(&["stats", "--by", "thread,line", "--name", "Step", &file]);
    assert_snapshot("stats_by", &stdout(&output));
}

#[test]
fn stats_of_a_stretch_and_a_histogram() {
    let demo = demo();
    let game = demo.path("demo/game.prof");
    let whole = json(&["stats", "--json", "--name", "Frame", &game]);
    let part = json(&["stats", "--json", "--name", "Frame", "--range", "0.5s..1s", &game]);
    let calls = |json: &Json| json["spans"][0]["calls"].as_u64().unwrap_or(0);
    assert!(calls(&part) > 0 && calls(&part) < calls(&whole), "{} of {}", calls(&part), calls(&whole));
    let histogram = json(&["stats", "--json", "--histogram", "Frame", &game]);
    let bins = histogram["histogram"].as_array().expect("bins");
    assert_eq!(bins.iter().filter_map(|bin| bin["count"].as_u64()).sum::<u64>(), calls(&whole));
    assert_snapshot("stats_histogram", &stdout(&traceloom(&["stats", "--histogram", "Frame", &game])));
    let none = traceloom(&["stats", "--histogram", "no such name", &game]);
    assert!(stdout(&none).is_empty() && stderr(&none).contains("no span is named no such name"), "{}", stderr(&none));
}

#[test]
fn a_value_is_compared_with_durations() {
    let demo = demo();
    let game = demo.path("demo/game.prof");
    let arguments = ["stats", "--json", "--value", "Visible objects", "--inside", "Render", &game];
    let relation = &json(&arguments)["relation"];
    assert!(relation["pairs"].as_u64().is_some_and(|pairs| pairs > 10), "{relation}");
    assert_eq!(traceloom(&["stats", "--value", "x", &game]).status.code(), Some(2), "inside of what?");
}

#[test]
fn stats_of_every_sample() {
    let demo = demo();
    for name in demo.names_in("demo") {
        let output = traceloom(&["stats", &demo.path(&format!("demo/{name}"))]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(&output));
        assert!(!stdout(&output).is_empty(), "{name}");
    }
}

#[test]
fn a_trace_does_not_differ_from_itself() {
    let file = fixture("v210_nested_threads.prof");
    let same = traceloom(&["diff", "--fail-over", "0%", &file, &file]);
    assert_eq!(same.status.code(), Some(0), "{}", stderr(&same));
    assert!(stdout(&same).contains("noise is unknown"), "{}", stdout(&same));
}

#[test]
fn diff_fails_over_a_limit() {
    let (before, after) = (fixture("v210_two_dumps_first.prof"), fixture("v210_two_dumps_second.prof"));
    let output = traceloom(&["diff", "--all", &before, &after]);
    assert_eq!(output.status.code(), Some(0));
    assert_snapshot("diff", &stdout(&output));
    let rows = json(&["diff", "--json", &before, &after]);
    assert_eq!((&rows["noise_known"], &rows["runs"]), (&false.into(), &vec![1, 1].into()));
    let worst = rows["rows"].as_array().expect("rows").iter().filter(|row| row["verdict"] == "worse");
    let worst = worst.filter_map(|row| row["change"].as_f64()).fold(0.0, f64::max);
    assert!(worst > 0.0, "{rows}");
    let limit = |part: f64| format!("{}%", part * 100.0);
    let failed = |limit: &str| traceloom(&["diff", "--fail-over", limit, &before, &after]).status.code();
    assert_eq!((failed(&limit(worst / 2.0)), failed(&limit(worst * 2.0))), (Some(1), Some(0)));
    assert_eq!(failed("a lot"), Some(2));
}

#[test]
fn diff_of_sets_knows_the_noise() {
    let (one, two) = (fixture("v210_two_dumps_first.prof"), fixture("v210_two_dumps_second.prof"));
    let (three, four) = (fixture("v210_nested_threads.prof"), fixture("v210_live_capture.prof"));
    let rows = json(&["diff", "--json", "--all", "--baseline", &one, &two, "--candidate", &three, &four]);
    assert_eq!((&rows["noise_known"], &rows["runs"]), (&true.into(), &vec![2, 2].into()));
    assert_eq!(traceloom(&["diff", "--baseline", &one]).status.code(), Some(2));
    assert_eq!(traceloom(&["diff", &one]).status.code(), Some(2));
}

#[test]
fn diff_of_profiles_goes_down_to_the_line() {
    let demo = demo();
    let names = demo.names_in("demo");
    let profile = names.iter().find(|name| name.contains("nytprof")).expect("a sample of NYTProf");
    let profile = demo.path(&format!("demo/{profile}"));
    let rows = json(&["diff", "--json", "--all", &profile, &profile]);
    let lines = rows["rows"].as_array().expect("rows").iter().filter(|row| row["kind"] == "line");
    assert!(lines.count() > 0, "{rows}");
}

#[test]
fn advice_comes_with_evidence_and_a_query() {
    let demo = demo();
    let game = demo.path("demo/game.prof");
    let output = traceloom(&["advise", &game]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_snapshot("advise", &stdout(&output).replace(&game, "game.prof"));
    let advice = json(&["advise", "--json", "--hot", "1%", &game]);
    let advice = advice["advice"].as_array().expect("a list").clone();
    assert!(
        advice.iter().any(|one| one["rule"] == "frame-spike") && advice.iter().any(|one| one["rule"] == "hot-name")
    );
    for (rank, one) in (1..).zip(&advice) {
        assert_eq!(one["rank"], rank);
        for key in ["severity", "blamed", "cause", "message"] {
            assert!(one[key].as_str().is_some_and(|text| !text.is_empty()), "{key}: {one}");
        }
        assert!(one["query"].as_str().is_some_and(|query| query.starts_with("SELECT ")), "{one}");
        assert!(one["evidence"].as_array().is_some_and(|evidence| !evidence.is_empty()), "{one}");
    }
    let with_sql = traceloom(&["advise", "--sql", &game]);
    assert!(stdout(&with_sql).contains("SELECT ") && !stdout(&output).contains("SELECT "));
    let nothing = traceloom(&["advise", "--hot", "100%", &fixture("v210_one_block.prof")]);
    assert!(relative(&stdout(&nothing)).contains("no problems found"), "{}", stdout(&nothing));
    assert_eq!(traceloom(&["advise", &fixture_of("wtf", "wtf-js/js-mix.wtf-trace")]).status.code(), Some(0));
}

#[test]
fn a_summary_has_what_matters_first() {
    let demo = demo();
    for (file, snapshot) in
        [("game.prof", "summary_game"), ("service.clog", "summary_log"), ("shop.mlyze", "summary_memory")]
    {
        let path = demo.path(&format!("demo/{file}"));
        let output = traceloom(&["summary", "--limit", "3", &path]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_snapshot(snapshot, &stdout(&output).replace(&path, file));
    }
    let game = demo.path("demo/game.prof");
    let summary = json(&["summary", "--json", &game]);
    assert_eq!((summary["format"].as_str(), summary["health"]["badge"].as_str()), (Some("easyprofiler"), Some("fine")));
    assert_eq!(summary["findings"][0]["severity"], json(&["advise", "--json", &game])["advice"][0]["severity"]);
    let shown = stdout(&traceloom(&["info", "--more", &game]));
    assert!(shown.contains("most self time") && shown.contains("no problems found"), "{shown}");
}

#[test]
fn a_report_is_one_file_and_fails_as_diff_does() {
    let demo = demo();
    let (game, page) = (demo.path("demo/game.prof"), demo.path("game.html"));
    let output = traceloom(&["report", &game, "-o", &page]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let html = std::fs::read(&page).expect("it was written");
    assert!(html.starts_with(b"<!DOCTYPE html>") && html == traceloom(&["report", &game]).stdout, "the same each time");
    assert!(stdout(&traceloom(&["report", "--markdown", &game])).starts_with("## Traceloom report"));
    assert_eq!(json(&["report", "--json", &game])["traces"][0], json(&["summary", "--json", &game]));
    let (before, after) = (fixture("v210_two_dumps_first.prof"), fixture("v210_two_dumps_second.prof"));
    for limit in ["0%", "100000%"] {
        let code = |verb: &str| traceloom(&[verb, "--fail-over", limit, &before, &after]).status.code();
        assert_eq!(code("report"), code("diff"), "{limit}");
    }
    let sets = ["report", "--json", "--baseline", &before, &game, "--candidate", &after, &game];
    assert_eq!(json(&sets)["comparison"]["runs"], serde_json::json!([2, 2]));
    assert_eq!(traceloom(&["report", &game, "-o", &game]).status.code(), Some(2), "an input is not overwritten");
}

#[test]
fn an_interactive_report_holds_the_trace_or_says_what_is_missing() {
    let demo = demo();
    let (game, html, page) = (demo.path("demo/game.prof"), demo.path("game.html"), demo.path("page.html"));
    std::fs::write(&page, "<p>before</p><!--trace--><p>after</p>").expect("it can be written");
    let report = |max_size: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_traceloom"));
        command.args(["report", "--interactive", "--max-size", max_size, &game, "-o", &html]);
        let output = command.env("TRACELOOM_PAGE", &page).output().expect("the program starts");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        (std::fs::read_to_string(&html).expect("it was written"), stderr(&output))
    };
    let (whole, said) = report("1MB");
    assert!(whole.starts_with("<p>before</p><script ") && whole.ends_with("<p>after</p>"), "{whole:.80}");
    assert!(whole.contains("data-name=\"game.prof\" data-notice=\"\">H4sI"), "{whole:.200}");
    assert!(!said.contains("INCOMPLETE"), "{said}");
    let (cut, said) = report("16kB");
    assert!(cut.len() <= 16 << 10 && cut.contains("INCOMPLETE: game.prof is cut after"), "{}", cut.len());
    assert!(said.contains("INCOMPLETE: game.prof is cut after"), "{said}");
    assert_eq!(whole, report("1MB").0, "the same each time");
}

#[test]
fn a_report_with_source_has_the_lines_of_a_profile() {
    let demo = demo();
    let (profile, game) = (demo.path("demo/nytprof.out"), demo.path("demo/game.prof"));
    let output = traceloom(&["report", "--source", &profile]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let page = stdout(&output);
    for words in ["<details id=", "time on line", "# spent ", " which was called ", "Source files"] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!stdout(&traceloom(&["report", &profile])).contains("<details"), "only if it is asked for");
    assert_eq!(json(&["report", "--source", "--json", &profile])["sources"][0], json(&["lines", "--json", &profile]));
    let output = traceloom(&["report", "--source", &game]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no line timings"), "{}", stderr(&output));
    assert_eq!(traceloom(&["report", "--source", "--markdown", &profile]).status.code(), Some(2));
}

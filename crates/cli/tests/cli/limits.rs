//! Limits on names and threads: everything beyond them is counted together, and the output says how much. Other lists are
//! only as long as the file, and have none.

use std::fs;

use serde_json::Value as Json;
use traceloom_testkit::{
    made::{write_bare_threads, write_names},
    planted::{evals, is_complete},
};

use crate::{Folder, stderr, stdout, traceloom};

/// Max number of names that statistics distinguish.
const NAMES: u32 = 1 << 18;
/// Max number of threads that statistics and flame graphs distinguish.
const THREADS: u32 = 1 << 14;
/// Names or threads beyond the limit.
const BEYOND: u32 = 300;

/// Runs a verb that must succeed without a warning.
fn run(arguments: &[&str]) -> String {
    let output = traceloom(arguments);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""), "{arguments:?}");
    stdout(&output)
}

fn json(arguments: &[&str]) -> Json {
    serde_json::from_str(&run(arguments)).expect("JSON")
}

/// The sum of a field over the rows of a list.
fn sum(rows: &Json, field: &str) -> u64 {
    rows.as_array().expect("a list").iter().map(|row| row[field].as_u64().expect("a number")).sum()
}

#[test]
fn statistics_count_the_spans_of_further_names_together() {
    let folder = Folder::new();
    let (many, few) = (folder.path("many.prof"), folder.path("few.prof"));
    write_names(many.as_ref(), NAMES + BEYOND);
    write_names(few.as_ref(), 1_000);
    let report = json(&["stats", "--json", "--limit", "2", &many]);
    let other = &report["spans"][0];
    let merged = other["calls"].as_u64().expect("a number");
    // Each name occurs twice; the name of the descriptor may also take a place.
    let beyond = 2 * u64::from(BEYOND);
    assert!((beyond..=beyond + 4).contains(&merged) && merged.is_multiple_of(2), "{other}");
    assert_eq!((&other["name"], &report["merged"]), (&"(other)".into(), &merged.into()), "{report}");
    assert_eq!(other["total_ns"], 1_000 * merged);
    assert_eq!(report["spans"][1]["calls"], 2, "a name within the limit has its own row");
    // Every block takes 1 µs.
    let blocks = 2 * u64::from(NAMES + BEYOND);
    assert_eq!(report["self_ns"], 1_000 * blocks);
    assert_eq!(sum(&report["threads"], "spans"), blocks);

    let text = run(&["stats", "--limit", "2", &many]);
    let named = blocks / 2 - merged / 2;
    for line in [
        &format!("spans: {} rows, 524.9 ms self time in total\n", named + 1),
        &format!("  {merged} spans are counted as (other), because there are too many groups\n"),
        &format!("  {} more; --limit {} shows all\n", named - 1, named + 1),
    ] {
        assert!(text.contains(line), "{line:?} is missing: {text}");
    }
    assert!(!run(&["stats", &few]).contains("(other)"));
    assert_eq!(json(&["stats", "--json", &few])["merged"], 0);
}

#[test]
fn statistics_count_further_threads_together() {
    let folder = Folder::new();
    let file = folder.path("threads.prof");
    write_bare_threads(file.as_ref(), THREADS + BEYOND);
    let others = format!("{BEYOND} other threads");
    let report = json(&["stats", "--json", &file]);
    let threads = &report["threads"];
    assert_eq!(threads.as_array().map(Vec::len), Some(THREADS as usize + 1));
    assert_eq!(sum(threads, "spans"), u64::from(THREADS + BEYOND));
    assert_eq!(sum(threads, "busy_ns"), 1_000 * u64::from(THREADS + BEYOND));
    let by_thread = json(&["stats", "--json", "--by", "thread", &file]);
    assert_eq!(sum(&by_thread["spans"], "calls"), u64::from(THREADS + BEYOND));
    for (rows, name, spans) in [(threads, "name", "spans"), (&by_thread["spans"], "thread", "calls")] {
        let rows = rows.as_array().expect("a list").iter();
        let shared: Vec<_> = rows.filter(|row| row[name] == others.as_str()).map(|row| &row[spans]).collect();
        assert_eq!(shared, [BEYOND], "{name}");
    }
    let text = run(&["stats", &file]);
    assert!(text.contains(&format!("threads: {}\n", THREADS + BEYOND)), "{}", &text[..400]);
    assert!(text.lines().any(|line| line.trim_start().starts_with(&others)), "{}", &text[..400]);
}

#[test]
fn flame_graphs_show_further_threads_as_one() {
    let folder = Folder::new();
    let (file, fits) = (folder.path("threads.prof"), folder.path("fits.prof"));
    write_bare_threads(file.as_ref(), THREADS + BEYOND);
    write_bare_threads(fits.as_ref(), THREADS);
    let folded = |more: &[&str], file: &str| run(&[&["flame", "--format", "folded"], more, &[file]].concat());
    let total = |lines: &str| -> u64 {
        let cost = |line: &str| line.rsplit(' ').next()?.parse::<u64>().ok();
        lines.lines().map(|line| cost(line).expect("a number")).sum()
    };
    for (more, each) in [(&["--by-thread"] as &[&str], 1_000), (&["--by-thread", "--by", "count"], 1)] {
        let lines = folded(more, &file);
        assert_eq!(lines.lines().count(), THREADS as usize + 1, "{more:?}");
        let others = format!("{BEYOND} other threads;Job {}\n", BEYOND * each);
        assert!(lines.contains(&others), "{more:?} {}", &lines[..100]);
        assert_eq!(total(&lines), u64::from((THREADS + BEYOND) * each), "{more:?}");
        let lines = folded(more, &fits);
        assert!(lines.lines().count() == THREADS as usize && !lines.contains("other"), "{more:?}");
    }
    // Without threads, nothing is left out.
    assert_eq!(folded(&[], &file), format!("Job {}\n", 1_000 * (THREADS + BEYOND)));
}

/// A list of files, one for each string eval, once had a limit.
#[test]
fn a_profile_with_very_many_string_evals_is_read_by_every_verb() {
    let count = if is_complete() { 1_000_000 } else { 200_000 };
    let folder = Folder::new();
    let (file, other) = (folder.path("evals.nytprof"), folder.path("other.nytprof"));
    fs::write(&file, evals(count)).expect("room for it");
    let said = |code: i32, arguments: &[&str]| {
        let output = traceloom(arguments);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(!said.contains("limit"), "{arguments:?}: {said}");
        stdout(&output)
    };
    let all = count.to_string();
    assert!(said(0, &["info", &file]).lines().any(|line| line.starts_with("  string evals ") && line.ends_with(&all)));
    assert!(!said(0, &["check", &file]).contains("limit"));
    assert_eq!(said(0, &["dump", &file]).matches("(eval ").count(), count);
    assert_eq!(said(0, &["stats", &file]), "no spans, values or events\n");
    let identical = format!("(eval 2)[/a.pl:1] and {} identical", count - 1);
    assert!(said(0, &["lines", &file]).contains(&identical));
    // The profile has no calls.
    for verb in ["tree", "flame"] {
        assert_eq!(said(1, &[verb, &file]), "");
    }
    assert!(said(0, &["summary", &file]).contains(&format!("{count} line times")));
    said(0, &["advise", &file]);
    let bytes = |file: &str| fs::metadata(file).expect("it was written").len();
    for verb in ["repair", "slice", "convert"] {
        said(0, &[verb, &file, &other]);
        assert!(bytes(&other) >= bytes(&file), "{verb}");
    }
    said(0, &["convert", "--to", "pynytprof", &file, &other]);
    #[cfg(feature = "sql")]
    assert!(said(0, &["query", &file, "select count(*) from line_times"]).contains(&all));
    said(0, &["report", &file, "-o", &folder.path("report.html")]);
}

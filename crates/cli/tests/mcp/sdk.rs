//! The official Python SDK calls everything, and results equal `--json` of the program.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value as Json, json};
use traceloom_testkit::npm;

use crate::samples;

const SDK: &str = "mcp==2.3.0";

/// The folder of the SDK; `None`, with a message, if it cannot be installed.
fn sdk_or_skip() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python-mcp");
    install(&folder).inspect_err(|reason| npm::skip(reason)).ok()?;
    Some(folder)
}

fn install(folder: &Path) -> Result<(), String> {
    let _alone = npm::lock(folder)?;
    let done = folder.join(".complete");
    if fs::read_to_string(&done).is_ok_and(|known| known == SDK) {
        return Ok(());
    }
    let _ = fs::remove_dir_all(folder);
    let place = folder.to_str().ok_or("the folder has no name")?;
    let arguments = ["-m", "pip", "install", "--quiet", "--only-binary=:all:", "--target", place, SDK];
    npm::run("python3", &arguments, Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    fs::write(done, SDK).map_err(|error| error.to_string())
}

/// Executes a plan with the SDK.
fn drive(sdk: &Path, plan: &Json) -> Json {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/client.py");
    let mut child = Command::new("python3")
        .env("PYTHONPATH", sdk)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python starts");
    child.stdin.take().expect("a pipe").write_all(plan.to_string().as_bytes()).expect("it reads");
    let out = child.wait_with_output().expect("it ends");
    assert!(out.status.success(), "the script failed");
    serde_json::from_slice(&out.stdout).expect("it prints JSON")
}

fn program(arguments: &[&str]) -> Vec<Json> {
    let out = Command::new(env!("CARGO_BIN_EXE_traceloom")).args(arguments).output().expect("the program starts");
    let text = String::from_utf8(out.stdout).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn the_official_sdk_drives_everything_with_the_oldest_and_the_newest_revision() {
    let Some(sdk) = sdk_or_skip() else { return };
    let folder = tempfile::tempdir().expect("there is room");
    let root = fs::canonicalize(folder.path()).expect("a folder");
    let paths = samples(&root);
    for (version, name) in [(0, "2024-11-05"), (-1, "2026-07-28")] {
        let output = |extension: &str| format!("{name}.{extension}");
        let mut calls = Vec::new();
        for path in &paths {
            let all = json!({ "trace": path, "limit": 1000 });
            for tool in ["open", "summary", "stats", "tree", "check", "spans", "log"] {
                let arguments = if tool == "open" { json!({ "trace": path }) } else { all.clone() };
                calls.push(json!([tool, arguments]));
            }
            calls.push(json!(["memory", all]));
            calls.push(json!(["lines", all]));
            let query = "select category, count(*) as n from spans group by 1 order by 1";
            calls.push(json!(["sql", { "query": query, "traces": [path] }]));
        }
        let spans = paths.iter().find(|path| path.ends_with(".prof")).expect("a trace with spans");
        for (tool, arguments) in [
            ("schema", json!({})),
            ("span", json!({ "trace": spans, "id": 1 })),
            ("window", json!({ "trace": spans, "from_ns": 0, "to_ns": 1_000_000_000 })),
            ("diff", json!({ "before": [spans], "after": [spans] })),
            ("slice", json!({ "trace": spans, "output": output("prof"), "from_ns": 0, "to_ns": 1_000_000 })),
            ("convert", json!({ "trace": spans, "output": output("json"), "to": "chrome" })),
            ("report", json!({ "traces": [spans], "output": output("html") })),
            ("link", json!({ "trace": spans })),
        ] {
            calls.push(json!([tool, arguments]));
        }
        let plan = json!({
            "program": env!("CARGO_BIN_EXE_traceloom"),
            "arguments": ["mcp", "--allow", root],
            "version": version,
            "calls": calls,
        });
        let done = drive(&sdk, &plan);
        assert_eq!((&done["wanted"], &done["version"]), (&json!(name), &json!(name)));
        assert_eq!(done["schemas"], true);
        assert_eq!(done["prompts"].as_object().map(serde_json::Map::len), Some(4));
        assert!(done["resources"].as_object().is_some_and(|all| all.len() > 5 && all.values().all(|len| *len != 0)));
        let asked: std::collections::BTreeSet<&str> = calls.iter().filter_map(|call| call[0].as_str()).collect();
        let known = done["tools"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        assert_eq!(asked, known, "every tool is asked");
        compare(&calls, done["answers"].as_array().expect("a list"));
    }
}

/// Compares results with the output of the program.
fn compare(calls: &[Json], answers: &[Json]) {
    let mut compared = 0;
    for (call, answer) in calls.iter().zip(answers) {
        let (tool, arguments) = (call[0].as_str().unwrap_or_default(), &call[1]);
        let path = arguments["trace"].as_str().or(arguments["traces"][0].as_str()).unwrap_or_default();
        let expected = match tool {
            "stats" | "check" | "summary" => program(&[tool, "--json", path]),
            "diff" => program(&[tool, "--json", both(arguments, "before"), both(arguments, "after")]),
            "log" => log(path, answer).into_iter().collect(),
            "memory" => program(&[tool, "--json", "--points", "20", path]),
            "lines" | "tree" => program(&[tool, "--json", path]),
            "sql" => {
                let rows =
                    program(&["query", path, arguments["query"].as_str().unwrap_or_default(), "--format", "json"]);
                vec![rows.into()]
            }
            _ => {
                assert_ne!(answer[0], true, "{tool}: {}", answer[2]);
                continue;
            }
        };
        let found = &answer[1]["from_trace"];
        let found = match tool {
            "log" => &found["lines"],
            "sql" => &found["rows"],
            _ => found,
        };
        // Both reject a trace without lines or memory.
        assert_eq!(Some(found).filter(|_| answer[0] != true), expected.first(), "{tool} {path}: {}", answer[2]);
        compared += 1;
    }
    assert!(compared > 20, "{compared}");
}

fn both<'a>(arguments: &'a Json, side: &str) -> &'a str {
    arguments[side][0].as_str().unwrap_or_default()
}

/// As many lines of the program as a result has; `None` if the program has none.
fn log(path: &str, answer: &Json) -> Option<Json> {
    let lines = program(&["log", "--json", path]);
    let shown = answer[1]["from_trace"]["lines"].as_array().map_or(0, Vec::len);
    let truncated = &answer[1]["truncated"][0];
    assert!(shown == lines.len() || truncated["total"] == lines.len(), "{path}: {truncated}");
    (!lines.is_empty()).then(|| lines.into_iter().take(shown).collect())
}

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
    let mut paths = samples(&root);
    paths.extend(["game.prof", "game.wtf-trace"].map(|name| cut_copy(&root, name)));
    let no_trace = root.join("notes.txt");
    fs::write(&no_trace, "Things to do today\n").expect("there is room");
    for (version, name) in [(0, "2024-11-05"), (-1, "2026-07-28")] {
        let output = |extension: &str| format!("{name}.{extension}");
        let mut calls = Vec::new();
        for (path, other) in paths.iter().zip(paths.iter().cycle().skip(1)) {
            let all = json!({ "trace": path, "limit": 1000 });
            for tool in ["open", "summary", "stats", "tree", "check", "spans", "log"] {
                let arguments = if tool == "open" { json!({ "trace": path }) } else { all.clone() };
                calls.push(json!([tool, arguments]));
            }
            calls.push(json!(["memory", all]));
            calls.push(json!(["lines", all]));
            let query = "select category, count(*) as n from spans group by 1 order by 1";
            calls.push(json!(["sql", { "query": query, "traces": [path] }]));
            calls.extend(with_arguments(path));
            for changes in [json!({}), json!({ "all": true }), json!({ "all": true, "metric": "total" })] {
                let both = json!({ "before": [path], "after": [other], "limit": 1000 });
                calls.push(json!(["diff", merged(both, changes)]));
            }
        }
        calls.push(json!(["check", { "trace": no_trace }]));
        let spans = paths.iter().find(|path| path.ends_with(".prof")).expect("a trace with spans");
        for (tool, arguments) in [
            ("schema", json!({})),
            ("span", json!({ "trace": spans, "id": 1 })),
            ("window", json!({ "trace": spans, "from_ns": 0, "to_ns": 1_000_000_000 })),
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

/// A copy of a sample that ends in the middle.
fn cut_copy(folder: &Path, name: &str) -> String {
    let bytes = fs::read(folder.join(name)).expect("a sample");
    let path = folder.join(format!("cut-{name}"));
    fs::write(&path, &bytes[..bytes.len() / 2]).expect("there is room");
    path.to_str().expect("a name").to_owned()
}

fn merged(mut object: Json, more: Json) -> Json {
    let fields = object.as_object_mut().expect("an object");
    fields.extend(more.as_object().cloned().expect("an object"));
    object
}

/// Calls with arguments that are flags of the program.
fn with_arguments(path: &str) -> Vec<Json> {
    let tree = program(&["tree", "--json", path]);
    // The second row is below the root of a thread or program.
    let name = tree.first().map_or(&Json::Null, |tree| &tree["rows"][1]["name"]).as_str().unwrap_or("nothing");
    let calls = [
        ("tree", json!({ "depth": 2, "min_share": 0.05 })),
        ("tree", json!({ "bottom_up": true, "depth": 3 })),
        ("tree", json!({ "focus": name })),
        ("tree", json!({ "by_thread": true, "by": "self" })),
        ("tree", json!({ "by": "bytes" })),
        ("tree", json!({ "by": "count", "from_ns": 0, "to_ns": 1_000_000_000 })),
        ("stats", json!({ "by": ["thread"], "sort": "total" })),
        ("stats", json!({ "by": ["parent", "category"], "sort": "p95" })),
        ("stats", json!({ "names": [name, "nonsense"] })),
        ("stats", json!({ "from_ns": 100_000_000, "to_ns": 1_000_000_000 })),
        ("memory", json!({ "at_ns": 1_000_000, "points": 7 })),
        ("lines", json!({ "file": "Price.pm" })),
        ("lines", json!({ "file": "/srv/shop/lib/Shop/Price.pm" })),
        ("lines", json!({ "file": "nonsense" })),
        ("lines", json!({ "list": "subs" })),
        ("lines", json!({ "list": "packages" })),
    ];
    let with_trace = |(tool, arguments)| json!([tool, merged(json!({ "trace": path, "limit": 1000 }), arguments)]);
    calls.into_iter().map(with_trace).collect()
}

/// The flags of the program for the arguments of a tool.
fn flags(arguments: &Json) -> Vec<String> {
    let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let texts = |value: &Json| value.as_array().into_iter().flatten().map(text).collect::<Vec<String>>();
    let time = |key: &str| arguments.get(key).map_or_else(String::new, |ns| format!("{ns}ns"));
    let mut flags = Vec::new();
    for (key, value) in arguments.as_object().into_iter().flatten() {
        let flag = format!("--{}", key.replace('_', "-"));
        match key.as_str() {
            "all" | "bottom_up" | "by_thread" => flags.push(flag),
            "depth" | "file" | "focus" | "metric" | "points" | "sort" => flags.extend([flag, text(value)]),
            "at_ns" => flags.extend(["--at".to_owned(), time(key)]),
            "by" if value.is_array() => flags.extend([flag, texts(value).join(",")]),
            "by" => flags.extend([flag, text(value)]),
            "from_ns" => flags.extend(["--range".to_owned(), format!("{}..{}", time("from_ns"), time("to_ns"))]),
            "list" => flags.push(format!("--{}", text(value))),
            "min_share" => flags.extend([flag, format!("{}%", 100.0 * value.as_f64().expect("a share"))]),
            "names" => flags.extend(texts(value).into_iter().flat_map(|name| ["--name".to_owned(), name])),
            // Belongs to `from_ns`.
            "to_ns" => {}
            "after" | "before" | "limit" | "trace" => {}
            other => panic!("{other} has no flag"),
        }
    }
    flags
}

/// Compares results with the output of the program.
fn compare(calls: &[Json], answers: &[Json]) {
    let mut compared = 0;
    for (call, answer) in calls.iter().zip(answers) {
        let (tool, arguments) = (call[0].as_str().unwrap_or_default(), &call[1]);
        let path = arguments["trace"].as_str().or(arguments["traces"][0].as_str()).unwrap_or_default();
        let expected = match tool {
            "check" | "diff" | "lines" | "memory" | "stats" | "summary" | "tree" => same_verb(tool, path, arguments),
            "log" => log(path, answer).into_iter().collect(),
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
        let found = Some(found).filter(|_| answer[0] != true);
        assert_eq!(found, expected.first(), "{tool} {arguments}: {}", answer[2]);
        compared += usize::from(found.is_some());
    }
    assert!(compared > 120, "{compared}");
}

/// What the verb of that name prints for these arguments.
fn same_verb(tool: &str, path: &str, arguments: &Json) -> Vec<Json> {
    let flags = flags(arguments);
    let mut words = vec![tool, "--json"];
    words.extend(flags.iter().map(String::as_str));
    if tool == "memory" && arguments.get("points").is_none() {
        words.extend(["--points", "20"]);
    }
    match tool {
        "diff" => words.extend([both(arguments, "before"), both(arguments, "after")]),
        _ => words.push(path),
    }
    program(&words)
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

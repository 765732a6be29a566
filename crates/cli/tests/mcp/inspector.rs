//! The command line of `@modelcontextprotocol/inspector` lists everything.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value as Json;
use traceloom_testkit::npm;

/// The folder of the inspector; `None`, with a message, if it cannot be installed.
fn inspector_or_skip() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("inspector-npm");
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/inspector");
    npm::install(&package, &folder).inspect_err(|reason| npm::skip(reason)).ok()?;
    Some(folder)
}

/// The output of the inspector for a method of a server that may read a folder.
fn inspect(inspector: &Path, folder: &Path, arguments: &[&str]) -> Json {
    let out = Command::new("node")
        .arg(inspector.join("node_modules/.bin/mcp-inspector"))
        .args(["--cli", env!("CARGO_BIN_EXE_traceloom"), "mcp"])
        .arg(folder)
        .args(arguments)
        // Its settings go to a folder of the test.
        .env("HOME", folder)
        .output()
        .expect("node starts, as npm did");
    assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).expect("it prints JSON")
}

#[test]
fn the_inspector_lists_tools_resources_and_prompts_and_calls_a_tool() {
    let Some(inspector) = inspector_or_skip() else { return };
    let folder = tempfile::tempdir().expect("there is room");
    let paths = crate::samples(folder.path());
    let names = |method: &str, list: &str, field: &str| -> BTreeSet<String> {
        let answer = inspect(&inspector, folder.path(), &["--method", method]);
        let items = answer[list].as_array().unwrap_or_else(|| panic!("{method}: {answer}")).iter();
        items.map(|item| item[field].as_str().expect("a name").to_owned()).collect()
    };
    let tools = names("tools/list", "tools", "name");
    let expected =
        "check convert diff lines link log memory open report schema slice span spans sql stats summary tree window";
    assert_eq!(tools.into_iter().collect::<Vec<_>>().join(" "), expected);
    let prompts = names("prompts/list", "prompts", "name");
    assert_eq!(
        prompts.into_iter().collect::<Vec<_>>().join(" "),
        "what_does_the_log_say what_leaks what_regressed why_slow"
    );
    let resources = names("resources/list", "resources", "uri");
    for page in ["docs/tables", "docs/sql", "findings"] {
        assert!(resources.contains(&format!("traceloom://{page}")), "{page}");
    }
    for format in traceloom::formats() {
        assert!(resources.contains(&format!("traceloom://docs/formats/{}", format.id)), "{}", format.id);
    }
    let trace = format!("trace={}", paths[0]);
    let call = ["--method", "tools/call", "--tool-name", "check", "--tool-arg", &trace];
    let answer = inspect(&inspector, folder.path(), &call);
    assert_eq!(answer["structuredContent"]["from_trace"]["accepted"], true, "{answer}");
}

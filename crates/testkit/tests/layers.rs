//! Dependencies point down only.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value as Json;
use traceloom_testkit::SUBJECTS;

/// Every package, the lowest first; packages in one row do not depend on each other.
static LAYERS: &[&[&str]] = &[
    &["traceloom-core"],
    &["traceloom-cnanolog", "traceloom-easyprofiler", "traceloom-memlyze", "traceloom-nytprof", "traceloom-wtf"],
    &["traceloom-open", "traceloom-record", "traceloom-record-alloc"],
    &["traceloom-model", "traceloom-record-c"],
    &["traceloom-passes"],
    &["traceloom-mapping"],
    &["traceloom-query", "traceloom-analysis", "traceloom-export"],
    &["traceloom-fleet"],
    &["traceloom"],
    &["traceloom-report", "traceloom-viewer"],
    &["traceloom-viewer-server"],
    &["traceloom-mcp"],
    &["traceloom-cli", "traceloom-cluster", "traceloom-python", "traceloom-viewer-wasm"],
    &["traceloom-testkit"],
    &["traceloom-bench-record", "traceloom-benches", "traceloom-record-alloc-preload", "xtask"],
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn layer(package: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&package))
}

#[test]
fn a_crate_depends_only_on_crates_below_it() {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let metadata: Json = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("there are packages");
    assert!(packages.len() > 3);
    for package in packages {
        let name = package["name"].as_str().expect("a package has a name");
        let own = layer(name).unwrap_or_else(|| panic!("{name} has no layer; give it one here and in ARCHITECTURE.md"));
        for dependency in package["dependencies"].as_array().expect("a list").iter().filter(|one| one["kind"].is_null())
        {
            let below = dependency["name"].as_str().and_then(layer);
            assert!(below.is_none_or(|below| below < own), "{name} depends on {}", dependency["name"]);
        }
    }
}

/// Folders above `mapping`: what a consumer needs to know about a format is data.
static CONSUMERS: &[&str] = &[
    "crates/query/src",
    "crates/analysis/src",
    "crates/export/src",
    "crates/fleet/src",
    "crates/mcp/src",
    "crates/report/src",
    "crates/viewer/src",
    "crates/viewer-server/src",
    "crates/viewer-wasm/src",
    "crates/viewer/web/src",
    "crates/traceloom/src",
    "crates/cli/src",
    "crates/cluster/src",
    "crates/python/src",
];

/// Files and folders above `mapping` that use a codec, each for something that the tables do not hold.
static CODEC_USERS: &[(&str, &str)] = &[
    ("crates/cli/src/commands/capture/", "the protocol of a running program"),
    ("crates/cli/src/commands/edit.rs", "repair with the dictionary of another log"),
    ("crates/cli/src/commands/log/", "a log as its own tool prints it, followed as it grows"),
    ("crates/cli/src/commands/resources.rs", "embedded files"),
    ("crates/mcp/src/tools/log.rs", "a log as its own tool prints it"),
    ("crates/python/src/lines.rs", "a log as its own tool prints it"),
    ("crates/python/src/memory/write.rs", "writes what it records"),
    ("crates/python/src/profile/book.rs", "writes what it records"),
    ("crates/traceloom/src/lib.rs", "the codecs of the library"),
];

#[test]
fn nothing_above_mapping_names_a_format() {
    let ids = ids();
    let named = consumers_lines(|line| names_one_of(&ids, line));
    assert!(named.is_empty(), "{} lines name a format:\n{}", named.len(), named.join("\n"));
}

#[test]
fn codecs_are_used_above_mapping_only_where_it_says_why() {
    let ids = ids();
    let mut used = consumers_lines(|line| uses_codec(&ids, line));
    for (user, reason) in CODEC_USERS {
        let before = used.len();
        used.retain(|line| !line.starts_with(user));
        assert!(used.len() < before, "{user} uses no codec any more ({reason})");
    }
    assert!(used.is_empty(), "{} lines use a codec instead of the tables:\n{}", used.len(), used.join("\n"));
}

#[test]
fn a_module_with_a_folder_is_the_mod_rs_of_the_folder() {
    let crates = ["crates", "crates/formats"].map(|folder| fs::read_dir(root().join(folder)).expect("the crates"));
    let folders = crates.into_iter().flatten().map(|entry| entry.expect("an entry").path().join("src"));
    let modules = folders.filter(|folder| folder.is_dir()).flat_map(|folder| sources(&folder));
    let odd: Vec<_> = modules.filter(|path| path.with_extension("").is_dir()).collect();
    assert!(odd.is_empty(), "{odd:?}");
}

fn ids() -> Vec<&'static str> {
    SUBJECTS.iter().map(|subject| subject.format().id).collect()
}

/// The shipped lines of all consumers that are found, each with its path below the root and its number.
fn consumers_lines(is_found: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for path in CONSUMERS.iter().flat_map(|folder| sources(&root().join(folder))) {
        let text = fs::read_to_string(&path).expect("a source is text");
        let path = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
        let lines = shipped_lines(&text).filter(|(_, line)| is_found(line));
        found.extend(lines.map(|(number, line)| format!("{path}:{number}: {}", line.trim())));
    }
    found
}

/// Whether a line has the path of a codec: its package, or its module in the library.
fn uses_codec(ids: &[&str], line: &str) -> bool {
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let is_path = |at: usize, id: &str| {
        let (before, after) = (&line[..at], &line[at + id.len()..]);
        before.ends_with("traceloom_") && !after.starts_with(is_name)
            || after.starts_with("::") && !before.ends_with(|letter: char| is_name(letter) || letter == ':')
            || after.starts_with("::") && before.ends_with("traceloom::")
    };
    ids.iter().any(|id| line.match_indices(id).any(|(at, id)| is_path(at, id)))
}

/// The Rust and TypeScript files below a folder, without tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if (name.ends_with(".rs") && name != "tests.rs")
            || (name.ends_with(".ts") && !name.ends_with(".test.ts"))
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The lines of a source with their numbers, without comments and test code.
fn shipped_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    // Number of open braces in a test item; `None` outside one.
    let mut open: Option<i64> = None;
    let is_shipped = move |line: &str| {
        let trimmed = line.trim();
        if open.is_none() && trimmed == "#[cfg(test)]" {
            open = Some(0);
            return false;
        }
        let Some(braces) = &mut open else { return !trimmed.starts_with("//") };
        let count = |brace: char| line.matches(brace).count() as i64;
        *braces += count('{') - count('}');
        if *braces == 0 && !trimmed.starts_with("#[") {
            open = None;
        }
        false
    };
    let mut is_shipped = is_shipped;
    text.lines().enumerate().map(|(index, line)| (index + 1, line)).filter(move |(_, line)| is_shipped(line))
}

/// Whether a quoted text is an id, or starts with one as variants and codes do; features have the same names.
fn names_one_of(ids: &[&str], line: &str) -> bool {
    let begins = |rest: &str, quote: char| {
        let id = ids.iter().filter_map(|id| rest.strip_prefix(id)).map(|after| after.chars().next());
        id.flatten().any(|after| after == quote || matches!(after, ':' | '.'))
    };
    let is_feature = |at: usize| line[..at].ends_with("feature = ");
    let is_quote = |quote: char| matches!(quote, '"' | '\'' | '`');
    line.char_indices().any(|(at, quote)| is_quote(quote) && !is_feature(at) && begins(&line[at + 1..], quote))
}

#[test]
fn paths_of_codecs_are_found() {
    let uses = |line: &str| uses_codec(&["nytprof", "wtf"], line);
    assert!(uses("use traceloom_wtf::Reader;") && uses("pub use traceloom_wtf as wtf;"));
    assert!(uses("use traceloom::wtf::Reader;") && uses("    wtf::{Record, Resource},"));
    assert!(
        !uses("use traceloom_wtf_extra::X;") && !uses("mod wtf;") && !uses("crate::wtf::X") && !uses("pynytprof::X")
    );
}

#[test]
fn ids_are_found_in_what_is_shipped_only() {
    let source = "let id = \"wtf\";\n// \"wtf\"\n#[cfg(test)]\nmod tests {\n    const ID: &str = \"wtf\";\n}\nlet code = 'memlyze.torn';";
    let found: Vec<usize> = shipped_lines(source)
        .filter(|(_, line)| names_one_of(&["memlyze", "wtf"], line))
        .map(|(number, _)| number)
        .collect();
    assert_eq!(found, [1, 7]);
    assert!(!names_one_of(&["wtf"], "(\"wtf-trace\", wtf)"));
    assert!(!names_one_of(&["wtf"], "#[cfg(feature = \"wtf\")]"));
}

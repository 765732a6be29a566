//! Tests of files that no compiler reads: Cargo profiles, and YAML for clusters and workflows.

use std::collections::BTreeSet;

use saphyr_parser::Parser;

use crate::{files, process::root};

fn read(name: &str) -> String {
    files::read_text(&root().join(name)).expect("a file of the repository")
}

#[test]
fn profile_overrides_name_packages_that_are_built() {
    let (lock, manifest) = (read("Cargo.lock"), read("Cargo.toml"));
    let quoted = |line: &'_ str| line.strip_prefix("name = \"")?.strip_suffix('"').map(str::to_owned);
    let packages: BTreeSet<String> = lock.lines().filter_map(quoted).collect();
    let overrides: Vec<&str> = manifest
        .lines()
        .filter(|line| line.starts_with("[profile."))
        .filter_map(|line| line.trim_end_matches(']').split_once(".package."))
        .map(|(_, package)| package)
        .filter(|package| *package != "\"*\"")
        .collect();
    assert!(overrides.len() > 50, "{}", overrides.len());
    let unknown: Vec<_> = overrides.iter().filter(|package| !packages.contains(**package)).collect();
    assert!(unknown.is_empty(), "Cargo.toml optimizes packages that do not exist: {unknown:?}");
}

#[test]
fn every_yaml_file_can_be_parsed() {
    let mut count = 0;
    for folder in ["deploy", ".github"] {
        for path in files::walk(&root().join(folder)).expect("a folder of the repository") {
            if path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
                let text = files::read_text(&path).expect("YAML is text");
                let failed = Parser::new_from_str(&text).find_map(Result::err);
                assert!(failed.is_none(), "{}: {}", path.display(), failed.expect("an error"));
                count += 1;
            }
        }
    }
    assert!(count >= 8, "{count}");
}

#[test]
fn broken_yaml_is_noticed() {
    assert!(Parser::new_from_str("a: [1, 2\nb: 3").any(|event| event.is_err()));
}

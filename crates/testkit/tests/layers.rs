//! Dependencies point down only.

use std::{path::Path, process::Command};

use serde_json::Value as Json;

/// Every package, the lowest first; those in one row know nothing of each other.
static LAYERS: &[&[&str]] = &[
    &["traceloom-core"],
    &["traceloom-cnanolog", "traceloom-easyprofiler", "traceloom-memlyze", "traceloom-nytprof", "traceloom-wtf"],
    &["traceloom-open"],
    &["traceloom-model"],
    &["traceloom-passes"],
    &["traceloom-mapping"],
    &["traceloom-query", "traceloom-analysis", "traceloom-export"],
    &["traceloom"],
    &["traceloom-viewer"],
    &["traceloom-cli"],
    &["traceloom-testkit"],
    &["traceloom-benches", "xtask"],
];

fn layer(package: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&package))
}

#[test]
fn a_crate_depends_only_on_crates_below_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root)
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

//! Accessibility: axe-core finds no problems, in both themes.

use std::{fs, path::PathBuf};

use serde_json::json;

use crate::served::{BROKEN, run, sample};

/// Every panel of some samples, opened together.
fn accessible(names: &[&str]) {
    let folder = sample(&format!("access-{}", names.join("-")), "");
    let files: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
    run("access.mjs", &files, json!({"check": "panels"}));
}

#[test]
fn everybody_can_use_the_timeline() {
    accessible(&["game.prof"]);
}

#[test]
fn everybody_can_use_the_log() {
    accessible(&["service.clog"]);
}

#[test]
fn everybody_can_use_the_memory() {
    accessible(&["shop.mlyze"]);
}

#[test]
fn everybody_can_use_the_source() {
    accessible(&["nytprof.out"]);
}

#[test]
fn everybody_can_use_sums_without_times() {
    accessible(&["pynytprof.out"]);
}

#[test]
fn everybody_can_use_flows_and_ranges() {
    accessible(&["game.wtf-trace"]);
}

#[test]
fn everybody_can_use_several_traces() {
    accessible(&["game.prof", "game.wtf-trace"]);
}

#[test]
fn everybody_can_use_dialogs_and_messages() {
    let folder = sample("access-overlays", "");
    let broken = folder.join("broken.prof.gz");
    fs::write(&broken, BROKEN).unwrap();
    run("access.mjs", &[folder.join("game.prof"), folder.join("game.wtf-trace"), broken], json!({"check": "overlays"}));
}

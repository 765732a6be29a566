//! Every trace of the corpus gives what the original reader made of it.

mod support;

use std::{fs, path::Path};

use serde_json::Value as Json;
use support::{difference, folders, golden, reproduce, traces};
use traceloom_bytes::{Limits, Options, Records, Severity, Source};

/// Here the original decodes events by the first signature of their name, and we by the right one.
const MISREAD_BY_THE_ORIGINAL: [&str; 2] = ["cpp-samename.wtf-trace", "hc-samename-diffargs.wtf-trace"];

fn source(path: &Path) -> Source {
    Source::open(path, &Limits::default()).unwrap()
}

#[test]
fn goldens_are_reproduced() {
    let mut failed = Vec::new();
    for (name, path) in traces() {
        let golden = golden(&path);
        let ours = reproduce(source(&path), &golden);
        let difference = if MISREAD_BY_THE_ORIGINAL.contains(&name.as_str()) {
            difference(&ours["ok"], &golden["ok"], "ok")
        } else {
            difference(&ours, &golden, "")
        };
        failed.extend(difference.map(|difference| format!("{name}: {difference}")));
    }
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), traces().len(), failed.join("\n"));
}

/// Strict mode refuses what the original refuses, and a finding of severity error says why.
#[test]
fn verdicts_are_the_originals() {
    for (name, path) in traces() {
        let is_good = golden(&path)["ok"] == Json::Bool(true);
        let read_all = |options: &Options| {
            let mut reader = traceloom_wtf::open(source(&path), options)?;
            while reader.next()?.is_some() {}
            Ok::<_, traceloom_bytes::Error>(reader.into_findings())
        };
        assert_eq!(read_all(&Options::strict()).is_ok(), is_good, "{name}");
        if let Ok(findings) = read_all(&Options::default()) {
            assert_eq!(findings.worst() == Some(Severity::Error), !is_good, "{name}: {:?}", findings.kept());
        }
    }
}

/// A file whose name is not in the list of the folder would be tested by nobody.
#[test]
fn every_trace_has_a_golden_and_the_other_way_round() {
    for folder in folders() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if !path.is_file() || name == "README.md" {
                continue;
            }
            let has_partner = if name.ends_with(".json") {
                ["wtf-trace", "wtf-json", "wtf-calls"].iter().any(|end| path.with_extension(end).is_file())
            } else {
                path.with_extension("json").is_file()
            };
            assert!(has_partner, "{name}");
        }
    }
}

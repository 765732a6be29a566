//! Tests of files that no compiler reads: Cargo profiles, YAML for clusters and workflows, systemd units.

use std::collections::{BTreeMap, BTreeSet};

use saphyr_parser::{Event, Parser};

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

/// The scalars of the documents in a file, by number of the document and path, such as `spec.replicas`.
fn scalars(text: &str) -> Vec<BTreeMap<String, String>> {
    /// A mapping with the key that waits for its value, or a sequence with the number of its next item.
    enum Open {
        Mapping(Option<String>),
        Sequence(usize),
    }
    let (mut documents, mut open): (Vec<BTreeMap<String, String>>, Vec<Open>) = (Vec::new(), Vec::new());
    for event in Parser::new_from_str(text) {
        let (event, _) = event.expect("it can be parsed");
        match &event {
            Event::DocumentStart(_) => documents.push(BTreeMap::new()),
            Event::MappingStart(..) => open.push(Open::Mapping(None)),
            Event::SequenceStart(..) => open.push(Open::Sequence(0)),
            Event::MappingEnd | Event::SequenceEnd => drop(open.pop()),
            Event::Scalar(key, ..) if matches!(open.last(), Some(Open::Mapping(None))) => {
                *open.last_mut().expect("a mapping") = Open::Mapping(Some(key.to_string()));
                continue;
            }
            Event::Scalar(value, ..) => {
                let part = |open: &Open| match open {
                    Open::Mapping(key) => key.clone().unwrap_or_default(),
                    Open::Sequence(number) => number.to_string(),
                };
                let path: Vec<String> = open.iter().map(part).collect();
                documents.last_mut().expect("a document").insert(path.join("."), value.to_string());
            }
            _ => continue,
        }
        // A value has ended, unless one has started.
        if !matches!(event, Event::MappingStart(..) | Event::SequenceStart(..)) {
            match open.last_mut() {
                Some(Open::Mapping(key)) => *key = None,
                Some(Open::Sequence(number)) => *number += 1,
                None => {}
            }
        }
    }
    documents
}

#[test]
fn kubernetes_objects_are_complete() {
    let mut deployments = 0;
    for path in files::walk(&root().join("deploy/kubernetes")).expect("a folder of the repository") {
        for object in scalars(&files::read_text(&path).expect("YAML is text")) {
            for key in ["apiVersion", "kind", "metadata.name"] {
                assert!(object.contains_key(key), "{}: no {key}", path.display());
            }
            if object["kind"] == "Deployment" {
                let (selector, labels) = ("spec.selector.matchLabels.app", "spec.template.metadata.labels.app");
                assert!(object.contains_key(selector), "{}", path.display());
                assert_eq!(object[selector], object[labels], "{}", path.display());
                let container = "spec.template.spec.containers.0";
                // Both need the credentials: the scheduler lists files, the executors read them.
                for key in [
                    "name",
                    "image",
                    "args.0",
                    "envFrom.0.secretRef.name",
                    "ports.0.containerPort",
                    "readinessProbe.periodSeconds",
                    "resources.requests.memory",
                ] {
                    assert!(object.contains_key(&format!("{container}.{key}")), "{}: no {key}", path.display());
                }
                deployments += 1;
            }
        }
    }
    assert_eq!(deployments, 2);
}

/// The settings that units of this repository use, by section.
const SETTINGS: &[(&str, &[&str])] = &[
    ("[Unit]", &["Description", "After", "Wants"]),
    ("[Service]", &["EnvironmentFile", "ExecStart", "StateDirectory", "DynamicUser", "Restart", "RestartSec"]),
    ("[Install]", &["WantedBy"]),
];

#[test]
fn units_of_systemd_have_known_settings_in_their_sections() {
    for path in files::walk(&root().join("deploy/systemd")).expect("a folder of the repository") {
        let (text, mut section) = (files::read_text(&path).expect("a unit is text"), None);
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if line.starts_with('[') {
                section = SETTINGS.iter().find(|(name, _)| *name == line);
                assert!(section.is_some(), "{}: {line}", path.display());
                continue;
            }
            let (_, known) = section.expect("settings follow a section");
            let setting = line.split_once('=').filter(|(_, value)| !value.is_empty()).map(|(name, _)| name);
            assert!(setting.is_some_and(|name| known.contains(&name)), "{}: {line}", path.display());
        }
        assert!(text.contains("\nExecStart=/usr/local/bin/traceloom-cluster "), "{}", path.display());
    }
}

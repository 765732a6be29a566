//! The page of a store: made of planted traces, real ones of every format, a damaged one and a file that is not one.

use std::{fs, path::PathBuf, process::Command};

use serde_json::json;
use traceloom_testkit::planted::{FLEET_TEMPLATE, write_fleet};

use crate::served::{PROGRAM, place, run_store, traceloom};

/// A source whose content changes after it was ingested.
const CHANGED: &str = "host0/b3/2026-11-03/0.prof";

/// The store, and the folder of its sources.
fn store() -> [PathBuf; 2] {
    let place = place("store");
    let (traces, store) = (place.join("traces"), place.join("fleet"));
    write_fleet(&traces, 1.3).unwrap();
    let odd = traces.join("demo/b10/2026-11-10");
    fs::create_dir_all(&odd).unwrap();
    traceloom(&["demo", odd.to_str().unwrap()]);
    let whole = fs::read(odd.join("game.prof")).unwrap();
    fs::write(odd.join("cut.prof"), &whole[..whole.len() / 2]).unwrap();
    fs::write(odd.join("text.prof"), "nothing of the kind").unwrap();
    let template = FLEET_TEMPLATE.replace("*.prof", "*");
    let ingest = Command::new(PROGRAM).arg("ingest").args([&traces, &store]).args(["--template", &template]).output();
    // One file is not a trace.
    assert_eq!(ingest.unwrap().status.code(), Some(1));
    fs::copy(traces.join("host1/b1/2026-11-01/1.prof"), traces.join(CHANGED)).unwrap();
    [store, traces]
}

#[test]
fn a_store_is_listed_and_leads_to_its_traces() {
    let [store, sources] = store();
    let pictures = std::env::var("TRACELOOM_PICTURES").ok();
    run_store("store.mjs", &store, &sources, json!({"changed": CHANGED, "pictures": pictures}));
}

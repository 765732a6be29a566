//! Firefox Profiler's command-line program reads what we write and counts as we do.

mod support;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value as Json;
use traceloom_export::by_id;
use traceloom_model::{Batches, Filter, Table, TableSource, Wanted, counters, events, spans, switches};

use support::{place, traces, write};

/// Traces that are loaded: each takes a second or two.
const TRACES: [&str; 5] = [
    "cnanolog-head_levels.clog",
    "easyprofiler-v210_nested_threads.prof",
    "memlyze-leak.mlyze",
    "nytprof-recurse-calls2.nytprof",
    "wtf-js-mix.wtf-trace",
];

#[test]
fn markers_and_times_are_ours() {
    let place = place("firefox");
    let target = by_id("firefox").unwrap();
    for (name, trace) in traces() {
        let file = place.join(format!("{name}.firefox.json"));
        write(target, &trace, false, &file);
    }
}

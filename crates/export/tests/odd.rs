//! Traces that timelines cannot show unchanged: open ends, overlaps, several files, ranges of files.

mod support;

use std::path::Path;

use serde_json::{Value as Json, json};
use traceloom_core::{Slice, TimeRange};
use traceloom_export::{Options, by_id, write as write_target};
use traceloom_mapping::{Trace, TraceSet};
use traceloom_model::{Table, TableSource, Tables};

use support::{Made, ask, engine_or_skip, place, push_trace, span, traces, write};

/// The engine's answers about one file.
fn answers(engine: &Path, file: &Path, queries: &[&str]) -> Json {
    let mut all = ask(engine, &[file.to_owned()], queries);
    let answer = all.remove(file).expect("the engine answers");
    assert_eq!(answer["error"], Json::Null, "{}", file.display());
    answer["answers"].clone()
}

#[test]
fn open_and_overlapping_spans_keep_their_times() {
    let Some(engine) = engine_or_skip() else { return };
    let trace = Made(|tables: &mut Tables<'_>| {
        tables.push(span(0, 0, None, 0, Some(30), "whole"))?;
        tables.push(span(1, 1, Some(0), 10, Some(40), "reaches out"))?;
        tables.push(span(2, 0, None, 60, Some(40), "closed at the end"))?;
        tables.push(span(3, 1, Some(2), 70, None, "open in a closed one"))?;
        push_trace("odd.prof", 100, tables)
    });
    for (target, extension) in [("perfetto", "pftrace"), ("chrome", "json")] {
        let file = place(&format!("odd-{target}")).join(format!("odd.{extension}"));
        write(by_id(target).unwrap(), &trace, false, &file);
        let found = answers(&engine, &file, &["SELECT name, dur FROM slice ORDER BY ts"]);
        // Perfetto's events end the innermost slice, so the open one ends with the one around it; the loss reports it.
        let open = if target == "perfetto" { 30 } else { -1 };
        let expected =
            json!([["whole", 30], ["reaches out", 40], ["closed at the end", 40], ["open in a closed one", open]]);
        assert_eq!(found[0], expected, "{target}");
    }
}

#[test]
fn several_traces_become_one_and_compressed_json_is_read() {
    let Some(engine) = engine_or_skip() else { return };
    let set = TraceSet::new(traces().into_iter().map(|(_, trace)| trace).filter(|trace| trace.format() == "wtf"));
    let set = set.unwrap();
    let of = |trace: &std::sync::Arc<Trace>| rows(trace, Table::Spans) + rows(trace, Table::Events);
    let slices: u64 = set.traces().iter().map(of).sum();
    assert!(set.traces().len() > 1 && slices > 0);
    let place = place("several");
    for (target, name, gzip) in [("perfetto", "all.pftrace", false), ("chrome", "all.json.gz", true)] {
        let file = place.join(name);
        write(by_id(target).unwrap(), &set, gzip, &file);
        let queries =
            ["SELECT COUNT(*) FROM slice", "SELECT COUNT(DISTINCT upid) FROM thread JOIN thread_track USING (utid)"];
        let found = answers(&engine, &file, &queries);
        assert_eq!(found[0][0][0].as_u64(), Some(slices), "{target}");
        assert!(found[1][0][0].as_u64() > Some(1), "{target}: the traces share a process");
    }
}

#[test]
fn a_part_has_what_reaches_into_it() {
    let trace = Made(|tables: &mut Tables<'_>| {
        (0..100).try_for_each(|id| tables.push(span(id, 0, None, id * 10, Some(5), "x")))?;
        push_trace("part.prof", 1000, tables)
    });
    let slice = Slice { range: TimeRange::between(203, 300), threads: Vec::new() };
    let mut out = Vec::new();
    let options = Options { slice, ..Options::default() };
    let loss = write_target(by_id("chrome").unwrap(), &trace, &options, &mut out).unwrap();
    assert!(loss.is_empty());
    let chrome: Json = serde_json::from_slice(&out).unwrap();
    let spans = chrome["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X");
    let begins: Vec<f64> = spans.map(|event| event["ts"].as_f64().unwrap()).collect();
    assert_eq!((begins.len(), begins[0], begins[9]), (10, 0.2, 0.29));
}

fn rows(source: &Trace, table: Table) -> u64 {
    use traceloom_model::{Batches, Columns, Filter, Wanted};
    let mut batches = Batches::of(Wanted::nothing().and(table, Columns::of(&[1])));
    source.pour(&Filter::default(), &mut batches).unwrap();
    batches.rows(table) as u64
}

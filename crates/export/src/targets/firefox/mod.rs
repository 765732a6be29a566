//! Firefox Profiler: threads with samples and markers, and the memory in use.
//!
//! Spans of a thread's stack become samples, each weighted with the time for which the stack was unchanged, and
//! markers, which have the arguments. Everything else that has a time becomes a marker. The page upgrades older
//! versions of its format; this is version 48, in which threads share nothing, so they can be written one by one.

mod column;
mod details;
mod points;
mod spans;
mod thread;

use std::io::Write;

use traceloom_core::Result;

use self::{
    column::Column,
    points::Points,
    spans::{Shared, Spans},
    thread::{Identity, Marker, Tables},
};
use traceloom_passes::{
    ArgRows, LAYERS, Layer, MEMORY, Need, Numbering, POINTS, Pass, ROSTER, Target, ThreadIndex, Writer, memory_in_use,
};

pub(super) static TARGET: Target = Target {
    id: "firefox",
    name: "Firefox Profiler",
    about: "Firefox Profiler: call trees, stack and marker charts, memory in use",
    extensions: &["firefox.json", "profile.json"],
    needs: &[ROSTER, LAYERS, POINTS, MEMORY, &[Need::of::<ArgRows<'_>>()]],
    is_text: true,
    writer: Writer::Pass(write),
    ..Target::EMPTY
};

/// The constant part of the profile. A grey category is required.
const META: &str = r#""interval":0.001,"processType":0,"product":"traceloom","stackwalk":0,"version":28,
"preprocessedProfileVersion":48,"symbolicationNotSupported":true,"usesOnlyOneStackType":true,
"doesNotUseFrameImplementation":true,"sourceCodeIsNotOnSearchfox":true,"extensions":{"id":[],"name":[],"baseURL":[],"length":0},
"categories":[{"name":"Other","color":"grey","subcategories":["Other"]}],
"markerSchema":[{"name":"traceloom","display":["marker-chart","marker-table"],"chartLabel":"{marker.name}",
"tooltipLabel":"{marker.name}","tableLabel":"{marker.data.details}","data":[
{"key":"kind","label":"Kind","format":"string","searchable":true},
{"key":"details","label":"Details","format":"string","searchable":true}]}]"#;

fn write(pass: &mut Pass<'_>, out: &mut dyn Write) -> Result<()> {
    let mut points = Points::read(pass)?;
    let numbering = Numbering::new(&pass.roster, &mut pass.loss);
    let start_ms = pass.timeline.unix_origin_ns().unwrap_or(0) / 1_000_000;
    write!(out, r#"{{"meta":{{"startTime":{start_ms},{META}}},"libs":[],"pages":[],"threads":["#)?;
    write_threads(pass, &mut points, &numbering, out)?;
    out.write_all(br#"],"counters":["#)?;
    write_memory(pass, &numbering, out)?;
    Ok(out.write_all(b"]}\n")?)
}

fn write_threads(pass: &mut Pass<'_>, points: &mut Points, numbering: &Numbering, out: &mut dyn Write) -> Result<()> {
    let Pass { roster, names, looks, spans, args, timeline, loss, options, .. } = pass;
    let mut shared = Shared { timeline: *timeline, looks, names, args, loss };
    let mut spans = spans.iter(roster)?.peekable();
    let mut sorted = points.sorted.iter()?.peekable();
    let (mut is_first, mut seen) = (true, vec![false; numbering.processes.len()]);
    let mut text = Vec::new();
    for (thread, index) in roster.threads().iter().zip(0..).filter(|(thread, _)| thread.is_taken) {
        let mut tables = Tables::new(options.limits.entries);
        let numbered = numbering.thread(ThreadIndex(index));
        let is_main = !std::mem::replace(&mut seen[numbered.process], true);
        let at = |ts_ns: Option<i64>| ts_ns.map(|ts_ns| timeline.at(ts_ns));
        if is_main {
            let next = spans.peek().and_then(|span| span.as_ref().ok()).filter(|span| span.thread.0 == index);
            let start = at(next.filter(|span| span.layer == Layer::Stack).map(|span| span.ts_ns));
            let first = at(roster.traces[thread.trace].first_ts_ns);
            tables.reach(first.filter(|first| start.is_none_or(|start| *first < start)))?;
        }
        let mut writer = Spans::new(thread.trace, &mut shared);
        while let Some(span) = spans.next_if(|span| span.as_ref().map_or(true, |span| span.thread.0 == index)) {
            writer.take(&span?, &mut tables)?;
        }
        writer.finish(&mut tables)?;
        if is_main {
            tables.reach(at(roster.traces[thread.trace].last_ts_ns))?;
        }
        while let Some(point) = sorted.next_if(|point| point.as_ref().map_or(true, |point| point.thread == index)) {
            let point = point?;
            text.resize(point.len as usize, 0);
            points.texts.read(point.offset, &mut text)?;
            let marker = Marker { name: point.name, category: point.category, start_ns: point.at_ns, end_ns: None };
            tables.marker(&marker, &String::from_utf8_lossy(&text), shared.names)?;
        }
        if !std::mem::take(&mut is_first) {
            out.write_all(b",")?;
        }
        let process = &numbering.processes[numbered.process];
        let (name, process_name) = (&thread.label(), &process.name);
        let identity = Identity { name, process_name, pid: process.pid, tid: numbered.tid, is_main };
        tables.write(&identity, shared.names, out)?;
    }
    Ok(())
}

/// The memory curve of each trace, as changes.
#[derive(Default)]
struct Curve {
    trace: usize,
    times: Column,
    changes: Column,
    length: u64,
    bytes: i64,
}

fn write_memory(pass: &mut Pass<'_>, numbering: &Numbering, out: &mut dyn Write) -> Result<()> {
    let (roster, timeline) = (&pass.roster, pass.timeline);
    let main =
        |trace| roster.threads().iter().filter(|thread| thread.is_taken).position(|thread| thread.trace == trace);
    let mains: Vec<Option<usize>> = (0..roster.traces.len()).map(main).collect();
    let mut current: Option<Curve> = None;
    let mut is_first = true;
    let mut finish = |curve: Option<Curve>| -> Result<()> {
        let Some(mut curve) = curve else { return Ok(()) };
        let Some(main) = mains.get(curve.trace).copied().flatten() else { return Ok(()) };
        let pid = numbering.processes[numbering.first_process(curve.trace)].pid;
        let comma = if std::mem::take(&mut is_first) { "" } else { "," };
        write!(out, r#"{comma}{{"name":"malloc","category":"Memory","description":"memory in use","pid":"{pid}","#)?;
        write!(out, r#""mainThreadIndex":{main},"samples":{{"length":{}"#, curve.length)?;
        curve.times.write("time", false, out)?;
        curve.changes.write("count", false, out)?;
        Ok(out.write_all(b"}}")?)
    };
    memory_in_use(pass, |now| {
        if current.as_ref().is_some_and(|curve| curve.trace != now.trace) {
            finish(current.take())?;
        }
        let curve = current.get_or_insert_with(|| Curve { trace: now.trace, ..Curve::default() });
        curve.length += 1;
        curve.times.millis(timeline.at(now.ts_ns))?;
        curve.changes.signed(now.bytes.saturating_sub(curve.bytes))?;
        curve.bytes = now.bytes;
        Ok(())
    })?;
    finish(current)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};
    use traceloom_model::{allocations::Allocation, events::Event, logs::Log, trackers::Extent};

    use super::*;
    use crate::targets::written_json;
    use traceloom_passes::fixture::{Synthetic, allocation, push_main, push_span, push_thread};

    #[test]
    fn spans_become_samples_by_stack_and_markers() {
        let trace = Synthetic::spans(&[
            ("b", 1, 1, Some(0), 1_000_000, Some(500_000)),
            ("a\"</script>", 0, 0, None, 0, Some(3_000_000)),
            ("c", 2, 0, None, 4_000_000, Some(1)),
        ]);
        let (json, loss) = written_json(&TARGET, &trace);
        let thread = &json["threads"][0];
        assert_eq!((&thread["name"], &thread["pid"], &thread["tid"]), (&json!("main"), &json!("42"), &json!(100)));
        let samples = &thread["samples"];
        assert_eq!(samples["stack"], json!([0, 1, 0, null, 2, null]));
        assert_eq!(samples["time"], json!([0, 1, 1.5, 3, 4, 4.000001]));
        assert_eq!(samples["weight"], json!([1, 0.5, 1.5, 1, 0.000001, 0]));
        assert_eq!(thread["stackTable"]["prefix"], json!([null, 0, null]));
        let texts = thread["stringArray"].as_array().unwrap();
        let markers = &thread["markers"];
        let names: Vec<&Json> =
            markers["name"].as_array().unwrap().iter().map(|name| &texts[name.as_u64().unwrap() as usize]).collect();
        assert_eq!(names, ["a\"</script>", "b", "c"]);
        assert_eq!((&markers["startTime"], &markers["endTime"]), (&json!([0, 1, 4]), &json!([3, 1.5, 4.000001])));
        assert_eq!(markers["phase"], json!([1, 1, 1]));
        for table in ["samples", "markers", "stackTable", "frameTable", "funcTable"] {
            let length = thread[table]["length"].as_u64().unwrap() as usize;
            for (key, column) in thread[table].as_object().unwrap() {
                assert!(column.as_array().is_none_or(|column| column.len() == length), "{table} {key}");
            }
        }
        assert!(loss.is_empty(), "{loss:?}");
    }

    #[test]
    fn points_go_to_their_threads_and_memory_is_a_counter() {
        let trace = Synthetic::new(|tables| {
            push_thread(tables, 1, "worker")?;
            push_span(tables, 1, "frame", ("frame", 0, 0, None, 0, None))?;
            let (name, category) = ("tick".into(), "event".into());
            tables.push(Event { ts_ns: 7, thread_id: Some(1), name, category, ..Event::default() })?;
            tables.push(Log { level: 1, level_name: "INFO".into(), message: "a=b\n", ..Log::default() })?;
            for (id, freed_ts_ns) in [(0, Some(9)), (1, None)] {
                tables.push(Allocation { freed_ts_ns, ..allocation(id, 100, None, "live") })?;
            }
            let mut extent = Extent::default();
            [0, 40].into_iter().for_each(|ts_ns| extent.add(ts_ns));
            push_main(tables, extent)
        });
        let (json, loss) = written_json(&TARGET, &trace);
        let thread = |name: &str| {
            json["threads"].as_array().unwrap().iter().find(|thread| thread["name"] == name).unwrap().clone()
        };
        // Rows without a thread go to the first one.
        let worker = thread("worker");
        assert_eq!(worker["markers"]["startTime"], json!([0, 0, 0.000007]));
        assert_eq!((&worker["markers"]["phase"], &worker["samples"]["length"]), (&json!([1, 0, 0]), &json!(2)));
        assert_eq!(worker["markers"]["data"][1]["details"], "message=a=b\n");
        assert_eq!(thread("main")["markers"]["length"], 0);
        let counter = &json["counters"][0]["samples"];
        assert_eq!((&counter["time"], &counter["count"]), (&json!([0, 0.000001, 0.000009]), &json!([100, 100, -100])));
        let lost: Vec<&str> = loss.entries().map(|(what, _, _)| what).collect();
        for what in
            ["spans that were never closed, now closed", "log entries without a time, now at the start of the trace"]
        {
            assert!(lost.contains(&what), "{what} in {lost:?}");
        }
    }
}

//! Conversion to EasyProfiler's format.

use traceloom_core::Options;
use traceloom_model::{events::Event, spans::Span as Row, threads::Thread};
use traceloom_testkit::planted::Scene;

use crate::{
    Converted, convert,
    picture::{Picture, Point, Span},
    support::{Made, push_trace, span, traces},
};

/// The parts of a span that the format holds: thread, start, end, name, source, and the depth if it is certain.
type Held = (String, i64, i64, String, Option<(String, Option<u32>)>, Option<u32>);

fn held(span: &Span, picture: &Picture, keeps_place: bool) -> Held {
    let end_ns = span.end_ns.unwrap_or(picture.last_ns.max(span.ts_ns));
    let time = |ns: i64| ns.saturating_sub(picture.start_ns);
    let depth = (keeps_place && end_ns > span.ts_ns).then_some(span.depth);
    let thread = if keeps_place { span.thread.clone() } else { String::new() };
    let source = span.source.clone().filter(|(file, _)| !file.is_empty());
    let source = source.map(|(file, line)| (file, line.filter(|line| *line != 0)));
    (thread, time(span.ts_ns), time(end_ns), span.name.clone(), source, depth)
}

pub(crate) fn assert_same(from: &Picture, to: &Converted, name: &str) {
    let is_stack = |span: &&Span| !matches!(&*span.category, "frame" | "range");
    // A thread without a name gets a generated number, and overlapping spans get a separate section.
    let beside = |thread: &String| thread.contains("(overlapping") || thread.starts_with("thread ");
    let keeps_place = !from.threads.iter().chain(&to.picture.threads).any(beside);
    let beside = |span: &&Span| !span.thread.ends_with("(frames)") && !span.thread.ends_with("(ranges)");
    let mut expected: Vec<Held> =
        from.spans.iter().filter(is_stack).map(|span| held(span, from, keeps_place)).collect();
    let mut found: Vec<Held> =
        to.picture.spans.iter().filter(beside).map(|span| held(span, &to.picture, keeps_place)).collect();
    expected.sort_unstable();
    found.sort_unstable();
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected, "{name}");
    }
    assert_eq!(found.len(), expected.len(), "{name}");
    assert_eq!(to.picture.spans.len(), from.spans.len(), "{name}");

    let mut expected: Vec<(i64, String)> =
        from.logs.iter().map(|log| (log.ts_ns.unwrap_or(0), log.message.clone())).collect();
    expected.extend(from.events.iter().map(|event| (event.ts_ns, event.name.clone())));
    let mut found: Vec<(i64, String)> =
        to.picture.events.iter().map(|event| (event.ts_ns, event.name.clone())).collect();
    expected.iter_mut().for_each(|(ts_ns, _)| *ts_ns = ts_ns.saturating_sub(from.start_ns));
    // An empty message leaves the name of the descriptor, which is the format string.
    let texts: Vec<_> = from.logs.iter().filter(|log| log.message.is_empty()).collect();
    if texts.is_empty() {
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected, "{name}");
    }
    // Each element of an array is a separate value.
    let values = |picture: &Picture| -> Vec<(i64, String, String)> {
        let mut values = Vec::new();
        for point in &picture.counters {
            let elements = point.args.values().flatten();
            values.extend(elements.map(|value| (point.ts_ns - picture.start_ns, point.name.clone(), value.clone())));
        }
        values.sort_unstable();
        values
    };
    let (found, expected) = (values(&to.picture), values(from));
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected, "{name}");
    }
    assert_eq!(found.len(), expected.len(), "{name}");
}

#[test]
fn traces_of_every_format_keep_spans_events_and_values() {
    let mut spans = 0;
    for (name, trace) in traces() {
        let from = Picture::of(&trace);
        // easy_profiler refuses a file without blocks, events or values.
        let is_block = |event: &Point| !matches!(&*event.category, "bookmark" | "mark" | "marker");
        let is_empty = from.spans.is_empty() && from.counters.is_empty() && from.logs.is_empty();
        if is_empty && !from.events.iter().any(is_block) {
            continue;
        }
        let to = convert(&trace, "easyprofiler", None, &name);
        assert_same(&from, &to, &name);
        spans += to.picture.spans.len();
    }
    assert!(spans > 4_000, "{spans} spans");
}

#[test]
fn hostile_names_come_through() {
    let names =
        ["plain", "line\nfeed\r\t\u{1}\u{1b}[31m", "</script>", "\"quoted\" \\", "größe😀\u{2028}", "=cmd|'!A0"];
    let trace = Made(move |tables: &mut traceloom_model::Tables<'_>| {
        for (id, name) in (0..).zip(names) {
            let file = Some(name.into());
            tables.push(Row { file, line: Some(7), ..span(id, 0, None, id * 100, Some(50), name) })?;
            let (thread_id, span_id, definition_id) = (Some(0), None, None);
            let (ts_ns, category) = (id * 100 + 70, "event".into());
            tables.push(Event { id, ts_ns, thread_id, span_id, name: name.into(), category, definition_id })?;
        }
        let name = Some(names[1].into());
        tables.push(Thread { id: 0, tid: Some(7), process_id: 0, name, kind: None, location: None })?;
        push_trace("hostile", 1000, tables)
    });
    let from = Picture::of(&trace);
    let to = convert(&trace, "easyprofiler", None, "hostile");
    assert_same(&from, &to, "hostile");
    assert_eq!(to.picture.threads, from.threads);
    assert!(to.loss.is_empty(), "{:?}", to.loss);
}

#[test]
fn long_names_are_cut_and_counted() {
    let long = "ä".repeat(40_000);
    let trace = Made(move |tables: &mut traceloom_model::Tables<'_>| {
        tables.push(span(0, 0, None, 0, Some(50), &long))?;
        push_trace("long", 1000, tables)
    });
    let to = convert(&trace, "easyprofiler", None, "long");
    assert_eq!(to.picture.spans[0].name, "ä".repeat(16_000));
    assert_eq!(
        to.loss.entries().map(|(what, count, _)| (what, count)).collect::<Vec<_>>(),
        [("long strings, now truncated", 1)]
    );
}

#[test]
fn a_switch_that_ends_where_everything_starts_is_left_out() {
    let mut scene = Scene::new(&["main"]);
    scene.span(0, "job", 0, 100);
    scene.switches = [0, 50].map(|ts_ns| (0, ts_ns, 0, "other".to_owned())).to_vec();
    let trace = scene.written("easyprofiler").expect("it can be written");
    let strict = trace.opened.format.check(&trace.opened.source, &Options::strict()).expect("it can be read");
    assert!(strict.kept().is_empty(), "{:?}", strict.kept());
}

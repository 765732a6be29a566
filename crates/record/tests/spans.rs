//! Spans, events, values, frames and flows: both formats hold them, and our own readers find no problems.

mod common;

use std::{fs::File, path::Path};

use common::Recording;
use traceloom_core::{Codec, Options, Records, Source};
use traceloom_easyprofiler as prof;
use traceloom_record::{
    Filter, Flight, Policy, Recorder, bookmark, event, flow, frame, info, range, span, stats, thread_name, value,
};
use traceloom_wtf as wtf;

fn play() {
    thread_name!("Main");
    for number in 0..3 {
        let _frame = frame!("frame");
        let _update = span!("update", color: 0xff00_ff00);
        {
            let _path = span!("find path", text: format!("unit {number}"));
            event!("hit");
            event!("hit", text: "wall");
        }
        value!("enemies", 7u32);
    }
    value!("flag", true);
    value!("grade", 'A');
    value!("size", -5i64);
    value!("ratio", 0.25f32);
    value!("name", "forest");
    value!("matrix", [1.0f64, 0.5]);
    value!("bytes", [1u8, 2, 3].as_slice());
    bookmark!("level 2");
    let request = range!("request");
    let order = flow!("order");
    std::thread::scope(|scope| {
        let work = || {
            thread_name!("Worker");
            let _work = request.enter();
            flow!(order, "packed");
            flow!(end order, "sent");
        };
        scope.spawn(work);
    });
    info!("%d frames", 3);
}

fn record(recording: &Recording) -> (std::path::PathBuf, std::path::PathBuf) {
    let (profile, trace) = (recording.path("game.prof"), recording.path("game.wtf-trace"));
    let recorder = Recorder::new().clog(recording.path("game.clog")).prof(&profile).wtf_trace(&trace);
    let guard = recorder.start().unwrap();
    play();
    let _open = span!("never closed");
    let _child = span!("nor this");
    guard.close().unwrap();
    assert_eq!((stats().dropped, stats().errors, stats().lost), (0, 0, 0));
    (profile, trace)
}

fn check<C: Codec>(path: &Path) {
    let (_, findings) = C::info(&Source::file(File::open(path).unwrap()), &Options::strict()).unwrap();
    let odd: Vec<String> = findings.kept().iter().map(|finding| finding.message()).collect();
    assert!(odd.is_empty(), "{odd:?}");
}

#[test]
fn profiles_hold_spans_events_values_and_bookmarks() {
    let recording = Recording::new();
    let (path, _) = record(&recording);
    check::<prof::EasyProfiler>(&path);
    let mut reader = prof::open(Source::file(File::open(&path).unwrap()), &Options::default()).unwrap();
    let (mut names, mut threads, mut found) = (Vec::new(), Vec::new(), Vec::new());
    let text = |name: prof::Name<'_>| String::from_utf8_lossy(name.text).into_owned();
    while let Some(located) = reader.next().unwrap() {
        match located.record {
            prof::Record::Descriptor(descriptor) => names.push(text(descriptor.name)),
            prof::Record::Thread(thread) => threads.push(text(thread.name)),
            prof::Record::Block(block) => {
                let name = names[block.descriptor as usize].clone();
                assert!(block.begin <= block.end);
                found.push((threads.last().unwrap().clone(), name, text(block.name)));
            }
            prof::Record::Value(value) => {
                let shown: Vec<_> = value.elements().into_iter().flatten().collect();
                let name = names[value.descriptor as usize].clone();
                found.push((threads.last().unwrap().clone(), name, format!("{shown:?}")));
            }
            prof::Record::Bookmark(bookmark) => found.push((String::new(), "bookmark".into(), text(bookmark.text))),
            _ => {}
        }
    }
    let of = |name: &str| -> Vec<(&str, &str)> {
        found.iter().filter(|(_, known, _)| known == name).map(|(thread, _, text)| (&**thread, &**text)).collect()
    };
    assert_eq!(of("frame"), [("Main", ""); 3]);
    assert_eq!(of("find path"), [("Main", "unit 0"), ("Main", "unit 1"), ("Main", "unit 2")]);
    assert_eq!(of("hit"), [("Main", ""), ("Main", "wall")].repeat(3));
    assert_eq!(of("enemies"), [("Main", "[Unsigned(7)]"); 3]);
    assert_eq!(of("size"), [("Main", "[Signed(-5)]")]);
    assert_eq!(of("ratio"), [("Main", "[Float(0.25)]")]);
    assert_eq!(of("matrix"), [("Main", "[Double(1.0), Double(0.5)]")]);
    assert_eq!(of("bytes"), [("Main", "[Unsigned(1), Unsigned(2), Unsigned(3)]")]);
    assert_eq!(of("request"), [("Worker", ""), ("ranges 1", "")]);
    assert_eq!(of("bookmark"), [("", "level 2")]);
    // Children come before their parents, and both are marked.
    assert_eq!(of("nor this"), [("Main", "nor this (open)")]);
    assert_eq!(of("never closed"), [("Main", "never closed (open)")]);
    assert_eq!(of("%d frames").len(), 1);
}

#[test]
fn traces_hold_zones_scopes_flows_frames_and_ranges() {
    let recording = Recording::new();
    let (_, path) = record(&recording);
    check::<wtf::Wtf>(&path);
    let source = Source::file(File::open(&path).unwrap());
    let mut reader = wtf::open(source.clone(), &Options::default()).unwrap();
    let mut events = Vec::new();
    while let Some(located) = reader.next().unwrap() {
        if let wtf::Record::Event(event) = located.record {
            let args: Vec<String> = event.args.iter().map(|(_, value)| format!("{value:?}")).collect();
            events.push((event.name().into_owned(), event.zone, args.join(" ")));
        }
    }
    let count = |name: &str| events.iter().filter(|(known, ..)| known == name).count();
    for (name, expected) in [
        ("frame", 3),
        ("update", 3),
        ("find_path", 3),
        ("hit", 6),
        ("traceloom.value#enemies", 3),
        ("traceloom.value#matrix", 1),
        ("request", 1),
        ("traceloom.log#entry", 1),
        ("wtf.timing#frameStart", 3),
        ("wtf.timing#frameEnd", 3),
        ("wtf.flow#branch", 1),
        ("wtf.flow#extend", 1),
        ("wtf.flow#terminate", 1),
        ("wtf.timeRange#begin", 1),
        ("wtf.timeRange#end", 1),
        ("wtf.trace#mark", 1),
    ] {
        assert_eq!(count(name), expected, "{name}");
    }
    let zone = |name: &str| events.iter().find(|(known, ..)| known == name).map(|(_, zone, _)| *zone);
    assert_ne!(zone("wtf.flow#extend"), zone("wtf.flow#branch"), "the flow goes from thread to thread");
    let zones: Vec<String> = reader.zones().iter().filter_map(|zone| zone.name.as_deref().map(str::to_owned)).collect();
    assert!(zones.iter().any(|name| name == "Main") && zones.iter().any(|name| name == "Worker"), "{zones:?}");
    let tree = wtf::derive::Tree::build(&source, &Options::default(), true).unwrap();
    assert_eq!(tree.levels(), 3);
}

#[test]
fn dropped_spans_leave_no_half_of_them() {
    let recording = Recording::new();
    let path = recording.path("full.prof");
    let guard = Recorder::new().prof(&path).spans(Policy::DropNewest).ring_bytes(4 << 10).start().unwrap();
    for _ in 0..100_000 {
        let _outer = span!("outer");
        let _inner = span!("inner");
    }
    guard.close().unwrap();
    check_dropped(&path);
}

#[test]
fn dropped_spans_of_tracing_leave_no_half_of_them() {
    let recording = Recording::new();
    let path = recording.path("tracing.prof");
    let guard = Recorder::new().prof(&path).spans(Policy::DropNewest).ring_bytes(4 << 10).start().unwrap();
    tracing::subscriber::with_default(traceloom_record::RecordSubscriber, || {
        for _ in 0..100_000 {
            tracing::info_span!("outer").in_scope(|| tracing::info_span!("inner").in_scope(|| ()));
        }
    });
    guard.close().unwrap();
    check_dropped(&path);
}

/// Checks that spans were dropped, and that all others have a start and an end.
fn check_dropped(path: &Path) {
    assert!(stats().dropped > 0);
    check::<prof::EasyProfiler>(path);
    let mut reader = prof::open(Source::file(File::open(path).unwrap()), &Options::default()).unwrap();
    let mut open = 0;
    while let Some(located) = reader.next().unwrap() {
        if let prof::Record::Block(block) = located.record {
            open += usize::from(block.name.text.ends_with(b"(open)"));
        }
    }
    assert_eq!(open, 0);
}

#[test]
fn an_empty_recording_is_a_profile_that_can_be_opened() {
    let recording = Recording::new();
    let (profile, trace) = (recording.path("empty.prof"), recording.path("empty.wtf-trace"));
    Recorder::new().prof(&profile).wtf_trace(&trace).start().unwrap().close().unwrap();
    check::<prof::EasyProfiler>(&profile);
    check::<wtf::Wtf>(&trace);
}

#[test]
fn spans_deeper_than_readers_take_are_left_out_and_counted() {
    fn dive(depth: u32) {
        let _span = span!("deeper");
        if depth > 0 {
            dive(depth - 1);
        }
    }
    let recording = Recording::new();
    let path = recording.path("deep.prof");
    let guard = Recorder::new().prof(&path).start().unwrap();
    dive(400);
    guard.close().unwrap();
    check::<prof::EasyProfiler>(&path);
    assert_eq!(stats().lost, 401 - 254);
}

#[test]
fn values_keep_their_types() {
    use prof::raw::DataType as Type;
    macro_rules! record {
        ($($value:expr),*) => {{ $(value!("one", $value);)* }};
    }
    let recording = Recording::new();
    let (path, trace) = (recording.path("values.prof"), recording.path("values.wtf-trace"));
    let guard = Recorder::new().prof(&path).wtf_trace(&trace).start().unwrap();
    record!(true, 'x', -1i8, 2u8, -3i16, 4u16, -5i32, 6u32, -7i64, 8u64, -9isize, 10usize, 0.5f32, 0.25f64, "text");
    record!([true, false], ['a', 'é'], [-1i8], [2u8], [-3i16], [4u16], [-5i32], [6u32], [-7i64], [8u64]);
    record!([-9isize, 1], vec![10usize], [0.5f32].as_slice(), vec![0.25f64, f64::MIN], String::from("owned"));
    guard.close().unwrap();
    let mut reader = prof::open(Source::file(File::open(&path).unwrap()), &Options::strict()).unwrap();
    let mut found = Vec::new();
    while let Some(located) = reader.next().unwrap() {
        if let prof::Record::Value(value) = located.record {
            let shown = match value.elements() {
                Some(elements) if value.data_type != Type::STRING => format!("{:?}", elements.collect::<Vec<_>>()),
                _ => String::from_utf8_lossy(value.data).into_owned(),
            };
            found.push((value.data_type, value.is_array == 1, shown));
        }
    }
    let scalars = [
        (Type::BOOL, "[Bool(true)]"),
        (Type::CHAR, "[Signed(120)]"),
        (Type::INT8, "[Signed(-1)]"),
        (Type::UINT8, "[Unsigned(2)]"),
        (Type::INT16, "[Signed(-3)]"),
        (Type::UINT16, "[Unsigned(4)]"),
        (Type::INT32, "[Signed(-5)]"),
        (Type::UINT32, "[Unsigned(6)]"),
        (Type::INT64, "[Signed(-7)]"),
        (Type::UINT64, "[Unsigned(8)]"),
        (Type::INT64, "[Signed(-9)]"),
        (Type::UINT64, "[Unsigned(10)]"),
        (Type::FLOAT, "[Float(0.5)]"),
        (Type::DOUBLE, "[Double(0.25)]"),
    ];
    let arrays = [
        (Type::STRING, "text\0"),
        (Type::BOOL, "[Bool(true), Bool(false)]"),
        (Type::CHAR, "[Signed(97), Signed(63)]"),
        (Type::INT8, "[Signed(-1)]"),
        (Type::UINT8, "[Unsigned(2)]"),
        (Type::INT16, "[Signed(-3)]"),
        (Type::UINT16, "[Unsigned(4)]"),
        (Type::INT32, "[Signed(-5)]"),
        (Type::UINT32, "[Unsigned(6)]"),
        (Type::INT64, "[Signed(-7)]"),
        (Type::UINT64, "[Unsigned(8)]"),
        (Type::INT64, "[Signed(-9), Signed(1)]"),
        (Type::UINT64, "[Unsigned(10)]"),
        (Type::FLOAT, "[Float(0.5)]"),
        (Type::DOUBLE, "[Double(0.25), Double(-1.7976931348623157e308)]"),
        (Type::STRING, "owned\0"),
    ];
    let expected = scalars.map(|it| (it, false)).into_iter().chain(arrays.map(|it| (it, true)));
    let expected: Vec<_> = expected.map(|((kind, shown), is_array)| (kind, is_array, shown.to_owned())).collect();
    assert_eq!(found, expected);
    check::<wtf::Wtf>(&trace);
    assert_eq!(stats().cut, 0);
}

#[test]
fn long_arrays_are_cut_between_elements_and_counted() {
    let recording = Recording::new();
    let path = recording.path("long.prof");
    let guard = Recorder::new().prof(&path).start().unwrap();
    value!("doubles", vec![1.5f64; 2000]);
    value!("too many", vec![1.5f64; 2001]);
    value!("far too many", vec![true; 1_000_000]);
    value!("a long text", "ä".repeat(10_000));
    guard.close().unwrap();
    assert_eq!(stats().cut, 3);
    let mut reader = prof::open(Source::file(File::open(&path).unwrap()), &Options::strict()).unwrap();
    let mut sizes = Vec::new();
    while let Some(located) = reader.next().unwrap() {
        if let prof::Record::Value(value) = located.record {
            sizes.push(value.data.len());
        }
    }
    // The text has a terminating zero byte.
    assert_eq!(sizes, [16_000, 16_000, 16_000, 16_001]);
}

/// Ranges in a trace: name of the event, zone, and number of the range.
fn ranges(path: &Path) -> Vec<(String, u32, String)> {
    let mut reader = wtf::open(Source::file(File::open(path).unwrap()), &Options::strict()).unwrap();
    let mut found = Vec::new();
    while let Some(located) = reader.next().unwrap() {
        let wtf::Record::Event(event) = located.record else { continue };
        if event.name().starts_with("wtf.timeRange#") {
            let (_, number) = event.args.iter().next().unwrap();
            found.push((event.name().into_owned(), event.zone, format!("{number:?}")));
        }
    }
    found
}

/// Names and texts of the blocks on the lanes of ranges.
fn range_blocks(path: &Path) -> Vec<(String, String)> {
    let mut reader = prof::open(Source::file(File::open(path).unwrap()), &Options::strict()).unwrap();
    let (mut names, mut is_lane, mut found) = (Vec::new(), false, Vec::new());
    let text = |name: prof::Name<'_>| String::from_utf8_lossy(name.text).into_owned();
    while let Some(located) = reader.next().unwrap() {
        match located.record {
            prof::Record::Descriptor(descriptor) => names.push(text(descriptor.name)),
            prof::Record::Thread(thread) => is_lane = text(thread.name).starts_with("ranges "),
            prof::Record::Block(block) if is_lane => {
                found.push((names[block.descriptor as usize].clone(), text(block.name)));
            }
            _ => {}
        }
    }
    found
}

#[test]
fn a_range_begins_on_one_thread_and_ends_on_another() {
    let recording = Recording::new();
    let (profile, trace) = (recording.path("moved.prof"), recording.path("moved.wtf-trace"));
    let guard = Recorder::new().prof(&profile).wtf_trace(&trace).start().unwrap();
    let range = range!("handed over");
    std::thread::spawn(move || drop(range)).join().unwrap();
    let kept = range!("filtered");
    // The site is off now; open spans still have to end.
    traceloom_record::set_filter(Filter::default().without(module_path!()));
    drop(kept);
    drop(range!("not recorded"));
    guard.close().unwrap();
    let named = |name: &str| (name.to_owned(), String::new());
    assert_eq!(range_blocks(&profile), [named("handed over"), named("filtered")], "none is open");
    let found = ranges(&trace);
    let names: Vec<&str> = found.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["wtf.timeRange#begin", "wtf.timeRange#end"].repeat(2));
    assert_ne!(found[0].1, found[1].1, "it ends on another thread");
    assert_eq!(found[2].1, found[3].1);
    assert!(found[0].2 == found[1].2 && found[2].2 == found[3].2 && found[0].2 != found[2].2, "{found:?}");
}

#[test]
fn a_future_runs_within_its_range_on_any_thread() {
    use std::{
        pin::{Pin, pin},
        task::{Context, Poll, Waker},
    };
    /// Ready at the second poll.
    struct Twice(bool);
    impl Future for Twice {
        type Output = ();
        fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
            if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
        }
    }
    let recording = Recording::new();
    let trace = recording.path("async.wtf-trace");
    let guard = Recorder::new().wtf_trace(&trace).start().unwrap();
    let request = range!("request").run(async {
        range!("query").run(Twice(false)).await;
        event!("answered");
    });
    let mut request = Box::pin(request);
    assert!(request.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    let finish = move || pin!(request).poll(&mut Context::from_waker(Waker::noop())).is_ready();
    assert!(std::thread::spawn(finish).join().unwrap());
    guard.close().unwrap();
    check::<wtf::Wtf>(&trace);

    let mut reader = wtf::open(Source::file(File::open(&trace).unwrap()), &Options::strict()).unwrap();
    let (mut scopes, mut open) = (Vec::new(), 0);
    while let Some(located) = reader.next().unwrap() {
        let wtf::Record::Event(event) = located.record else { continue };
        match &*event.name() {
            "wtf.scope#leave" => open -= 1,
            name @ ("request" | "query") => {
                scopes.push((name.to_owned(), event.zone, open));
                open += 1;
            }
            "answered" => assert_eq!(open, 1, "the query is over, the request is not"),
            _ => {}
        }
    }
    let zone = |at: usize| scopes[at].1;
    let expected = [("request", zone(0), 0), ("query", zone(0), 1), ("request", zone(2), 0), ("query", zone(2), 1)];
    assert_eq!(scopes, expected.map(|(name, zone, depth)| (name.to_owned(), zone, depth)));
    assert_ne!(zone(0), zone(2), "each thread has its share");
    let found = ranges(&trace);
    let names: Vec<&str> = found.iter().map(|(name, ..)| name.as_str()).collect();
    let (begin, end) = ("wtf.timeRange#begin", "wtf.timeRange#end");
    assert_eq!(names, [begin, begin, end, end]);
    assert!(found[1].2 == found[2].2 && found[0].2 == found[3].2, "{found:?}");
}

#[test]
fn what_is_not_recorded_has_no_number() {
    let recording = Recording::new();
    let number = |name: &str| -> u32 {
        let path = recording.path(name);
        let guard = Recorder::new().wtf_trace(&path).start().unwrap();
        drop(range!("range"));
        guard.close().unwrap();
        let (.., number) = &ranges(&path)[0];
        number.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap()
    };
    let first = number("first.wtf-trace");
    for _ in 0..100 {
        drop(range!("nobody records"));
        assert_eq!(flow!("nobody records"), flow!("nor here"));
    }
    assert_eq!(number("second.wtf-trace"), first + 1);
}

#[test]
fn spans_that_a_flight_recorder_overwrote_leave_no_half_of_them() {
    let recording = Recording::new();
    let (profile, trace) = (recording.path("flight.prof"), recording.path("flight.wtf-trace"));
    let flight = Flight { bytes: 200 << 10, age: None };
    let recorder = Recorder::new().prof(&profile).wtf_trace(&trace).flight(flight).ring_bytes(4 << 10);
    let guard = recorder.start().unwrap();
    for _ in 0..50_000 {
        let _outer = span!("outer");
        let _inner = span!("inner");
    }
    traceloom_record::dump().unwrap();
    guard.close().unwrap();
    check_dropped(&recording.path("flight.dump-1.prof"));
    let trace = recording.path("flight.dump-1.wtf-trace");
    check::<wtf::Wtf>(&trace);
    let mut reader = wtf::open(Source::file(File::open(&trace).unwrap()), &Options::strict()).unwrap();
    let (mut open, mut spans) = (Vec::new(), 0);
    while let Some(located) = reader.next().unwrap() {
        let wtf::Record::Event(event) = located.record else { continue };
        match &*event.name() {
            "outer" => open.push("outer"),
            "inner" => open.push("inner"),
            "wtf.scope#leave" => {
                assert!(open.pop().is_some(), "an end without a beginning");
                spans += 1;
            }
            _ => {}
        }
        assert!(open.len() <= 2, "{open:?}");
    }
    assert!(open.len() <= 2 && spans > 100);
}

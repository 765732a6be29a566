//! Edits: new layouts mean the same, slices keep what they need, several files become one.

mod support;

use std::fs;

use support::{each_event, traces};
use traceloom_core::{Limits, Options, Records, Severity, Slice, Source, TimeRange};
use traceloom_wtf::{
    Composer, Container, Event, FORMAT, FileInfo, Form, Record, Role, Text, Value,
    derive::{Frames, Marks, Ranges, Tree},
    edit, sample,
};

fn told(source: &Source) -> Vec<String> {
    let mut reader = traceloom_wtf::open(source.clone(), &Options::default()).unwrap();
    let mut told = Vec::new();
    each_event(&mut reader, |event| {
        if !event.kind.is_structural() {
            told.push(tell(event));
        }
        Ok(())
    })
    .unwrap();
    let zones: Vec<String> = reader.zones().iter().map(|zone| format!("{:?}", zone.name)).collect();
    told.iter_mut().for_each(|line| {
        let (zone, rest) = line.split_once('|').unwrap();
        *line = format!("{}{rest}", zones[zone.parse::<usize>().unwrap()]);
    });
    told.sort();
    told
}

fn tell(event: &Event<'_>) -> String {
    let args: Vec<String> = event
        .args
        .iter()
        .map(|(argument, value)| match value {
            traceloom_wtf::Value::Array(Some(array)) => {
                format!("{}={:?}", argument.name, array.iter().collect::<Vec<_>>())
            }
            value => match value.as_text() {
                Some(text) => format!("{}={}", argument.name, text.to_str()),
                None => format!("{}={value:?}", argument.name),
            },
        })
        .collect();
    format!("{}| {} {} {} {args:?}", event.zone, event.time_us, event.kind.name, event.kind.flags)
}

#[test]
fn every_form_of_the_sample_reads_back_the_same() {
    let source = Source::bytes(sample::sample().unwrap().bytes);
    let binary = told(&source);
    assert_eq!(binary.len(), 3324);
    for variant in FORMAT.variants {
        let mut out = Vec::new();
        edit::canonical(&source, &mut out, Some(variant.id), &Options::default()).unwrap();
        assert!(told(&Source::bytes(out)) == binary, "{}", variant.id);
    }
}

#[test]
fn there_is_nothing_to_find_in_the_sample() {
    let bytes = sample::sample().unwrap().bytes;
    assert_eq!(bytes.len() % 4, 0);
    let mut reader = traceloom_wtf::open(Source::bytes(bytes), &Options::strict()).unwrap();
    while reader.next().unwrap().is_some() {}
    assert_eq!(reader.into_findings().worst(), None, "not even a note");
}

/// Every file, through every form and back to binary, has the same events.
#[test]
fn all_forms_carry_everything() {
    for (name, path) in traces() {
        let source = Source::bytes(fs::read(&path).unwrap());
        let mut binary = Vec::new();
        if edit::canonical(&source, &mut binary, Some("binary"), &Options::default()).is_err() {
            continue;
        }
        let expected = told(&Source::bytes(binary.clone()));
        for variant in FORMAT.variants {
            let mut out = Vec::new();
            edit::canonical(&source, &mut out, Some(variant.id), &Options::default()).unwrap();
            let ours = told(&Source::bytes(out));
            let first = ours.iter().zip(&expected).find(|(a, b)| a != b);
            assert!(ours.len() == expected.len() && first.is_none(), "{name} as {}: {first:?}", variant.id);
        }
        // Types and zones are numbered by first use: once events are in order, nothing changes anymore.
        let again = |bytes: Vec<u8>| {
            let mut out = Vec::new();
            edit::canonical(&Source::bytes(bytes), &mut out, Some("binary"), &Options::default()).unwrap();
            out
        };
        let ordered = again(binary);
        assert!(again(ordered.clone()) == ordered, "{name}: a canonical file is laid out the same again");
    }
}

#[test]
fn what_is_repaired_pleases_the_strict_reader() {
    for (name, path) in traces() {
        let source = Source::bytes(fs::read(&path).unwrap());
        let mut out = Vec::new();
        let Ok(edited) = edit::repair(&source, &mut out, &Options::default()) else { continue };
        let refused = edited.findings.worst() == Some(Severity::Error);
        let mut reader = traceloom_wtf::open(Source::bytes(out), &Options::strict()).unwrap();
        loop {
            match reader.next() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => panic!("{name}, refused before: {refused}: {error}"),
            }
        }
    }
}

#[test]
fn one_bad_signature_spoils_nothing_else() {
    for name in ["cpp-samename.wtf-trace", "hc-samename-diffargs.wtf-trace"] {
        let source = Source::bytes(fs::read(&traces()[name]).unwrap());
        let mut out = Vec::new();
        let edited = edit::repair(&source, &mut out, &Options::default()).unwrap();
        assert_eq!(edited.findings.worst(), Some(Severity::Error), "{name}");
        let events = told(&Source::bytes(out));
        assert!(events.len() >= 2, "{name}: {events:?}");
    }
}

#[test]
fn a_slice_has_what_it_needs() {
    let source = Source::bytes(sample::sample().unwrap().bytes);
    let part = Slice { range: TimeRange::between(500_000_000, 600_000_000), threads: vec!["Script".to_owned()] };
    let mut out = Vec::new();
    let edited = edit::slice(&source, &mut out, &part, &Options::default()).unwrap();
    let sliced = Source::bytes(out);
    let mut reader = traceloom_wtf::open(sliced.clone(), &Options::strict()).unwrap();
    let mut times = Vec::new();
    each_event(&mut reader, |event| {
        if !event.kind.is_structural() {
            times.push(event.time_us);
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(reader.zones().len(), 1);
    assert!(times.iter().all(|time| (500_000..=600_000).contains(time)));
    assert!(times.len() > 100);
    let tree = Tree::build(&sliced, &Options::default(), true).unwrap();
    assert_eq!(tree.orphan_leaves(), 0, "scopes that reach in are entered at the edge");
    let lost: Vec<_> = edited.loss.entries().map(|(what, count, _)| (what.to_owned(), count)).collect();
    let [(what, 3)] = &lost[..] else { panic!("no scope, but what lasts longer is cut: {lost:?}") };
    assert_eq!(what, "the start of frames, marks and ranges that started before the range");
    let part = Slice { range: TimeRange::between(505_000_000, 606_000_000), threads: Vec::new() };
    let edited = edit::slice(&source, Vec::new(), &part, &Options::default()).unwrap();
    let scopes = edited.loss.entries().filter(|(what, ..)| what.contains("scopes")).count();
    assert_eq!(scopes, 2, "scopes of the graphics card are cut at both edges: {:?}", edited.loss);
}

/// Frames, ranges and marks continue across the edges of a slice, as scopes do.
#[test]
fn a_slice_keeps_what_lasts() {
    let mut composer = Composer::new(Vec::new(), Form::Binary, &FileInfo::default()).unwrap();
    let zones = ["a", "b"].map(|name| composer.zone(Some(name), None, None).unwrap());
    let [start, end] = ["Start", "End"].map(|side| composer.builtin(&format!("wtf.timing#frame{side}")).unwrap());
    let [begin, finish] = ["begin", "end"].map(|side| composer.builtin(&format!("wtf.timeRange#{side}")).unwrap());
    let mark = composer.builtin("wtf.trace#mark").unwrap();
    let text = |text: &'static str| Value::Text(Some(Text::utf8(text.as_bytes())));
    let range = |number| [Value::Uint(number), text("range"), Value::Any(None)];
    let mut put = |zone: usize, time, kind, values: &[Value<'static>]| {
        composer.event(zones[zone], kind, time, values.iter().copied()).unwrap();
    };
    put(0, 1, mark, &[text("old"), Value::Any(None)]);
    put(0, 2, mark, &[text("loading"), Value::Any(None)]);
    put(0, 3, start, &[Value::Uint(1)]);
    put(0, 4, end, &[Value::Uint(1)]);
    put(0, 5, start, &[Value::Uint(2)]);
    put(0, 6, begin, &range(1));
    put(1, 7, begin, &range(2));
    put(0, 8, finish, &[Value::Uint(2)]);
    put(0, 9, begin, &range(3));
    put(0, 15, end, &[Value::Uint(2)]);
    put(0, 16, start, &[Value::Uint(3)]);
    put(1, 17, finish, &[Value::Uint(3)]);
    put(1, 25, finish, &[Value::Uint(1)]);
    put(0, 26, end, &[Value::Uint(3)]);
    put(0, 27, end, &[Value::Uint(4)]);
    let source = Source::bytes(composer.finish().unwrap());
    let part = Slice { range: TimeRange::between(10_000, 20_000), threads: Vec::new() };
    let mut out = Vec::new();
    let edited = edit::slice(&source, &mut out, &part, &Options::default()).unwrap();
    let limits = Limits::default();
    let (mut frames, mut marks, mut ranges) = (Frames::new(&limits), Marks::new(&limits), Ranges::new(&limits));
    let mut reader = traceloom_wtf::open(Source::bytes(out), &Options::strict()).unwrap();
    let mut take = |event: &Event<'_>| {
        frames.push(event)?;
        marks.push(event)?;
        ranges.push(event)
    };
    each_event(&mut reader, &mut take).unwrap();
    let frames: Vec<_> = frames.finish().map(|frame| (frame.number, frame.span_us())).collect();
    assert_eq!(frames, [(2, Some((10, 15))), (3, Some((16, 20)))]);
    let ranges: Vec<_> = ranges.finish().iter().map(|range| (range.id, range.start_us, range.end_us)).collect();
    assert_eq!(ranges, [(1, Some(10), Some(20)), (3, Some(10), Some(17))]);
    let marks = marks.finish();
    assert_eq!((marks.len(), marks[0].name.as_deref(), marks[0].start_us), (1, Some("loading"), 10));
    let lost: Vec<_> = edited.loss.entries().map(|(_, count, _)| count).collect();
    assert_eq!(lost, [2, 4], "two ends and four starts: {:?}", edited.loss);
}

/// If a frame has two end events after the slice, only one end belongs to the slice.
#[test]
fn what_ends_twice_is_ended_once() {
    let mut composer = Composer::new(Vec::new(), Form::Binary, &FileInfo::default()).unwrap();
    let zone = composer.zone(Some("a"), None, None).unwrap();
    let [start, end] = ["Start", "End"].map(|side| composer.builtin(&format!("wtf.timing#frame{side}")).unwrap());
    for (time, kind) in [(1, start), (30, end), (31, end)] {
        composer.event(zone, kind, time, [Value::Uint(7)]).unwrap();
    }
    let source = Source::bytes(composer.finish().unwrap());
    let part = Slice { range: TimeRange::between(10_000, 20_000), threads: Vec::new() };
    let mut out = Vec::new();
    edit::slice(&source, &mut out, &part, &Options::default()).unwrap();
    let mut told = Vec::new();
    let mut reader = traceloom_wtf::open(Source::bytes(out), &Options::strict()).unwrap();
    let mut take = |event: &Event<'_>| {
        told.extend((!event.kind.is_structural()).then(|| (event.kind.name.to_string(), event.time_us)));
        Ok(())
    };
    each_event(&mut reader, &mut take).unwrap();
    assert_eq!(told, [("wtf.timing#frameStart".to_owned(), 10), ("wtf.timing#frameEnd".to_owned(), 20)]);
}

/// A scope around the whole slice extends from edge to edge, even if nothing else happens.
#[test]
fn a_slice_inside_a_scope_keeps_the_scope() {
    let source = Source::bytes(fs::read(&traces()["js-deep.wtf-trace"]).unwrap());
    let all = Tree::build(&source, &Options::default(), true).unwrap();
    let part = Slice { range: TimeRange::between(3_000_001, 3_000_002), threads: Vec::new() };
    let mut out = Vec::new();
    edit::slice(&source, &mut out, &part, &Options::default()).unwrap();
    let tree = Tree::build(&Source::bytes(out), &Options::default(), true).unwrap();
    assert!(!tree.is_empty() && tree.len() < all.len(), "{} of {}", tree.len(), all.len());
    assert_eq!(tree.orphan_leaves(), 0);
}

/// The contents of a file in a range: its moments, and its scopes as name, start and end.
struct InRange {
    moments: Vec<String>,
    scopes: Vec<(String, i64, Option<i64>)>,
}

fn in_range(source: &Source, range: TimeRange) -> InRange {
    let mut out = Vec::new();
    edit::slice(source, &mut out, &Slice { range, threads: Vec::new() }, &Options::default()).unwrap();
    let sliced = Source::bytes(out);
    let tree = Tree::build(&sliced, &Options::default(), true).unwrap();
    let mut walk = tree.walk();
    let mut found = InRange { moments: Vec::new(), scopes: Vec::new() };
    let mut reader = traceloom_wtf::open(sliced, &Options::strict()).unwrap();
    let mut take = |event: &Event<'_>| {
        let Some(nested) = walk.nested(event)? else { return Ok(()) };
        match nested.scope {
            Some(scope) => found.scopes.push((event.name().into_owned(), event.time_us, scope.end_us)),
            None if event.kind.role == Role::Plain => found.moments.push(tell(event)),
            None => {}
        }
        Ok(())
    };
    each_event(&mut reader, &mut take).unwrap();
    found.moments.sort();
    found.scopes.sort();
    found
}

#[test]
fn adjacent_slices_partition_a_trace() {
    let source = Source::bytes(sample::sample().unwrap().bytes);
    let all = in_range(&source, TimeRange::ALL);
    assert!(all.moments.len() >= 3 && all.scopes.len() > 1000);
    let (_, a_start, an_end) = all.scopes[500].clone();
    let a_moment = all.moments[1].split_whitespace().nth(1).unwrap().parse::<i64>().unwrap();
    for edge_us in [0, a_start, an_end.unwrap(), a_start + 1, a_moment, a_moment + 1, 1_234_567, 9_999_999] {
        for edge_ns in [edge_us * 1000, edge_us * 1000 - 1, edge_us * 1000 + 1] {
            let before = in_range(&source, TimeRange::new(None, Some(edge_ns)));
            let after = in_range(&source, TimeRange::new(Some(edge_ns), None));
            let told: Vec<&str> = all.moments.iter().map(String::as_str).collect();
            let mut both: Vec<&str> = before.moments.iter().chain(&after.moments).map(String::as_str).collect();
            both.sort_unstable();
            // Zones are numbered by their first use.
            let without_zone = |line: &&str| line.split_once('|').unwrap().1.to_owned();
            let [mut told, mut both] = [told, both].map(|lines| lines.iter().map(without_zone).collect::<Vec<_>>());
            told.sort();
            both.sort();
            assert_eq!(told, both, "{edge_ns}");
            // A scope is in every range that it overlaps, and is cut at the edge.
            let ranges = [(before, TimeRange::new(None, Some(edge_ns))), (after, TimeRange::new(Some(edge_ns), None))];
            for (found, range) in ranges {
                let overlaps = |(_, start, end): &&(String, i64, Option<i64>)| {
                    range.overlaps_span(start * 1000, end.map(|end| (end - start) * 1000))
                };
                assert_eq!(found.scopes.len(), all.scopes.iter().filter(overlaps).count(), "{range:?}");
            }
        }
    }
}

/// An empty range contains nothing, even if it crosses scopes, frames, marks and ranges.
#[test]
fn an_empty_range_gives_an_empty_valid_file() {
    for (name, path) in traces() {
        let source = Source::bytes(fs::read(&path).unwrap());
        if traceloom_wtf::open(source.clone(), &Options::default()).is_err() {
            continue;
        }
        for (from_ns, to_ns) in [(0, 0), (3_000_001, 3_000_001), (5_000_000, 5_000_000), (7_000, 5_000), (-2, -1)] {
            let empty = Slice { range: TimeRange::between(from_ns, to_ns), threads: Vec::new() };
            let mut out = Vec::new();
            edit::slice(&source, &mut out, &empty, &Options::default()).unwrap();
            let mut reader = traceloom_wtf::open(Source::bytes(out), &Options::strict()).unwrap();
            let mut events = 0;
            each_event(&mut reader, |event| {
                // A chunk of resources still defines how zones are set.
                events += u32::from(!event.kind.is_structural());
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(events, 0, "{name}");
        }
    }
}

/// Items that end where a range starts are not in it; items that start there are.
#[test]
fn a_slice_has_nothing_that_only_touches_it() {
    let mut composer = Composer::new(Vec::new(), Form::Binary, &FileInfo::default()).unwrap();
    let zone = composer.zone(Some("a"), None, None).unwrap();
    let [enter, leave] = ["wtf.scope#enter", "wtf.scope#leave"].map(|name| composer.builtin(name).unwrap());
    let [start, end] = ["Start", "End"].map(|side| composer.builtin(&format!("wtf.timing#frame{side}")).unwrap());
    let mark = composer.builtin("wtf.trace#mark").unwrap();
    let text = |text: &'static str| Value::Text(Some(Text::utf8(text.as_bytes())));
    let mut put = |time, kind, values: &[Value<'static>]| {
        composer.event(zone, kind, time, values.iter().copied()).unwrap();
    };
    put(1, mark, &[text("old"), Value::Any(None)]);
    put(2, start, &[Value::Uint(1)]);
    put(3, enter, &[text("before")]);
    put(10, leave, &[]);
    put(10, end, &[Value::Uint(1)]);
    put(10, mark, &[text("new"), Value::Any(None)]);
    put(10, enter, &[text("after")]);
    put(15, leave, &[]);
    let source = Source::bytes(composer.finish().unwrap());
    let told = |from_ns| {
        let mut out = Vec::new();
        let slice = Slice { range: TimeRange::between(from_ns, 20_000), threads: Vec::new() };
        edit::slice(&source, &mut out, &slice, &Options::default()).unwrap();
        told(&Source::bytes(out)).len()
    };
    assert_eq!(told(10_000), 3, "a mark and one scope");
    assert_eq!(told(9_999), 8, "everything, for a nanosecond");
}

#[test]
fn everything_is_a_slice_too() {
    let source = Source::bytes(sample::sample().unwrap().bytes);
    let mut out = Vec::new();
    let edited = edit::slice(&source, &mut out, &Slice::default(), &Options::default()).unwrap();
    assert!(edited.loss.is_empty());
    assert!(told(&Source::bytes(out)) == told(&source));
}

/// Tools show the first zone, or only that one; a type that never occurs is still a type.
#[test]
fn zones_and_types_stay_though_nothing_uses_them() {
    let mut composer = Composer::new(Vec::new(), Form::Binary, &FileInfo::default()).unwrap();
    let zones = ["main", "idle", "worker"].map(|name| composer.zone(Some(name), Some("script"), None).unwrap());
    let tick = composer.builtin("wtf.trace#discontinuity").unwrap();
    composer.builtin("wtf.trace#mark").unwrap();
    composer.event(zones[2], tick, 1, []).unwrap();
    composer.event(zones[0], tick, 2, []).unwrap();
    let source = Source::bytes(composer.finish().unwrap());
    let known = |bytes: Vec<u8>| {
        let mut reader = traceloom_wtf::open(Source::bytes(bytes), &Options::default()).unwrap();
        each_event(&mut reader, |_| Ok(())).unwrap();
        let zones: Vec<_> = reader.zones().iter().map(|zone| zone.name.clone().unwrap()).collect();
        (zones.join(" "), reader.types().by_name("wtf.trace#mark").is_some())
    };
    for variant in FORMAT.variants {
        let mut out = Vec::new();
        let edited = edit::canonical(&source, &mut out, Some(variant.id), &Options::default()).unwrap();
        assert!(edited.loss.is_empty(), "{:?}", edited.loss);
        assert_eq!(known(out), ("main idle worker".to_owned(), true), "{}", variant.id);
    }
    let mut out = Vec::new();
    edit::repair(&source, &mut out, &Options::default()).unwrap();
    assert_eq!(known(out), ("main idle worker".to_owned(), true));
    let part = Slice { threads: vec!["idle".to_owned(), "worker".to_owned()], ..Slice::default() };
    let mut out = Vec::new();
    edit::slice(&source, &mut out, &part, &Options::default()).unwrap();
    assert_eq!(known(out), ("idle worker".to_owned(), false));
}

/// Stored times wrap after 71 minutes, so longer distances cannot be represented.
#[test]
fn files_far_apart_begin_together() {
    let file = |timebase_ms| {
        let mut composer =
            Composer::new(Vec::new(), Form::Binary, &FileInfo::default().with_timebase(timebase_ms)).unwrap();
        let zone = composer.zone(Some("z"), None, None).unwrap();
        let tick = composer.builtin("wtf.trace#discontinuity").unwrap();
        composer.event(zone, tick, 5, []).unwrap();
        Source::bytes(composer.finish().unwrap())
    };
    let merged = |timebases: [f64; 2]| {
        let mut out = Vec::new();
        let edited = edit::merge(&timebases.map(file), &mut out, &Options::default()).unwrap();
        let mut times = Vec::new();
        let mut reader = traceloom_wtf::open(Source::bytes(out), &Options::default()).unwrap();
        let mut take = |event: &Event<'_>| {
            if !event.kind.is_structural() {
                times.push(event.time_us);
            }
            Ok(())
        };
        each_event(&mut reader, &mut take).unwrap();
        let told: Vec<_> = edited.loss.entries().map(|(what, ..)| what.to_owned()).collect();
        (times, told.iter().any(|what| what.contains("71 minutes")))
    };
    assert_eq!(merged([2000.0, 1000.0]), (vec![5, 1_000_005], false));
    assert_eq!(merged([1000.0, 1000.0 + 3_600_000.0]), (vec![5, 3_600_000_005], false));
    assert_eq!(merged([1000.0, 1000.0 + 7_200_000.0]), (vec![5, 5], true));
    assert_eq!(merged([12_345.0, 1_700_000_000_000.0]), (vec![5, 5], true), "a counter and a date");
}

#[test]
fn resources_are_kept() {
    let count = |bytes: &[u8]| {
        let mut reader = traceloom_wtf::open(Source::bytes(bytes), &Options::default()).unwrap();
        let mut found = Vec::new();
        while let Some(located) = reader.next().unwrap() {
            if let Record::Resource(resource) = located.record {
                found.push((resource.ordinal, resource.kind, resource.bytes.to_vec()));
            }
        }
        found
    };
    let bytes = fs::read(&traces()["hc-resources.wtf-trace"]).unwrap();
    let before = count(&bytes);
    assert_eq!(before.len(), 3);
    for variant in FORMAT.variants {
        let mut out = Vec::new();
        edit::canonical(&Source::bytes(bytes.clone()), &mut out, Some(variant.id), &Options::default()).unwrap();
        assert_eq!(count(&out), before, "{}", variant.id);
    }
}

#[test]
fn containers_are_kept() {
    for (name, container) in [
        ("js-jsonpartial.wtf-json", Container::JsonPartial),
        ("js-jsoncomplete.wtf-json", Container::Json),
        ("js-mix.wtf-trace", Container::Binary),
    ] {
        let mut out = Vec::new();
        let source = Source::bytes(fs::read(&traces()[name]).unwrap());
        edit::canonical(&source, &mut out, None, &Options::default()).unwrap();
        let reader = traceloom_wtf::open(Source::bytes(out), &Options::default()).unwrap();
        assert_eq!(reader.header().container, container, "{name}");
    }
    let source = Source::bytes(sample::sample().unwrap().bytes);
    assert!(edit::canonical(&source, Vec::new(), Some("nonsense"), &Options::default()).is_err());
}

/// WTF makes a function of each event type: the name is a comment in it, and arguments are variables.
#[test]
fn names_that_wtf_cannot_make_a_function_of_are_repaired() {
    let found = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/wtf/found");
    for name in ["argument-is-a-number.wtf-trace", "line-end-in-name.wtf-trace"] {
        let source = Source::bytes(fs::read(found.join(name)).unwrap());
        let mut repaired = Vec::new();
        let edited = edit::repair(&source, &mut repaired, &Options::default()).unwrap();
        assert!(edited.loss.entries().any(|(what, ..)| what.starts_with("names of")), "{name}: {:?}", edited.loss);
        let repaired = Source::bytes(repaired);
        let mut reader = traceloom_wtf::open(repaired.clone(), &Options::strict()).unwrap();
        each_event(&mut reader, |_| Ok(())).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut again = Vec::new();
        edit::repair(&repaired, &mut again, &Options::default()).unwrap();
        assert!(Source::bytes(again).prefix(1 << 20).unwrap() == repaired.prefix(1 << 20).unwrap(), "{name}");
    }
}

#[test]
fn what_is_repaired_is_repaired_to_itself() {
    let repaired = |bytes: &[u8]| {
        let mut out = Vec::new();
        edit::repair(&Source::bytes(bytes), &mut out, &Options::default()).map(|_| out)
    };
    for (name, path) in traces() {
        let bytes = fs::read(path).unwrap();
        let at = bytes.len() * 2 / 3;
        let mut changed = bytes.clone();
        changed.iter_mut().skip(at).take(3).for_each(|byte| *byte ^= 0x11);
        for damaged in [&bytes[..], &bytes[..at], &changed] {
            let Ok(once) = repaired(damaged) else { continue };
            assert!(repaired(&once).unwrap() == once, "{name}");
        }
    }
}

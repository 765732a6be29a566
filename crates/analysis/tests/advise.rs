//! Advice on the samples of `demo`, and each rule separately.

mod made;

use made::{Made, span, thread, trace};
use traceloom_analysis::advise::{Advice, Options, Rule, Weight, of_trace};
use traceloom_core::Source;
use traceloom_mapping::Trace;
use traceloom_model::{Halt, Tables, counters::Counter, spans::Span};

const MS: i64 = 1_000_000;

fn advice(rows: impl Fn(&mut Tables<'_>) -> Result<(), Halt>) -> Vec<Advice> {
    of_trace(&Made(rows), &Options::default()).expect("made tables do not fail")
}

fn of_rule(all: &[Advice], rule: Rule) -> Vec<&Advice> {
    all.iter().filter(|advice| advice.rule == rule).collect()
}

/// The first finding on the sample of a format, as `demo` writes it.
fn first_of_demo(format: &str, name: &str) -> Advice {
    let format = traceloom_open::FORMATS.iter().find(|known| known.descriptor().id == format).expect("a format");
    let bytes = format.sample().expect("it has a sample").bytes;
    let trace = Trace::new(name.as_ref(), Source::bytes(bytes), None, &Default::default()).expect("it opens");
    of_trace(&trace, &Options::default()).expect("it can be read").remove(0)
}

#[test]
fn the_slow_frames_of_the_game_come_first() {
    let first = first_of_demo("easyprofiler", "game.prof");
    assert_eq!((first.rule, first.count, first.subject.as_str()), (Rule::FrameSpike, 2, "Collide"), "{first:?}");
    assert!(first.message.starts_with("2 slow frames: up to 3.54 ms, 1.7 times the median"), "{}", first.message);
    assert_eq!(first.evidence.iter().filter(|fact| fact.what == "on Main").count(), 2, "{:?}", first.evidence);
    assert!(first.evidence.iter().any(|fact| fact.what.contains("Draw")), "{:?}", first.evidence);
}

#[test]
fn the_frames_of_the_page_are_slow_by_the_collector() {
    let first = first_of_demo("wtf", "game.wtf-trace");
    assert_eq!(
        (first.rule, first.subject.as_str(), first.cause.as_str()),
        (Rule::FrameSpike, "javascript#gc", "garbage collection")
    );
    assert_eq!(
        first.message,
        "3 slow frames: up to 58.1 ms, 19 times the median; javascript#gc took 55.5 ms of the worst"
    );
    assert_eq!(first.evidence.iter().filter(|fact| fact.what == "on Script").count(), 3);
}

#[test]
fn the_errors_of_the_service_come_with_their_site_and_the_warnings_before() {
    let first = first_of_demo("cnanolog", "service.clog");
    assert_eq!((first.rule, first.count, first.place.as_deref()), (Rule::ErrorBurst, 18, Some("src/db.c:310")));
    assert!(first.message.contains("18 errors between") && first.message.contains("55 warnings"), "{}", first.message);
    assert!(first.cause.starts_with("query failed: "), "{}", first.cause);
}

#[test]
fn the_leak_of_the_shop_has_a_site_and_a_rate() {
    let first = first_of_demo("memlyze", "shop.mlyze");
    assert_eq!((first.rule, first.count), (Rule::Leak, 134));
    assert_eq!((first.subject.as_str(), first.place.as_deref()), ("remember", Some("shop/cache.py:19")));
    assert!(first.message.contains("134 blocks (379 kB)") && first.message.contains("/s"), "{}", first.message);
}

#[test]
fn profiles_name_the_hot_function_with_and_without_single_calls() {
    for (format, name) in [("nytprof", "nytprof.out"), ("pynytprof", "pynytprof.out")] {
        let first = first_of_demo(format, name);
        assert_eq!((first.rule, first.subject.as_str()), (Rule::HotName, "Shop::Price::line_price"), "{format}");
        assert!(first.message.contains("33.1 % of the busy time"), "{}", first.message);
    }
}

#[test]
fn shares_are_of_busy_time_on_all_threads_and_three_names_are_enough() {
    let all = advice(|tables| {
        for thread_id in 0..40 {
            tables.push(thread(thread_id, "io"))?;
            for (number, name) in ["a", "b", "c", "d", "e"].into_iter().enumerate() {
                let number = number as i64;
                tables.push(span(thread_id * 5 + number, thread_id, name, number * 100 * MS, (50 + number) * MS))?;
            }
        }
        tables.push(trace(600 * MS))
    });
    let hot = of_rule(&all, Rule::HotName);
    assert_eq!(hot.iter().map(|advice| advice.subject.as_str()).collect::<Vec<_>>(), ["e", "d", "c"]);
    assert!(hot.iter().all(|advice| advice.saved < 0.3 && advice.weight == Weight::Low), "{hot:?}");
}

#[test]
fn a_quote_in_a_name_is_quoted_in_the_query() {
    let all = advice(|tables| {
        tables.push(span(0, 0, "load it's", 0, 120 * MS))?;
        tables.push(trace(100_000 * MS))
    });
    assert!(all[0].query.contains("name = 'load it''s'"), "{}", all[0].query);
}

#[test]
fn slow_frames_need_a_cause_and_the_first_one_does_not_count() {
    let rows = |slow: i64| {
        move |tables: &mut Tables<'_>| {
            for id in 0..60 {
                let extra = if id == slow { 30 * MS } else { 0 };
                let (ts_ns, dur_ns) = (id * 50 * MS, 10 * MS + id % 7 * MS / 10 + extra);
                let outer = Span { self_ns: Some(dur_ns - 5 * MS - extra), ..span(id * 2, 0, "Frame", ts_ns, dur_ns) };
                tables.push(outer)?;
                let inner = span(id * 2 + 1, 0, "Load", ts_ns + MS, 5 * MS + extra);
                tables.push(Span { depth: 1, parent_id: Some(id * 2), ..inner })?;
            }
            tables.push(trace(3000 * MS))
        }
    };
    let all = advice(rows(17));
    let [spike] = of_rule(&all, Rule::FrameSpike)[..] else { panic!("{all:?}") };
    assert_eq!((spike.count, spike.weight, spike.subject.as_str()), (1, Weight::High, "Load"));
    assert_eq!(spike.evidence[0].ts_ns, Some(17 * 50 * MS));
    assert!(of_rule(&advice(rows(0)), Rule::FrameSpike).is_empty(), "a warm-up");
}

#[test]
fn a_name_that_explains_the_others_is_not_the_reason_of_the_worst() {
    let rows = |tables: &mut Tables<'_>| {
        for id in 0..60 {
            let (load, swap) = match id {
                17 => (0, 30 * MS),
                21 | 33 | 45 => (25 * MS, 0),
                _ => (0, 0),
            };
            let (ts_ns, dur_ns) = (id * 50 * MS, 10 * MS + id % 7 * MS / 10 + load + swap);
            let outer = span(id * 3, 0, "Frame", ts_ns, dur_ns);
            tables.push(Span { self_ns: Some(dur_ns - 8 * MS - load - swap), ..outer })?;
            let first = span(id * 3 + 1, 0, "Load", ts_ns + MS, 4 * MS + load);
            tables.push(Span { depth: 1, parent_id: Some(id * 3), ..first })?;
            let second = span(id * 3 + 2, 0, "Swap", ts_ns + 5 * MS + load, 4 * MS + swap);
            tables.push(Span { depth: 1, parent_id: Some(id * 3), ..second })?;
        }
        tables.push(trace(3000 * MS))
    };
    let all = advice(rows);
    let [spike] = of_rule(&all, Rule::FrameSpike)[..] else { panic!("{all:?}") };
    assert_eq!(spike.subject, "Load");
    assert!(spike.message.ends_with("; Load took 75 ms more than usual in total"), "{}", spike.message);
}

fn counter(id: i64, value: f64) -> Counter<'static> {
    let (ts_ns, name) = (id * MS, "queue".into());
    Counter { id, ts_ns, thread_id: None, name, value_id: None, value: Some(value), text: None }
}

#[test]
fn values_grow_unless_they_count() {
    let of = |value: fn(i64) -> i64| {
        advice(move |tables| (0..1000).try_for_each(|id| tables.push(counter(id, value(id) as f64))))
    };
    let grows = of(|id| id + id % 10);
    let [growth] = of_rule(&grows, Rule::Growth)[..] else { panic!("{grows:?}") };
    assert_eq!((growth.subject.as_str(), growth.weight), ("queue", Weight::Medium));
    assert!(of(|id| id % 100).is_empty() && of(|id| id).is_empty());
    assert_eq!(of(|id| 3 * id)[0].weight, Weight::Low, "a sum has to grow");
}

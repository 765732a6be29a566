//! Advice on traces that have what it is about, and on such that do not.

mod made;

use made::{Made, span, thread, trace};
use traceloom_analysis::advise::{Advice, Options, Rule, Weight, of_trace};
use traceloom_model::{
    Halt, Tables, allocations::Allocation, counters::Counter, logs::Log, spans::Span, switches::Switch,
};

const MS: i64 = 1_000_000;

fn advice(rows: impl Fn(&mut Tables<'_>) -> Result<(), Halt>) -> Vec<Advice> {
    of_trace(&Made(rows), &Options::default()).expect("made tables do not fail")
}

fn of_rule(all: &[Advice], rule: Rule) -> Vec<&Advice> {
    all.iter().filter(|advice| advice.rule == rule).collect()
}

#[test]
fn long_spans_weigh_by_the_longest() {
    let all = advice(|tables| {
        tables.push(thread(0, "Main"))?;
        tables.push(span(0, 0, "load it's", 0, 120 * MS))?;
        tables.push(span(1, 0, "load it's", 200 * MS, 101 * MS))?;
        tables.push(span(2, 0, "save", 400 * MS, 501 * MS))?;
        tables.push(span(3, 0, "short", 950 * MS, 100 * MS))?;
        tables.push(trace(100_000 * MS))
    });
    let long: Vec<_> = of_rule(&all, Rule::LongSpan)
        .iter()
        .map(|advice| (advice.subject.as_str(), advice.weight, advice.count, advice.evidence.len()))
        .collect();
    assert_eq!(long, [("save", Weight::High, 1, 1), ("load it's", Weight::Medium, 2, 2)]);
    let query = &of_rule(&all, Rule::LongSpan)[1].query;
    assert!(query.contains("name = 'load it''s' AND dur_ns > 100000000"), "{query}");
    assert_eq!(all.len(), 2, "nothing else stands out: {all:?}");
}

#[test]
fn hot_names_are_those_with_much_time_of_their_own() {
    let all = advice(|tables| {
        let outer = Span { self_ns: Some(5 * MS), ..span(0, 0, "frame", 0, 100 * MS) };
        let inner = |id, name, ts_ns: i64, dur_ns: i64| Span {
            depth: 1,
            parent_id: Some(0),
            ..span(id, 0, name, ts_ns * MS, dur_ns * MS)
        };
        tables.push(outer)?;
        tables.push(inner(1, "a", 0, 50))?;
        tables.push(inner(2, "b", 50, 25))?;
        tables.push(inner(3, "c", 75, 12))?;
        tables.push(inner(4, "d", 87, 8))?;
        tables.push(trace(100 * MS))
    });
    let hot: Vec<_> = of_rule(&all, Rule::HotName)
        .iter()
        .map(|advice| (advice.subject.as_str(), advice.weight, advice.value))
        .collect();
    assert_eq!(hot, [("a", Weight::High, 0.5), ("b", Weight::Medium, 0.25), ("c", Weight::Low, 0.12)]);
}

#[test]
fn threads_of_unequal_load_and_many_switches() {
    let rows = |factor: i64, switches: i64| {
        move |tables: &mut Tables<'_>| {
            tables.push(thread(0, "Main"))?;
            tables.push(thread(1, "Worker"))?;
            tables.push(span(0, 0, "a", 0, factor))?;
            tables.push(span(1, 1, "b", 0, 10))?;
            for id in 0..switches {
                tables.push(Switch { id, ts_ns: id, dur_ns: 3, thread_id: 1, target_tid: 0, name: "idle".into() })?;
            }
            tables.push(trace(100_000))
        }
    };
    assert!(advice(rows(20, 1000)).is_empty());
    let all = advice(rows(21, 1001));
    let rules: Vec<_> = all.iter().map(|advice| (advice.rule, advice.subject.as_str(), advice.value)).collect();
    assert_eq!(rules, [(Rule::ManySwitches, "Worker", 1001.0), (Rule::UnbalancedThreads, "Main", 2.1)]);
    assert_eq!(all[0].evidence[0].value, 3003.0);
    assert!(all[0].query.contains("t.tid = 101"), "{}", all[0].query);
}

#[test]
fn frames_stand_out_from_the_median() {
    let rows = |spike: i64| {
        move |tables: &mut Tables<'_>| {
            for id in 0..30 {
                let dur_ns = if id == 17 { spike } else { 10 * MS };
                tables.push(span(id, 0, "Frame", id * 20 * MS, dur_ns))?;
            }
            tables.push(trace(100_000 * MS))
        }
    };
    assert!(advice(rows(30 * MS)).is_empty());
    let all = advice(rows(31 * MS));
    let [spike] = of_rule(&all, Rule::FrameSpike)[..] else { panic!("{all:?}") };
    assert_eq!((spike.count, spike.weight, spike.value), (1, Weight::Medium, 3.1));
    assert_eq!(spike.evidence[0].ts_ns, Some(17 * 20 * MS));
}

fn counter(id: i64, value: f64) -> Counter<'static> {
    let (ts_ns, name) = (id * MS, "queue".into());
    Counter { id, ts_ns, thread_id: None, name, value_id: None, value: Some(value), text: None }
}

#[test]
fn values_that_never_fall_grow() {
    let grows = advice(|tables| (0..1000).try_for_each(|id| tables.push(counter(id, (id + id % 10) as f64))));
    let [growth] = of_rule(&grows, Rule::Growth)[..] else { panic!("{grows:?}") };
    assert_eq!((growth.subject.as_str(), growth.evidence.len()), ("queue", 8));
    assert!(advice(|tables| (0..1000).try_for_each(|id| tables.push(counter(id, (id % 100) as f64)))).is_empty());
}

#[test]
fn memory_that_is_not_given_back_grows() {
    let rows = |leaks: bool, address: u64| {
        move |tables: &mut Tables<'_>| {
            (0..4000).try_for_each(|id| {
                let is_kept = leaks && id % 4 == 0;
                let freed_ts_ns = (!is_kept).then_some((id + 20) * MS);
                tables.push(Allocation {
                    id,
                    ts_ns: id * MS,
                    thread_id: None,
                    address,
                    size_bytes: 100,
                    stack_id: None,
                    fate: if is_kept { "live" } else { "freed" }.into(),
                    freed_ts_ns,
                    lifetime_ns: freed_ts_ns.map(|_| 20 * MS),
                    end_id: None,
                })
            })
        }
    };
    let all = advice(rows(true, 16));
    let [growth] = of_rule(&all, Rule::Growth)[..] else { panic!("{all:?}") };
    assert_eq!((growth.subject.as_str(), growth.weight), ("memory in use", Weight::High));
    assert!(advice(rows(false, 16)).is_empty());
    assert!(advice(rows(true, 0)).is_empty(), "without addresses nobody knows what was freed");
}

#[test]
fn a_place_that_logs_too_often_in_a_second_is_a_storm() {
    let rows = |in_a_second: i64| {
        move |tables: &mut Tables<'_>| {
            (0..3000).try_for_each(|id| {
                tables.push(Log {
                    id,
                    ts_ns: Some(id * (1000 * MS / in_a_second)),
                    thread_id: None,
                    level: 1,
                    level_name: "INFO".into(),
                    file: Some("net.c".into()),
                    line: Some(12),
                    format: Some("retry %d".into()),
                    message: "retry",
                    definition_id: None,
                })
            })
        }
    };
    assert!(advice(rows(1000)).is_empty());
    let all = advice(rows(1250));
    let [storm] = of_rule(&all, Rule::LogStorm)[..] else { panic!("{all:?}") };
    assert_eq!((storm.subject.as_str(), storm.value, storm.count), ("retry %d", 1250.0, 3000));
}

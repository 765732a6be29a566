//! Comparisons of traces.

#[allow(dead_code)]
mod made;

use made::{Made, span};
use traceloom_analysis::diff::{Kind, Metric, Noise, Options, Report, Verdict, of_traces};
use traceloom_mapping::{Trace, open};
use traceloom_model::{
    Halt, TableSource, Tables, allocations::Allocation, calls::Call, frames::Frame, line_times::LineTime, stacks::Stack,
};

fn source<F: Fn(&mut Tables<'_>) -> Result<(), Halt> + 'static>(rows: F) -> Box<dyn TableSource> {
    Box::new(Made(rows))
}

struct Any(Box<dyn TableSource>);

impl TableSource for Any {
    fn pour(
        &self,
        filter: &traceloom_model::Filter,
        sink: &mut dyn traceloom_model::TableSink,
    ) -> traceloom_core::Result<()> {
        self.0.pour(filter, sink)
    }
}

/// A run in which each call of a name takes about this long.
fn run(calls: &'static [(&'static str, i64)], seed: i64) -> Any {
    Any(source(move |tables| {
        let mut id = 0;
        for (name, dur_ns) in calls {
            for n in 0..50 {
                // Durations vary by 2 %, differently in each run.
                let scatter = dur_ns / 100 * ((n * 7 + seed * 13) % 5 - 2);
                tables.push(span(id, 0, name, id * 1_000_000, dur_ns + scatter + seed % 3))?;
                id += 1;
            }
        }
        Ok(())
    }))
}

fn compare(before: &[Any], after: &[Any], options: &Options) -> Report {
    of_traces(before, after, options).expect("made tables do not fail")
}

fn verdicts(report: &Report) -> Vec<(&str, Verdict)> {
    let mut verdicts: Vec<_> = report.rows.iter().map(|row| (row.name.as_str(), row.verdict)).collect();
    verdicts.sort_by_key(|(name, _)| *name);
    verdicts
}

const BEFORE: &[(&str, i64)] = &[("draw", 100_000), ("gone", 10), ("load", 50_000), ("same", 20_000)];
const AFTER: &[(&str, i64)] = &[("draw", 120_000), ("load", 40_000), ("new", 10), ("same", 20_000)];

#[test]
fn slower_faster_new_gone_and_the_same() {
    let expected = [
        ("draw", Verdict::Worse),
        ("gone", Verdict::Gone),
        ("load", Verdict::Better),
        ("new", Verdict::New),
        ("same", Verdict::Same),
    ];
    let report = compare(&[run(BEFORE, 1)], &[run(AFTER, 2)], &Options::default());
    assert_eq!(verdicts(&report), expected);
    assert!(!report.knows_noise(), "a single run knows nothing of others");
    let draw = report.rows.iter().find(|row| row.name == "draw").expect("the row");
    assert!(draw.change.is_some_and(|change| (change - 0.2).abs() < 0.001), "{draw:?}");
    assert!(matches!(draw.noise, Noise::WithinRun(noise) if noise > 0.0 && noise < 0.02), "{draw:?}");
    assert_eq!((draw.p, report.worse_than(0.1).count(), report.worse_than(0.25).count()), (None, 1, 0));

    let runs = |calls: &'static [(&str, i64)]| (1..=5).map(|seed| run(calls, seed)).collect::<Vec<_>>();
    let report = compare(&runs(BEFORE), &runs(AFTER), &Options::default());
    assert_eq!(verdicts(&report), expected);
    assert!(report.knows_noise());
    let draw = report.rows.iter().find(|row| row.name == "draw").expect("the row");
    assert!(draw.p.is_some_and(|p| p < 0.001) && draw.effect.is_some_and(|effect| effect > 5.0), "{draw:?}");
    assert!(matches!(draw.noise, Noise::BetweenRuns(noise) if noise < 0.001), "{draw:?}");
    let same = report.rows.iter().find(|row| row.name == "same").expect("the row");
    assert!(same.p.is_some_and(|p| p > 0.5), "{same:?}");
}

#[test]
fn the_same_traces_give_the_same_figures() {
    let runs = |seed| [run(BEFORE, seed), run(AFTER, seed + 1), run(BEFORE, seed + 2)];
    let report = || compare(&runs(1), &runs(4), &Options::default()).to_json(true, usize::MAX);
    let first = report();
    for _ in 0..50 {
        assert_eq!(report(), first);
    }
}

/// One name whose single call takes a given time in each run.
fn once(dur_ns: i64) -> Any {
    Any(source(move |tables| tables.push(span(0, 0, "work", 0, dur_ns))))
}

#[test]
fn runs_that_scatter_more_than_they_differ_are_the_same() {
    let noisy = |durations: [i64; 5]| durations.map(once);
    let report = compare(&noisy([80, 120, 95, 130, 75]), &noisy([110, 90, 140, 85, 100]), &Options::default());
    assert_eq!(verdicts(&report), [("work", Verdict::Same)]);
    assert_eq!(report.rows[0].change, Some(0.05));
    let clear = compare(&noisy([100, 101, 99, 100, 100]), &noisy([105, 106, 104, 105, 105]), &Options::default());
    assert_eq!(verdicts(&clear), [("work", Verdict::Worse)]);
    assert_eq!(compare(&[once(100)], &[once(105)], &Options::default()).rows[0].noise, Noise::Unknown);
}

#[test]
fn more_calls_show_in_the_total_and_not_in_the_mean() {
    let calls =
        |count: i64| Any(source(move |tables| (0..count).try_for_each(|id| tables.push(span(id, 0, "f", id, 10)))));
    let judged = |metric| {
        let report = compare(&[calls(100)], &[calls(150)], &Options { metric, ..Options::default() });
        (report.rows[0].verdict, report.rows[0].change)
    };
    assert_eq!(judged(Metric::Mean), (Verdict::Same, Some(0.0)));
    assert_eq!(judged(Metric::Total), (Verdict::Worse, Some(0.5)));
    assert_eq!(judged(Metric::Calls), (Verdict::Worse, Some(0.5)));
}

fn call(callee: &str, incl_ns: i64) -> Call<'_> {
    Call { callee: callee.into(), count: 10, incl_ns, excl_ns: incl_ns, ..Call::default() }
}

#[test]
fn sums_lines_and_memory_are_compared_too() {
    let profile = |line_ns: i64, bytes: u64| {
        Any(source(move |tables| {
            tables.push(call("main::work", 1000 + line_ns))?;
            tables.push(LineTime {
                file: "work.pl".into(),
                line: 7,
                level: "line".into(),
                calls: 3,
                incl_ns: line_ns,
                ..LineTime::default()
            })?;
            tables.push(Frame { id: 4, function: "grow".into(), file: None, line: None })?;
            tables.push(Stack { id: 9, parent_id: None, frame_id: 4, depth: 0 })?;
            tables.push(allocation(bytes))
        }))
    };
    let report = compare(&[profile(300, 64)], &[profile(600, 32)], &Options::default());
    let found: Vec<_> =
        report.rows.iter().map(|row| (row.kind, row.name.as_str(), row.line, row.verdict, row.change)).collect();
    let sums = (1600.0 - 1300.0) / 1300.0;
    assert_eq!(
        found,
        [
            (Kind::Name, "main::work", None, Verdict::Worse, found[0].4),
            (Kind::Line, "work.pl", Some(7), Verdict::Worse, Some(1.0)),
            (Kind::Memory, "grow", None, Verdict::Better, Some(-0.5)),
        ]
    );
    assert!(found[0].4.is_some_and(|change| (change - sums).abs() < 1e-9));
}

fn allocation(size_bytes: u64) -> Allocation<'static> {
    Allocation { ts_ns: 0, address: 16, size_bytes, stack_id: Some(9), fate: "live".into(), ..Allocation::default() }
}

fn fixture(path: &str) -> Trace {
    open(&traceloom_testkit::fixture(path), None, &traceloom_mapping::Options::default()).expect("the fixture opens")
}

#[test]
fn a_trace_does_not_differ_from_itself() {
    for path in ["easyprofiler/v210_nested_threads.prof", "wtf/wtf-js/js-mix.wtf-trace"] {
        let report = of_traces(&[fixture(path)], &[fixture(path)], &Options::default()).expect("it is read");
        assert!(!report.rows.is_empty(), "{path}");
        assert!(report.rows.iter().all(|row| row.verdict == Verdict::Same && row.change == Some(0.0)), "{path}");
    }
}

#[test]
fn names_match_across_formats() {
    let game = Any(source(|tables| tables.push(span(0, 0, "game#draw", 0, 1_000_000))));
    let before = [game, Any(Box::new(fixture("wtf/wtf-js/js-frames.wtf-trace")))];
    let (made, traced) = before.split_at(1);
    let report = compare(made, traced, &Options::default());
    let draw = report.rows.iter().find(|row| row.name == "game#draw").expect("both have it");
    assert_eq!(draw.after.map(|side| side.value), Some(6_500_000.0));
    assert_eq!(draw.verdict, Verdict::Worse);
}

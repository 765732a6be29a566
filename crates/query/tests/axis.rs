//! All consumers of a set of traces see each trace at the same time.

mod common;

use std::path::Path;

use traceloom_analysis::stats;
use traceloom_core::{Limits, Slice, Source, TimeRange};
use traceloom_mapping::{AxisOptions, Offset, Options as Reading, Trace, TraceSet};
use traceloom_model::{Filter, TableSource};
use traceloom_passes::{Reason, Roster, Timeline, pour};
use traceloom_query::{Options, Session};

use common::{LOG_SECOND, SAMPLE_BEGIN, SAMPLE_HZ};

const SECOND_NS: i64 = 1_000_000_000;

fn trace(name: &str, bytes: Vec<u8>) -> Trace {
    Trace::new(Path::new(name), Source::bytes(bytes), None, &Reading::default()).expect("it is a trace")
}

/// A capture of 120 frames, with processor ticks.
fn capture() -> Trace {
    let mut bytes = Vec::new();
    traceloom_easyprofiler::sample::write(&mut bytes, 120).expect("memory takes it");
    trace("game.prof", bytes)
}

/// A log of another second, with the counter at this value.
fn log(name: &str, second: i64, start_ticks: u64) -> Trace {
    trace(name, common::log_at(second, start_ticks, SAMPLE_HZ, &[(10_000, 1), (2_345_000, 2)]))
}

fn fixture(name: &str) -> Trace {
    traceloom_mapping::open(&common::fixture(name), None, &Reading::default()).expect("it is a trace")
}

/// First times of the traces in SQL.
fn first_times(session: &Session) -> Vec<i64> {
    // Rows are returned by partition, so traces are sorted by path.
    let rows = common::rows(session, "select first_ts_ns from traces order by path");
    rows.iter().map(|row| row.parse().expect("a number")).collect()
}

/// The traces of a source in an export.
fn roster(source: &dyn TableSource) -> Roster {
    let mut roster = Roster::new(source, &Slice::default(), &Limits::default()).expect("nothing is read");
    pour(source, &Filter::default(), Roster::wanted(), |table, batch| roster.take(table, batch)).expect("it is read");
    roster
}

/// Checks the offsets of these traces in all consumers; their paths are sorted. Returns the shifts and the reasons.
fn places(traces: impl Fn() -> [Trace; 2], offsets: &[(&str, i64)]) -> Vec<(i64, Reason)> {
    let offsets: Vec<_> =
        offsets.iter().map(|(path, offset_ns)| Offset { path: path.into(), offset_ns: *offset_ns }).collect();
    let axis = AxisOptions { offsets: offsets.clone(), is_automatic: true };
    let set = TraceSet::aligned(traces(), &axis).expect("facts can be read");
    let places: Vec<_> = set.axis().placements().iter().map(|place| (place.shift_ns, place.reason)).collect();

    // SQL.
    let session = |options: &Options| Session::new(traces().into(), Vec::new(), options).expect("the session starts");
    let raw = first_times(&session(&Options { is_aligned: false, ..Options::default() }));
    let aligned = session(&Options { offsets, ..Options::default() });
    let expected: Vec<i64> = raw.iter().zip(&places).map(|(first_ns, (shift_ns, _))| first_ns + shift_ns).collect();
    assert_eq!(first_times(&aligned), expected, "SQL");

    // Export.
    let roster = roster(&set);
    let timeline = Timeline::new(&roster);
    let at = |number: usize| roster.traces[number].first_ts_ns.map(|first_ns| timeline.at(first_ns) as i64);
    assert_eq!(at(1).zip(at(0)).map(|(one, other)| one - other), Some(expected[1] - expected[0]), "export");

    // Statistics of a range.
    let starts = "select ts_ns from spans order by ts_ns";
    for start_ns in common::rows(&aligned, starts).iter().step_by(97).map(|row| row.parse::<i64>().expect("a number")) {
        let range = TimeRange::between(start_ns, start_ns + SECOND_NS / 100);
        let options = stats::Options { range, ..stats::Options::default() };
        let report = stats::of_traces(set.placed(), &options).expect("they are read");
        let calls: u64 = report.spans.iter().map(|row| row.calls).sum();
        let sql = format!(
            "select count(dur_ns) from spans where ts_ns >= {start_ns} and ts_ns < {} and category <> 'frame' \
             and category <> 'range'",
            start_ns + SECOND_NS / 100
        );
        assert!(calls > 0 && common::rows(&aligned, &sql) == [calls.to_string()], "stats in {range:?}");
    }
    places
}

#[test]
fn a_capture_lies_beside_the_log_whose_counter_it_shares() {
    let pair = || [capture(), log("service.clog", LOG_SECOND, SAMPLE_BEGIN + SAMPLE_HZ / 10)];
    let expected = [(-SECOND_NS / 10, Reason::Counter { with: 1 }), (0, Reason::TimeOfDay)];
    assert_eq!(places(pair, &[]), expected);
}

#[test]
fn two_logs_lie_as_far_apart_as_their_clocks_say() {
    let pair = || [log("a.clog", LOG_SECOND, 5), log("b.clog", LOG_SECOND - 90, 7)];
    assert_eq!(places(pair, &[]), [(0, Reason::TimeOfDay), (-90 * SECOND_NS, Reason::TimeOfDay)]);
    // The clock takes precedence over a different counter.
    let pair = || [log("a.clog", LOG_SECOND, 5), log("b.clog", LOG_SECOND + 1, 5)];
    assert_eq!(places(pair, &[])[1], (SECOND_NS, Reason::TimeOfDay));
}

#[test]
fn profiles_of_other_formats_know_the_time_of_day_too() {
    let pair =
        || [fixture("memlyze/memlyze-0.1.0/small.mlyze"), fixture("nytprof/devel-nytprof-6.12/evals-c0.nytprof")];
    let places = places(pair, &[]);
    assert_eq!(places[0], (0, Reason::TimeOfDay));
    assert!(places[1].0 != 0 && places[1].1 == Reason::TimeOfDay, "{places:?}");
}

#[test]
fn traces_that_share_nothing_start_together() {
    let pair = || [capture(), log("service.clog", LOG_SECOND, SAMPLE_BEGIN + 3600 * SAMPLE_HZ)];
    assert_eq!(places(pair, &[]), [(0, Reason::Alone), (0, Reason::TimeOfDay)]);
}

#[test]
fn the_offset_of_the_user_wins() {
    let pair = || [capture(), log("service.clog", LOG_SECOND, SAMPLE_BEGIN + SAMPLE_HZ / 10)];
    let expected = [(7 * SECOND_NS, Reason::UserOffset), (0, Reason::TimeOfDay)];
    assert_eq!(places(pair, &[("game.prof", 7 * SECOND_NS)]), expected);
    let expected = [(59 * SECOND_NS / 10, Reason::Counter { with: 1 }), (6 * SECOND_NS, Reason::UserOffset)];
    assert_eq!(places(pair, &[("service.clog", 6 * SECOND_NS)]), expected);
}

#[test]
fn a_store_puts_its_traces_on_the_same_axis() {
    let traces = [capture(), log("service.clog", LOG_SECOND, SAMPLE_BEGIN + SAMPLE_HZ / 10)];
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("store");
    traceloom_query::store::write(&traces, &out, &Default::default(), &mut |_| {}).expect("the store can be written");
    let store = traceloom_query::store::Store::open(&out).expect("it can be read").expect("it is a store");
    let set = TraceSet::new(traces).expect("facts can be read");
    let facts = |source: &dyn TableSource| {
        let times =
            roster(source).traces.into_iter().map(|trace| (trace.trace_id, trace.first_ts_ns, trace.unix_origin_ns));
        let mut times: Vec<_> = times.collect();
        times.sort_unstable();
        times
    };
    assert_eq!(facts(&store), facts(&set));
    assert!(facts(&set).iter().any(|(_, first_ns, _)| first_ns.is_some_and(|first_ns| first_ns < 0)));
}

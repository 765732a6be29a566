//! Guarantees of a session: it reads no more than needed, stays within its memory limit, changes nothing, and explains
//! errors.

mod common;

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use traceloom_core::Source;
use traceloom_mapping::{Options as Reading, Trace};
use traceloom_query::{Failure, Offset, Options, Problem, Session, SqlRange, Stop, store};

fn sample(frames: u64) -> Vec<u8> {
    traceloom_easyprofiler::sample::write(Vec::new(), frames).expect("memory takes it")
}

fn trace(name: &str, source: Source) -> Trace {
    Trace::new(Path::new(name), source, None, &Reading::default()).expect("it is a trace")
}

fn session_of(traces: Vec<Trace>, options: &Options) -> Session {
    Session::new(traces, Vec::new(), options).expect("the session starts")
}

#[test]
fn a_limit_stops_the_parse() {
    let bytes = sample(200_000);
    let (len, read) = (bytes.len() as u64, Arc::new(AtomicU64::new(0)));
    let session = session_of(vec![trace("big.prof", Source::bytes(bytes).counted(&read))], &Options::default());
    read.store(0, Ordering::Relaxed);
    assert_eq!(common::rows(&session, "select name, dur_ns from spans limit 3").len(), 3);
    let for_three = read.load(Ordering::Relaxed);
    // Every thread reads ahead by a few turns.
    assert!(for_three < len / 4, "{for_three} of {len} bytes for three rows");
    // Dropping the result stops it as well.
    read.store(0, Ordering::Relaxed);
    let mut answer = session.ask("select name, dur_ns from spans").expect("a good question");
    assert!(answer.next().expect("rows").is_some());
    drop(answer);
    std::thread::sleep(std::time::Duration::from_millis(100));
    let for_one = read.load(Ordering::Relaxed);
    assert!(for_one < len / 2, "{for_one} of {len} bytes for one batch");
}

#[test]
fn a_plan_shows_what_is_pushed_down() {
    let session = session_of(vec![trace("a.prof", Source::bytes(sample(10)))], &Options::default());
    let plan = session
        .explain(
            "select name from spans where ts_ns between 5 and time_ns('1ms') and thread_id in (0, 1) and dur_ns > 3",
        )
        .expect("a good question");
    let scan = plan.lines().find(|line| line.contains("TraceExec")).expect("a scan");
    assert!(
        scan.contains("columns=[thread_id, ts_ns, dur_ns, name], ts_ns>=5, ts_ns<1000001, thread_id=[0, 1]"),
        "{scan}"
    );
    let plan = session.explain("select count(*) from spans").expect("a good question");
    assert!(plan.contains("columns=[]"), "{plan}");
}

#[test]
fn a_filter_changes_no_answer() {
    let session = session_of(vec![trace("a.prof", Source::bytes(sample(50)))], &Options::default());
    let all = common::rows(&session, "select thread_id, ts_ns, id from spans order by 1, 2, 3");
    let inside = |line: &&String| {
        let cells: Vec<i64> = line.split(" | ").map(|cell| cell.parse().expect("a number")).collect();
        cells[0] == 0 && (100_000_000..200_000_000).contains(&cells[1])
    };
    let expected: Vec<_> = all.iter().filter(inside).cloned().collect();
    let sql = "select thread_id, ts_ns, id from spans where thread_id = 0 and ts_ns >= 100000000 and ts_ns < 200000000 order by 1, 2, 3";
    assert!(!expected.is_empty() && expected.len() < all.len());
    assert_eq!(common::rows(&session, sql), expected);
}

#[test]
fn sorting_and_joining_stay_within_their_memory() {
    let options = Options { memory_bytes: 24 << 20, threads: Some(2), ..Options::default() };
    let session = session_of(vec![trace("a.prof", Source::bytes(sample(20_000)))], &options);
    let count = common::rows(&session, "select count(*) from spans");
    assert_eq!([common::rows(&session, "select * from spans order by dur_ns, id").len().to_string()], *count);
    assert_eq!(common::rows(&session, "select count(*) from (select id, max(dur_ns) from spans group by id)"), count);
    // One side of this join exceeds the memory limit.
    assert_eq!(
        common::rows(&session, "select count(*) from spans a join spans b on a.id = b.id and a.trace_id = b.trace_id"),
        count
    );
    let tight = Options { memory_bytes: 1 << 20, threads: Some(1), ..Options::default() };
    let session = session_of(vec![trace("a.prof", Source::bytes(sample(20_000)))], &tight);
    let error = common::answer(&session, "select percentile(dur_ns, 0.5) from spans").expect_err("too much");
    assert!(error.starts_with("the query exceeds its memory limit of 1 MB"), "{error}");
}

#[test]
fn grouping_by_a_name_is_grouping_by_its_text() {
    let names = [
        "easyprofiler/v210_nested_threads.prof",
        "easyprofiler/v210_dynamic_names.prof",
        "nytprof/devel-nytprof-6.12/evals-c0.nytprof",
    ];
    let session = common::session(&names);
    for (table, key) in [("spans", "name"), ("spans", "file"), ("spans", "category, file"), ("calls", "caller")] {
        // The result of an expression on a name is not a name.
        let texts = key.split(", ").map(|key| format!("concat({key}, '')")).collect::<Vec<_>>().join(", ");
        let counts =
            |keys: &str| format!("select {keys}, count(*) as n, min(id) from {table} group by {keys} order by n, 1");
        let by_name = common::rows(&session, &counts(key));
        let mut expected = common::rows(&session, &counts(&texts));
        assert!(!by_name.is_empty());
        let (mut by_name, nulls) = (by_name, |row: &String| row.starts_with("NULL"));
        // `concat` turns NULL into an empty string, and both are shown as nothing.
        assert_eq!(by_name.iter().filter(|row| nulls(row)).count(), expected.iter().filter(|row| nulls(row)).count());
        by_name.sort();
        expected.sort();
        assert_eq!(by_name, expected, "{key}");
    }
    assert_eq!(
        common::rows(&session, "select count(*) from (select distinct name from spans)"),
        common::rows(&session, "select count(distinct name) from spans"),
    );
}

#[test]
fn percentiles_are_exact() {
    let traces = || vec![trace("a.prof", Source::bytes(sample(700))), trace("b.prof", Source::bytes(sample(901)))];
    for threads in [1, 4] {
        let session = session_of(traces(), &Options { threads: Some(threads), ..Options::default() });
        let lines = common::rows(&session, "select dur_ns from spans where name = 'Draw'");
        let mut samples: Vec<f64> = lines.iter().map(|line| line.parse().expect("a number")).collect();
        samples.sort_by(f64::total_cmp);
        for share in [0.0, 0.25, 0.5, 0.99, 1.0] {
            let place = share * (samples.len() - 1) as f64;
            let (below, above) = (samples[place.floor() as usize], samples[place.ceil() as usize]);
            let expected = below + (above - below) * place.fract();
            let whole = format!("select percentile(dur_ns, {share}) from spans where name = 'Draw'");
            let grouped = format!("select percentile(dur_ns, {share}) from spans group by name having name = 'Draw'");
            for sql in [whole, grouped] {
                let actual: f64 = common::rows(&session, &sql)[0].parse().expect("a number");
                assert!((actual - expected).abs() < 1e-6, "{sql}: {actual}, not {expected}");
            }
        }
    }
}

#[test]
fn only_questions_are_allowed() {
    let session = session_of(vec![trace("a.prof", Source::bytes(sample(1)))], &Options::default());
    for sql in [
        "create table x as select 1",
        "create view x as select 1",
        "create external table x stored as csv location '/etc/passwd'",
        "drop table spans",
        "insert into spans select * from spans",
        "delete from spans",
        "copy (select 1) to '/tmp/x.csv'",
        "set datafusion.execution.batch_size = 1",
        "explain analyze insert into spans select * from spans",
    ] {
        match session.ask(sql) {
            Err(Failure::Query(problem)) => assert!(problem.message.contains("only queries"), "{sql}: {problem}"),
            other => panic!("{sql}: {other:?}"),
        }
    }
    assert!(!common::rows(&session, "show tables").is_empty());
    assert!(!common::rows(&session, "describe spans").is_empty());
    assert!(!common::rows(&session, "explain select 1").is_empty());
}

fn problem(session: &Session, sql: &str) -> Problem {
    match session.ask(sql).map(|mut answer| answer.next()) {
        Err(Failure::Query(problem)) | Ok(Err(Failure::Query(problem))) => *problem,
        other => panic!("{sql}: {other:?}"),
    }
}

#[test]
fn mistakes_are_marked_and_mended() {
    let session = session_of(vec![trace("a.prof", Source::bytes(sample(1)))], &Options::default());
    let place = |line, column, end_column| Some(SqlRange { line, column, end_column });
    let cases = [
        ("select nmae from spans", place(1, 8, 12), "no column 'nmae'", "`name`"),
        ("select name\nfrom span", place(2, 6, 10), "no table 'span'", "`spans`"),
        ("select name from spans group by nme", place(1, 33, 36), "no column 'nme'", "`name`"),
        ("select persentile(dur_ns, 0.5) from spans", place(1, 8, 18), "no function 'persentile'", "`percentile`"),
        ("select name from spans wher x", place(1, 29, 30), "Expected", ""),
        ("select sum(name) from spans", place(1, 8, 11), "'sum' does not accept these arguments: sum(name)", ""),
        ("select 'abc from spans", place(1, 8, 9), "Unterminated", ""),
        ("select * from spans_at('soon')", None, "'soon' is not a time", ""),
        ("select percentile(dur_ns, 2) from spans", None, "the second argument of percentile", ""),
        ("select * from descendant(1)", None, "no function 'descendant'", "`descendants`"),
    ];
    for (sql, place, message, help) in cases {
        let problem = problem(&session, sql);
        assert!(problem.message.contains(message), "{sql}: {problem}");
        assert!(problem.help.join(" ").contains(help), "{sql}: {problem}");
        if place.is_some() {
            assert_eq!(problem.place, place, "{sql}: {problem}");
        }
        let shown = problem.to_string().to_lowercase();
        assert!(!shown.contains("bug") && !shown.contains("datafusion"), "{sql}: {problem}");
    }
}

#[test]
fn one_trace_twice_is_one_trace() {
    let twice = || vec![trace("a.prof", Source::bytes(sample(5))), trace("copy.prof", Source::bytes(sample(5)))];
    let session = session_of(twice(), &Options::default());
    assert_eq!(common::rows(&session, "select path from traces"), ["a.prof"]);
    let two = vec![trace("a.prof", Source::bytes(sample(5))), trace("b.prof", Source::bytes(sample(6)))];
    let session = session_of(two, &Options::default());
    let counts = common::rows(
        &session,
        "select t.path, count(*) from traces t join spans s on s.trace_id = t.trace_id group by 1 order by 1",
    );
    assert_eq!(counts.len(), 2, "{counts:?}");
}

#[test]
fn times_move_and_moments_stay() {
    let files = || vec![trace("a.prof", Source::bytes(sample(5)))];
    let facts = "select min(ts_ns), max(ts_ns) from spans";
    let origin = "select start_native_ns + first_ts_ns, start_native_ns, start_ticks, clock_hz from traces";
    let (plain, moved) = (
        session_of(files(), &Options::default()),
        session_of(
            files(),
            &Options { offsets: vec![Offset { path: "a.prof".into(), offset_ns: -1_000_000 }], ..Options::default() },
        ),
    );
    let numbers = |session: &Session, sql| -> Vec<i64> {
        common::rows(session, sql)[0].split(" | ").map(|cell| cell.parse().expect("a number")).collect()
    };
    let (before, after) = (numbers(&plain, facts), numbers(&moved, facts));
    assert_eq!(after, before.iter().map(|ts_ns| ts_ns - 1_000_000).collect::<Vec<_>>());
    let (before, after) = (numbers(&plain, origin), numbers(&moved, origin));
    assert_eq!(after, [before[0], before[1] + 1_000_000, before[2] + 10_000, before[3]]);
    // Bounds are times on the user's axis.
    let first = numbers(&moved, facts)[0];
    assert_eq!(numbers(&moved, &format!("select count(*) from spans where ts_ns <= {first}")), [1]);
    let unknown = Options { offsets: vec![Offset { path: "b.prof".into(), offset_ns: 1 }], ..Options::default() };
    assert!(Session::new(files(), Vec::new(), &unknown).is_err());
}

#[test]
fn a_capture_and_a_log_of_one_run_share_an_axis() {
    let capture = || trace("game.prof", Source::bytes(sample(120)));
    let begin = common::SAMPLE_BEGIN + 1_000_000;
    let log = |hz, begin| trace("service.clog", Source::bytes(common::log(begin, hz, &[(10_000, 1), (2_345_000, 2)])));
    let session = session_of(vec![capture(), log(common::SAMPLE_HZ, begin)], &Options::default());
    let [known] = session.alignments() else { panic!("{:?}", session.alignments()) };
    // The origin of the log is its start; the capture started a tenth of a second earlier.
    assert_eq!((known.shift_ns, known.with.as_deref()), (-100_000_000, Some(Path::new("service.clog"))));
    let sql = "select l.message, s.ts_ns <= l.ts_ns and l.ts_ns < s.ts_ns + s.dur_ns, s.id from logs l \
               join spans s on s.ts_ns <= l.ts_ns and l.ts_ns < s.ts_ns + s.dur_ns and s.name = 'Frame' order by 1";
    let rows = common::rows(&session, sql);
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_eq!(
        common::rows(&session, "select count(unix_origin_ns), count(distinct unix_origin_ns) from traces"),
        ["2 | 1"]
    );
    // Alone, on another machine, or hours apart, nothing is shifted.
    let alone = Options { is_aligned: false, ..Options::default() };
    assert!(session_of(vec![capture(), log(common::SAMPLE_HZ, begin)], &alone).alignments().is_empty());
    for other in [log(common::SAMPLE_HZ * 2, begin), log(common::SAMPLE_HZ, begin + 3600 * common::SAMPLE_HZ)] {
        assert!(session_of(vec![capture(), other], &Options::default()).alignments().is_empty());
    }
}

#[test]
fn a_store_answers_like_its_traces() {
    let names = [
        "easyprofiler/v210_nested_threads.prof",
        "nytprof/devel-nytprof-6.12/evals-c0.nytprof",
        "cnanolog/head_server.clog",
        "memlyze/memlyze-0.1.0-encoder/api_small.mlyze",
        "wtf/wtf-js/js-mix.wtf-trace",
    ];
    let open = |name: &&str| {
        traceloom_mapping::open(&common::fixture(name), None, &Reading::default()).expect("it is a trace")
    };
    let traces: Vec<Trace> = names.iter().map(open).collect();
    let folder = tempfile::tempdir().expect("a temporary folder");
    store::write(&traces[..4], folder.path(), &store::Options::default(), &mut |_| {})
        .expect("the store can be written");
    let paths = |names: &[&str]| names.iter().map(common::fixture).collect::<Vec<_>>();
    // Traces in a store keep their own times.
    let apart = Options { is_aligned: false, ..Options::default() };
    let raw = Session::open(&paths(&names), &apart).expect("the session starts");
    // One trace is not in the store; another one is given in addition to the store and counts once.
    let mixed = [vec![folder.path().to_owned()], paths(&names[3..])].concat();
    let mixed = Session::open(&mixed, &apart).expect("the session starts");
    let mut questions: Vec<String> = raw
        .relations()
        .iter()
        .map(|relation| {
            format!(
                "select trace_id, count(*), min(id), max(id) from {} group by trace_id order by trace_id",
                relation.name
            )
        })
        .collect();
    questions.extend(
        [
            "select name, count(*), sum(dur_ns), sum(self_ns) from spans group by name order by 2 desc, 1",
            "select name, ts_ns, file from spans where ts_ns between 1000 and 200000 order by trace_id, ts_ns, id",
            "select level_name, percentile(ts_ns, 0.5), count(*) from logs group by level_name order by 1",
            "select name, distance from ancestors(2) order by trace_id, distance",
            "select unix_time(trace_id, ts_ns), message from logs order by id limit 5",
        ]
        .map(str::to_owned),
    );
    for sql in questions {
        assert_eq!(common::rows(&mixed, &sql), common::rows(&raw, &sql), "{sql}");
    }
    let plan = mixed.explain("select name from spans where ts_ns < 5").expect("a good question");
    assert!(plan.contains("UnionExec") && plan.contains("pruning_predicate=ts_ns"), "{plan}");
}

#[test]
fn a_wait_for_rows_can_be_ended() {
    let session = session_of(vec![trace("a.prof", Source::bytes(sample(10)))], &Options::default());
    let endless = "select count(*) from generate_series(1, 3000000) a, generate_series(1, 3000000) b where a.value * b.value % 7 = 3";
    let (stop, begun) = (Stop::default(), std::time::Instant::now());
    let mut answer = session.ask(endless).expect("it can be planned");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(300));
            stop.stop();
        });
        assert!(answer.next_unless(&stop).expect("a stop is no failure").is_none());
    });
    assert!(stop.is_stopped() && begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
    drop(answer);
    let mut next = session.ask("select 1").expect("it can be planned");
    assert!(next.next_unless(&stop).expect("a stop is no failure").is_none(), "it stays ended");
    assert_eq!(common::rows(&session, "select 1"), ["1"]);
}

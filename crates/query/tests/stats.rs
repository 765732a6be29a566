//! SQL and `stats` return the same figures.

mod common;

use std::collections::BTreeMap;

use traceloom_analysis::stats;
use traceloom_mapping::Options as Reading;

/// Median, 95th and 99th percentile by name.
type Quantiles = BTreeMap<String, [f64; 3]>;

fn by_stats(name: &str) -> Quantiles {
    let trace = traceloom_mapping::open(&common::fixture(name), None, &Reading::default()).expect("it opens");
    let report = stats::of_traces([&trace], &stats::Options::default()).expect("it is read");
    let spans = report.spans.into_iter().filter(|row| row.category.is_none() && row.calls > 0);
    let quantiles = |row: stats::SpanRow| {
        let [p50, p95, p99] = [row.p50_ns, row.p95_ns, row.p99_ns].map(|quantile| quantile.expect("all samples fit"));
        (row.name, [p50, p95, p99])
    };
    spans.map(quantiles).collect()
}

fn by_sql(name: &str) -> Quantiles {
    let session = common::session(&[name]);
    let sql = "select percentile(dur_ns, 0.5), percentile(dur_ns, 0.95), percentile(dur_ns, 0.99), name from spans \
               where category not in ('frame', 'range') group by name having count(dur_ns) > 0";
    let row = |row: &String| {
        let mut cells = row.splitn(4, " | ");
        let quantiles = [(); 3].map(|()| cells.next().and_then(|cell| cell.parse().ok()).expect("a number"));
        let name = cells.next().expect("a name");
        (if name == "NULL" { String::new() } else { name.to_owned() }, quantiles)
    };
    common::rows(&session, sql).iter().map(row).collect()
}

#[test]
fn quantiles_of_sql_are_those_of_stats() {
    let mut names = 0;
    for fixture in [
        "easyprofiler/v210_nested_threads.prof",
        "easyprofiler/v210_dynamic_names.prof",
        "nytprof/devel-nytprof-6.12/xsops-c0.nytprof",
        "wtf/wtf-js/js-mix.wtf-trace",
        "wtf/wtf-cpp/cpp-frames.wtf-trace",
    ] {
        let (stats, sql) = (by_stats(fixture), by_sql(fixture));
        assert_eq!(stats, sql, "{fixture}");
        names += stats.len();
    }
    assert!(names > 30, "{names} names");
}

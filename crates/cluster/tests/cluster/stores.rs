//! Stores of `convert --to parquet`, alone and together with traces.

use std::{fs, path::PathBuf};

use traceloom_query::{store, trace};
use traceloom_testkit::fixture;

use crate::{
    BY_NAME,
    support::{
        Cluster, SAMPLE,
        corpus::BUCKET,
        embedded, file_url,
        s3::{ObjectStore, SECRET},
    },
};

static QUERIES: &[&str] = &[
    BY_NAME,
    "select t.format, count(*), min(s.ts_ns), max(s.depth) from traces t join spans s on s.trace_id = t.trace_id group by t.format",
    "select level_name, count(*), min(message) from logs group by level_name",
    "select trace_id, name, distance from ancestors(3)",
    "select trace_id, unix_time(trace_id, first_ts_ns) from traces",
    "select count(*) from spans where ts_ns > 1000000",
];

#[test]
fn stores_and_traces_together_give_the_same_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let bucket = folder.path().join(BUCKET);
    let [store, raw] = ["store", "raw"].map(|name| bucket.join(name));
    fs::create_dir_all(&raw).expect("the folder is ours");
    let stored = [SAMPLE, "cnanolog/head_server.clog"].map(|name| trace(&fixture(name), None, &Default::default()));
    let stored = stored.map(|trace| trace.expect("a fixture is a trace"));
    store::write(&stored, &store, &store::Options::default(), &mut |_| {}).expect("it can be written");
    for name in ["easyprofiler/document/real_210.prof", "wtf/hand-made/hc-truncated-chunk.wtf-trace"] {
        let name = fixture(name);
        fs::copy(&name, raw.join(name.file_name().expect("a file"))).expect("the folder is ours");
    }
    let object_store = ObjectStore::start(folder.path());
    let cluster = Cluster::start_with(2, object_store.environment(SECRET));
    let object = |name: &str| PathBuf::from(format!("s3://{BUCKET}/{name}/"));
    for sql in QUERIES {
        for (inputs, urls) in [
            (vec![&store], vec![file_url(&store)]),
            (vec![&store], vec![object("store")]),
            (vec![&store, &raw], vec![file_url(&store), file_url(&raw)]),
            (vec![&store, &raw], vec![object("store"), object("raw")]),
        ] {
            let inputs: Vec<PathBuf> = inputs.into_iter().cloned().collect();
            let expected = embedded(&inputs, sql);
            assert!(expected.as_ref().is_ok_and(|rows| !rows.is_empty()), "{sql} {expected:?}");
            assert_eq!(cluster.ask(&urls, sql), expected, "{sql} {urls:?}");
        }
    }
}

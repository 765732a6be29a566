//! Inputs that cannot be read: one sentence with the URL.

use std::{
    fs,
    path::{Path, PathBuf},
};

use traceloom_fleet::ingest;
use traceloom_testkit::{files, fixture};

use crate::{
    support::{
        Cluster, SAMPLE,
        corpus::BUCKET,
        embedded, file_url, finish,
        s3::{ObjectStore, SECRET},
    },
    urls::the_program_reads_the_same_urls,
};

#[test]
fn a_trace_that_cannot_be_read_is_one_sentence() {
    let cluster = Cluster::start(1);
    let folder = tempfile::tempdir().expect("a folder");
    let broken = folder.path().join("broken.prof");
    fs::write(&broken, "no trace").expect("the folder is ours");
    let sql = "select count(*) from spans";
    let error = cluster.ask(&[file_url(&broken)], sql).expect_err("it is not a trace");
    assert!(is_sentence_about(&error, broken.to_str().expect("text")), "{error}");
    // In a folder it is skipped and reported, and the result has the rows of the other files.
    fs::copy(fixture(SAMPLE), folder.path().join("good.prof")).expect("the folder is ours");
    let folder = vec![folder.path().to_owned()];
    assert_eq!(cluster.ask(&folder, sql), embedded(&folder, sql));
    let output = cluster.query(&folder, sql).output().expect("the program starts");
    assert!(String::from_utf8_lossy(&output.stderr).contains("1 file is not a trace"), "{output:?}");
    let unreachable = PathBuf::from("http://127.0.0.1:9/a.prof");
    let error = cluster.ask(&[unreachable], sql).expect_err("nobody listens there");
    assert!(is_sentence_about(&error, "http://127.0.0.1:9/a.prof"), "{error}");
    let error = cluster.ask(&[fixture(SAMPLE)], "select nothing from spans").expect_err("there is no such column");
    assert!(error.contains("no column 'nothing'"), "{error}");
}

fn is_sentence_about(error: &str, url: &str) -> bool {
    error.contains(url) && error.lines().count() == 1
}

#[test]
fn wrong_credentials_and_missing_objects_are_one_sentence() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join(BUCKET)).expect("the folder is ours");
    fs::copy(fixture(SAMPLE), folder.path().join(BUCKET).join("sample.prof")).expect("the folder is ours");
    let store = ObjectStore::start(folder.path());
    let url = format!("s3://{BUCKET}/sample.prof");
    let sql = "select count(*) from spans";
    let wrong = "a wrong secret";
    // The first wrong secret is that of the executor, the second one that of the client.
    for (executor, client) in [(wrong, SECRET), (SECRET, wrong)] {
        let cluster = Cluster::start_with(1, store.environment(executor));
        let mut query = cluster.query(&[PathBuf::from(&url)], sql);
        query.envs(store.environment(client));
        let error = finish(query.spawn().expect("the program starts")).expect_err("a secret is wrong");
        assert!(is_sentence_about(&error, &url) && error.contains("check the credentials"), "{error}");
    }
    let cluster = Cluster::start_with(1, store.environment(SECRET));
    let missing = format!("s3://{BUCKET}/missing.prof");
    let error = cluster.ask(&[PathBuf::from(&missing)], sql).expect_err("there is none");
    assert!(is_sentence_about(&error, &missing), "{error}");
    let mut query = cluster.query(&[PathBuf::from(&url)], sql);
    query.env("AWS_ENDPOINT", "http://127.0.0.1:9");
    let error = finish(query.spawn().expect("the program starts")).expect_err("nobody listens there");
    assert!(is_sentence_about(&error, &url), "{error}");
    the_program_reads_the_same_urls(&store, &url);
}

/// A store of two traces below a root.
fn small_fleet(folder: &Path) -> PathBuf {
    let store = folder.join("fleet");
    let sources = [fixture(SAMPLE), fixture("easyprofiler/document/all_at_once_130.prof")];
    let report = ingest(&sources, &store, &traceloom_fleet::Options::default(), &mut |_| {}).expect("a store");
    assert!(report.added == 2, "{report:?}");
    store
}

const OF_FLEET: &str = "select name, count(*), sum(dur_ns) from spans group by name";

#[test]
fn wrong_credentials_for_a_store_are_one_sentence() {
    let folder = tempfile::tempdir().expect("a folder");
    let local = small_fleet(&folder.path().join(BUCKET));
    let store = ObjectStore::start(folder.path());
    let url = format!("s3://{BUCKET}/fleet/");
    let wrong = "a wrong secret";
    let ask = |client, executor| {
        // The client reads the list of files, and the executors read the files; the scheduler needs no access.
        let cluster = Cluster::start_as(1, store.environment(wrong), store.environment(executor));
        let mut query = cluster.query(&[PathBuf::from(&url)], OF_FLEET);
        query.envs(store.environment(client));
        finish(query.spawn().expect("the program starts"))
    };
    for (client, executor, place) in [(wrong, SECRET, ""), (SECRET, wrong, "spans")] {
        let error = ask(client, executor).expect_err("a secret is wrong");
        let is_named = is_sentence_about(&error, &format!("{url}{place}"));
        assert!(is_named && error.contains("check the credentials"), "{error}");
    }
    assert_eq!(ask(SECRET, SECRET), embedded(&[local], OF_FLEET));
}

#[test]
fn damaged_stores_are_one_sentence() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = small_fleet(folder.path());
    let cluster = Cluster::start(1);
    let file = files(&store.join("spans")).expect("a folder").pop().expect("a file");
    let good = fs::read(&file).expect("a file");
    let ask = |what: &str, place: &str, reason: &str| {
        for place_of_store in [store.clone(), file_url(&store)] {
            let inputs = [place_of_store];
            for outcome in [cluster.ask(&inputs, OF_FLEET), embedded(&inputs, OF_FLEET)] {
                let error = outcome.expect_err(what);
                assert!(is_sentence_about(&error, place) && error.contains(reason), "{what}: {error}");
            }
        }
    };
    let name = file.to_str().expect("text");
    fs::write(&file, &good[..good.len() - 100]).expect("the folder is ours");
    ask("it is cut", name, "shorter than expected");
    fs::write(&file, vec![0; good.len()]).expect("the folder is ours");
    ask("it is empty", name, "not a Parquet file, or damaged");
    let mut damaged = good.clone();
    damaged[4..good.len() / 2].fill(0xff);
    fs::write(&file, damaged).expect("the folder is ours");
    ask("its pages are damaged", store.to_str().expect("text"), "a Parquet file of the store cannot be read");
    fs::write(&file, good).expect("the folder is ours");
    let inputs = [store];
    assert_eq!(cluster.ask(&inputs, OF_FLEET), embedded(&inputs, OF_FLEET));
}

//! Killed executors and schedulers.

use std::{
    io::{BufRead, BufReader},
    net::TcpStream,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant, SystemTime},
};

use traceloom_testkit::{files, fixture};

use crate::{
    BY_NAME, difference,
    support::{self, Cluster, SAMPLE, answer, corpus::Corpus, embedded, file_url, finish, processes::is_busy},
};

/// Number of executors to kill while they run a task.
const KILLS: usize = 20;
/// Max number of queries; some end before the moment of the kill.
const MAX_QUERIES: usize = 4 * KILLS;

#[test]
fn a_killed_executor_changes_no_answer() {
    let corpus = Corpus::new();
    let inputs = [file_url(&corpus.folder())];
    let expected = answer(&corpus.session(), BY_NAME);
    let mut cluster = Cluster::start(2);
    let started = Instant::now();
    assert!(cluster.ask(&inputs, BY_NAME) == expected, "without a kill");
    // Any moment of the query, from the first trace that the client opens to the last row.
    let undisturbed = started.elapsed();
    let mut kills = 0;
    for round in 0..MAX_QUERIES {
        let mut client = cluster.query(&inputs, BY_NAME).spawn().expect("the program starts");
        let wait = undisturbed.mul_f64(random_share());
        thread::sleep(wait);
        if let Some(executor) = await_task(&cluster, &mut client) {
            cluster.kill_executor(executor);
            cluster.add_executor();
            kills += 1;
        }
        let rows = finish(client);
        assert!(rows == expected, "round {round}, killed after {wait:?}: {:?}", rows.err());
        if kills == KILLS {
            return;
        }
    }
    panic!("only {kills} executors were killed while they ran a task");
}

/// Waits until an executor runs a task, and returns its number; `None` if the query ends before.
fn await_task(cluster: &Cluster, client: &mut Child) -> Option<usize> {
    while client.try_wait().expect("it was started").is_none() {
        if let Some(busy) = cluster.executors.iter().position(is_busy) {
            return client.try_wait().expect("it was started").is_none().then_some(busy);
        }
    }
    None
}

fn random_share() -> f64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    f64::from(now.subsec_micros() % 1000) / 1000.0
}

#[test]
fn a_scheduler_that_is_restarted_answers() {
    let corpus = Corpus::new();
    // Enough tasks for a kill between them.
    let inputs: Vec<_> = files(&corpus.folder()).expect("a folder").into_iter().take(40).collect();
    let expected = embedded(&inputs, BY_NAME).expect("an answer");
    let mut cluster = Cluster::start(2);
    let check = |rows: Result<Vec<String>, String>, what: &str| {
        assert!(rows.as_ref() == Ok(&expected), "{what}: {}", difference(&rows, &expected));
    };
    let started = Instant::now();
    check(cluster.ask(&inputs, BY_NAME), "without a kill");
    let undisturbed = started.elapsed();
    cluster.kill_scheduler();
    let error = cluster.ask(&inputs, BY_NAME).expect_err("nobody listens there");
    assert!(error.contains("cannot reach the scheduler") && error.lines().count() == 1, "{error}");
    // The executors register again.
    cluster.start_scheduler();
    check(cluster.ask(&inputs, BY_NAME), "after a restart");
    let mut is_late = true;
    for share in [0.9, 0.6, 0.3] {
        let mut client = cluster.query(&inputs, BY_NAME).spawn().expect("the program starts");
        thread::sleep(undisturbed.mul_f64(share));
        is_late &= client.try_wait().expect("it was started").is_some();
        cluster.kill_scheduler();
        thread::sleep(Duration::from_secs(1));
        cluster.start_scheduler();
        check(finish(client), &format!("killed after {share} of a query"));
    }
    assert!(!is_late, "all queries had ended before the kill");
}

#[test]
fn a_cluster_on_one_machine_answers_and_ends_with_its_parent() {
    let mut command = Command::new(support::PROGRAM);
    command.args(["local", "2", "--port", "0", "--with-parent"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut cluster = command.spawn().expect("the program starts");
    let mut url = String::new();
    let out = cluster.stdout.take().expect("a pipe");
    BufReader::new(out).read_line(&mut url).expect("it prints its URL when it is ready");
    let (inputs, sql) = ([fixture(SAMPLE)], "select name, count(*) from spans group by name");
    let mut query = support::client(url.trim(), &inputs, sql);
    let rows = finish(query.spawn().expect("the program starts"));
    let expected = embedded(&inputs, sql);
    drop(cluster.stdin.take());
    assert!(cluster.wait().expect("it was started").success());
    assert_eq!(rows, expected);
    let address = url.trim().trim_start_matches("http://").to_owned();
    let end = Instant::now() + Duration::from_secs(20);
    while TcpStream::connect(&address).is_ok() {
        assert!(Instant::now() < end, "the scheduler outlives its parent");
        thread::sleep(Duration::from_millis(50));
    }
}

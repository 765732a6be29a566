//! A query that mostly reads, in this process with one thread and on clusters of one and of two executors with one slot each.
//!
//! The clusters are processes of the program `traceloom-cluster`, whose path is the argument, on this machine. Times are wall
//! times from the start of the client, or from opening the traces in this process, to the last row. A slot and the engine in
//! this process do the same work on the same threads: one reads a trace, another one groups its rows.

use std::{
    fs::File,
    io::{BufRead, BufReader, BufWriter},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use traceloom_core::{Error, Result};
use traceloom_query::{Options, Session};

use crate::{easyprofiler, measure::at_least, query::answered};

const FILES: u64 = 40;
const SPANS: u64 = 3_000_000;
/// One frame more per file: the same trace is read once only.
const SPANS_PER_FRAME: u64 = 19;
const SQL: &str = "select name, count(*), sum(dur_ns), sum(self_ns), max(depth) from spans group by name";
/// The best of these counts, because other programs only ever add time.
const ROUNDS: usize = 5;

pub(crate) fn run(program: &str) -> Result<bool> {
    let folder = tempfile::tempdir()?;
    let mut bytes = 0;
    for number in 0..FILES {
        let path = folder.path().join(format!("{number:02}.prof"));
        easyprofiler::make(BufWriter::new(File::create(&path)?), SPANS + number * SPANS_PER_FRAME)?;
        bytes += path.metadata()?.len();
    }
    println!("cluster: {FILES} files, {} MB", bytes / 1_000_000);
    let inputs = [folder.path().to_owned()];
    let embedded = best(|| {
        let session = Session::open(&inputs, &Options { threads: Some(1), ..Options::default() })?;
        answered(&session, SQL).map(drop)
    })?;
    let one = on_cluster(program, 1, &inputs[0])?;
    let two = on_cluster(program, 2, &inputs[0])?;
    for (what, time) in [("embedded, one thread", embedded), ("one executor", one), ("two executors", two)] {
        let rate = bytes as f64 / 1e6 / time.as_secs_f64();
        println!("  {what:<24} {:>7.2} s  {rate:>7.0} MB/s", time.as_secs_f64());
    }
    Ok(at_least("two executors", one.div_duration_f64(two), "x one", 1.7))
}

fn best(mut work: impl FnMut() -> Result<()>) -> Result<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let started = Instant::now();
        work()?;
        best = best.min(started.elapsed());
    }
    Ok(best)
}

fn on_cluster(program: &str, executors: u16, input: &Path) -> Result<Duration> {
    let cluster = Cluster::start(program, executors)?;
    best(|| {
        let mut query = Command::new(program);
        query.args(["query", "--cluster", &cluster.url]).arg(input).arg(SQL).stdout(Stdio::null());
        let status = query.status()?;
        if status.success() { Ok(()) } else { Err(Error::unsupported(format!("the query failed: {status}"))) }
    })
}

/// Ends when it is dropped, because its standard input ends then.
struct Cluster {
    child: Child,
    url: String,
}

impl Cluster {
    fn start(program: &str, executors: u16) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(["local", &executors.to_string(), "--slots", "1", "--port", "0", "--with-parent"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| Error::from(error).in_file(PathBuf::from(program)))?;
        let mut url = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut url)?;
        }
        Ok(Self { child, url: url.trim().to_owned() })
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // It ends by itself; nothing can be done if it does not.
        let _ = self.child.wait();
    }
}

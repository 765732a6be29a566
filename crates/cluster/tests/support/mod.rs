//! Queries, their results as lines, and clusters of processes.

// Each test file uses only a part of it.
#![allow(dead_code, unreachable_pub)]

pub mod corpus;
pub mod http;
pub mod processes;
pub mod s3;

use std::{
    io::Write,
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use traceloom_fleet::ingest;
use traceloom_query::{Format, Options, Session, Writer};
use traceloom_testkit::{
    fixture,
    made::{SAMPLE_BEGIN, SAMPLE_HZ, log},
};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_traceloom-cluster");

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A capture of three threads.
pub const SAMPLE: &str = "easyprofiler/document/all_at_once_210.prof";

/// The queries of a page, which may be several in one block.
pub fn queries(page: &str) -> Vec<String> {
    let page = std::fs::read_to_string(root().join(page)).expect("the page is there");
    let blocks = page.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next());
    let queries = blocks.flat_map(|block| block.split(";\n")).map(|query| query.trim().to_owned());
    queries.filter(|query| !query.is_empty()).collect()
}

/// The queries of `docs/sql.md`, with the traces that each is about, some of which are made in this folder.
pub fn examples(made: &Path) -> Vec<(Vec<PathBuf>, String)> {
    let [game, service] = ["game.prof", "service.clog"].map(|name| made.join(name));
    std::fs::write(&game, traceloom_easyprofiler::sample::sample().expect("a sample").bytes).expect("it is ours");
    let log = log(SAMPLE_BEGIN + 1_000_000, SAMPLE_HZ, &[(10_000, 1), (2_345_000, 2)]);
    std::fs::write(&service, log).expect("it is ours");
    let page = std::fs::read_to_string(root().join("docs/sql.md")).expect("the page is there");
    let (mut files, mut found) = (Vec::new(), Vec::new());
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(names) = line.strip_prefix("<!-- open ").and_then(|rest| rest.strip_suffix(" -->")) {
            files = match names {
                "sample" => vec![game.clone()],
                "run" => vec![game.clone(), service.clone()],
                names => names.split_whitespace().map(fixture).collect(),
            };
        }
        if line == "```sql" {
            let sql: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            found.push((files.clone(), sql.join("\n")));
        }
    }
    assert!(found.len() > 10, "{}", found.len());
    found
}

/// A fleet store of one trace.
pub fn fleet(store: &Path, trace: &Path) -> PathBuf {
    let tags = [("host", "web1"), ("build", "4.1")].map(|(column, value)| (column.to_owned(), value.to_owned()));
    let options = traceloom_fleet::Options { tags: tags.into(), ..Default::default() };
    let report = ingest(&[trace.to_owned()], store, &options, &mut |_| {}).expect("it can be written");
    assert_eq!(report.added, 1, "{report:?}");
    store.to_owned()
}

/// A query without its limit, which is ambiguous if several rows are equal.
pub fn unlimited(sql: &str) -> &str {
    sql.split(" limit ").next().unwrap_or_default()
}

/// A local file or folder as a URL.
pub fn file_url(path: &Path) -> PathBuf {
    let folder = if path.is_dir() { "/" } else { "" };
    PathBuf::from(format!("file://{}{folder}", path.canonicalize().expect("it is there").display()))
}

/// The header and the sorted rows, from the embedded engine or another one in this process.
pub fn answer(session: &Session, sql: &str) -> Result<Vec<String>, String> {
    let mut answer = session.ask(sql).map_err(|failure| failure.to_string())?;
    let mut bytes = Vec::new();
    let mut writer = Writer::new(Format::Json, &answer.schema(), &mut bytes).map_err(|error| error.to_string())?;
    while let Some(batch) = answer.next().map_err(|failure| failure.to_string())? {
        writer.write(&batch).map_err(|error| error.to_string())?;
    }
    writer.finish().map_err(|error| error.to_string())?;
    Ok(sorted(&String::from_utf8_lossy(&bytes)))
}

pub fn embedded(inputs: &[PathBuf], sql: &str) -> Result<Vec<String>, String> {
    let session = Session::open(inputs, &Options::default()).map_err(|error| error.to_string())?;
    answer(&session, sql)
}

fn sorted(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// A scheduler and executors as processes, which end when this is dropped.
pub struct Cluster {
    port: u16,
    /// Variables of the executors and of clients.
    environment: Environment,
    /// Variables of the scheduler.
    of_scheduler: Environment,
    scheduler: Child,
    pub executors: Vec<Child>,
}

impl Cluster {
    pub fn start(executors: usize) -> Self {
        Self::start_with(executors, Vec::new())
    }

    pub fn start_with(executors: usize, environment: Environment) -> Self {
        Self::start_as(executors, environment.clone(), environment)
    }

    /// With other variables for the scheduler.
    pub fn start_as(executors: usize, of_scheduler: Environment, environment: Environment) -> Self {
        let port = free_port();
        let scheduler = scheduler(port, executors, &of_scheduler);
        let mut cluster = Self { port, environment, of_scheduler, scheduler, executors: Vec::new() };
        (0..executors).for_each(|_| cluster.add_executor());
        cluster.wait();
        cluster
    }

    pub fn kill_scheduler(&mut self) {
        self.scheduler.kill().expect("it runs");
        self.scheduler.wait().expect("it was killed");
    }

    /// Starts the scheduler again, under the same address, and waits until it listens.
    pub fn start_scheduler(&mut self) {
        self.scheduler = scheduler(self.port, self.executors.len(), &self.of_scheduler);
        let end = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_err() {
            assert!(Instant::now() < end, "the scheduler does not start");
            thread::sleep(Duration::from_millis(50));
        }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn add_executor(&mut self) {
        let [scheduler, data, tasks] = [self.port, free_port(), free_port()].map(|port| port.to_string());
        let ports = ["--scheduler-port", &scheduler, "--port", &data, "--grpc-port", &tasks, "--slots", "1"];
        self.executors.push(start(&[&["executor"], &ports[..]].concat(), &self.environment));
    }

    /// Waits until all executors are registered.
    fn wait(&self) {
        let end = Instant::now() + Duration::from_secs(120);
        while !is_ready(self.port) {
            assert!(Instant::now() < end, "the cluster does not start");
            thread::sleep(Duration::from_millis(50));
        }
    }

    pub fn kill_executor(&mut self, number: usize) {
        let mut executor = self.executors.remove(number);
        executor.kill().expect("it runs");
        executor.wait().expect("it was killed");
    }

    pub fn query(&self, inputs: &[PathBuf], sql: &str) -> Command {
        let mut command = client(&self.url(), inputs, sql);
        command.envs(self.environment.iter().cloned());
        command
    }

    pub fn ask(&self, inputs: &[PathBuf], sql: &str) -> Result<Vec<String>, String> {
        finish(self.query(inputs, sql).spawn().expect("the program starts"))
    }
}

/// Variables of a process.
pub type Environment = Vec<(&'static str, String)>;

/// A query, also of damaged traces.
pub fn client(cluster: &str, inputs: &[PathBuf], sql: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(["query", "--allow-damaged", "--format", "json", "--cluster", cluster, "--"]).args(inputs).arg(sql);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn scheduler(port: u16, executors: usize, environment: &Environment) -> Child {
    let (port, executors) = (port.to_string(), executors.to_string());
    start(&["scheduler", "--port", &port, "--min-executors", &executors], environment)
}

/// How long a query may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// The result of a client.
pub fn finish(mut client: Child) -> Result<Vec<String>, String> {
    let end = Instant::now() + PATIENCE;
    let (out, err) = (client.stdout.take().expect("a pipe"), client.stderr.take().expect("a pipe"));
    let read = |mut pipe: Box<dyn std::io::Read + Send>| {
        thread::spawn(move || {
            let mut text = String::new();
            #[expect(clippy::disallowed_methods, reason = "the program is ours")]
            pipe.read_to_string(&mut text).map(|_| text)
        })
    };
    let (out, err) = (read(Box::new(out)), read(Box::new(err)));
    let status = loop {
        if let Some(status) = client.try_wait().expect("it was started") {
            break status;
        }
        if Instant::now() > end {
            client.kill().expect("it runs");
            client.wait().expect("it was killed");
            return Err(format!("the query took more than {PATIENCE:?}"));
        }
        thread::sleep(Duration::from_millis(10));
    };
    let text = |thread: thread::JoinHandle<std::io::Result<String>>| thread.join().expect("it ends").expect("text");
    let (out, err) = (text(out), text(err));
    if status.success() { Ok(sorted(&out)) } else { Err(err) }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for child in self.executors.iter_mut().chain([&mut self.scheduler]) {
            // It may already have ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A process that ends with this one, because its standard input is then closed.
fn start(arguments: &[&str], environment: &[(&'static str, String)]) -> Child {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).arg("--with-parent").envs(environment.iter().cloned());
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the program starts")
}

fn is_ready(port: u16) -> bool {
    use std::io::Read;
    let ask = || {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer)?;
        Ok::<_, std::io::Error>(answer == *b"HTTP/1.1 200")
    };
    ask().unwrap_or(false)
}

pub fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr()).expect("a port").port()
}

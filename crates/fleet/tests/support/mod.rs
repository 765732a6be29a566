//! Traces, stores and their contents.

// Each test file uses only a part of it.
#![allow(dead_code, unreachable_pub)]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use traceloom_core::Result;
use traceloom_fleet::{Options, Report, Template, ingest};
use traceloom_query::{
    Answer, Cells, Failure, Session,
    fleet::{Fleet, FleetTable},
};
use traceloom_testkit::planted::{Dice, Scene};

/// Traces in the folders of their hosts.
pub struct Traces {
    pub count: u64,
    pub hosts: u64,
    pub spans: u64,
}

impl Traces {
    /// Writes the traces, one of them damaged, and a file that is not a trace.
    pub fn plant(&self, folder: &Path) -> Result<()> {
        for number in 0..self.count {
            let (mut scene, mut dice, mut now) = (Scene::new(&["Main"]), Dice::new(number), 0);
            for _ in 0..self.spans {
                now = scene.span(0, "Render", now, dice.whole(1000, 9000)) + 100;
                now = scene.span(0, "Update", now, dice.whole(1000, 9000)) + 100;
            }
            let source = scene.written("easyprofiler")?.opened.source;
            let mut bytes = source.prefix(source.len()? as usize)?;
            bytes.truncate(bytes.len() - if number == 7 { 40 } else { 0 });
            let host = folder.join(format!("h{}", number % self.hosts));
            fs::create_dir_all(&host)?;
            fs::write(host.join(format!("{number:03}.prof")), bytes)?;
        }
        Ok(fs::write(folder.join("h0/broken.prof"), "not a trace")?)
    }
}

/// Adds the traces, which are next to the store; without memory, every trace is committed separately and waits in
/// temporary files.
pub fn add(store: &Path, memory_bytes: usize) -> Result<Report> {
    let template = Template::parse("{host}/*.prof")?;
    let options = Options { template: Some(template), memory_bytes, ..Options::default() };
    ingest(&[store.with_file_name("traces")], store, &options, &mut |_| {})
}

/// With the default memory.
pub fn add_all(store: &Path) -> Result<Report> {
    add(store, Options::default().memory_bytes)
}

/// The task of a child process, and its store.
const TASK: &str = "TRACELOOM_TEST_TASK";
const STORE: &str = "TRACELOOM_TEST_STORE";

/// The test `child` of this test program as a process, after `wrapper`, which is a program and its arguments.
pub fn child(wrapper: &[&str], store: &Path, task: &str) -> Command {
    let program = env::current_exe().expect("this program");
    let mut command = match wrapper {
        [] => Command::new(program),
        [wrapper, arguments @ ..] => {
            let mut command = Command::new(wrapper);
            command.args(arguments).arg(program);
            command
        }
    };
    command.args(["--exact", "child", "--ignored"]).env(TASK, task).env(STORE, store);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The task and the store of this process, if it is such a child.
pub fn task() -> Option<(String, PathBuf)> {
    Some((env::var(TASK).ok()?, env::var_os(STORE).map(PathBuf::from)?))
}

pub fn session(store: &Path) -> Session {
    let fleet = Fleet::open(store).expect("a store").expect("a store");
    Session::of_fleet(&fleet, &traceloom_query::Options::default()).expect("a session")
}

/// The rows of an answer, sorted.
pub fn rows(mut answer: Answer<'_>) -> Result<Vec<String>, Failure> {
    let cells = Cells::new(answer.schema());
    let mut rows = Vec::new();
    while let Some(batch) = answer.next()? {
        rows.extend(cells.rows(&batch)?.into_iter().map(|row| row.join("\t")));
    }
    rows.sort();
    Ok(rows)
}

/// Every row of every table.
pub fn contents(store: &Path) -> Vec<(&'static str, Vec<String>)> {
    let session = session(store);
    let rows = |table: FleetTable| {
        let answer = session.ask(&format!("select * from {}", table.name())).expect("a table");
        (table.name(), rows(answer).expect("rows"))
    };
    FleetTable::all().map(rows).collect()
}

pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let place = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &place);
        } else {
            fs::copy(entry.path(), place).expect("a file");
        }
    }
}

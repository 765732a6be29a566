//! An ingest that is killed again and again leaves the same store as one that is not.
//!
//! The process that is killed is this test program. It commits after every trace, and is killed when its files show
//! that it is writing, committing or merging.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use traceloom_core::Result;
use traceloom_fleet::{Options, Report, Template, compact, ingest};
use traceloom_query::{
    Cells, Session,
    fleet::{Fleet, FleetTable},
};
use traceloom_testkit::planted::{Dice, Scene};

const TRACES: u64 = 90;
const KILLS_WHILE_INGESTING: u64 = 15;
const KILLS_WHILE_MERGING: u64 = 5;

/// The task of a child process, and its store.
const TASK: &str = "TRACELOOM_TEST_TASK";
const STORE: &str = "TRACELOOM_TEST_STORE";

/// Traces of three hosts, one of them damaged, and a file that is not a trace.
fn plant(folder: &Path) -> Result<()> {
    for number in 0..TRACES {
        let (mut scene, mut dice, mut now) = (Scene::new(&["Main"]), Dice::new(number), 0);
        for _ in 0..20 {
            now = scene.span(0, "Render", now, dice.whole(1000, 9000)) + 100;
            now = scene.span(0, "Update", now, dice.whole(1000, 9000)) + 100;
        }
        let source = scene.written("easyprofiler")?.opened.source;
        let mut bytes = source.prefix(source.len()? as usize)?;
        bytes.truncate(bytes.len() - if number == 7 { 40 } else { 0 });
        let host = folder.join(format!("h{}", number % 3));
        fs::create_dir_all(&host)?;
        fs::write(host.join(format!("{number:03}.prof")), bytes)?;
    }
    Ok(fs::write(folder.join("h0/broken.prof"), "not a trace")?)
}

/// Adds the traces, which are next to the store.
fn add(store: &Path, memory_bytes: usize) -> Result<Report> {
    let template = Template::parse("{host}/*.prof")?;
    let options = Options { template: Some(template), memory_bytes, ..Options::default() };
    ingest(&[store.with_file_name("traces")], store, &options, &mut |_| {})
}

#[test]
#[ignore = "the process that the other test kills"]
fn child() {
    let Some(store) = env::var_os(STORE).map(PathBuf::from) else { return };
    if env::var(TASK).is_ok_and(|task| task == "ingest") {
        // Without memory, every trace is committed separately and waits in temporary files.
        add(&store, 1).expect("it can be written");
    } else {
        compact(&store).expect("it can be written");
    }
}

fn start(store: &Path, task: &str) -> Child {
    let mut command = Command::new(env::current_exe().expect("this program"));
    command.args(["--exact", "child", "--ignored"]).env(TASK, task).env(STORE, store);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
}

/// When to kill a child, as seen from its files.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// The new manifest exists, and files are being moved.
    Committing,
    /// This many new files exist.
    Writing(usize),
}

impl Moment {
    fn has_come(self, store: &Path) -> bool {
        let writing = store.join(".writing");
        match self {
            Self::Committing => writing.join("fleet.json").exists(),
            Self::Writing(files) => count_files(&writing.join("new")) >= files,
        }
    }
}

fn count_files(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| if entry.path().is_dir() { count_files(&entry.path()) } else { 1 }).sum()
}

/// Kills a child at a moment after this many commits; returns whether it was in the middle of one, or `None` if the
/// child ended first.
fn kill(task: &str, store: &Path, commits: u32, moment: Moment) -> Option<bool> {
    let (end, first) = (Instant::now() + Duration::from_secs(60), next_run(store));
    let mut child = start(store, task);
    while next_run(store) < first + commits || !moment.has_come(store) {
        if child.try_wait().expect("a child").is_some() {
            return None;
        }
        assert!(Instant::now() < end, "{moment:?} does not come");
        // Shorter than a commit.
        thread::sleep(Duration::from_micros(50));
    }
    child.kill().expect("a child");
    child.wait().expect("a child");
    Some(store.join(".writing/fleet.json").exists())
}

/// The number of the next commit; the manifest is replaced as a whole.
fn next_run(store: &Path) -> u32 {
    let text = fs::read_to_string(store.join("fleet.json")).unwrap_or_default();
    let number = text.split("\"next_run\": ").nth(1).and_then(|rest| rest.split(',').next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Every row of every table.
fn contents(store: &Path) -> Vec<(&'static str, Vec<String>)> {
    let fleet = Fleet::open(store).expect("a store").expect("a store");
    let session = Session::of_fleet(&fleet, &traceloom_query::Options::default()).expect("a session");
    let rows = |table: FleetTable| {
        let mut answer = session.ask(&format!("select * from {}", table.name())).expect("a table");
        let cells = Cells::new(answer.schema());
        let mut rows = Vec::new();
        while let Some(batch) = answer.next().expect("rows") {
            rows.extend(cells.rows(&batch).expect("cells").into_iter().map(|row| row.join("\t")));
        }
        rows.sort();
        (table.name(), rows)
    };
    FleetTable::all().map(rows).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let place = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &place);
        } else {
            fs::copy(entry.path(), place).expect("a file");
        }
    }
}

#[test]
fn a_killed_ingest_ends_as_one_that_was_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let [traces, whole, killed] = ["traces", "whole", "killed"].map(|name| folder.path().join(name));
    plant(&traces).expect("traces");
    let report = add(&whole, 64 << 20).expect("it can be written");
    assert_eq!((report.added as u64, report.quarantined.len(), report.damaged), (TRACES, 1, 1), "{report:?}");
    let (mut dice, mut in_commit) = (Dice::new(1), 0);
    let mut moment = |round: u64, max_files: i64| match round % 2 {
        0 => Moment::Committing,
        _ => Moment::Writing(dice.whole(1, max_files) as usize),
    };
    for round in 0..KILLS_WHILE_INGESTING {
        let commits = 1 + (round % 4) as u32;
        let was_in_commit = kill("ingest", &killed, commits, moment(round, 6));
        in_commit += usize::from(was_in_commit.expect("most traces are still to come"));
    }
    // Opening the store completes an interrupted commit before files are copied.
    let expected = contents(&killed);
    let mut kills = 0;
    for round in 0..4 * KILLS_WHILE_MERGING {
        let merged = folder.path().join(format!("merged{round}"));
        copy(&killed, &merged);
        // Merging takes only a moment, and may be over before the first check.
        let Some(was_in_commit) = kill("merge", &merged, 0, moment(round, 8)) else { continue };
        (kills, in_commit) = (kills + 1, in_commit + usize::from(was_in_commit));
        assert!(contents(&merged) == expected, "the rows differ after a kill while files were merged");
        compact(&merged).expect("it can be written");
        assert!(contents(&merged) == expected, "the rows differ after files were merged");
        if kills == KILLS_WHILE_MERGING {
            break;
        }
    }
    assert_eq!(kills, KILLS_WHILE_MERGING);
    add(&killed, 1).expect("it can be written");
    assert!(contents(&killed) == contents(&whole), "the rows differ after kills while traces were added");
    assert!(in_commit > 0, "no kill came in the middle of a commit");
    assert!(!killed.join(".writing").exists());
}

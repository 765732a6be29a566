//! An ingest that is killed again and again leaves the same store as one that is not.
//!
//! The process that is killed is this test program.

mod support;

use std::{
    fs,
    path::Path,
    process::Child,
    thread,
    time::{Duration, Instant, SystemTime},
};

use traceloom_fleet::compact;
use traceloom_testkit::planted::Dice;

use crate::support::{Traces, add, add_all, contents, copy, task};

const TRACES: Traces = Traces { count: 90, hosts: 3, spans: 20 };
const KILLS_WHILE_INGESTING: u64 = 15;
const KILLS_WHILE_MERGING: u64 = 5;

#[test]
#[ignore = "the process that the other tests kill"]
fn child() {
    let Some((task, store)) = task() else { return };
    match task.as_str() {
        "ingest" => drop(add_all(&store).expect("it can be written")),
        "ingest without memory" => drop(add(&store, 1).expect("it can be written")),
        _ => drop(compact(&store).expect("it can be written")),
    }
}

fn start(store: &Path, task: &str) -> Child {
    support::child(&[], store, task).spawn().expect("it starts")
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

#[test]
fn a_killed_ingest_ends_as_one_that_was_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let [traces, whole, killed] = ["traces", "whole", "killed"].map(|name| folder.path().join(name));
    TRACES.plant(&traces).expect("traces");
    let report = add(&whole, 64 << 20).expect("it can be written");
    assert_eq!((report.added as u64, report.quarantined.len(), report.damaged), (TRACES.count, 1, 1), "{report:?}");
    let (mut dice, mut in_commit) = (Dice::new(1), 0);
    let mut moment = |round: u64, max_files: i64| match round % 2 {
        0 => Moment::Committing,
        _ => Moment::Writing(dice.whole(1, max_files) as usize),
    };
    for round in 0..KILLS_WHILE_INGESTING {
        let commits = 1 + (round % 4) as u32;
        let was_in_commit = kill("ingest without memory", &killed, commits, moment(round, 6));
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

/// Random moments of an ingest as users run it, which commits about once per second.
#[test]
fn an_ingest_that_is_killed_at_random_times_ends_as_one_that_was_not() {
    const TRACES: Traces = Traces { count: 400, hosts: 3, spans: 150 };
    const KILLS: usize = 20;
    let folder = tempfile::tempdir().expect("a folder");
    let [traces, whole] = ["traces", "whole"].map(|name| folder.path().join(name));
    TRACES.plant(&traces).expect("traces");
    let started = Instant::now();
    assert!(start(&whole, "ingest").wait().expect("a child").success());
    let undisturbed = started.elapsed();
    let expected = contents(&whole);
    let seed = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_millis() as u64;
    println!("seed {seed}; an undisturbed ingest takes {undisturbed:?}");
    let mut dice = Dice::new(seed);
    let (mut kills, mut stores) = (0, 0);
    while kills < KILLS {
        let store = folder.path().join(format!("killed{stores}"));
        stores += 1;
        assert!(stores <= KILLS, "seed {seed}: {kills} kills in {stores} stores");
        // Until the store is complete: some runs commit before they are killed.
        while kills < KILLS {
            let mut child = start(&store, "ingest");
            thread::sleep(undisturbed.mul_f64(dice.share()));
            // Fails if it has ended.
            drop(child.kill());
            let status = child.wait().expect("a child");
            if status.success() {
                break;
            }
            assert_eq!(status.code(), None, "seed {seed}: it failed before it was killed");
            kills += 1;
        }
        add_all(&store).expect("it can be written");
        assert!(contents(&store) == expected, "seed {seed}: the rows differ after {kills} kills");
        assert!(!store.join(".writing").exists(), "seed {seed}");
        fs::remove_dir_all(&store).expect("the folder is ours");
    }
}

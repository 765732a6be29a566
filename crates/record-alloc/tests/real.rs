//! System programs: allocations, frees and bytes equal the counts of Valgrind's DHAT. Skipped without Valgrind.

mod common;

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use common::read;
use traceloom_record_alloc::finish;
use traceloom_testkit::{npm::skip, preload_library};

/// Bytes and blocks as printed by DHAT: all allocations, and allocations that were not freed.
#[derive(Debug, Eq, PartialEq)]
struct Counts {
    total: (u64, u64),
    at_end: (u64, u64),
}

const SQL: &str = "create table t(a, b text); create index i on t(b);
    with recursive n(x) as (select 1 union all select x + 1 from n where x < 2000)
    insert into t select x, printf('%d-%s', x, hex(x * 7919)) from n;
    select count(*), sum(length(b)), group_concat(b) from t where b like '%1%'; delete from t where a % 3 = 0; vacuum;";
/// Objects of more than 512 bytes, which Python allocates with `malloc`. No allocation depends on addresses, as the
/// integers from `id` would, because addresses under Valgrind are shorter.
const PYTHON: &str =
    "d = {i: bytes(600 + i % 5000) for i in range(8000)}; l = sorted(d.values()); print(len(b''.join(l)))";

#[test]
fn a_database_a_script_and_a_version_control_lose_no_block_and_no_byte() {
    if find("valgrind").is_none() {
        return skip("valgrind is not installed");
    }
    compare("sqlite3", &[":memory:", SQL]);
    compare("python3", &["-I", "-S", "-c", PYTHON]);
    let repository = tempfile::tempdir().expect("a folder");
    make_repository(repository.path());
    compare("git", &["-C", repository.path().to_str().expect("text"), "--no-pager", "log", "--stat"]);
}

/// Creates a few commits, because the sources of this project may come without a repository.
fn make_repository(folder: &Path) {
    let Some(git) = find("git") else { return };
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&git);
        command.arg("-C").arg(folder).args(["-c", "user.name=Test", "-c", "user.email=test@example.org"]);
        succeed(command.args(arguments));
    };
    run(&["init", "--quiet"]);
    for number in 0..5 {
        fs::write(folder.join("text"), format!("{number}\n").repeat(100 + number)).expect("it is written");
        run(&["add", "text"]);
        run(&["commit", "--quiet", "--message", "Change the text"]);
    }
}

fn compare(program: &str, arguments: &[&str]) {
    let Some(path) = find(program) else { return skip(&format!("{program} is not installed")) };
    let folder = tempfile::tempdir().expect("a folder");
    let recorded = recorded(&path, arguments, folder.path());
    assert_eq!(recorded, counted(&path, arguments, folder.path()), "{program}");
    println!("{program}: {recorded:?}");
}

/// A system program, not a wrapper script.
fn find(program: &str) -> Option<String> {
    Some(format!("/usr/bin/{program}")).filter(|path| Path::new(path).is_file())
}

fn valgrind(program: &str, arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(find("valgrind").expect("it was found before"));
    // Valgrind would free memory that the C library keeps until the end.
    command.args([
        "--tool=dhat",
        "--dhat-out-file=/dev/null",
        "--run-libc-freeres=no",
        "--run-cxx-freeres=no",
        program,
    ]);
    command.args(arguments).env_clear().env("HOME", folder).env("PATH", "/usr/bin:/bin").env("LC_ALL", "C");
    command.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "safe.directory").env("GIT_CONFIG_VALUE_0", "*");
    command.env("TRACELOOM_ALLOC_OUTPUT", folder.join("app.mlyze")).env("TRACELOOM_ALLOC_FINISH", "later");
    succeed(&mut command)
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn counted(program: &str, arguments: &[&str], folder: &Path) -> Counts {
    let output = valgrind(program, arguments, folder);
    let text = String::from_utf8_lossy(&output.stderr);
    let numbers = |name: &str| {
        let line = text.lines().find_map(|line| line.split_once(name)).expect("DHAT prints its counts").1;
        let mut numbers = line.split_whitespace().filter_map(|word| word.replace(',', "").parse::<u64>().ok());
        (numbers.next().expect("bytes"), numbers.next().expect("blocks"))
    };
    Counts { total: numbers("Total:"), at_end: numbers("At t-end:") }
}

fn recorded(program: &str, arguments: &[&str], folder: &Path) -> Counts {
    // Programs copy their environment, so it must be as long as the one under Valgrind.
    let environment = String::from_utf8(valgrind("/usr/bin/env", &[], folder).stdout).expect("it is text");
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(environment.lines().filter_map(|line| line.split_once('=')));
    let preloads = environment.lines().find_map(|line| line.strip_prefix("LD_PRELOAD=")).expect("Valgrind sets it");
    let library = folder.join("a.so");
    fs::copy(preload_library(), &library).expect("it is copied");
    let preload = format!("{:>width$}", library.display(), width = preloads.len());
    succeed(command.env("LD_PRELOAD", preload.replace(' ', ":")));
    let file = folder.join("app.mlyze");
    finish(&file).expect("names are found");
    let contents = read(&file);
    let totals = &contents.totals;
    assert_eq!((totals.unmatched_frees, totals.reused, totals.double_frees), (0, 0, 0), "{program}");
    // DHAT counts one byte for an allocation of zero bytes.
    let (total, at_end) = (totals.alloc_bytes as u64 + contents.empty.0, totals.live_bytes as u64 + contents.empty.1);
    Counts { total: (total, totals.allocs), at_end: (at_end, totals.allocs - totals.frees) }
}

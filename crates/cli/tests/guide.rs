//! Every command of the guide and the README works, and prints the output shown on the page.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use tempfile::TempDir;

/// A folder with the samples of `traceloom demo`.
fn samples() -> TempDir {
    let folder = tempfile::tempdir().expect("there is room");
    assert!(run(&folder, "traceloom demo --no-open .").status.success());
    folder
}

/// Runs a line as a shell would, with the program of this build.
fn run(folder: &TempDir, line: &str) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_traceloom")).parent().expect("a folder");
    let path =
        env::join_paths([program.into()].into_iter().chain(env::split_paths(&env::var_os("PATH").expect("PATH"))));
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(folder).env("PATH", path.expect("folders")).output().expect("a shell")
}

fn guide() -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md")];
    for folder in ["docs/start", "docs/tasks"] {
        let entries = fs::read_dir(root.join(folder)).expect("a folder of the guide");
        pages.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    pages
}

#[test]
fn every_command_of_the_guide_prints_what_the_page_shows() {
    let mut stale = Vec::<String>::new();
    for path in guide() {
        let page = fs::read_to_string(&path).expect("a page is text");
        let folder = samples();
        let fresh =
            with_outputs(&page, |line| String::from_utf8(run(&folder, &format!("{line} 2>&1")).stdout).expect("UTF-8"));
        if env::var_os("TRACELOOM_BLESS").is_some() {
            fs::write(&path, &fresh).expect("the page is written");
        }
        let changed = page.lines().zip(fresh.lines()).find(|(old, new)| old != new);
        stale.extend((page != fresh).then(|| format!("{}: {changed:?}", path.display())));
    }
    assert!(stale.is_empty(), "pages whose output changed:\n{}", stale.join("\n"));
}

/// The page with the current output of each command in its `console` blocks. A last line `…` represents the rest of an
/// output.
fn with_outputs(page: &str, run: impl Fn(&str) -> String) -> String {
    let mut lines = page.lines().peekable();
    let mut out = Vec::new();
    let mut is_console = false;
    while let Some(line) = lines.next() {
        out.push(line.to_owned());
        is_console = (is_console || line == "```console") && line != "```";
        let Some(command) = line.strip_prefix("$ ").filter(|_| is_console) else { continue };
        let mut shown = Vec::new();
        while let Some(next) = lines.next_if(|next| !next.starts_with("$ ") && *next != "```") {
            shown.push(next);
        }
        if !["traceloom ", "head "].iter().any(|start| command.starts_with(start)) {
            out.extend(shown.into_iter().map(str::to_owned));
            continue;
        }
        let printed = run(command);
        let printed = printed.trim_end().lines().map(str::trim_end);
        let is_cut = shown.last() == Some(&"…");
        let count = if is_cut { shown.len() - 1 } else { usize::MAX };
        out.extend(printed.take(count).map(str::to_owned));
        if is_cut {
            out.push("…".into());
        }
    }
    out.push(String::new());
    out.join("\n")
}

#[test]
fn every_command_in_the_tables_of_the_guide_runs() {
    let mut count = 0;
    for path in guide() {
        let page = fs::read_to_string(&path).expect("a page is text");
        let folder = samples();
        let rows = page.lines().filter(|line| line.starts_with('|'));
        for command in rows.flat_map(|row| row.split('`').skip(1).step_by(2)) {
            let words: Vec<&str> = command.split(' ').collect();
            // A file instead of a verb opens the browser.
            let has_verb = words.first() == Some(&"traceloom") && words.get(1).is_some_and(|word| !word.contains('.'));
            let has_sample = words.iter().any(|word| folder.path().join(word).is_file());
            if has_verb && has_sample {
                let out = run(&folder, command);
                assert!(out.status.success(), "{command}: {}", String::from_utf8_lossy(&out.stderr));
                count += 1;
            }
        }
    }
    assert!(count > 15, "{count}");
}

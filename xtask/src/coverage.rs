//! `coverage`: how much of the code the tests run.

use std::{collections::BTreeMap, fmt, path::Path, process::Command};

use crate::{
    Outcome, Subcommand,
    process::{output_of, root, run as run_command, target_folder},
    tools::Tool,
};

pub(crate) static SUBCOMMAND: Subcommand = Subcommand {
    name: "coverage",
    arguments: "[--quick | PACKAGE…]",
    help: "\
Prints how many lines of each crate the tests of these crates run.

Without PACKAGE: the crates from core to export, which every verb uses and which build in minutes. The
crates above them are tested through the program, which this does not count. --quick measures the crates
from core to passes, as CI does. cargo-llvm-cov is built the first time and adds LLVM's tools to the
toolchain. Builds are kept in target/coverage.",
    run,
};

static LLVM_COV: Tool = Tool { name: "cargo-llvm-cov", version: "0.9.1", features: None };

/// Everything below the consumers: no crate here needs the query engine.
pub(crate) const PACKAGES: &[&str] = &[
    "traceloom-core",
    "traceloom-cnanolog",
    "traceloom-easyprofiler",
    "traceloom-memlyze",
    "traceloom-nytprof",
    "traceloom-wtf",
    "traceloom-open",
    "traceloom-model",
    "traceloom-passes",
    "traceloom-mapping",
    "traceloom-analysis",
    "traceloom-export",
];

/// The first packages of the list that `--quick` measures: everything below mapping.
const QUICK: usize = 9;

fn run(arguments: &[String]) -> Outcome {
    let packages: Vec<&str> = match arguments {
        [] => PACKAGES.to_vec(),
        [quick] if quick == "--quick" => PACKAGES.iter().copied().take(QUICK).collect(),
        some => some.iter().map(String::as_str).collect(),
    };
    let tool = LLVM_COV.path()?;
    let llvm_cov = |words: &[&str]| {
        // The program expects to be called as cargo calls it.
        let mut command = Command::new(&tool);
        command.arg("llvm-cov").args(words).current_dir(root());
        command.env("CARGO_TARGET_DIR", target_folder().join("coverage"));
        command
    };
    // What an earlier run counted belongs to other code.
    run_command(&mut llvm_cov(&["clean", "--workspace", "--profraw-only"]))?;
    let mut tests = llvm_cov(&["--no-report", "--lib", "--tests"]);
    tests.args(packages.iter().flat_map(|name| ["-p", name]));
    // Tests that count instructions run code that others run too, a hundred times slower.
    run_command(tests.args(["--", "--skip", "in_proportion_to_the_trace"]))?;
    let mut folders = by_folder(&output_of(&mut llvm_cov(&["report", "--lcov"]))?, &root());
    // The tests of a crate also run parts of crates that were not asked for.
    folders.retain(|folder, _| packages.iter().any(|package| belongs(package, folder)));
    if folders.is_empty() {
        return Err("the report has no lines of these crates".into());
    }
    for (folder, lines) in &folders {
        println!("{folder:<32} {lines}");
    }
    let total = folders.values().fold(Lines::default(), |sum, lines| sum.and(lines));
    println!("coverage of {} crates: {total}", folders.len());
    Ok(())
}

/// Whether a crate is in this folder below `crates`.
fn belongs(package: &str, folder: &str) -> bool {
    package.strip_prefix("traceloom-").is_some_and(|name| folder.strip_prefix("formats/").unwrap_or(folder) == name)
}

/// Lines with code, and those of them that a test ran.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Lines {
    all: u64,
    run: u64,
}

impl Lines {
    fn and(self, other: &Self) -> Self {
        Self { all: self.all + other.all, run: self.run + other.run }
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.run as f64 * 100.0 / self.all.max(1) as f64;
        write!(f, "{percent:5.1} % of {} lines", self.all)
    }
}

/// The sums of a report in the format of lcov, by the folder that holds `src`.
fn by_folder(report: &str, root: &Path) -> BTreeMap<String, Lines> {
    let mut folders = BTreeMap::<String, Lines>::new();
    let mut folder = None;
    for line in report.lines() {
        let number = |text: &str| text.parse::<u64>().unwrap_or(0);
        match line.split_once(':') {
            Some(("SF", path)) => folder = folder_of(path, root),
            Some((key @ ("LF" | "LH"), count)) => {
                let Some(folder) = &folder else { continue };
                let lines = folders.entry(folder.clone()).or_default();
                let field = if key == "LF" { &mut lines.all } else { &mut lines.run };
                *field += number(count);
            }
            _ => {}
        }
    }
    folders
}

/// The folder of the crate; nothing for tests and their helpers, which run by nature, and for another checkout, whose
/// programs may be left in the target folder.
fn folder_of(path: &str, root: &Path) -> Option<String> {
    let below = Path::new(path).strip_prefix(root.join("crates")).ok()?.to_str()?;
    let (folder, _) = below.split_once("/src/")?;
    (folder != "testkit").then(|| folder.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_added_by_crate_and_helpers_left_out() {
        let report = "SF:/a/crates/core/src/one.rs\nDA:1,4\nLF:10\nLH:9\nend_of_record\n\
                      SF:/a/crates/core/src/two.rs\nLF:5\nLH:0\nend_of_record\n\
                      SF:/a/crates/formats/wtf/src/lib.rs\nLF:2\nLH:2\nend_of_record\n\
                      SF:/a/crates/testkit/src/lib.rs\nLF:7\nLH:7\nend_of_record\n\
                      SF:/b/crates/core/src/one.rs\nLF:7\nLH:0\nend_of_record\n\
                      SF:/a/crates/core/tests/all.rs\nLF:7\nLH:7\nend_of_record\n";
        let folders = by_folder(report, Path::new("/a"));
        let expected = [("core", Lines { all: 15, run: 9 }), ("formats/wtf", Lines { all: 2, run: 2 })];
        assert_eq!(folders, expected.map(|(folder, lines)| (folder.to_owned(), lines)).into());
        assert_eq!(folders["core"].to_string(), " 60.0 % of 15 lines");
        assert!(belongs("traceloom-core", "core") && belongs("traceloom-wtf", "formats/wtf"));
        assert!(!belongs("traceloom-record", "record-c"));
    }
}

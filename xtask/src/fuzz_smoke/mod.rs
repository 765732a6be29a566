//! `fuzz-smoke`: runs every fuzz target for a few seconds, with the installed compiler.

mod effort;
mod engine;
mod reproducer;
mod seeds;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Mutex,
    thread,
};

use self::{effort::Effort, engine::Target};
use crate::{
    Outcome, Subcommand,
    process::{cargo, root, run as run_command},
};

pub(crate) static SUBCOMMAND: Subcommand = Subcommand {
    name: "fuzz-smoke",
    arguments: "[--seconds N] [TARGET…]",
    help: "\
Runs all fuzz targets, or the given ones, on the same inputs every time, or on new ones for N seconds each.

Needs a C++ compiler for libFuzzer; stable Rust is enough. Each processor runs one target at a time.
Targets start from the files in fixtures/FORMAT. Without --seconds, they do a fixed number of runs from a
fixed seed, as in `test`, in a build that is quick to make; with it, the runs differ and extend
fuzz/corpus. A failing input is saved in fuzz/artifacts and printed as base64; when the bug is fixed, the
input is moved to fixtures/FORMAT/found.",
    run: |arguments| smoke(&Plan::parse(arguments)?),
};

/// What to run.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Plan {
    effort: Effort,
    /// The targets; all if empty.
    targets: Vec<String>,
}

/// The plan of the tests: all targets, with the same inputs every time.
impl Default for Plan {
    fn default() -> Self {
        Self { effort: Effort::Fixed, targets: Vec::new() }
    }
}

impl Plan {
    fn parse(arguments: &[String]) -> Outcome<Self> {
        let mut plan = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--seconds" => {
                    let seconds = arguments.next().and_then(|text| text.parse().ok()).filter(|seconds| *seconds > 0);
                    plan.effort = Effort::Seconds(seconds.ok_or("--seconds needs a number above 0")?);
                }
                flag if flag.starts_with('-') => return Err(format!("unknown option {flag} of fuzz-smoke")),
                _ => plan.targets.push(argument.clone()),
            }
        }
        Ok(plan)
    }
}

/// Builds the targets and runs them, one on each processor; after a failure, no other target starts.
pub(crate) fn smoke(plan: &Plan) -> Outcome {
    let fuzz = root().join("fuzz");
    let names = chosen(&fuzz, &plan.targets)?;
    let host = host()?;
    let programs = build(&fuzz, &host, plan.effort.profile())?;
    let waiting = Mutex::new(names.iter());
    let work = || {
        while let Some(name) = waiting.lock().ok().and_then(|mut names| names.next()) {
            let target = Target { name, program: &programs.join(name), fuzz: &fuzz };
            if let Err(message) = engine::run(&target, plan.effort) {
                waiting.lock().map(|mut names| names.by_ref().for_each(drop)).unwrap_or_default();
                return Err(message);
            }
        }
        Ok(())
    };
    let processors = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..processors).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(|_| Err("a worker panicked".into())))
    })
}

/// Each file of `fuzz_targets` is a target, so that new ones are found automatically.
fn chosen(fuzz: &Path, wanted: &[String]) -> Outcome<Vec<String>> {
    let folder = fuzz.join("fuzz_targets");
    let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let sources = paths.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let mut all: Vec<String> =
        sources.filter_map(|path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned())).collect();
    all.sort();
    if let Some(unknown) = wanted.iter().find(|name| !all.contains(name)) {
        return Err(format!("unknown fuzz target {unknown}; the targets are {}", all.join(", ")));
    }
    Ok(if wanted.is_empty() { all } else { wanted.to_vec() })
}

fn host() -> Outcome<String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("rustc does not start: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc -vV does not name the host".into())
}

/// Compiler flags that count edges and report comparisons to libFuzzer.
const INSTRUMENTATION: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "--cfg=fuzzing",
];

/// Builds all targets; returns their folder.
fn build(fuzz: &Path, host: &str, profile: &str) -> Outcome<PathBuf> {
    // Other flags trigger a rebuild, so a separate folder is used.
    let folder = match env::var_os("CARGO_TARGET_DIR") {
        Some(shared) => root().join(shared).join("fuzz"),
        None => fuzz.join("target"),
    };
    // Naming the target keeps the flags away from build scripts, which have no libFuzzer to report to.
    let mut command = cargo(&["build", "--profile", profile, "--bins", "--target", host]);
    command.arg("--manifest-path").arg(fuzz.join("Cargo.toml")).arg("--target-dir").arg(&folder);
    command.env_remove("RUSTFLAGS").env("CARGO_ENCODED_RUSTFLAGS", INSTRUMENTATION.join("\u{1f}"));
    run_command(&mut command)?;
    Ok(folder.join(host).join(profile))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Outcome<Plan> {
        Plan::parse(&arguments.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn time_is_for_who_asks_for_it() {
        assert_eq!(parse(&[]), Ok(Plan::default()));
        let plan = Plan { effort: Effort::Seconds(7), targets: vec!["wtf_read".into()] };
        assert_eq!(parse(&["wtf_read", "--seconds", "7"]), Ok(plan));
        for wrong in [&["--seconds"][..], &["--seconds", "0"], &["--minutes", "1"]] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}

//! `test`: runs every test that this machine can run.

use std::{iter::once, process::Command, time::Instant};

use crate::{
    Outcome, Subcommand, coverage, fuzz_smoke, needs, page,
    process::{cargo, run as run_command, seconds, succeeds, target_folder, workspace},
    wheel,
};

pub(crate) static SUBCOMMAND: Subcommand = Subcommand {
    name: "test",
    arguments: "[--all | --portable | --python | --page | --cluster | --recorder]",
    help: "\
Runs all the tests, and installs what they need.

Needs a Rust toolchain. Everything else that a step needs is installed with apt-get if this runs as
root; otherwise the step is skipped with a message. With CI=true, a skipped step is a failure.
cargo-nextest is used if it is installed. The first step that fails ends the run.

--portable runs only the tests of the crates from core to export, which need nothing but Rust, on any
system.
--python, --page, --cluster and --recorder run only one slow step, with a separate build:
  --python   the Python package on every CPython of this machine, as `cargo xtask wheel` does
  --page     the page without a server, built for WebAssembly and tested in a browser
  --cluster  a scheduler and executors on this machine, and the lints of that crate; builds Ballista,
             which takes a quarter of an hour the first time
  --recorder four threads that record five million entries each, in the release profile
--all runs everything, and counts the instructions of every verb on every shape of trace.",
    run,
};

struct Step {
    name: &'static str,
    run: fn() -> Outcome,
}

/// The steps in order, fastest to fail first.
static STEPS: &[Step] = &[
    Step { name: "rust-tests", run: || rust_tests(&mut cargo(&[])) },
    Step { name: "recorder-models", run: recorder_models },
    Step { name: "doc-tests", run: || run_command(cargo(&["test", "--doc"]).args(workspace())) },
    Step { name: "fuzz-smoke", run: || fuzz_smoke::smoke(&fuzz_smoke::Plan::default()) },
];

/// The first step with every count that usually takes too long.
static COMPLETE: Step = Step { name: "rust-tests", run: || rust_tests(cargo(&[]).env("TRACELOOM_GROWTH", "all")) };

/// A part of the first step, for systems without the tools that the others need.
static PORTABLE: Step = Step { name: "portable-tests", run: portable_tests };

/// Steps with a separate, slow build, and their arguments.
static SLOW_STEPS: &[(&str, Step)] = &[
    ("--python", Step { name: "python-package", run: wheel::check }),
    ("--page", Step { name: "page", run: page_test }),
    ("--cluster", Step { name: "cluster-tests", run: cluster_tests }),
    ("--recorder", Step { name: "recorder-load", run: recorder_load }),
];

fn run(arguments: &[String]) -> Outcome {
    let slow = || SLOW_STEPS.iter().map(|(_, step)| step);
    let steps: Vec<&Step> = match arguments {
        [] => STEPS.iter().collect(),
        [portable] if portable == "--portable" => vec![&PORTABLE],
        [all] if all == "--all" => once(&COMPLETE).chain(STEPS.iter().skip(1)).chain(slow()).collect(),
        [one] => SLOW_STEPS.iter().filter(|(argument, _)| argument == one).map(|(_, step)| step).collect(),
        _ => Vec::new(),
    };
    if steps.is_empty() {
        let arguments = arguments.join(" ");
        return Err(format!("unknown argument `{arguments}` of test; for one crate: cargo test -p CRATE"));
    }
    let mut skipped = Vec::new();
    for step in steps {
        let missing = needs::missing(step.name)?;
        if missing.is_empty() {
            run_step(step)?;
            continue;
        }
        let reason = format!("{}: {}", step.name, needs::describe(&missing));
        if needs::in_ci() {
            return Err(format!("the step {reason}, and CI=true allows no skip"));
        }
        eprintln!("xtask: skipped {reason}");
        skipped.push(reason);
    }
    match skipped.len() {
        0 => eprintln!("xtask: all tests passed"),
        count => eprintln!("xtask: all tests passed, except {count} skipped:\n  {}", skipped.join("\n  ")),
    }
    Ok(())
}

fn run_step(step: &Step) -> Outcome {
    eprintln!("xtask: step {}", step.name);
    let started = Instant::now();
    (step.run)().map_err(|message| format!("the step {} failed: {message}", step.name))?;
    eprintln!("xtask: step {} passed in {}", step.name, seconds(started));
    Ok(())
}

fn rust_tests(cargo: &mut Command) -> Outcome {
    if succeeds("cargo", &["nextest", "--version"]) {
        cargo.args(["nextest", "run"]);
    } else {
        cargo.args(["test", "--lib", "--bins", "--tests", "--examples"]);
    }
    run_command(cargo.args(workspace()))
}

fn portable_tests() -> Outcome {
    let mut command = cargo(&["test", "--locked", "--lib", "--tests"]);
    run_command(command.args(coverage::PACKAGES.iter().flat_map(|name| ["--package", name])))
}

/// In the build of all tests, which has the complete program.
fn page_test() -> Outcome {
    page::build()?;
    let mut command = cargo(&["test", "--test", "page"]);
    run_command(command.args(workspace()).args(["--", "--ignored", "the_page_alone"]))
}

/// In the dev profile, so that the programs and the tests share one build of Ballista.
///
/// Clippy's compiler builds the packages of the workspace: `cargo clippy` would check all dependencies once more, which
/// takes as long as building them.
fn cluster_tests() -> Outcome {
    let folder = target_folder().join("cluster");
    // No other step tests `query` with its codecs.
    let packages = ["traceloom-cluster", "traceloom-cli", "traceloom-query"].map(|package| ["--package", package]);
    let words = [&["--locked", "--profile", "dev"], packages.as_flattened()].concat();
    let command = |verb: &str, targets: &[&str]| {
        let mut command = cargo(&[verb]);
        command.args(&words).args(targets).arg("--target-dir").arg(&folder);
        command.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver").env("CLIPPY_ARGS", DENY_WARNINGS);
        command
    };
    // With the tests, so that both commands choose the same features.
    let tests = ["--lib", "--bin", "traceloom-cluster", "--test", "cluster", "--test", "codec"];
    run_command(&mut command("build", &[&["--bin", "traceloom"], &tests[..]].concat()))?;
    let program = folder.join("debug").join(format!("traceloom{}", std::env::consts::EXE_SUFFIX));
    let mut tests = command("test", &tests);
    run_command(tests.env("TRACELOOM_PROGRAM", program))
}

/// In the release profile, because the entries have to come fast; the recorder has few dependencies.
fn recorder_load() -> Outcome {
    let mut command = cargo(&["test", "--release", "--package", "traceloom-record", "--test", "logs"]);
    run_command(command.args([
        "--",
        "--ignored",
        "--exact",
        "four_threads_lose_nothing_of_twenty_million_entries",
        "--nocapture",
    ]))
}

/// `-D warnings`, as `cargo clippy` passes arguments to its compiler.
const DENY_WARNINGS: &str = "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__";

/// Every interleaving of the recorder's ring, random schedules of the code around it, and what is left of the recorder when it
/// is compiled out. Each needs a separate build.
fn recorder_models() -> Outcome {
    run_command(&mut cargo(&["test", "--package", "traceloom-record", "--features", "off", "--test", "off"]))?;
    for model in ["traceloom_loom", "traceloom_shuttle"] {
        let mut command = cargo(&["test", "--package", "traceloom-record", "--lib"]);
        command.env("RUSTFLAGS", format!("--cfg {model}")).env("CARGO_TARGET_DIR", target_folder().join(model));
        run_command(&mut command)?;
    }
    Ok(())
}

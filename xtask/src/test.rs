//! `test`: every test that this machine can run.

use std::time::Instant;

use crate::{
    Outcome, Subcommand, fuzz_smoke, needs, page,
    process::{cargo, run as run_command, seconds, succeeds, target_folder, workspace},
};

pub(crate) static SUBCOMMAND: Subcommand = Subcommand {
    name: "test",
    arguments: "[--cluster | --page]",
    help: "\
Runs all the tests, installing what they need.

Needs a Rust toolchain. Everything else that a step needs is installed with apt-get if this runs as
root; otherwise the step is skipped and named, with the reason. With CI=true a skip is a failure.
cargo-nextest is used if it is installed. The first step that fails ends the run.

With --cluster, only the tests of traceloom-cluster run, in target/cluster: they build Ballista, which
takes a quarter of an hour the first time. They start a scheduler and executors on this machine.

With --page, the page without a server is built, and only its test in a browser runs.",
    run,
};

struct Step {
    name: &'static str,
    run: fn() -> Outcome,
}

/// In the order in which they run: the quickest to fail first.
static STEPS: &[Step] = &[
    Step { name: "rust-tests", run: rust_tests },
    Step { name: "recorder-models", run: recorder_models },
    Step { name: "doc-tests", run: || run_command(cargo(&["test", "--doc"]).args(workspace())) },
    Step { name: "fuzz-smoke", run: || fuzz_smoke::smoke(&fuzz_smoke::Plan::default()) },
];

fn run(arguments: &[String]) -> Outcome {
    if arguments == ["--cluster"] {
        return run_step(&Step { name: "cluster-tests", run: cluster_tests });
    }
    if arguments == ["--page"] {
        page::build()?;
        return run_step(&Step { name: "page-test", run: page_test });
    }
    if let Some(argument) = arguments.first() {
        return Err(format!(
            "test takes --cluster or --page alone, not {argument}; for one crate: cargo test -p CRATE"
        ));
    }
    let mut skipped = Vec::new();
    for step in STEPS {
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
        count => eprintln!("xtask: all tests passed but {count} skipped:\n  {}", skipped.join("\n  ")),
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

fn rust_tests() -> Outcome {
    if succeeds("cargo", &["nextest", "--version"]) {
        return run_command(cargo(&["nextest", "run"]).args(workspace()));
    }
    run_command(cargo(&["test", "--lib", "--bins", "--tests", "--examples"]).args(workspace()))
}

/// In the build of all tests, which has the program with everything in it.
fn page_test() -> Outcome {
    let mut command = cargo(&["test", "--test", "page"]);
    run_command(command.args(workspace()).args(["--", "--ignored", "the_page_alone"]))
}

/// In the dev profile, so that the programs and the tests share one build of Ballista.
fn cluster_tests() -> Outcome {
    let folder = target_folder().join("cluster");
    let words = ["--locked", "--profile", "dev", "--package", "traceloom-cluster", "--package", "traceloom-cli"];
    let command = |verb: &str, targets: &[&str]| {
        let mut command = cargo(&[verb]);
        command.args(words).args(targets).arg("--target-dir").arg(&folder);
        command
    };
    // With the tests, so that both commands choose the same features.
    run_command(&mut command("build", &["--bins", "--test", "cluster", "--test", "codec"]))?;
    let program = folder.join("debug").join(format!("traceloom{}", std::env::consts::EXE_SUFFIX));
    let mut tests = command("test", &["--test", "cluster", "--test", "codec"]);
    run_command(tests.env("TRACELOOM_PROGRAM", program))
}

/// Every interleaving of the recorder's ring, and random schedules of what surrounds it. Each needs a build of its own.
fn recorder_models() -> Outcome {
    for model in ["traceloom_loom", "traceloom_shuttle"] {
        let mut command = cargo(&["test", "--package", "traceloom-record", "--lib"]);
        command.env("RUSTFLAGS", format!("--cfg {model}")).env("CARGO_TARGET_DIR", target_folder().join(model));
        run_command(&mut command)?;
    }
    Ok(())
}

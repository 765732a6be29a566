//! `bless`: renews what this project generates.

use crate::{
    Outcome, Subcommand,
    process::{cargo, run as run_command, workspace},
};

pub(crate) static SUBCOMMAND: Subcommand = Subcommand {
    name: "bless",
    arguments: "[CARGO-TEST-ARGUMENT…]",
    help: "\
Renews the snapshots and generated pages that the tests compare with.

Runs the tests with TRACELOOM_BLESS=1, SNAPSHOTS=overwrite and TRYCMD=overwrite: a test that compares
with a file of ours writes that file instead. Look at the difference before committing it.

Goldens in fixtures/ come from the tools of the formats and are never touched: if a reader disagrees with
one, the reader is wrong. Arguments go to cargo test, for example `-p traceloom`; without any the whole
workspace is tested.",
    run,
};

fn run(arguments: &[String]) -> Outcome {
    let mut command = cargo(&["test", "--no-fail-fast"]);
    match arguments {
        [] => command.args(workspace()),
        arguments => command.args(arguments),
    };
    command.env("TRACELOOM_BLESS", "1").env("SNAPSHOTS", "overwrite").env("TRYCMD", "overwrite");
    run_command(&mut command)
}

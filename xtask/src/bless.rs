//! `bless`: regenerates snapshots and generated pages.

use crate::{
    Outcome, Subcommand,
    process::{cargo, run as run_command, workspace},
};

pub(crate) static SUBCOMMAND: Subcommand = Subcommand {
    name: "bless",
    arguments: "[CARGO-TEST-ARGUMENT…]",
    help: "\
Regenerates the snapshots and generated pages that the tests compare with.

Runs the tests with TRACELOOM_BLESS=1, SNAPSHOTS=overwrite and TRYCMD=overwrite: a test that compares
with a snapshot writes that file instead. Review the differences before committing them.

Goldens in fixtures/ come from the formats' own tools and are never changed: if a reader disagrees with
one, the reader is wrong. Arguments are passed to cargo test, for example `-p traceloom`; without
arguments, the whole workspace is tested.",
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

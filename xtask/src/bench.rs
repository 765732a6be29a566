//! `bench`: how fast the codecs are.

use crate::{
    Outcome, Subcommand,
    process::{cargo, run as run_command},
};

pub(crate) static SUBCOMMAND: Subcommand = Subcommand {
    name: "bench",
    arguments: "[FORMAT…]",
    help: "\
Measures the codecs, as ratios to a plain read of the same bytes.

Without FORMAT all formats are measured.",
    run,
};

/// Runs the program of the `benches` folder.
pub(crate) const BENCHES: &[&str] = &["run", "--release", "--package", "traceloom-benches", "--"];

fn run(arguments: &[String]) -> Outcome {
    run_command(cargo(BENCHES).arg("run").args(arguments))
}

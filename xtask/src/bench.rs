//! `bench`: measures the speed of the codecs.

mod readme;

use crate::{
    Outcome, Subcommand,
    process::{cargo, run as run_command},
};

pub(crate) static SUBCOMMAND: Subcommand = Subcommand {
    name: "bench",
    arguments: "[FORMAT…] | --readme [PROGRAM]",
    help: "\
Measures the codecs, as ratios to a plain read of the same bytes.

Without FORMAT, all formats are measured.

With --readme, compares the program with the formats' own tools that a registry has: Devel::NYTProf
from Debian and tracing-framework from npm. The table is written to README.md, between its markers.
PROGRAM is an already built program (default: the one of `cargo build --release`). Times are CPU
times, the median of five runs; missing tools are skipped.",
    run,
};

/// Runs the program of the `benches` folder.
pub(crate) const BENCHES: &[&str] = &["run", "--release", "--package", "traceloom-benches", "--"];

fn run(arguments: &[String]) -> Outcome {
    match arguments {
        [flag, program @ ..] if flag == "--readme" && program.len() < 2 => readme::write(program.first()),
        _ => run_command(cargo(BENCHES).arg("run").args(arguments)),
    }
}

//! `bench`: how fast the codecs are.

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

Without FORMAT all formats are measured.

With --readme, the program is measured instead, next to the tools of the formats that a registry has:
Devel::NYTProf of Debian and tracing-framework of npm. The table goes into README.md, between its
markers. PROGRAM is a program that is built already; without it the one of `cargo build --release`.
Times are CPU times, the median of five runs; tools that are missing are left out.",
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

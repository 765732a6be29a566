//! `bench`: measures the speed of the codecs.

mod cluster;
mod rates;
mod readme;
mod table;
mod threads;

use crate::{
    Outcome, Subcommand,
    process::{cargo, run as run_command},
};

pub(crate) static SUBCOMMAND: Subcommand = Subcommand {
    name: "bench",
    arguments: "[FORMAT…] | --readme [PROGRAM] | --rates [PROGRAM] | --threads | --cluster",
    help: "\
Measures the codecs, as ratios to a plain read of the same bytes.

Without FORMAT, all formats are measured.

With --readme, compares the program with the formats' own tools that a registry has: Devel::NYTProf
from Debian and tracing-framework from npm. The table is written to README.md, between its markers.
PROGRAM is an already built program (default: the one of `cargo build --release`). Times are CPU
times, the median of five runs; missing tools are skipped.

--rates and --threads write the tables of docs/cluster.md and docs/performance.md: how fast one core
answers queries on each format, and the CPU time of typical work with one thread and with two.

--cluster builds traceloom-cluster and writes another table of docs/cluster.md: the wall times of a
query over 40 files in the embedded engine with one thread, on one executor with one slot, and on
two. Needs two idle cores.",
    run,
};

/// Runs the program of the `benches` folder.
pub(crate) const BENCHES: &[&str] = &["run", "--release", "--package", "traceloom-benches", "--"];

fn run(arguments: &[String]) -> Outcome {
    match arguments {
        [flag] if flag == "--cluster" => cluster::write(),
        [flag] if flag == "--threads" => threads::write(),
        [flag, program @ ..] if flag == "--readme" && program.len() < 2 => readme::write(program.first()),
        [flag, program @ ..] if flag == "--rates" && program.len() < 2 => rates::write(program.first()),
        _ => run_command(cargo(BENCHES).arg("run").args(arguments)),
    }
}

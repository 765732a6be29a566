//! `make-big`: writes traces of any size.

use crate::{
    Outcome, Subcommand, bench,
    process::{cargo, run as run_command},
};

pub(crate) static SUBCOMMAND: Subcommand = Subcommand {
    name: "make-big",
    arguments: "FORMAT OUT [--records N]",
    help: "\
Writes a large trace for benchmarks and for memory tests.

FORMAT is a format id, OUT the output file, N the number of records (default: 10 million). The same
arguments give the same bytes.",
    run,
};

const DEFAULT_RECORDS: &str = "10000000";

fn run(arguments: &[String]) -> Outcome {
    let (format, out, records) = match arguments {
        [format, out] => (format, out, DEFAULT_RECORDS),
        [format, out, flag, records] if flag == "--records" => (format, out, records.as_str()),
        [flag, records, format, out] if flag == "--records" => (format, out, records.as_str()),
        _ => return Err("make-big needs a format, an output file, and optionally --records N".into()),
    };
    if records.parse::<u64>().is_err() {
        return Err(format!("--records needs a number, not {records}"));
    }
    let out = std::path::absolute(out).map_err(|error| format!("{out}: {error}"))?;
    run_command(cargo(bench::BENCHES).args(["make", format]).arg(out).arg(records))
}

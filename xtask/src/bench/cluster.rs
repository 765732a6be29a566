//! The table of docs/cluster.md: the time of a query in the embedded engine, on one executor and on two.

use std::process::Command;

use super::table::Table;
use crate::{
    Outcome,
    process::{cargo, run, target_folder},
};

pub(super) static TABLE: Table =
    Table { page: "docs/cluster.md", name: "cluster", command: "cargo xtask bench --cluster" };

/// Measures and replaces the table, also if a bar is missed.
pub(super) fn write() -> Outcome {
    // Together, so that both have the same engine, with the profile that is measured.
    let packages = ["--package", "traceloom-cluster", "--package", "traceloom-benches"];
    run(cargo(&["build", "--release", "--locked", "--bins"]).args(packages))?;
    let program = |name: &str| target_folder().join("release").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let output = Command::new(program("traceloom-benches")).arg("cluster").arg(program("traceloom-cluster")).output();
    let output = output.map_err(|error| format!("the benchmark does not start: {error}"))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    print!("{printed}");
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    TABLE.write(&rows(&printed)?)?;
    if output.status.success() { Ok(()) } else { Err(format!("the benchmark ended: {}", output.status)) }
}

/// The rows for what the benchmark prints: an engine, its seconds and its MB/s. The first one is the embedded engine.
fn rows(printed: &str) -> Outcome<String> {
    let times: Vec<(&str, f64, &str)> = printed.lines().filter_map(time).collect();
    let Some((_, embedded, _)) = times.first() else {
        return Err(format!("the benchmark printed no times: {printed}"));
    };
    let row = |(engine, seconds, rate): &(&str, f64, &str)| {
        format!("| {engine} | {seconds:.2} | {rate} | {:.2} |\n", seconds / embedded)
    };
    let head = "| engine | seconds | MB/s | time relative to the embedded engine |\n|---|---|---|---|\n";
    Ok(times.iter().map(row).fold(head.to_owned(), |rows, row| rows + &row))
}

/// `engine  1.23 s  456 MB/s`
fn time(line: &str) -> Option<(&str, f64, &str)> {
    let (rest, rate) = line.trim().strip_suffix(" MB/s")?.rsplit_once(' ')?;
    let (engine, seconds) = rest.trim().strip_suffix(" s")?.rsplit_once(' ')?;
    Some((engine.trim(), seconds.parse().ok()?, rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_the_benchmark_become_rows() {
        let printed = "cluster: 40 files, 900 MB\n  embedded, one thread       2.00 s      450 MB/s\n  \
                       one executor               2.50 s      360 MB/s\n  two executors    1.80 x one   bar 1.70  met\n";
        let rows = rows(printed).expect("two times");
        let lines: Vec<&str> = rows.lines().skip(2).collect();
        assert_eq!(lines, ["| embedded, one thread | 2.00 | 450 | 1.00 |", "| one executor | 2.50 | 360 | 1.25 |"]);
        assert!(super::rows("nothing").is_err());
    }
}

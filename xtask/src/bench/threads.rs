//! The table of docs/performance.md: time with one thread and with two, and what follows for more.

use std::process::Command;

use super::table::{self, Table};
use crate::{Outcome, process::output_of};

pub(super) static TABLE: Table =
    Table { page: "docs/performance.md", name: "threads", command: "cargo xtask bench --threads" };

/// Words that the benchmark prints, as the page writes them.
const NAMES: &[(&str, &str)] = &[
    ("chrome", "Chrome"),
    ("cnanolog", "CNanoLog"),
    ("easyprofiler", "EasyProfiler"),
    ("flame", "`flame`"),
    ("group by", "SQL by name"),
    ("memlyze", "Memlyze"),
    ("memory", "`memory`"),
    ("nytprof", "NYTProf"),
    ("perfetto", "Perfetto"),
    ("stats", "`stats`"),
    ("wtf", "WTF"),
];

/// Measures and replaces the table.
pub(super) fn write() -> Outcome {
    let benches = table::built("traceloom-benches", "traceloom-benches")?;
    let printed = output_of(Command::new(benches).args(["run", "threads"]))?;
    print!("{printed}");
    TABLE.write(&rows(&printed)?)
}

/// The rows for what the benchmark prints: a name, then wall and CPU time with one thread, wall and CPU time with two, the CPU
/// time of the caller, wall time predicted for 8 and 16 threads, and two ratios.
fn rows(printed: &str) -> Outcome<String> {
    let mut rows = String::from(
        "| work | CPU, 1 thread | CPU, 2 | of it: caller | wall, 1 thread | wall, 2 | predicted, 8 | 16 |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    let mut count = 0;
    for line in printed.lines() {
        let Some((format, rest)) = line.trim().split_once(": ") else { continue };
        let words: Vec<&str> = rest.split_whitespace().collect();
        let Some((work, numbers)) = words.split_at_checked(words.len().saturating_sub(9)) else { continue };
        let numbers: Vec<i64> = numbers.iter().take(7).filter_map(|number| number.parse().ok()).collect();
        let (&[wall, one, wall_two, two, caller, eight, sixteen], false) = (numbers.as_slice(), work.is_empty()) else {
            continue;
        };
        let (format, work) = (name(format), name(&work.join(" ")));
        let cells = [one, two, caller, wall, wall_two, eight, sixteen].map(|number| number.to_string());
        rows.push_str(&format!("| {format}: {work} | {} |\n", cells.join(" | ")));
        count += 1;
    }
    if count == 0 { Err(format!("the benchmark printed no times: {printed}")) } else { Ok(rows) }
}

fn name(word: &str) -> String {
    NAMES.iter().find(|(printed, _)| *printed == word).map_or(word, |(_, written)| *written).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_those_of_the_benchmark() {
        let printed = "threads: 5000000 records each; best of 5, in ms\n                 1 thread    2 threads\n  \
            easyprofiler: stats      260     259      155     265          58      67     58       0.60      1.02\n  \
            nytprof: all tables       87      86       90      88           1      90     90       1.03      1.02\n";
        let rows = rows(printed).expect("two rows");
        assert!(rows.ends_with(
            "| EasyProfiler: `stats` | 259 | 265 | 58 | 260 | 155 | 67 | 58 |\n\
             | NYTProf: all tables | 86 | 88 | 1 | 87 | 90 | 90 | 90 |\n"
        ));
        assert!(super::rows("threads: none\n").is_err());
    }
}

//! The table of docs/performance.md: CPU time with one thread and with two.

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
/// time of the caller, and two ratios.
fn rows(printed: &str) -> Outcome<String> {
    let mut rows = String::from("| work | one thread | two threads | caller | readers |\n|---|---|---|---|---|\n");
    let mut count = 0;
    for line in printed.lines() {
        let Some((format, rest)) = line.trim().split_once(": ") else { continue };
        let words: Vec<&str> = rest.split_whitespace().collect();
        let Some((work, numbers)) = words.split_at_checked(words.len().saturating_sub(7)) else { continue };
        let numbers: Vec<i64> = numbers.iter().take(5).filter_map(|number| number.parse().ok()).collect();
        let (&[_, one, _, two, caller], false) = (numbers.as_slice(), work.is_empty()) else { continue };
        let (format, work) = (name(format), name(&work.join(" ")));
        rows.push_str(&format!("| {format}: {work} | {one} | {two} | {caller} | {} |\n", two - caller));
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
            easyprofiler: stats      260     259      205     255          58       0.79      0.98\n  \
            nytprof: all tables       87      86       90      88           1       1.03      1.02\n";
        let rows = rows(printed).expect("two rows");
        assert!(rows.ends_with(
            "| EasyProfiler: `stats` | 259 | 255 | 58 | 197 |\n| NYTProf: all tables | 86 | 88 | 1 | 87 |\n"
        ));
        assert!(super::rows("threads: none\n").is_err());
    }
}

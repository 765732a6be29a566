//! Tables of measured figures in pages: how they are measured, and where they are written.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Outcome,
    files::{self, failed},
    process::{cargo, output_of, root, run, target_folder},
};

/// Number of runs of each command; the median counts.
const RUNS: usize = 5;

/// A table of a page, between two comments, the first of which names the command that writes the table.
pub(super) struct Table {
    pub(super) page: &'static str,
    /// The name in the comments.
    pub(super) name: &'static str,
    pub(super) command: &'static str,
}

impl Table {
    /// Replaces the rows.
    pub(super) fn write(&self, rows: &str) -> Outcome {
        let page = root().join(self.page);
        let text = files::read_text(&page)?;
        files::write(&page, self.replaced(&text, rows)?)
    }

    fn replaced(&self, text: &str, rows: &str) -> Outcome<String> {
        let start = format!("<!-- {}: `{}` writes this table -->\n", self.name, self.command);
        let end = format!("<!-- /{} -->", self.name);
        let (before, rest) = text.split_once(&start).ok_or_else(|| format!("{} has no `{start}`", self.page))?;
        let (_, after) = rest.split_once(&end).ok_or_else(|| format!("{} has no `{end}`", self.page))?;
        Ok(format!("{before}{start}\n{rows}\n{end}{after}"))
    }
}

/// The given program, or the one of a release build.
pub(super) fn program(given: Option<&String>) -> Outcome<PathBuf> {
    match given {
        Some(program) => std::path::absolute(program).map_err(failed(Path::new(program))),
        None => built("traceloom-cli", "traceloom"),
    }
}

/// A program of the workspace, built with the profile that is measured.
pub(super) fn built(package: &str, name: &str) -> Outcome<PathBuf> {
    run(&mut cargo(&["build", "--release", "--locked", "--package", package]))?;
    Ok(target_folder().join("release").join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

/// CPU seconds of a command and its children.
pub(super) fn measure(command: &mut Command) -> Outcome<f64> {
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let mut timed = Command::new("bash");
        timed.args(["-c", "TIMEFORMAT='%U %S'; { time \"$@\" >/dev/null 2>&1; } 2>&1", "time"]);
        timed.arg(command.get_program()).args(command.get_args());
        times.push(seconds(&output_of(&mut timed)?)?);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[RUNS / 2])
}

/// The sum of the numbers that the shell prints.
fn seconds(printed: &str) -> Outcome<f64> {
    let numbers: Result<Vec<f64>, _> = printed.split_whitespace().map(str::parse).collect();
    Ok(numbers.map_err(|error| format!("the shell measured `{}`: {error}", printed.trim()))?.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_and_system_time_are_added() {
        assert_eq!(seconds("0.25 0.50\n"), Ok(0.75));
        assert!(seconds("command not found").is_err());
    }

    #[test]
    fn every_page_has_a_place_for_its_table() {
        use super::super::{cluster, rates, readme, threads};
        for table in [&cluster::TABLE, &rates::TABLE, &readme::TABLE, &threads::TABLE] {
            let text = files::read_text(&root().join(table.page)).expect("a page is text");
            let replaced = table.replaced(&text, "| rows |\n").expect("the markers are there");
            assert!(replaced.contains(" writes this table -->\n\n| rows |\n\n<!-- /"), "{}", table.page);
            assert!(table.replaced("no markers", "").is_err());
        }
    }
}

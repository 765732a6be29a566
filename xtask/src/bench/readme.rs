//! The table of README.md that compares the program with the formats' own tools.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::table::{self, Table, measure};
use crate::{
    Outcome,
    files::{self, failed},
    process::{output_of, root, run, succeeds, target_folder},
};

pub(super) static TABLE: Table = Table { page: "README.md", name: "speed", command: "cargo xtask bench --readme" };
/// How often a sample is merged with itself, and the result with itself, to get a large file.
const COPIES: [usize; 2] = [200, 10];

/// A job that both a tool from a registry and the program can do.
struct Job {
    format: &'static str,
    sample: &'static str,
    /// Label: the tool, and what it does here.
    tool: &'static str,
    /// The command of the tool for a file, or why it is not available.
    command: fn(&Path) -> Outcome<Command>,
    /// The verb that does the same.
    verb: &'static [&'static str],
}

static JOBS: &[Job] = &[
    Job {
        format: "NYTProf",
        sample: "nytprof.out",
        tool: "Devel::NYTProf loads it",
        command: nytprof_load,
        verb: &["check"],
    },
    Job {
        format: "NYTProf",
        sample: "nytprof.out",
        tool: "`nytprofcsv`",
        command: nytprof_csv,
        verb: &["lines", "--csv"],
    },
    Job { format: "WTF", sample: "game.wtf-trace", tool: "tracing-framework loads it", command: wtf, verb: &["check"] },
    Job { format: "WTF", sample: "game.wtf-trace", tool: "tracing-framework loads it", command: wtf, verb: &["stats"] },
];

fn nytprof_load(file: &Path) -> Outcome<Command> {
    if !succeeds("perl", &["-MDevel::NYTProf::Data", "-e1"]) {
        return Err("Devel::NYTProf is missing (Debian package libdevel-nytprof-perl)".into());
    }
    let mut command = Command::new("perl");
    let script = "Devel::NYTProf::Data->new({ filename => shift, quiet => 1 })";
    command.args(["-MDevel::NYTProf::Data", "-e", script]).arg(file);
    Ok(command)
}

fn nytprof_csv(file: &Path) -> Outcome<Command> {
    nytprof_load(file)?;
    let mut command = Command::new("nytprofcsv");
    command.arg("--file").arg(file).arg("--out").arg(file.with_extension("csv"));
    Ok(command)
}

fn wtf(file: &Path) -> Outcome<Command> {
    let modules = target_folder().join("bench/npm");
    if !modules.join("node_modules/tracing-framework").is_dir() {
        files::write(&modules.join("package.json"), "{\"private\": true}\n")?;
        let install = ["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"];
        run(Command::new("npm").args(install).arg("tracing-framework@2015.7.15-1").current_dir(&modules))?;
    }
    let mut command = Command::new("node");
    command.arg(root().join("benches/peers/wtf.js")).arg(modules).arg(file);
    Ok(command)
}

/// Measures and replaces the table.
pub(super) fn write(program: Option<&String>) -> Outcome {
    TABLE.write(&table(&table::program(program)?)?)
}

fn table(program: &Path) -> Outcome<String> {
    let folder = target_folder().join("bench/files");
    files::remove_folder(&folder)?;
    fs::create_dir_all(&folder).map_err(failed(&folder))?;
    output_of(Command::new(program).args(["demo", "--no-open"]).arg(&folder))?;
    let mut rows =
        String::from("| file | tool | CPU time | `traceloom` | CPU time | ratio |\n|---|---|---|---|---|---|\n");
    for job in JOBS {
        let file = enlarge(program, &folder, job.sample)?;
        let mut theirs = match (job.command)(&file) {
            Ok(command) => command,
            Err(reason) => {
                eprintln!("xtask: skipped {}: {reason}", job.format);
                continue;
            }
        };
        let mut ours = Command::new(program);
        ours.args(job.verb).arg(&file);
        let (their_seconds, our_seconds) = (measure(&mut theirs)?, measure(&mut ours)?);
        let megabytes = fs::metadata(&file).map_err(failed(&file))?.len() as f64 / 1e6;
        rows.push_str(&format!(
            "| {}, {megabytes:.1} MB | {} | {their_seconds:.2} s | `{}` | {our_seconds:.2} s | {:.1} |\n",
            job.format,
            job.tool,
            job.verb.join(" "),
            their_seconds / our_seconds
        ));
    }
    Ok(rows)
}

/// The sample, merged with itself many times.
fn enlarge(program: &Path, folder: &Path, sample: &str) -> Outcome<PathBuf> {
    let large = folder.join(format!("large-{sample}"));
    if large.is_file() {
        return Ok(large);
    }
    let mut source = folder.join(sample);
    for (round, copies) in COPIES.into_iter().enumerate() {
        let merged = if round + 1 == COPIES.len() { large.clone() } else { folder.join(format!("{round}-{sample}")) };
        let mut command = Command::new(program);
        output_of(command.args(["merge", "--quiet"]).args(std::iter::repeat_n(&source, copies)).arg(&merged))?;
        source = merged;
    }
    Ok(large)
}

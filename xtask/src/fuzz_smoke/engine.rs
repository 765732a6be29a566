//! Runs one target under libFuzzer and parses its output.

use std::{
    collections::VecDeque,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{ChildStderr, Command, Stdio},
};

use super::{effort::Effort, reproducer, seeds};
use crate::{Outcome, process::show};

/// One built target.
pub(super) struct Target<'a> {
    /// `FORMAT_DIRECTION`.
    pub(super) name: &'a str,
    pub(super) program: &'a Path,
    /// The folder of the fuzz crate.
    pub(super) fuzz: &'a Path,
}

/// Memory limit in MB; far above the limits of the targets, far below the memory of a machine.
const MEMORY_MB: u32 = 512;
/// Time limit per input in seconds; the longest input takes milliseconds.
const RUN_SECONDS: u32 = 10;
/// Max length of an input; longer than any single record, short enough to be fast.
const LONGEST_INPUT: u32 = 64 << 10;

/// Runs a target; an error names the failing input.
pub(super) fn run(target: &Target<'_>, effort: Effort) -> Outcome {
    let mut command = command(target, effort)?;
    eprintln!("xtask: fuzzing {} {}", target.name, effort.describe(target.name));
    let shown = show(&command);
    let mut child = command.spawn().map_err(|error| format!("{shown} does not start: {error}"))?;
    let log = child.stderr.take().map(Log::read).unwrap_or_default();
    let status = child.wait().map_err(|error| format!("{shown}: {error}"))?;
    if !status.success() {
        log.tail.iter().for_each(|line| eprintln!("{line}"));
        if let Some(path) = &log.reproducer {
            eprintln!("xtask: {}: {}", target.name, reproducer::show(Path::new(path)));
        }
        return Err(log.failure(target, &status.to_string()));
    }
    if log.first_coverage.unwrap_or(0) == 0 {
        return Err(format!("{} runs without coverage: this compiler ignores the instrumentation", target.name));
    }
    log.report(target.name, effort);
    Ok(())
}

fn command(target: &Target<'_>, effort: Effort) -> Outcome<Command> {
    let corpus = target.fuzz.join("corpus").join(target.name);
    let artifacts = target.fuzz.join("artifacts").join(target.name);
    for folder in [&corpus, &artifacts] {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let mut command = Command::new(target.program);
    if effort.learns() {
        command.arg(corpus);
    }
    command.args(effort.arguments(target.name)).args([
        format!("-artifact_prefix={}/", artifacts.display()),
        format!("-rss_limit_mb={MEMORY_MB}"),
        format!("-timeout={RUN_SECONDS}"),
        format!("-max_len={LONGEST_INPUT}"),
        "-print_final_stats=1".into(),
    ]);
    if let Some(list) = seed_list(target)? {
        command.arg(format!("-seed_inputs=@{}", list.display()));
    }
    command.current_dir(target.fuzz).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    Ok(command)
}

/// Writes the names of the seeds to a file, because there may be too many for a command line.
fn seed_list(target: &Target<'_>) -> Outcome<Option<PathBuf>> {
    let format = target.name.split('_').next().unwrap_or(target.name);
    let folders = seeds::folders(&target.fuzz.with_file_name("fixtures"), format);
    let seeds = folders.iter().flat_map(|folder| seeds::below(folder));
    let seeds: Vec<String> = seeds.map(|path| path.display().to_string()).collect();
    if seeds.is_empty() {
        return Ok(None);
    }
    let list = target.fuzz.join("corpus").join(format!("{}.seeds", target.name));
    fs::write(&list, seeds.join(",")).map_err(|error| format!("{}: {error}", list.display()))?;
    Ok(Some(list))
}

/// The output of libFuzzer.
#[derive(Default)]
struct Log {
    first_coverage: Option<u64>,
    last_coverage: Option<u64>,
    reproducer: Option<String>,
    /// The last lines: the panic, the stack and the statistics.
    tail: VecDeque<String>,
}

const TAIL_LINES: usize = 60;

impl Log {
    fn read(output: ChildStderr) -> Self {
        let mut log = Self::default();
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            log.take(String::from_utf8_lossy(&line).into_owned());
        }
        log
    }

    fn take(&mut self, line: String) {
        if let Some(coverage) = coverage(&line) {
            self.last_coverage = Some(coverage);
            if line.contains("INITED") {
                self.first_coverage = Some(coverage);
            }
        }
        if let Some((_, path)) = line.split_once("Test unit written to ") {
            self.reproducer = Some(path.to_owned());
        }
        if self.tail.len() == TAIL_LINES {
            self.tail.pop_front();
        }
        self.tail.push_back(line);
    }

    fn statistic(&self, name: &str) -> &str {
        let lines = self.tail.iter().rev().filter_map(|line| line.strip_prefix("stat::")?.split_once(':'));
        lines.filter(|(key, _)| *key == name).map(|(_, value)| value.trim()).next().unwrap_or("?")
    }

    fn report(&self, name: &str, effort: Effort) {
        let inputs = self.statistic("number_of_executed_units");
        eprintln!(
            "xtask: {name}: {inputs} inputs, {} kept, {} per second, coverage {} at first and {} at last, {} MB",
            self.statistic("new_units_added"),
            self.statistic("average_exec_per_sec"),
            self.first_coverage.unwrap_or(0),
            self.last_coverage.unwrap_or(0),
            self.statistic("peak_rss_mb"),
        );
        if effort.is_short(name, inputs) {
            eprintln!("xtask: {name}: the time limit was reached before all inputs were run");
        }
    }

    fn failure(&self, target: &Target<'_>, status: &str) -> String {
        match &self.reproducer {
            Some(path) => {
                format!("{} failed on {path}; to reproduce: {} {path}", target.name, target.program.display())
            }
            None => format!("{} ended with {status} without a failing input", target.name),
        }
    }
}

/// The edges seen, from a line such as `#2 INITED cov: 571 ft: 572 corp: 1/1b`.
fn coverage(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once("cov: ").filter(|(number, _)| number.starts_with('#'))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_gives_coverage_statistics_and_reproducer() {
        let mut log = Log::default();
        for line in [
            "INFO: Loaded 1 modules   (3 inline 8-bit counters): 3 [0x1, 0x2), ",
            "#2\tINITED cov: 571 ft: 572 corp: 1/1b exec/s: 0 rss: 30Mb",
            "#99\tNEW    cov: 600 ft: 601 corp: 2/2b lim: 4 exec/s: 0 rss: 30Mb",
            "artifact_prefix='a/'; Test unit written to a/crash-1",
            "stat::average_exec_per_sec:     123",
        ] {
            log.take(line.into());
        }
        assert_eq!((log.first_coverage, log.last_coverage), (Some(571), Some(600)));
        assert_eq!(log.reproducer.as_deref(), Some("a/crash-1"));
        assert_eq!(log.statistic("average_exec_per_sec"), "123");
    }
}

//! Every argument of the program: one definition each, with its help.

pub(crate) mod answers;
pub(crate) mod figures;

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use traceloom_core::TimeRange;

/// Opens the traces that no other tool opens: EasyProfiler .prof, NYTProf (Perl's and Pynytprof's), CNanoLog
/// .clog, Memlyze .mlyze, Web Tracing Framework .wtf-trace.
///
/// Healthy or broken, compressed (gzip, zstd, lz4) or not, from a file or a pipe (`-`). Answers go to
/// standard output, progress and warnings to standard error.
#[derive(Debug, Parser)]
#[command(name = "traceloom", version, max_term_width = 100, propagate_version = true)]
#[command(after_help = "\
Exit codes:
  0  fine
  1  something severe was found in a file, or a file was refused
  2  the command cannot be understood, or the system refused

Examples:
  traceloom demo                              sample traces, and what to try with them
  traceloom capture.prof                      look at it in the browser
  traceloom info capture.prof                 what is in it, and what is wrong with it
  traceloom check --strict *.prof             does the original tool load them?
  traceloom repair broken.prof good.prof      make it load again
  traceloom log --level warn+ service.clog    a binary log as text
  traceloom dump capture.prof.zst | less      every record with its byte offset")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colours.
    #[arg(long, value_enum, default_value_t, global = true, value_name = "WHEN")]
    pub(crate) color: Color,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum Color {
    /// Where a person looks.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show traces in the browser.
    ///
    /// Serves a page on this machine only and prints its address, which holds a secret; Ctrl-C ends it.
    #[command(after_help = "\
Examples:
  traceloom view capture.prof
  traceloom view service.clog game.prof       both on one time axis
  traceloom view --no-open --port 8123 capture.prof")]
    View(answers::View),

    /// Show what a trace is, how long, how much of what, and what is wrong with it.
    #[command(after_help = "\
Examples:
  traceloom info capture.prof
  traceloom info --json *.prof | jq .facts.blocks
  zstdcat huge.prof.zst | traceloom info -")]
    Info(Info),

    /// Print every record with its byte offset, losing nothing.
    #[command(after_help = "\
Examples:
  traceloom dump capture.prof | grep '^ *1234 '
  traceloom dump --json capture.prof | jq 'select(.kind == \"value\")'
  traceloom dump --resources shaders game.wtf-trace             the files inside, into a folder")]
    Dump(Dump),

    /// List everything that is wrong, with byte offsets.
    ///
    /// Severity error means that the original tool refuses the file for it. `--strict` stops at the
    /// first of those and exits with 1; exit code 0 then means that the original accepts the file.
    #[command(after_help = "\
Examples:
  traceloom check capture.prof
  traceloom check --strict --json *.prof")]
    Check(Check),

    /// Write a trace anew: for another tool, in another format, as another version, or byte for byte.
    #[command(after_help = "\
Examples:
  traceloom convert game.prof game.pftrace                     for ui.perfetto.dev
  traceloom convert --to speedscope nytprof.out calls.json     for speedscope.app
  traceloom convert --range 1s..2s game.prof - --to chrome     a part of it, to standard output
  traceloom convert game.prof game.wtf-trace                   into another of the formats; says what is lost
  traceloom convert *.prof runs/ --to parquet                  a store of Parquet files; again, it adds what is new
  traceloom convert --list                                     everything that can be written
  traceloom convert old.prof.gz old.prof                       unpack, byte for byte
  traceloom convert --canonical odd.prof clean.prof            drop what no clean writer writes
  traceloom convert --to easyprofiler:1.3.0 new.prof old.prof  for an older tool; says what is lost")]
    Convert(Convert),

    /// Write a file that the original tool loads again, and list what is not in it.
    #[command(after_help = "\
Examples:
  traceloom repair crashed.prof repaired.prof
  traceloom repair --dictionary yesterday.clog crashed.clog repaired.clog")]
    Repair(Repair),

    /// Write a part of a trace: a stretch of time, some threads.
    ///
    /// Times count from the trace's origin, the begin of the capture. What reaches into the stretch stays,
    /// cut at its edges where the format cannot keep it whole, which is said.
    #[command(after_help = "\
Examples:
  traceloom slice --range 1.5s..1.7s capture.prof spike.prof
  traceloom slice --thread Main --thread 4243 capture.prof two.prof")]
    Slice(Slice),

    /// Write several traces of one format as one.
    #[command(after_help = "\
Example:
  traceloom merge first.prof second.prof both.prof")]
    Merge(Merge),

    /// Print a log as text, in file order and in UTC.
    ///
    /// Patterns have the tokens of CNanoLog's text mode: %t date and time, %T short time, %d date, %D time, %r
    /// seconds since the start, %l level, %L its first letter, %f file, %n line, %m message, %% a percent sign. With
    /// `--compat` they are those of its decompressor: %t %T (raw ticks) %r %l %f %L (line) %m %%.
    #[command(after_help = "\
Examples:
  traceloom log service.clog
  traceloom log --level warn+ --since '2025-11-02 14:00' --grep timeout service.clog
  traceloom log --sort --json app-2025-11-*.clog | jq -r .message
  traceloom log --dictionary yesterday.clog crashed.clog        the process died before it wrote its own
  traceloom log -f --dictionary yesterday.clog live.clog        go on as it grows
  traceloom log --compat service.clog                           the original decompressor's text, to the byte")]
    Log(Log),

    /// Show how often things ran, how long they took, and how much of the whole that is.
    ///
    /// Quantiles are exact: a median is the middle of all durations. A share is the part of the own time of all spans.
    #[command(after_help = "\
Examples:
  traceloom stats capture.prof
  traceloom stats --by thread,parent --sort p99 --limit 20 capture.prof
  traceloom stats --range 1.5s..1.7s capture.prof               what ran in a spike
  traceloom stats --histogram Frame capture.prof                how frames are distributed
  traceloom stats --value 'Visible objects' --inside Render capture.prof   does it depend on the number?
  traceloom stats --json capture.prof | jq '.spans[0]'")]
    Stats(figures::Stats),

    /// Compare two traces, or two sets of runs: what is slower, faster, new, gone.
    ///
    /// Equal names are the same thing, whatever the formats. With at least two runs on each side the verdict says how
    /// likely a difference is by chance; with one, chance between runs is unknown, and it says so.
    #[command(after_help = "\
Examples:
  traceloom diff before.prof after.prof
  traceloom diff --metric total nytprof.old nytprof.new         the same work in both
  traceloom diff --baseline old-*.prof --candidate new-*.prof --fail-over 5%   for a build server")]
    Diff(figures::Diff),

    /// Say what is worth a look: long spans, hot names, spikes, growth, storms; with evidence and a query.
    #[command(after_help = "\
Examples:
  traceloom advise capture.prof
  traceloom advise --long 16ms --hot 5% capture.prof            for a game
  traceloom advise --json service.mlyze | jq '.advice[].query'")]
    Advise(figures::Advise),

    /// Draw where the time goes, or the memory: a flame graph.
    #[command(after_help = "\
Examples:
  traceloom flame game.prof -o game.svg
  traceloom flame --reversed --icicle nytprof.out -o who-calls.svg
  traceloom flame --by bytes service.mlyze -o memory.svg
  traceloom flame --format folded game.prof | head")]
    Flame(answers::Flame),

    /// Show what each line cost, beside the source, with callers and callees.
    ///
    /// From what a line profiler added up. A hot line is far above the median of its file: green, cyan, yellow and red
    /// are up to half, one, two and more deviations.
    #[command(after_help = "\
Examples:
  traceloom lines nytprof.out
  traceloom lines --file Inventory.pm --source-dir lib nytprof.out
  traceloom lines --subs --limit 50 nytprof.out
  traceloom lines --csv -o report nytprof.out                   as nytprofcsv
  traceloom lines --callgrind nytprof.out -o nytprof.callgrind  for KCachegrind
  traceloom lines --dot nytprof.out | dot -Tsvg > calls.svg")]
    Lines(answers::Lines),

    /// Show how much memory was in use, who took it, and what never came back.
    #[command(after_help = "\
Examples:
  traceloom memory service.mlyze
  traceloom memory --at 12.5s service.mlyze
  traceloom memory --json service.mlyze | jq .peak.bytes")]
    Memory(answers::Memory),

    /// Ask questions in SQL, of one trace or many.
    ///
    /// Without a question it prompts for them. All formats fill the same tables: `traceloom query FILE 'show tables'` lists
    /// them.
    #[command(after_help = "\
Examples:
  traceloom query game.prof 'select name, count(*), sum(dur_ns) from spans group by name order by 3 desc limit 20'
  traceloom query 'runs/*.prof' --file slow-frames.sql --format csv > slow.csv
  traceloom query game.prof service.clog 'select s.name, l.message from logs l join spans s
    on l.ts_ns between s.ts_ns and s.ts_ns + s.dur_ns'        both on one time axis
  traceloom query game.prof                                   a prompt")]
    Query(answers::Query),

    /// Write a sample trace of each format, show what to do with it, and open all of them in the browser.
    #[command(after_help = "\
Examples:
  traceloom demo
  traceloom demo --no-open /tmp/traces")]
    Demo(Demo),

    /// Print a script that completes this program's arguments in a shell.
    #[command(after_help = "\
Example:
  traceloom completions bash > ~/.local/share/bash-completion/completions/traceloom")]
    Completions(Completions),

    /// Print the manual page, of the program or of one verb.
    #[command(after_help = "\
Examples:
  traceloom man > traceloom.1 && man ./traceloom.1
  traceloom man slice | man -l -")]
    Man(Man),
}

#[derive(Args, Debug)]
pub(crate) struct Info {
    /// Traces; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// One JSON object a file.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
pub(crate) struct Dump {
    /// The trace; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// One JSON object a record.
    #[arg(long)]
    pub(crate) json: bool,
    /// Stop after this many records.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Write the resources that travel with a Web Tracing Framework trace into this folder, and list them instead.
    #[arg(long, value_name = "DIR", conflicts_with = "limit")]
    pub(crate) resources: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
pub(crate) struct Check {
    /// Traces; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The original tool's verdict: refuse what it refuses.
    #[arg(long)]
    pub(crate) strict: bool,
    /// One JSON object a file.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
pub(crate) struct Convert {
    /// Traces, and last where to write; `-` is standard input or output. Several traces become one.
    #[arg(required_unless_present = "list", num_args = 2.., value_name = "IN… OUT")]
    pub(crate) files: Vec<PathBuf>,
    /// What to write, such as `perfetto` or `easyprofiler:1.3.0`; where it is not said, the ending of OUT decides.
    #[arg(long, value_name = "ID[:VARIANT]")]
    pub(crate) to: Option<String>,
    /// Write it as a clean writer would: counts right, no surplus bytes.
    #[arg(long)]
    pub(crate) canonical: bool,
    /// Only this stretch, such as `1.5s..1.7s`; what reaches into it is kept whole.
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub(crate) range: Option<TimeRange>,
    /// Only this thread, by number or name; may be given several times.
    #[arg(long = "thread", value_name = "THREAD")]
    pub(crate) threads: Vec<String>,
    /// Show what can be written, and which tables each of them holds.
    #[arg(long)]
    pub(crate) list: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
pub(crate) struct Repair {
    /// The broken trace; `-` is standard input.
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// Where to write; `-` is standard output.
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// Another log of the same program, for a CNanoLog file that has no dictionary.
    #[arg(long, value_name = "FILE")]
    pub(crate) dictionary: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
pub(crate) struct Slice {
    /// The trace; `-` is standard input.
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// Where to write; `-` is standard output.
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// The stretch, such as `1.5s..1.7s`, `..250ms` or `3s..`.
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub(crate) range: Option<TimeRange>,
    /// A thread to keep, by number or name; may be given several times.
    #[arg(long = "thread", value_name = "THREAD")]
    pub(crate) threads: Vec<String>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
pub(crate) struct Merge {
    /// Traces of one format, and last where to write; `-` is standard output.
    #[arg(required = true, num_args = 2.., value_name = "IN… OUT")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
pub(crate) struct Log {
    /// Logs, in order; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Levels to show, by name; `warn+` is WARN and ERROR. Custom levels have names, too, or `LEVEL_9`.
    #[arg(long, value_delimiter = ',', value_name = "LEVEL,…")]
    pub(crate) level: Vec<String>,
    /// From this time on: a date and time, or `90s` after the log's start.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Up to this time, which is not shown anymore.
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Only messages that this regular expression matches.
    #[arg(long, value_name = "REGEX")]
    pub(crate) grep: Option<String>,
    /// How a line looks.
    #[arg(long, value_name = "PATTERN", conflicts_with = "json")]
    pub(crate) pattern: Option<String>,
    /// One JSON object an entry: ts_unix_ns, level, file, line, message, args, offset.
    #[arg(long)]
    pub(crate) json: bool,
    /// The original decompressor's text, to the byte, with everything it gets wrong.
    #[arg(long, conflicts_with_all = ["json", "sort", "since", "until", "grep", "follow"])]
    pub(crate) compat: bool,
    /// In order of time, over all files.
    #[arg(long, conflicts_with = "follow")]
    pub(crate) sort: bool,
    /// Times in this machine's time zone.
    #[arg(long)]
    pub(crate) local: bool,
    /// Another log of the same program, for one that has no dictionary.
    #[arg(long, value_name = "FILE")]
    pub(crate) dictionary: Option<PathBuf>,
    /// Whose numbers the levels have, where the guess is wrong.
    #[arg(long, value_enum, value_name = "WHOSE")]
    pub(crate) levels: Option<Levels>,
    /// Go on as the file grows, until it is closed; needs `--dictionary`.
    #[arg(short, long, requires = "dictionary")]
    pub(crate) follow: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Whose numbers the levels of a log have.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Levels {
    /// 0 DEBUG, 1 INFO, 2 WARN, 3 ERROR.
    Document,
    /// 0 INFO, 1 WARN, 2 ERROR, 3 DEBUG.
    Library,
}

#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// Where to write the samples; made if it is not there.
    #[arg(default_value = "traceloom-demo", value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Only write them. Without a terminal or a browser nothing is opened anyway.
    #[arg(long)]
    pub(crate) no_open: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Args, Debug)]
pub(crate) struct Man {
    /// The verb; the program itself where none is named.
    #[arg(value_name = "VERB")]
    pub(crate) verb: Option<String>,
}

/// How traces are read.
#[derive(Args, Debug, Default)]
pub(crate) struct Reading {
    /// The format, where it should not be guessed.
    #[arg(long, value_name = "ID")]
    pub(crate) from: Option<String>,
}

impl Color {
    /// Sets the choice for all of the program's output.
    pub(crate) fn apply(self) {
        let choice = match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }
}

/// The whole command line, for completions and the manual page.
pub(crate) fn command() -> clap::Command {
    Arguments::command()
}

/// `traceloom FILE` means `traceloom VERB FILE`, with the verb that is the default here.
pub(crate) fn with_default_verb(arguments: impl Iterator<Item = OsString>, verb: &str) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    let known = |word: &OsString| command().get_subcommands().any(|verb| word == verb.get_name());
    if let Some(first) = arguments.get(1)
        && !known(first)
        && std::path::Path::new(first).is_file()
    {
        arguments.insert(1, verb.into());
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        command().debug_assert();
    }

    #[test]
    fn a_file_alone_is_shown() {
        let words = |words: &[&str]| with_default_verb(words.iter().map(OsString::from), "view");
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert_eq!(words(&["traceloom", file]), ["traceloom", "view", file]);
        assert_eq!(words(&["traceloom", file, file]), ["traceloom", "view", file, file]);
        assert_eq!(words(&["traceloom", "check", file]), ["traceloom", "check", file]);
        assert_eq!(words(&["traceloom", "--help"]), ["traceloom", "--help"]);
    }
}

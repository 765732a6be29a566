//! Every argument of the program, with its help.

pub(crate) mod answers;
pub(crate) mod figures;
pub(crate) mod fleet;
pub(crate) mod live;

use std::{
    ffi::OsString,
    num::NonZeroUsize,
    path::{Path, PathBuf},
};

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum, builder::PossibleValuesParser};
use clap_complete::Shell;
use traceloom_core::{Error, Result, TimeRange};
use traceloom_open::FORMATS;

/// Opens the traces that no other tool opens: EasyProfiler .prof, NYTProf (Perl's and Pynytprof's), CNanoLog
/// .clog, Memlyze .mlyze, Web Tracing Framework .wtf-trace.
///
/// Traces may be damaged, compressed (gzip, zstd, lz4), and come from a file or a pipe (`-`). Answers go to standard
/// output, progress and warnings to standard error.
#[derive(Debug, Parser)]
#[command(name = "traceloom", version, max_term_width = 100)]
#[command(after_help = "\
All verbs take --color <auto|always|never> and --threads <N>.

Other names:
  tail     log --tail 20
  grep     log --grep
  open     view
  serve    view --no-open
  version  --version

Exit codes:
  0  no problems
  1  severe problems or missing data in a file, a refused file, no match, or a threshold passed
  2  usage or I/O error

Examples:
  traceloom demo                              sample traces, and questions to ask them
  traceloom capture.prof                      open it in the browser
  traceloom info capture.prof                 contents and problems
  traceloom check --strict *.prof             does the tool of the format load them?
  traceloom repair broken.prof good.prof      make it load again
  traceloom log --level warn+ service.clog    a binary log as text
  traceloom dump capture.prof.zst | less      every record with its byte offset")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colors.
    #[arg(long, value_enum, default_value_t, global = true, value_name = "WHEN", hide = true)]
    pub(crate) color: Color,
    /// Threads that work on a trace (default: one per processor, or TRACELOOM_THREADS).
    #[arg(long = "threads", global = true, value_name = "N", hide = true)]
    pub(crate) max_threads: Option<NonZeroUsize>,
    /// Print no warnings, notes or progress.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Exit with 0 even if data is missing because a trace is damaged.
    #[arg(long, global = true)]
    pub(crate) allow_damaged: bool,
}

/// When to use colors.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum Color {
    /// When writing to a terminal.
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
    /// Serves a page on this machine only and prints its address, which contains a secret; Ctrl-C ends it.
    #[command(after_help = "\
Examples:
  traceloom view capture.prof
  traceloom view service.clog game.prof       both on one time axis
  traceloom view --no-open --port 8123 capture.prof")]
    View(answers::View),

    /// Summarize a trace: format, duration, contents, problems.
    #[command(after_help = "\
Examples:
  traceloom info capture.prof
  traceloom info --json *.prof | jq .facts.blocks
  zstdcat huge.prof.zst | traceloom info -")]
    Info(Info),

    /// Show what matters first: findings, hottest names, slow frames, memory, errors.
    ///
    /// Every list is in order of importance; `stats`, `advise`, `memory`, `log` and `check` have the details.
    #[command(after_help = "\
Examples:
  traceloom summary capture.prof
  traceloom summary --limit 3 *.prof
  traceloom summary --json service.clog | jq .logs.levels")]
    Summary(figures::Summary),

    /// Print every record with its byte offset.
    #[command(after_help = "\
Examples:
  traceloom dump capture.prof | grep '^ *1234 '
  traceloom dump --json capture.prof | jq 'select(.kind == \"value\")'
  traceloom dump --resources shaders game.wtf-trace             embedded files, into a folder")]
    Dump(Dump),

    /// List all problems, with byte offsets.
    ///
    /// Severity error means that the tool of the format refuses the file. `--strict` stops at the first error and exits
    /// with 1; exit code 0 then means that the tool accepts the file.
    #[command(after_help = "\
Examples:
  traceloom check capture.prof
  traceloom check --strict --json *.prof")]
    Check(Check),

    /// Convert a trace to another format, version, or tool.
    #[command(override_usage = "traceloom convert [OPTIONS] <IN>... <OUT>\n       traceloom convert --list")]
    #[command(after_help = "\
Examples:
  traceloom convert game.prof game.pftrace                     for ui.perfetto.dev
  traceloom convert --to speedscope nytprof.out calls.json     for speedscope.app
  traceloom convert --range 1s..2s game.prof - --to chrome     a time range, to standard output
  traceloom convert game.prof game.wtf-trace                   another of the formats; losses are reported
  traceloom convert *.prof runs/ --to parquet                  a store of Parquet files, or adds to it
  traceloom convert --list                                     all output formats
  traceloom convert old.prof.gz old.prof                       decompress, byte for byte
  traceloom convert --canonical odd.prof clean.prof            the layout of a clean writer
  traceloom convert --to easyprofiler:1.3.0 new.prof old.prof  for an older tool; losses are reported")]
    Convert(Convert),

    /// Write a file that the tool of the format loads again, and list what is lost.
    #[command(after_help = "\
Examples:
  traceloom repair crashed.prof repaired.prof
  traceloom repair --dictionary yesterday.clog crashed.clog repaired.clog")]
    Repair(Repair),

    /// Write a time range or some threads of a trace.
    ///
    /// Times are relative to the start of the capture. Spans that overlap the range are kept; if the format requires
    /// cutting them, a warning says so.
    #[command(after_help = "\
Examples:
  traceloom slice --range 1.5s..1.7s capture.prof spike.prof
  traceloom slice --thread Main --thread 4243 capture.prof two.prof")]
    Slice(Slice),

    /// Write several traces of one format as one.
    #[command(override_usage = "traceloom merge [OPTIONS] <IN>... <OUT>")]
    #[command(after_help = "\
Example:
  traceloom merge first.prof second.prof both.prof")]
    Merge(Merge),

    /// Print a log as text, in file order and in UTC.
    ///
    /// Patterns use the tokens of CNanoLog's text mode: %t date and time, %T short time, %d date, %D time, %r
    /// seconds since the start, %l level, %L its first letter, %f file, %n line, %m message, %% a percent sign. With
    /// `--compat` they are those of its decompressor: %t %T (raw ticks) %r %l %f %L (line) %m %%.
    #[command(after_help = "\
Examples:
  traceloom log service.clog
  traceloom log --level warn+ --since '2025-11-02 14:00' --grep timeout service.clog
  traceloom log --sort --json app-2025-11-*.clog | jq -r .message
  traceloom log --dictionary yesterday.clog crashed.clog        the process died before it wrote its own
  traceloom log -f --dictionary yesterday.clog live.clog        print entries as they are written
  traceloom log --grep timeout -C 3 --tail 20 service.clog      the last matches, with context
  traceloom log --compat service.clog                           the text of CNanoLog's decompressor, to the byte")]
    Log(Log),

    /// Show calls, total and self time, and percentiles by name.
    ///
    /// Percentiles are exact. A share is the percentage of the self time of all spans.
    #[command(after_help = "\
Examples:
  traceloom stats capture.prof
  traceloom stats --by thread,parent --sort p99 --limit 20 capture.prof
  traceloom stats --range 1.5s..1.7s capture.prof               a spike
  traceloom stats --histogram Frame capture.prof                the distribution of frame times
  traceloom stats --value 'Visible objects' --inside Render capture.prof   does the time depend on the value?
  traceloom stats --json capture.prof | jq '.spans[0]'")]
    Stats(figures::Stats),

    /// Compare two traces, or two sets of runs: slower, faster, new and removed names.
    ///
    /// Spans are matched by name, across formats. With at least two runs on each side, differences are tested against
    /// run-to-run noise; with one run on each side, the noise is unknown.
    #[command(after_help = "\
Examples:
  traceloom diff before.prof after.prof
  traceloom diff --metric total nytprof.old nytprof.new         the same work in both
  traceloom diff --baseline old-*.prof --candidate new-*.prof --fail-over 5%   for a build server")]
    Diff(figures::Diff),

    /// Find problems: slow frames, hot names, leaks, error bursts, idle threads; with cause and evidence.
    #[command(after_help = "\
Examples:
  traceloom advise capture.prof
  traceloom advise --budget 33ms --sql capture.prof            for a game at 30 frames/s
  traceloom advise --json service.mlyze | jq '.advice[].query'")]
    Advise(figures::Advise),

    /// Write a report: one HTML file to send or to keep.
    ///
    /// The file is static, needs no JavaScript, loads nothing and has at most 1 MB. Two traces are compared, as `diff` does,
    /// and so are the runs of `--baseline` and `--candidate`; any other number of traces is shown one after the other.
    #[command(after_help = "\
Examples:
  traceloom report game.prof -o game.html
  traceloom report before.prof after.prof --fail-over 5% -o change.html
  traceloom report --baseline old*.prof --candidate new*.prof --markdown >> comment.md
  traceloom report --interactive game.prof -o game.html        the viewer with the trace inside
  traceloom report --source nytprof.out -o lines.html          as nytprofhtml, in one file
  traceloom report --json service.clog | jq '.traces[0].verdict'")]
    Report(answers::Report),

    /// Draw a flame graph of time, calls or memory.
    #[command(after_help = "\
Examples:
  traceloom flame game.prof -o game.svg
  traceloom flame --reversed --icicle nytprof.out -o who-calls.svg
  traceloom flame --by bytes service.mlyze -o memory.svg
  traceloom flame --format folded game.prof | head")]
    Flame(answers::Flame),

    /// Show the call tree: who calls what, and what that costs.
    #[command(after_help = "\
Examples:
  traceloom tree game.prof
  traceloom tree --bottom-up --depth 3 nytprof.out      the most expensive functions, and their callers
  traceloom tree --focus Update --drop Sleep game.prof
  traceloom tree --by bytes service.mlyze")]
    Tree(answers::Tree),

    /// Show the cost of each line next to the source, with callers and callees.
    ///
    /// For profiles of a line profiler. A hot line is far above the median of its file: green, cyan, yellow and red
    /// are up to half, one, two and more deviations.
    #[command(after_help = "\
Examples:
  traceloom lines nytprof.out
  traceloom lines --file Inventory.pm --source-dir lib nytprof.out
  traceloom lines --subs --limit 50 nytprof.out
  traceloom lines --csv -o report nytprof.out                   like nytprofcsv
  traceloom lines --callgrind nytprof.out -o nytprof.callgrind  for KCachegrind
  traceloom lines --dot nytprof.out | dot -Tsvg > calls.svg")]
    Lines(answers::Lines),

    /// Show memory usage, the allocations at the peak, and leaks, of a trace or of a program.
    ///
    /// `traceloom memory -- PROGRAM` runs a program, records every allocation and free with its stack, and then shows the
    /// answer. The program's exit code is passed on.
    #[command(after_help = "\
Examples:
  traceloom memory -- ./service --once
  traceloom memory service.mlyze
  traceloom memory --at 12.5s service.mlyze
  traceloom memory --json service.mlyze | jq .peak.bytes")]
    Memory(answers::Memory),

    /// Run SQL queries on one trace or many.
    ///
    /// Without a query, a prompt starts. All formats fill the same tables: `traceloom query FILE 'show tables'` lists them.
    #[command(override_usage = "traceloom query [OPTIONS] <FILE>... [SQL]")]
    #[command(after_help = "\
Examples:
  traceloom query game.prof 'select name, count(*), sum(dur_ns) from spans group by name order by 3 desc limit 20'
  traceloom query 'runs/*.prof' --file slow-frames.sql --format csv > slow.csv
  traceloom query game.prof service.clog 'select s.name, l.message from logs l join spans s
    on l.ts_ns between s.ts_ns and s.ts_ns + s.dur_ns'        both on one time axis
  traceloom query game.prof                                   a prompt")]
    Query(answers::Query),

    /// Add traces of a fleet to a store that is partitioned by day, host and build.
    ///
    /// Folders are searched for files. Content that the store has is skipped, so the same command can be run again after it
    /// was interrupted. Files that cannot be read go to the table `quarantine`; damaged traces are added as far as they can be
    /// read.
    #[command(
        override_usage = "traceloom ingest [OPTIONS] <SRC>... <STORE>\n       traceloom ingest --compact <STORE>"
    )]
    #[command(after_help = "\
Examples:
  traceloom ingest traces/ fleet/ --template '{host}/{build}/{day}/*.prof'
  traceloom ingest *.clog fleet/ --tag host=web1 --tag build=4.2
  traceloom ingest --compact fleet/                             merge small files
  traceloom query fleet/ 'select path, finding from quarantine'")]
    Ingest(fleet::Ingest),

    /// Show how long a name takes per day and build in the store of a fleet, and where that changed.
    ///
    /// Without a name, lists the names that changed for good. Percentiles are of all calls, within 0.8 %; ± is the noise
    /// between traces, and a change has to stand out from it.
    #[command(after_help = "\
Examples:
  traceloom trend fleet/                                        what changed, and when
  traceloom trend fleet/ Render --metric p95
  traceloom trend fleet/ Render --json | jq '.names[0].changes'")]
    Trend(fleet::Trend),

    /// Compare two builds in the store of a fleet: slower, faster, new and removed names.
    ///
    /// Each trace is a run; differences are tested against the noise between traces, as `diff` does.
    #[command(after_help = "\
Examples:
  traceloom regressions fleet/ --baseline 4.1 --candidate 4.2
  traceloom regressions fleet/ --baseline 4.1 --candidate 4.2 --fail-over 5%   for a build server")]
    Regressions(fleet::Regressions),

    /// Capture a running program that has EasyProfiler inside.
    ///
    /// Connects to the program, starts a capture, and shows the frame time until Ctrl-C, Enter or `--for` ends it. The
    /// program serves one client at a time; if the connection is lost, the capture goes on in the program, and this
    /// command connects again.
    #[command(after_help = "\
Examples:
  traceloom capture                                             this machine, port 28077
  traceloom capture --for 10s -o spike.prof 127.0.0.1:28077
  traceloom capture --list                                      the blocks of the program
  traceloom capture --set Physics=off-recursive --for 5s")]
    Capture(live::Capture),

    /// Show the hottest names: of the last seconds of a running program, or of a trace.
    ///
    /// A program with EasyProfiler inside is captured again and again for two seconds, and the statistics are redrawn. A
    /// trace is shown as `stats` shows it, with 20 rows.
    #[command(override_usage = "traceloom top [OPTIONS] <HOST:PORT|FILE...>")]
    #[command(after_help = "\
Examples:
  traceloom top 127.0.0.1:28077
  traceloom top --every 5s --by thread localhost
  traceloom top capture.prof")]
    Top(live::Top),

    /// Write a sample trace of each format, list questions to ask it, and open all of them in the browser.
    #[command(after_help = "\
Examples:
  traceloom demo
  traceloom demo --no-open /tmp/traces")]
    Demo(Demo),

    /// Serve an assistant over the Model Context Protocol.
    ///
    /// Reads only the given files and what is below the given folders, and writes only below the folders of --allow.
    /// Speaks over standard input and output; with --http, on a port of this machine only, with a secret token.
    #[command(after_help = "\
Examples:
  traceloom mcp capture.prof
  traceloom mcp --allow ~/traces               may also write slices and conversions there
  traceloom mcp --allow . --http               prints the address and the token")]
    Mcp(answers::Mcp),

    /// Print a page that teaches an assistant this program.
    Skill,

    /// List the formats that can be read.
    Formats,

    /// Print a shell completion script.
    #[command(after_help = "\
Example:
  traceloom completions bash > ~/.local/share/bash-completion/completions/traceloom")]
    Completions(Completions),

    /// Print the manual page of the program or of one verb.
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
    /// Add the summary: findings, hottest names, slow frames, memory, errors.
    #[arg(long, conflicts_with = "json")]
    pub(crate) more: bool,
    /// One JSON object per file.
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
    /// One JSON object per record.
    #[arg(long)]
    pub(crate) json: bool,
    /// Stop after this many records.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Write the embedded resources of a Web Tracing Framework trace into this folder, and list them instead.
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
    /// The verdict of the tool of the format: stop at the first error.
    #[arg(long)]
    pub(crate) strict: bool,
    /// One JSON object per file.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
pub(crate) struct Convert {
    /// Traces to read, then the file to write; `-` is standard input or output. Several traces become one.
    #[arg(required_unless_present = "list", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Output format, such as `perfetto` or `easyprofiler:1.3.0` (default: by the extension of OUT).
    #[arg(long, value_name = "ID[:VARIANT]")]
    pub(crate) to: Option<String>,
    /// Use the layout of a clean writer: correct counts, no surplus bytes.
    #[arg(long)]
    pub(crate) canonical: bool,
    /// Only this time range, such as `1.5s..1.7s`; spans that overlap it are kept whole.
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub(crate) range: Option<TimeRange>,
    /// Only this thread, by number or name; may be repeated.
    #[arg(long = "thread", value_name = "THREAD")]
    pub(crate) threads: Vec<String>,
    /// List the output formats and the tables that each of them holds.
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
    /// Time range, such as `1.5s..1.7s`, `..250ms` or `3s..`.
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub(crate) range: Option<TimeRange>,
    /// A thread to keep, by number or name; may be repeated.
    #[arg(long = "thread", value_name = "THREAD")]
    pub(crate) threads: Vec<String>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
pub(crate) struct Merge {
    /// Traces of one format, then the file to write; `-` is standard output.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
pub(crate) struct Log {
    /// Logs, in order; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Levels to show, by name; `warn+` is WARN and ERROR. Custom levels have names, or `LEVEL_9`.
    #[arg(long, value_delimiter = ',', value_name = "LEVEL,…")]
    pub(crate) level: Vec<String>,
    /// From this time on: a date and time, or `90s` after the log's start.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Before this time.
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Only messages that this regular expression matches.
    #[arg(long, value_name = "REGEX")]
    pub(crate) grep: Option<String>,
    /// Stop after this many entries.
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "tail")]
    pub(crate) limit: Option<u64>,
    /// Only the last entries.
    #[arg(long, value_name = "N", conflicts_with = "follow")]
    pub(crate) tail: Option<usize>,
    /// Also print this many entries before and after each match.
    #[arg(short = 'C', long, value_name = "N", default_value_t = 0, conflicts_with_all = ["sort", "compat"])]
    pub(crate) context: usize,
    /// Format of a line.
    #[arg(long, value_name = "PATTERN", conflicts_with = "json")]
    pub(crate) pattern: Option<String>,
    /// One JSON object per entry: ts_unix_ns, level, file, line, message, args, offset.
    #[arg(long)]
    pub(crate) json: bool,
    /// The text of CNanoLog's decompressor, to the byte, including its mistakes.
    #[arg(long, conflicts_with_all = ["json", "sort", "since", "until", "grep", "follow", "limit", "tail"])]
    pub(crate) compat: bool,
    /// Sort the entries of all files by time.
    #[arg(long, conflicts_with = "follow")]
    pub(crate) sort: bool,
    /// Times in this machine's time zone.
    #[arg(long)]
    pub(crate) local: bool,
    /// Another log of the same program, for one that has no dictionary.
    #[arg(long, value_name = "FILE")]
    pub(crate) dictionary: Option<PathBuf>,
    /// How levels are numbered, if the guess is wrong.
    #[arg(long, value_enum, value_name = "WHOSE")]
    pub(crate) levels: Option<Levels>,
    /// Wait for more entries until the file is closed; needs `--dictionary`.
    #[arg(short, long, requires = "dictionary")]
    pub(crate) follow: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// How the levels of a log are numbered.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Levels {
    /// 0 DEBUG, 1 INFO, 2 WARN, 3 ERROR.
    Document,
    /// 0 INFO, 1 WARN, 2 ERROR, 3 DEBUG.
    Library,
}

#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// Folder for the samples; created if needed.
    #[arg(default_value = "traceloom-demo", value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Do not open the browser.
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
    /// The verb (default: the program).
    #[arg(value_name = "VERB")]
    pub(crate) verb: Option<String>,
}

/// How traces are read.
#[derive(Args, Debug, Default)]
pub(crate) struct Reading {
    /// Input format (default: detect).
    #[arg(long, value_name = "ID", value_parser = format_ids())]
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

fn format_ids() -> PossibleValuesParser {
    FORMATS.iter().map(|format| format.descriptor().id).collect::<Vec<_>>().into()
}

/// Other names of verbs, with arguments that the user may give as well.
static ALIASES: &[(&str, &[&str])] = &[
    ("grep", &["log", "--grep"]),
    ("open", &["view"]),
    ("serve", &["view", "--no-open"]),
    ("tail", &["log", "--tail", "20"]),
    ("version", &["--version"]),
];

/// Words that people try, and the verb that they mean.
static MEANT: &[(&str, &str)] = &[
    ("cat", "log"),
    ("compare", "diff"),
    ("cut", "slice"),
    ("export", "convert"),
    ("fix", "repair"),
    ("gui", "view"),
    ("join", "merge"),
    ("leaks", "memory"),
    ("list", "info"),
    ("print", "dump"),
    ("show", "view"),
    ("sql", "query"),
    ("ui", "view"),
    ("validate", "check"),
    ("verify", "check"),
];

/// Replaces other names of verbs; `traceloom FILE` means `traceloom VERB FILE`, with the verb that is the default here.
pub(crate) fn with_verb(arguments: impl Iterator<Item = OsString>, verb: &str) -> Result<Vec<OsString>> {
    let mut arguments: Vec<OsString> = arguments.collect();
    let Some(first) = arguments.get(1).map(|first| first.to_string_lossy().into_owned()) else { return Ok(arguments) };
    if let Some((_, words)) = ALIASES.iter().find(|(alias, _)| *alias == first) {
        let option = words.get(1).copied().unwrap_or_default();
        let is_given = arguments.iter().any(|argument| argument.to_string_lossy().starts_with(option));
        let words = if option.starts_with("--") && is_given { words.get(..1).unwrap_or_default() } else { *words };
        arguments.splice(1..2, words.iter().map(OsString::from));
        return Ok(arguments);
    }
    let is_verb = first == "help" || command().get_subcommands().any(|verb| first == verb.get_name());
    if is_verb || first.starts_with('-') && first != "-" {
        return Ok(arguments);
    }
    if first.contains(['.', '/', '\\']) || first == "-" || Path::new(&first).exists() {
        arguments.insert(1, verb.into());
    } else if let Some((_, meant)) = MEANT.iter().find(|(word, _)| *word == first) {
        return Err(Error::usage(format!("there is no verb `{first}`; did you mean `traceloom {meant}`?")));
    }
    Ok(arguments)
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
        let words = |words: &[&str]| with_verb(words.iter().map(OsString::from), "view").expect("a verb");
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert_eq!(words(&["traceloom", file]), ["traceloom", "view", file]);
        assert_eq!(words(&["traceloom", file, file]), ["traceloom", "view", file, file]);
        assert_eq!(words(&["traceloom", "check", file]), ["traceloom", "check", file]);
        assert_eq!(words(&["traceloom", "--help"]), ["traceloom", "--help"]);
        assert_eq!(words(&["traceloom", "missing.prof"]), ["traceloom", "view", "missing.prof"]);
        assert_eq!(words(&["traceloom", "src"]), ["traceloom", "view", "src"]);
        assert_eq!(words(&["traceloom", "frobnicate"]), ["traceloom", "frobnicate"]);
    }

    #[test]
    fn other_names_stand_for_verbs() {
        let words =
            |line: &str| with_verb(line.split(' ').map(OsString::from), "view").map(|words| words.join(" ".as_ref()));
        let is = |line: &str, meant: &str| assert_eq!(words(line).expect("a verb"), meant);
        is("traceloom tail a", "traceloom log --tail 20 a");
        is("traceloom tail --tail 5 a", "traceloom log --tail 5 a");
        is("traceloom grep x a", "traceloom log --grep x a");
        is("traceloom open a", "traceloom view a");
        is("traceloom serve a", "traceloom view --no-open a");
        is("traceloom version", "traceloom --version");
        assert!(words("traceloom list a").is_err_and(|error| error.to_string().contains("traceloom info")));
        for (word, meant) in MEANT {
            assert!(command().find_subcommand(meant).is_some() && command().find_subcommand(word).is_none(), "{word}");
        }
    }
}

//! Every argument of the program, with its help.

pub(crate) mod answers;
pub(crate) mod figures;
pub(crate) mod files;
pub(crate) mod first_word;
pub(crate) mod fleet;
pub(crate) mod live;
pub(crate) mod log;

use std::{num::NonZeroUsize, path::PathBuf};

use clap::{
    Args, CommandFactory, Parser, Subcommand, ValueEnum,
    builder::{PossibleValue, PossibleValuesParser, Resettable, TypedValueParser},
};
use clap_complete::Shell;
use traceloom_analysis::choice::Choice;
use traceloom_mapping::Offset;
use traceloom_open::FORMATS;

/// Opens traces that general-purpose viewers cannot: EasyProfiler .prof, NYTProf (Perl's and Pynytprof's), CNanoLog
/// .clog, Memlyze .mlyze, Web Tracing Framework .wtf-trace.
///
/// Traces may be damaged or compressed (gzip, zstd, lz4), and may come from a file or a pipe (`-`). Results go to
/// standard output; progress and warnings go to standard error.
#[derive(Debug, Parser)]
#[command(name = "traceloom", version, max_term_width = 100)]
#[command(after_help = "\
All verbs accept --color <auto|always|never> and --threads <N>.

Aliases:
  tail     log --tail 20
  grep     log --grep
  open     view
  serve    view --no-open
  version  --version

Exit codes:
  0  no problems
  1  errors found by `check`, missing data, a refused file, no match, or an exceeded threshold
  2  usage or I/O error

Examples:
  traceloom demo                              sample traces, with commands to try
  traceloom capture.prof                      open it in the browser
  traceloom info capture.prof                 contents and problems
  traceloom check --strict *.prof             does the format's own tool load them?
  traceloom repair broken.prof good.prof      make it loadable again
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
    /// Serves a page to this machine only and prints its address, which contains a secret token. Ctrl-C stops the
    /// server.
    #[command(after_help = "\
Examples:
  traceloom view capture.prof
  traceloom view service.clog game.prof       both on one time axis
  traceloom view fleet/ --sources traces/     a store: list of traces, trends, builds
  traceloom view --no-open --port 8123 capture.prof")]
    #[command(alias = "open")]
    View(answers::View),

    /// Show traces in the browser without opening it.
    #[command(hide = true)]
    Serve(answers::View),

    /// Summarize a trace: format, duration, contents, problems.
    #[command(after_help = "\
Examples:
  traceloom info capture.prof
  traceloom info --json *.prof | jq .facts.blocks
  zstdcat huge.prof.zst | traceloom info -")]
    Info(files::Info),

    /// Show the most important facts: findings, hottest names, slow frames, memory, errors.
    ///
    /// Every list is sorted by importance. For details, use `stats`, `advise`, `memory`, `log` and `check`.
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
  traceloom dump --resources shaders game.wtf-trace             extract embedded files")]
    Dump(files::Dump),

    /// List all problems, with byte offsets.
    ///
    /// Severity `error` means that the format's own tool refuses the file. `--strict` stops at the first error, as that
    /// tool does. The exit code is 1 if there is an error or if data is missing, even if the tool does not notice it;
    /// with `--allow-damaged`, it is 1 only if there is an error.
    #[command(after_help = "\
Examples:
  traceloom check capture.prof
  traceloom check --strict --json *.prof
  traceloom check --strict --allow-damaged *.prof   does the format's own tool load them?")]
    Check(files::Check),

    /// Convert a trace to another format, version, or tool.
    #[command(override_usage = "traceloom convert [OPTIONS] <IN>... <OUT>\n       traceloom convert --list")]
    #[command(after_help = "\
Examples:
  traceloom convert game.prof game.pftrace                     for ui.perfetto.dev
  traceloom convert --to speedscope nytprof.out calls.json     for speedscope.app
  traceloom convert --range 1s..2s game.prof - --to chrome     a time range, to standard output
  traceloom convert game.prof game.wtf-trace                   another format; losses are reported
  traceloom convert *.prof runs/ --to parquet                  create or extend a Parquet store
  traceloom convert --list                                     all output formats
  traceloom convert old.prof.gz old.prof                       decompress, byte for byte
  traceloom convert --canonical odd.prof clean.prof            the layout of a clean writer
  traceloom convert --to easyprofiler:1.3.0 new.prof old.prof  for an older tool; reports losses")]
    Convert(files::Convert),

    /// Repair a trace so that the format's own tool loads it, and list what is lost.
    #[command(after_help = "\
Examples:
  traceloom repair crashed.prof repaired.prof
  traceloom repair --dictionary yesterday.clog crashed.clog repaired.clog")]
    Repair(files::Repair),

    /// Extract a time range or some threads of a trace.
    ///
    /// Times are relative to the start of the capture. Spans that overlap the range are kept; if the format requires
    /// cutting them, a warning says so.
    #[command(after_help = "\
Examples:
  traceloom slice --range 1.5s..1.7s capture.prof spike.prof
  traceloom slice --thread Main --thread 4243 capture.prof two.prof")]
    Slice(files::Slice),

    /// Merge several traces of one format into one.
    #[command(override_usage = "traceloom merge [OPTIONS] <IN>... <OUT>")]
    #[command(after_help = "\
Example:
  traceloom merge first.prof second.prof both.prof")]
    Merge(files::Merge),

    /// Print a log as text, in file order and in UTC.
    ///
    /// `--pattern` uses the tokens of CNanoLog's text mode: %t date and time, %T short time, %d date, %D time, %r
    /// seconds since the start, %l level, %L first letter of the level, %f file, %n line, %m message, %% percent sign.
    /// With `--compat`, it uses the tokens of CNanoLog's decompressor: %t %T (raw ticks) %r %l %f %L (line) %m %%.
    #[command(after_help = "\
Examples:
  traceloom log service.clog
  traceloom log --level warn+ --since '2025-11-02 14:00' --grep timeout service.clog
  traceloom log --sort --json app-2025-11-*.clog | jq -r .message
  traceloom log --dictionary yesterday.clog crashed.clog        a log that lost its dictionary
  traceloom log -f --dictionary yesterday.clog live.clog        print entries as they are written
  traceloom log --grep timeout -C 3 --tail 20 service.clog      the last matches, with context
  traceloom log --compat service.clog                           exactly as CNanoLog prints it")]
    Log(log::Log),

    /// Print the last entries of a log.
    #[command(hide = true)]
    #[command(mut_arg("limit", |limit| limit.help(format!("Number of entries (default: {})", log::TAIL_ENTRIES))))]
    #[command(mut_arg("tail", |tail| tail.hide(true)))]
    Tail(log::Log),

    /// Print the entries of a log whose message matches.
    #[command(hide = true)]
    #[command(mut_arg("grep", |grep| grep.long(Resettable::Reset).index(1).required(true)))]
    #[command(mut_arg("files", |files| files.index(2)))]
    Grep(log::Log),

    /// Show calls, total and self time, and percentiles by name.
    ///
    /// Percentiles are exact. Shares are percentages of the self time of all spans.
    #[command(after_help = "\
Examples:
  traceloom stats capture.prof
  traceloom stats --by thread,parent --sort p99 --limit 20 capture.prof
  traceloom stats --range 1.5s..1.7s capture.prof               a spike
  traceloom stats --histogram Frame capture.prof                the distribution of frame times
  traceloom stats --value 'Visible objects' --inside Render capture.prof   do they correlate?
  traceloom stats --json capture.prof | jq '.spans[0]'")]
    Stats(figures::Stats),

    /// Compare two traces, or two sets of runs: slower, faster, new and gone names.
    ///
    /// Spans are matched by name, across formats. With at least two runs on each side, differences are tested against
    /// run-to-run noise; with one run on each side, the noise is unknown.
    #[command(after_help = "\
Examples:
  traceloom diff before.prof after.prof
  traceloom diff --metric total nytprof.old nytprof.new         if both did the same work
  traceloom diff --baseline old-*.prof --candidate new-*.prof --fail-over 5%   for CI")]
    Diff(figures::Diff),

    /// Find slow frames, hot names, leaks, error bursts and idle threads, with cause and evidence.
    #[command(after_help = "\
Examples:
  traceloom advise capture.prof
  traceloom advise --budget 33ms --sql capture.prof            for a game at 30 frames/s
  traceloom advise --json service.mlyze | jq '.advice[].query'")]
    Advise(figures::Advise),

    /// Write a report as a single HTML file.
    ///
    /// The file is static, self-contained and at most 1 MB, and needs no JavaScript. Exactly two traces, or the
    /// runs of `--baseline` and `--candidate`, are compared as in `diff`; otherwise, traces are shown one after another.
    #[command(after_help = "\
Examples:
  traceloom report game.prof -o game.html
  traceloom report before.prof after.prof --fail-over 5% -o change.html
  traceloom report --baseline old*.prof --candidate new*.prof --markdown >> comment.md
  traceloom report --interactive game.prof -o game.html        the viewer with the trace inside
  traceloom report --source nytprof.out -o lines.html          like nytprofhtml, in one file
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

    /// Show the call tree: callers, callees and their cost.
    #[command(after_help = "\
Examples:
  traceloom tree game.prof
  traceloom tree --bottom-up --depth 3 nytprof.out      the hottest functions and their callers
  traceloom tree --focus Update --drop Sleep game.prof
  traceloom tree --by bytes service.mlyze")]
    Tree(answers::Tree),

    /// Show the cost of each line next to the source, with callers and callees.
    ///
    /// For line profiles. Colors show how far a line is above the median of its file, in median absolute
    /// deviations: green up to 0.5, cyan up to 1, yellow up to 2, red above 2.
    #[command(after_help = "\
Examples:
  traceloom lines nytprof.out
  traceloom lines --file Inventory.pm --source-dir lib nytprof.out
  traceloom lines --subs --limit 50 nytprof.out
  traceloom lines --csv -o report nytprof.out                   like nytprofcsv
  traceloom lines --callgrind nytprof.out -o nytprof.callgrind  for KCachegrind
  traceloom lines --dot nytprof.out | dot -Tsvg > calls.svg")]
    Lines(answers::Lines),

    /// Show memory usage, allocations at the peak, and leaks of a trace or a program.
    ///
    /// `traceloom memory -- PROGRAM` runs a program, records every allocation and free with its stack, and then shows
    /// the result. The exit code is that of the program.
    #[command(after_help = "\
Examples:
  traceloom memory -- ./service --once
  traceloom memory service.mlyze
  traceloom memory --at 12.5s service.mlyze
  traceloom memory --json service.mlyze | jq .peak.bytes")]
    Memory(answers::Memory),

    /// Run SQL queries on one trace or many.
    ///
    /// Without a query, starts an interactive prompt. All formats fill the same tables;
    /// `traceloom query FILE 'show tables'` lists them.
    #[command(override_usage = "traceloom query [OPTIONS] <FILE>... [SQL]")]
    #[command(after_help = "\
Examples:
  traceloom query game.prof 'select name, count(*), sum(dur_ns) from spans group by name order by 3 desc limit 20'
  traceloom query 'runs/*.prof' --file slow-frames.sql --format csv > slow.csv
  traceloom query game.prof service.clog 'select s.name, l.message from logs l join spans s
    on l.ts_ns between s.ts_ns and s.ts_ns + s.dur_ns'        both on one time axis
  traceloom query game.prof                                   interactive prompt")]
    Query(answers::Query),

    /// Add traces to a fleet store, partitioned by day, host and build.
    ///
    /// Folders are searched for files. Traces that are already in the store are skipped, so an interrupted command can
    /// be run again. Unreadable files are listed in the table `quarantine`; the readable part of a damaged
    /// trace is added.
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

    /// Show how long a name takes per day and build in a fleet store, and when it changed.
    ///
    /// Without a name, lists the names with a lasting change. Percentiles are over all calls, accurate to 0.8 %. ± is
    /// the noise between traces; smaller changes do not count.
    #[command(after_help = "\
Examples:
  traceloom trend fleet/                                        what changed, and when
  traceloom trend fleet/ Render --metric p95
  traceloom trend fleet/ Render --json | jq '.names[0].changes'")]
    Trend(fleet::Trend),

    /// Compare two builds in a fleet store: slower, faster, new and gone names.
    ///
    /// Each trace is a run; differences are tested against the noise between traces, as in `diff`.
    #[command(after_help = "\
Examples:
  traceloom regressions fleet/ --baseline 4.1 --candidate 4.2
  traceloom regressions fleet/ --baseline 4.1 --candidate 4.2 --fail-over 5%   for CI")]
    Regressions(fleet::Regressions),

    /// Capture a running program that uses EasyProfiler.
    ///
    /// Connects to the program, starts a capture, and shows the frame time until Ctrl-C, Enter or `--for` ends the
    /// capture. The program serves one client at a time. If the connection is lost, the program continues the capture,
    /// and this command reconnects.
    #[command(after_help = "\
Examples:
  traceloom capture                                             this machine, port 28077
  traceloom capture --for 10s -o spike.prof 127.0.0.1:28077
  traceloom capture --list                                      the blocks of the program
  traceloom capture --set Physics=off-recursive --for 5s")]
    Capture(live::Capture),

    /// Show the hottest names of a trace, or of the last seconds of a running program.
    ///
    /// The statistics are redrawn every two seconds (see `--every`), from captures of a program that uses EasyProfiler
    /// or from the stream of a program that serves its trace. A trace that is still being written is also redrawn, on a
    /// terminal or with `--rounds`. Any other trace is shown as in `stats`, with 20 rows.
    #[command(override_usage = "traceloom top [OPTIONS] <HOST:PORT|SOCKET|FILE...>")]
    #[command(mut_arg("limit", |limit| limit.help(format!("Maximum rows per list (default: {})", live::TOP_ROWS))))]
    #[command(after_help = "\
Examples:
  traceloom top 127.0.0.1:28077
  traceloom top --every 5s --by thread localhost
  traceloom top capture.prof")]
    Top(live::Top),

    /// Write a sample trace of each format, open the samples in the browser, and list commands to try.
    ///
    /// Also runs a game loop and a service that record themselves, and keeps their traces in the same folder.
    #[command(after_help = "\
Examples:
  traceloom demo
  traceloom demo --no-open /tmp/traces")]
    Demo(Demo),

    /// Serve an assistant over the Model Context Protocol.
    ///
    /// Reads only the given files and folders, and writes only to the folders of --allow. Communicates over standard
    /// input and output; with --http, over a local port, protected by a secret token.
    #[command(after_help = "\
Examples:
  traceloom mcp capture.prof
  traceloom mcp --allow ~/traces               also allow writing there
  traceloom mcp --allow . --http               print the address and the token")]
    Mcp(answers::Mcp),

    /// Print a page that teaches an assistant to use this program.
    Skill,

    /// List the formats that can be read.
    Formats,

    /// Print the version.
    #[command(hide = true)]
    Version,

    /// Print a shell completion script.
    #[command(after_help = "\
Example:
  traceloom completions bash > ~/.local/share/bash-completion/completions/traceloom")]
    Completions(Completions),

    /// Print the manual page of the program or of a verb.
    #[command(after_help = "\
Examples:
  traceloom man > traceloom.1 && man ./traceloom.1
  traceloom man slice | man -l -")]
    Man(Man),
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

/// Parses one of the words of a choice.
fn choice<C: Choice>() -> impl TypedValueParser<Value = C> {
    let meanings = C::MEANINGS.iter().map(|meaning| meaning.trim().trim_end_matches('.'));
    let words = C::WORDS.iter().zip(meanings).map(|(word, meaning)| PossibleValue::new(*word).help(meaning));
    PossibleValuesParser::new(words).map(|word| C::of(&word).expect("the parser accepts no other word"))
}

/// The traces of a verb that answers for each file.
#[derive(Args, Debug)]
pub(crate) struct EachFile {
    /// Traces; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// One JSON object per file.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// How a verb answers once for all its traces.
#[derive(Args, Debug)]
pub(crate) struct Answer {
    /// One JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// The runs to compare.
#[derive(Args, Debug)]
pub(crate) struct Runs {
    /// Runs before the change, one trace each.
    #[arg(long, num_args = 1.., value_name = "FILE", requires = "candidate")]
    pub(crate) baseline: Vec<PathBuf>,
    /// Runs after the change, one trace each.
    #[arg(long, num_args = 1.., value_name = "FILE", requires = "baseline")]
    pub(crate) candidate: Vec<PathBuf>,
}

/// Where traces are placed on their common time axis.
#[derive(Args, Debug, Default)]
pub(crate) struct Shifts {
    /// Shift the times of a trace, as in `game.prof=+1.5s`; may be repeated.
    #[arg(long = "offset", value_name = "FILE=±TIME")]
    pub(crate) offsets: Vec<Offset>,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        command().debug_assert();
    }
}

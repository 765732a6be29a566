//! `demo`: samples, programs that record themselves, and commands to try on them.

use std::{
    fs,
    io::{self, IsTerminal, Write},
    path::Path,
};

use traceloom::{OpenOptions, tables::Table};
use traceloom_core::{Error, Result};
use traceloom_open::FORMATS;
use traceloom_viewer_server::Options;

use super::view;
use crate::{
    Outcome, args, browser,
    input::shown_name,
    output::{Styles, stdout, write_silently},
};

#[allow(dead_code, reason = "an example also has a `main`")]
#[path = "../../examples/game.rs"]
mod game;
#[allow(dead_code, reason = "an example also has a `main`")]
#[path = "../../examples/service.rs"]
mod service;

/// A program that records itself while the demo runs it.
struct Program {
    /// Prefix of the names of its files.
    name: &'static str,
    about: &'static str,
    record: fn(&Path) -> Result<()>,
    questions: &'static [Question],
    extensions: &'static [&'static str],
}

static PROGRAMS: &[Program] = &[
    Program {
        name: "recorded-game",
        about: "a game loop, recorded just now",
        record: game::record,
        questions: &[
            ("where does the time go?", "stats {base}.prof"),
            ("what is slow?", "advise {base}.wtf-trace"),
            ("what does it say?", "log {base}.clog"),
        ],
        extensions: &["prof", "wtf-trace", "clog"],
    },
    Program {
        name: "recorded-service",
        about: "a service, recorded just now",
        record: service::record,
        questions: &[("what went wrong?", "log --level warn+ {base}.clog"), ("who waits?", "stats {base}.wtf-trace")],
        extensions: &["clog", "wtf-trace"],
    },
];

/// Runs the verb.
pub(crate) fn run(arguments: &args::Demo) -> Result<Outcome> {
    let dir = &arguments.dir;
    fs::create_dir_all(dir).map_err(|error| Error::from(error).in_file(dir))?;
    let mut out = stdout();
    let name = Styles::NAME;
    let mut paths = Vec::new();
    let mut asked = Vec::new();
    for format in FORMATS {
        let sample = format.sample()?;
        let path = dir.join(sample.file_name);
        write_silently(&path, &[], |out| Ok(out.write_all(&sample.bytes)?))?;
        let shown = shown_name(&path);
        writeln!(out, "{name}{shown}{name:#}  {}: {}", format.descriptor().name, sample.about)?;
        for (question, verb) in questions(&path, &mut asked)? {
            line(&mut out, question, &verb)?;
        }
        paths.push(path);
    }
    for program in PROGRAMS {
        let base = dir.join(program.name);
        (program.record)(&base)?;
        let shown = shown_name(&base);
        writeln!(out, "{name}{shown}.*{name:#}  {}", program.about)?;
        for (question, verb) in program.questions {
            line(&mut out, question, &verb.replace("{base}", &shown))?;
        }
        paths.extend(program.extensions.iter().map(|extension| base.with_extension(extension)));
    }
    let all = format!("{}/*", shown_name(dir));
    writeln!(out, "{name}all of them{name:#}")?;
    line(&mut out, "what is in them?", &format!("info {all}"))?;
    line(
        &mut out,
        "the longest spans?",
        &format!("query '{all}' 'select name, dur_ns from spans order by 2 desc limit 5'"),
    )?;
    line(&mut out, "in the browser:", &all)?;
    out.flush()?;
    // Only on a terminal; a script that writes samples must not block.
    if arguments.no_open || !io::stdout().is_terminal() || !browser::is_there() {
        return Ok(Outcome::Fine);
    }
    view::show(Options { paths, ..Options::default() }, true)
}

fn line(out: &mut dyn Write, question: &str, arguments: &str) -> Result<()> {
    let dim = Styles::DIM;
    Ok(writeln!(out, "  {question:<28} {dim}traceloom {arguments}{dim:#}")?)
}

type Question = (&'static str, &'static str);

/// Questions for a trace that has rows in a table, most important first.
static QUESTIONS: &[(Table, &[Question])] = &[
    (
        Table::Allocations,
        &[("what leaks?", "memory {file}"), ("who allocates?", "flame --by bytes {file} -o memory.svg")],
    ),
    (Table::LineTimes, &[("which lines are slow?", "lines {file}"), ("which subs?", "lines --subs {file}")]),
    (Table::Logs, &[("what went wrong?", "log --level warn+ {file}"), ("how does it end?", "log --tail 20 {file}")]),
    (
        Table::Spans,
        &[("where does the time go?", "stats {file}"), ("how long are the frames?", "stats --histogram Frame {file}")],
    ),
    (Table::Spans, &[("what stands out?", "advise {file}"), ("who calls what?", "flame {file} -o flame.svg")]),
];

/// The question about a trace that is like an earlier one.
const DIFFERENCE: Question = ("how does it differ?", "diff --limit 5 {other} {file}");

/// The questions of the first table that has rows and no earlier questions; `asked` has the table and the file of those.
fn questions(path: &Path, asked: &mut Vec<(usize, String)>) -> Result<Vec<(&'static str, String)>> {
    let trace = OpenOptions::new().open(path)?;
    let (tables, file) = (trace.tables(), shown_name(path));
    let about =
        |(question, verb): &Question, other: &str| (*question, verb.replace("{file}", &file).replace("{other}", other));
    let mut fallback = vec![about(&("what is in it?", "info {file}"), "")];
    for (number, (table, questions)) in QUESTIONS.iter().enumerate() {
        if tables.rows(*table)? == 0 {
            continue;
        }
        let Some((_, other)) = asked.iter().find(|(asked, _)| *asked == number) else {
            asked.push((number, file.clone()));
            return Ok(questions.iter().map(|question| about(question, "")).collect());
        };
        fallback = questions.iter().take(1).chain([&DIFFERENCE]).map(|question| about(question, other)).collect();
    }
    Ok(fallback)
}

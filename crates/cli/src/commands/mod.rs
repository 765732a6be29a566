//! One module per verb.

mod advise;
mod capture;
mod check;
#[cfg(feature = "sql")]
mod cluster;
mod convert;
mod demo;
mod diff;
mod dump;
mod edit;
mod flame;
#[cfg(feature = "sql")]
mod fleet;
mod info;
mod lines;
mod log;
#[cfg(feature = "mcp")]
mod mcp;
mod memory;
#[cfg(feature = "sql")]
mod query;
mod report;
mod resources;
mod stats;
mod store;
mod summary;
mod threads;
mod tree;
mod view;

use std::io::Write;

use traceloom_core::{Error, Result, nearest};

use crate::{
    Outcome,
    args::{self, Command},
    output,
    table::TextTable,
};

/// The page that teaches an assistant how to use this program.
const SKILL: &str = include_str!("skill.md");

/// Runs a verb.
pub(crate) fn run(command: Command) -> Result<Outcome> {
    match command {
        Command::View(arguments) => view::run(&arguments),
        Command::Serve(arguments) => view::run(&args::answers::View { no_open: true, ..arguments }),
        Command::Info(arguments) => info::run(&arguments),
        Command::Summary(arguments) => summary::run(&arguments),
        Command::Dump(arguments) => dump::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Convert(arguments) => convert::run(&arguments),
        Command::Repair(arguments) => edit::repair(&arguments),
        Command::Slice(arguments) => edit::slice(&arguments),
        Command::Merge(arguments) => edit::merge(&arguments),
        Command::Log(arguments) | Command::Grep(arguments) => log::run(&arguments),
        Command::Tail(arguments) => log::run(&arguments.counted_from_end()),
        Command::Stats(arguments) => stats::run(&arguments),
        Command::Diff(arguments) => diff::run(&arguments),
        Command::Advise(arguments) => advise::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Flame(arguments) => flame::run(&arguments),
        Command::Tree(arguments) => tree::run(&arguments),
        Command::Lines(arguments) => lines::run(&arguments),
        Command::Memory(arguments) => memory::run(&arguments),
        #[cfg(feature = "sql")]
        Command::Query(arguments) => query::run(&arguments),
        #[cfg(not(feature = "sql"))]
        Command::Query(_) => {
            Err(Error::unsupported("this build has no SQL; `cargo install --path crates/cli` includes it"))
        }
        #[cfg(feature = "sql")]
        Command::Ingest(arguments) => fleet::ingest::run(&arguments),
        #[cfg(feature = "sql")]
        Command::Trend(arguments) => fleet::trend::run(&arguments),
        #[cfg(feature = "sql")]
        Command::Regressions(arguments) => fleet::regressions(&arguments),
        #[cfg(not(feature = "sql"))]
        Command::Ingest(_) | Command::Trend(_) | Command::Regressions(_) => {
            Err(Error::usage("this build has no stores; `cargo install --path crates/cli` includes them"))
        }
        Command::Capture(arguments) => capture::run(&arguments),
        Command::Top(arguments) => capture::top::run(arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        #[cfg(feature = "mcp")]
        Command::Mcp(arguments) => mcp::run(&arguments),
        #[cfg(not(feature = "mcp"))]
        Command::Mcp(_) => Err(Error::unsupported(
            "this build has no server for assistants; `cargo install --path crates/cli` includes it",
        )),
        Command::Skill => print(SKILL.as_bytes()),
        Command::Formats => formats(),
        Command::Version => print(args::command().render_version().as_bytes()),
        Command::Completions(arguments) => {
            let mut script = Vec::new();
            clap_complete::generate(arguments.shell, &mut args::command(), "traceloom", &mut script);
            print(&script)
        }
        Command::Man(arguments) => {
            let mut page = Vec::new();
            clap_mangen::Man::new(manual(arguments.verb.as_deref())?).render(&mut page)?;
            print(&page)
        }
    }
}

fn formats() -> Result<Outcome> {
    let mut table = TextTable::new().text("id").text("name").text("extensions");
    for format in traceloom::formats() {
        let extensions: Vec<_> = format.extensions.iter().map(|extension| format!(".{extension}")).collect();
        table.row(vec![format.id.to_owned(), format.name.to_owned(), extensions.join(" ")]);
    }
    let mut out = output::stdout();
    table.write(&mut out)?;
    Ok(out.flush().map(|()| Outcome::Fine)?)
}

/// A problem with a name, and the known name that was probably meant.
fn or_nearest<'k>(problem: &str, name: &str, known: impl Iterator<Item = &'k str>) -> String {
    let near = nearest(name, known).map(|near| format!("; did you mean `{near}`?"));
    format!("{problem} {name}{}", near.unwrap_or_default())
}

/// The command that the manual page describes.
fn manual(verb: Option<&str>) -> Result<clap::Command> {
    let program = args::command();
    let Some(verb) = verb else { return Ok(program) };
    let found = program.find_subcommand(verb).cloned();
    let command = found.ok_or_else(|| Error::usage(format!("unknown verb `{verb}`")))?;
    Ok(command.display_name(format!("traceloom-{verb}")).bin_name(format!("traceloom {verb}")))
}

fn print(bytes: &[u8]) -> Result<Outcome> {
    let mut out = output::stdout();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(Outcome::Fine)
}

//! One module a verb.

mod check;
mod convert;
mod demo;
mod dump;
mod edit;
mod info;

use std::io::Write;

use traceloom_bytes::Result;

use crate::{Outcome, args::Command, output};

/// Runs a verb.
pub(crate) fn run(command: Command) -> Result<Outcome> {
    match command {
        Command::Info(arguments) => info::run(&arguments),
        Command::Dump(arguments) => dump::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Convert(arguments) => convert::run(&arguments),
        Command::Repair(arguments) => edit::repair(&arguments),
        Command::Slice(arguments) => edit::slice(&arguments),
        Command::Merge(arguments) => edit::merge(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Completions(arguments) => {
            let mut script = Vec::new();
            clap_complete::generate(arguments.shell, &mut crate::args::command(), "traceloom", &mut script);
            print(&script)
        }
        Command::Man => {
            let mut page = Vec::new();
            clap_mangen::Man::new(crate::args::command()).render(&mut page)?;
            for verb in crate::args::command().get_subcommands() {
                let verb = verb.clone().display_name(format!("traceloom {}", verb.get_name()));
                clap_mangen::Man::new(verb).render_description_section(&mut page)?;
            }
            print(&page)
        }
    }
}

fn print(bytes: &[u8]) -> Result<Outcome> {
    let mut out = output::stdout();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(Outcome::Fine)
}

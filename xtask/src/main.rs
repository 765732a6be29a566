//! Maintenance tasks of this workspace; `cargo xtask help` lists them.

#![forbid(unsafe_code)]

mod bench;
mod bless;
mod book;
mod builds;
mod conformance;
mod coverage;
mod dist;
mod files;
mod fuzz_smoke;
mod help;
mod make_big;
#[cfg(test)]
mod manifests;
mod msrv;
mod native;
mod needs;
mod page;
mod pages;
mod process;
mod test;
mod tools;
mod wheel;

use std::process::ExitCode;

/// The result of a subcommand: nothing, or an error message.
type Outcome<T = ()> = Result<T, String>;

/// A subcommand; its module holds its help next to its code.
struct Subcommand {
    name: &'static str,
    /// Arguments, as the help shows them.
    arguments: &'static str,
    /// The first paragraph is the summary.
    help: &'static str,
    run: fn(&[String]) -> Outcome,
}

static SUBCOMMANDS: &[&Subcommand] = &[
    &test::SUBCOMMAND,
    &builds::SUBCOMMAND,
    &msrv::SUBCOMMAND,
    &conformance::SUBCOMMAND,
    &bless::SUBCOMMAND,
    &coverage::SUBCOMMAND,
    &fuzz_smoke::SUBCOMMAND,
    &wheel::SUBCOMMAND,
    &make_big::SUBCOMMAND,
    &bench::SUBCOMMAND,
    &native::SUBCOMMAND,
    &page::SUBCOMMAND,
    &dist::SUBCOMMAND,
    &book::SUBCOMMAND,
    &help::SUBCOMMAND,
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Outcome {
    let (name, rest) = match arguments {
        [] => ("help", arguments),
        [name, rest @ ..] => (name.as_str(), rest),
    };
    let subcommand = find(name)?;
    if rest.iter().any(|argument| argument == "--help" || argument == "-h") {
        return help::print(subcommand);
    }
    (subcommand.run)(rest)
}

fn find(name: &str) -> Outcome<&'static Subcommand> {
    let name = if matches!(name, "--help" | "-h") { "help" } else { name };
    let found = SUBCOMMANDS.iter().find(|subcommand| subcommand.name == name);
    found.copied().ok_or_else(|| format!("unknown subcommand `{name}`; `cargo xtask help` lists all"))
}

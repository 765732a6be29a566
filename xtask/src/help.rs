//! `help`: lists the subcommands, or explains one.

use crate::{Outcome, SUBCOMMANDS, Subcommand, find};

pub(crate) static SUBCOMMAND: Subcommand =
    Subcommand { name: "help", arguments: "[SUBCOMMAND]", help: "Lists the subcommands, or explains one.", run };

fn run(arguments: &[String]) -> Outcome {
    match arguments {
        [] => list(),
        [name] => print(find(name)?),
        _ => Err("help accepts at most one subcommand".into()),
    }
}

/// Explains one subcommand.
pub(crate) fn print(subcommand: &Subcommand) -> Outcome {
    println!("cargo xtask {} {}\n\n{}", subcommand.name, subcommand.arguments, subcommand.help);
    Ok(())
}

fn list() -> Outcome {
    println!("cargo xtask SUBCOMMAND\n");
    for subcommand in SUBCOMMANDS {
        let summary = subcommand.help.split("\n\n").next().unwrap_or_default().replace('\n', " ");
        let usage = format!("{} {}", subcommand.name, subcommand.arguments);
        println!("  {}\n      {summary}", usage.trim_end());
    }
    Ok(())
}

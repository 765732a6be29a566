//! `conformance`: our readers against the goldens of the tools of the formats.

use crate::{
    Outcome, Subcommand,
    process::{cargo, run as run_command},
};

pub(crate) static SUBCOMMAND: Subcommand = Subcommand {
    name: "conformance",
    arguments: "[FOLDER]",
    help: "\
Compares what we read with what the tools of the formats read, file by file.

The fixtures of this repository are compared, and FOLDER if it is given: it holds one folder
per format, with traces and their goldens.",
    run,
};

fn run(arguments: &[String]) -> Outcome {
    let mut command = cargo(&["run", "--release", "--package", "traceloom-testkit", "--bin", "conformance"]);
    match arguments {
        [] => {}
        [folder] => {
            // The command runs in the workspace's root, the folder is meant from here.
            let folder = std::path::absolute(folder).map_err(|error| format!("{folder}: {error}"))?;
            if !folder.is_dir() {
                return Err(format!("{} is not a folder", folder.display()));
            }
            command.env("TRACELOOM_CORPUS", folder);
        }
        _ => return Err("conformance takes one folder at most".into()),
    }
    run_command(&mut command)
}

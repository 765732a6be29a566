//! `conformance`: compares our readers with the goldens of the formats' own tools.

use crate::{
    Outcome, Subcommand,
    process::{cargo, run as run_command},
};

pub(crate) static SUBCOMMAND: Subcommand = Subcommand {
    name: "conformance",
    arguments: "[FOLDER]",
    help: "\
Compares our readers with the formats' own tools, file by file.

Compares the fixtures of this repository, and FOLDER if given, which contains one folder per format,
with traces and their goldens.",
    run,
};

fn run(arguments: &[String]) -> Outcome {
    let mut command = cargo(&["run", "--release", "--package", "traceloom-testkit", "--bin", "conformance"]);
    match arguments {
        [] => {}
        [folder] => {
            // The command runs in the root of the workspace, but the folder is relative to the current one.
            let folder = std::path::absolute(folder).map_err(|error| format!("{folder}: {error}"))?;
            if !folder.is_dir() {
                return Err(format!("{} is not a folder", folder.display()));
            }
            command.env("TRACELOOM_CORPUS", folder);
        }
        _ => return Err("conformance accepts at most one folder".into()),
    }
    run_command(&mut command)
}

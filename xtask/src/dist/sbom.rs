//! The list of everything that the program is made of, for tools that look for known weaknesses.

use std::{fs, path::PathBuf};

use super::{Release, VERSION};
use crate::{
    Outcome,
    files::{self, failed},
    process::{cargo, root, run},
    tools::Tool,
};

static CYCLONEDX: Tool = Tool { name: "cargo-cyclonedx", version: "0.5.9", features: None };

pub(super) fn make(release: &Release) -> Outcome<PathBuf> {
    let tool = CYCLONEDX.path()?;
    let name = "traceloom.cdx";
    let mut command = std::process::Command::new(tool);
    command.args(["cyclonedx", "--format", "json", "--override-filename", name, "--features", "remote"]);
    command.args(["--target", &release.target]);
    command.arg("--manifest-path").arg(root().join("crates/cli/Cargo.toml")).current_dir(root());
    command.env("CARGO", cargo(&[]).get_program());
    run(command.env("SOURCE_DATE_EPOCH", release.epoch.to_string()))?;
    // The tool writes one file next to each manifest of the workspace, with the paths of this machine.
    let file = release.file(&format!("traceloom-{VERSION}.cdx.json"));
    let written = format!("{name}.json");
    let list = files::read_text(&root().join("crates/cli").join(&written))?;
    files::write(&file, list.replace(&root().display().to_string(), "/traceloom"))?;
    for manifest in super::crates::manifests()? {
        let surplus = manifest.with_file_name(&written);
        if surplus.is_file() {
            fs::remove_file(&surplus).map_err(failed(&surplus))?;
        }
    }
    Ok(file)
}

//! The list of everything that the program is made of, for tools that look for known weaknesses.

use std::{collections::BTreeSet, fs, path::PathBuf};

use super::{Release, VERSION};
use crate::{
    Outcome,
    files::{self, failed},
    process::{cargo, output_of, root, run},
    tools::Tool,
};

static CYCLONEDX: Tool = Tool { name: "cargo-cyclonedx", version: "0.5.9", features: None };

/// The features of the program in a release.
const FEATURES: [&str; 2] = ["--features", "remote"];

pub(super) fn make(release: &Release) -> Outcome<PathBuf> {
    let tool = CYCLONEDX.path()?;
    let name = "traceloom.cdx";
    let mut command = std::process::Command::new(tool);
    command.args(["cyclonedx", "--format", "json", "--override-filename", name]).args(FEATURES);
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
    is_complete(&list, &release.target)?;
    Ok(file)
}

/// Fails unless the list has every package that is compiled into the program, and no package that is not even needed to
/// build it.
fn is_complete(list: &str, target: &str) -> Outcome {
    let tree = |edges: &str| {
        let mut command = cargo(&["tree", "--locked", "--package", "traceloom-cli", "--target", target]);
        command.args(FEATURES).args(["--edges", edges, "--prefix", "none", "--format", "{p}"]);
        Ok::<_, String>(of_tree(&output_of(&mut command)?))
    };
    let (listed, linked, needed) = (of_list(list), tree("normal")?, tree("normal,build")?);
    let missing: Vec<_> = linked.difference(&listed).collect();
    let surplus: Vec<_> = listed.difference(&needed).collect();
    if missing.is_empty() && surplus.is_empty() {
        eprintln!("xtask: the bill of materials lists {} packages", listed.len());
        return Ok(());
    }
    Err(format!("the bill of materials lacks {missing:?} and has {surplus:?}, which the program does not need"))
}

/// The packages in the output of `cargo tree`, as `NAME@VERSION`.
fn of_tree(tree: &str) -> BTreeSet<String> {
    let package = |line: &str| {
        let (name, rest) = line.split_once(" v")?;
        Some(format!("{name}@{}", rest.split(' ').next()?))
    };
    tree.lines().filter_map(package).collect()
}

/// The packages that a bill of materials names by their URLs, as `NAME@VERSION`.
fn of_list(list: &str) -> BTreeSet<String> {
    let urls = list.split("pkg:cargo/").skip(1);
    let names = urls.filter_map(|rest| rest.split(['"', '?', '#']).next());
    names.map(|name| name.replace("%2B", "+")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_a_tree_and_of_a_list_have_the_same_names() {
        let tree = "traceloom-cli v0.1.0 (/x/crates/cli)\nzstd-sys v2.0.16+zstd.1.5.7\nserde v1.0.228 (*)\n\n";
        let list = r#"{ "purl": "pkg:cargo/traceloom-cli@0.1.0?download_url=file://.", "components": [
            { "purl": "pkg:cargo/traceloom-cli@0.1.0?download_url=file://.#src/main.rs" },
            { "purl": "pkg:cargo/zstd-sys@2.0.16%2Bzstd.1.5.7" }, { "purl": "pkg:cargo/serde@1.0.228" }] }"#;
        assert_eq!(of_tree(tree), of_list(list));
        assert_eq!(of_tree(tree).len(), 3);
    }
}

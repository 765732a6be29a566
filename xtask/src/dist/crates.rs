//! The packages for crates.io.

use std::path::PathBuf;

use super::{Release, VERSION};
use crate::{
    Outcome, files,
    process::{cargo, root, run, target_folder},
};

/// Packages every published crate, and builds the fast ones from the packages.
pub(super) fn make(release: &Release) -> Outcome {
    let published = published()?;
    let names = |packages: &[String]| packages.iter().flat_map(|name| ["--package".into(), name.clone()]).collect();
    let package = |packages: &[String], more: &[&str]| -> Outcome {
        let names: Vec<String> = names(packages);
        run(cargo(&["package", "--locked", "--allow-dirty", "--quiet"]).args(names).args(more))
    };
    package(&published, &["--no-verify"])?;
    for name in &published {
        let file = format!("{name}-{VERSION}.crate");
        files::copy(&target_folder().join("package").join(&file), &release.file(&file))?;
    }
    let light: Vec<String> = published.into_iter().filter(|name| LIGHT.contains(&name.as_str())).collect();
    package(&light, &[])
}

/// Crates without Arrow and SQL. `cargo publish` builds the others, which takes an hour of CPU time.
const LIGHT: &[&str] = &[
    "traceloom-cnanolog",
    "traceloom-core",
    "traceloom-easyprofiler",
    "traceloom-memlyze",
    "traceloom-nytprof",
    "traceloom-open",
    "traceloom-record",
    "traceloom-wtf",
];

/// The manifests of the workspace's crates.
pub(super) fn manifests() -> Outcome<Vec<PathBuf>> {
    let mut manifests = Vec::new();
    for folder in ["crates", "crates/formats", "crates/record-alloc", "benches", "."] {
        for entry in files::list(&root().join(folder))? {
            let manifest = entry.join("Cargo.toml");
            if manifest.is_file() {
                manifests.push(manifest);
            }
        }
    }
    manifests.sort();
    manifests.dedup();
    Ok(manifests)
}

/// The names of the packages that are published.
fn published() -> Outcome<Vec<String>> {
    let mut names = Vec::new();
    for manifest in manifests()? {
        let text = files::read_text(&manifest)?;
        let is_published = text.contains("[package]") && !text.contains("publish = false");
        let name = text.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
        names.extend(name.filter(|_| is_published).map(str::to_owned));
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_published_says_what_it_is() {
        let published = published().expect("the workspace is there");
        assert!(published.iter().any(|name| name == "traceloom-cli") && published.len() > 20, "{published:?}");
        assert!(LIGHT.iter().all(|name| published.iter().any(|it| it == name)));
        for manifest in manifests().expect("the workspace is there") {
            let text = files::read_text(&manifest).expect("a manifest is text");
            if text.contains("publish = false") {
                continue;
            }
            for key in ["description = ", "license.workspace", "repository.workspace", "rust-version.workspace"] {
                assert!(text.contains(key), "{} has no {key}", manifest.display());
            }
            assert!(manifest.with_file_name("README.md").is_file(), "{} has no README.md", manifest.display());
        }
    }
}

//! SHA256SUMS: what a release consists of.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Outcome, files,
    process::{output_of, succeeds},
};

const NAME: &str = "SHA256SUMS";

/// Lists every file of the release.
pub(super) fn write(folder: &Path) -> Outcome {
    let is_listed = |path: &PathBuf| path.is_file() && path.file_name().is_some_and(|name| name != NAME);
    let paths: Vec<PathBuf> = files::list(folder)?.into_iter().filter(is_listed).collect();
    let names = paths.iter().filter_map(|path| path.file_name());
    let mut command = if succeeds("sha256sum", &["--version"]) {
        Command::new("sha256sum")
    } else {
        let mut command = Command::new("shasum");
        command.args(["-a", "256"]);
        command
    };
    let text = output_of(command.args(names).current_dir(folder))?;
    files::write(&folder.join(NAME), text)
}

/// The checksum of each file, or nothing if there is no list.
pub(super) fn read(folder: &Path) -> BTreeMap<String, String> {
    let text = files::read_text(&folder.join(NAME)).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once("  "));
    lines.map(|(sum, name)| (name.to_owned(), sum.to_owned())).collect()
}

/// Fails if a file is not what it was; the wheel is not reproducible.
pub(super) fn same(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Outcome {
    let differs =
        |(name, sum): &(&String, &String)| !name.ends_with(".whl") && before.get(*name).is_some_and(|old| old != *sum);
    let changed: Vec<&str> = after.iter().filter(differs).map(|(name, _)| name.as_str()).collect();
    if changed.is_empty() { Ok(()) } else { Err(format!("these files are not the same bytes: {}", changed.join(", "))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changed_is_named() {
        let list = |sum: &str| BTreeMap::from([("a.deb".to_owned(), sum.to_owned())]);
        assert!(same(&list("1"), &list("1")).is_ok());
        assert!(same(&BTreeMap::new(), &list("1")).is_ok());
        assert!(same(&list("1"), &list("2")).is_err_and(|message| message.contains("a.deb")));
        let wheel = |sum: &str| BTreeMap::from([("a.whl".to_owned(), sum.to_owned())]);
        assert!(same(&wheel("1"), &wheel("2")).is_ok());
    }
}

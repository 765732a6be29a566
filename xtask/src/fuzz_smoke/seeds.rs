//! The files that a target starts from.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The fixture folders of a format, sorted: its own folder, and the folder of a dialect inside a related format. A
/// target that is not named after a format uses all of them.
pub(super) fn folders(fixtures: &Path, format: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(fixtures).into_iter().flatten().flatten();
    let all: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    let own = all.iter().map(|folder| folder.join(format)).chain([fixtures.join(format)]);
    let own: Vec<PathBuf> = own.filter(|folder| folder.is_dir()).collect();
    let mut folders = if own.is_empty() { all } else { own };
    folders.sort();
    folders
}

/// The traces below `folder`, sorted, without their goldens and the notes about them.
pub(super) fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let paths: Vec<PathBuf> =
            fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        for path in &paths {
            if path.is_dir() {
                folders.push(path.clone());
            } else if is_trace(path, &paths) {
                found.push(path.clone());
            }
        }
    }
    found.sort();
    found
}

/// A golden has the name of its trace up to the first dot; a JSON file without such a trace is itself a trace.
fn is_trace(path: &Path, siblings: &[PathBuf]) -> bool {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("md" | "txt") => false,
        Some("json") => {
            !siblings.iter().any(|other| other.extension() != path.extension() && stem(other) == stem(path))
        }
        _ => true,
    }
}

fn stem(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.split('.').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_starts_from_its_format_or_from_all() {
        let fixtures = crate::process::root().join("fixtures");
        let names = |format: &str| {
            let folders = folders(&fixtures, format);
            folders.iter().map(|folder| folder.strip_prefix(&fixtures).unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names("wtf"), [Path::new("wtf")]);
        assert_eq!(names("pynytprof"), [Path::new("nytprof/pynytprof")]);
        assert!(names("tables").len() > 3);
    }

    #[test]
    fn goldens_and_notes_are_no_traces() {
        let siblings = ["a.prof", "a.json", "a.summary.json", "a.txt", "b.json", "README.md"].map(PathBuf::from);
        let traces = siblings.iter().filter(|path| is_trace(path, &siblings));
        assert_eq!(traces.collect::<Vec<_>>(), [Path::new("a.prof"), Path::new("b.json")]);
    }
}

//! Files and folders, with errors that name the path.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::Outcome;

/// The error as one sentence that starts with the path.
pub(crate) fn failed(path: &Path) -> impl Fn(io::Error) -> String {
    move |error| format!("{}: {error}", path.display())
}

pub(crate) fn read(path: &Path) -> Outcome<Vec<u8>> {
    fs::read(path).map_err(failed(path))
}

pub(crate) fn read_text(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).map_err(failed(path))
}

/// Writes a file, and creates its parent folders.
pub(crate) fn write(path: &Path, contents: impl AsRef<[u8]>) -> Outcome {
    make_parent(path)?;
    fs::write(path, contents).map_err(failed(path))
}

/// Replaces the file instead of writing into it, because a running program may have it mapped.
pub(crate) fn copy(from: &Path, to: &Path) -> Outcome {
    if from == to {
        return Ok(());
    }
    make_parent(to)?;
    let staged = to.with_extension("new");
    fs::copy(from, &staged).map_err(failed(from))?;
    fs::rename(&staged, to).map_err(failed(to))
}

/// Copies a folder with everything in it.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> Outcome {
    for path in walk(from)? {
        let name = path.strip_prefix(from).unwrap_or(&path);
        copy(&path, &to.join(name))?;
    }
    Ok(())
}

/// Removes a folder, if it exists.
pub(crate) fn remove_folder(folder: &Path) -> Outcome {
    if folder.exists() { fs::remove_dir_all(folder).map_err(failed(folder)) } else { Ok(()) }
}

/// The entries of a folder, sorted by name.
pub(crate) fn list(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(failed(folder))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

/// All files below a folder, sorted by path.
pub(crate) fn walk(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in list(folder)? {
        if path.is_dir() {
            files.extend(walk(&path)?);
        } else {
            files.push(path);
        }
    }
    Ok(files)
}

/// Creates a folder and its parents.
pub(crate) fn make_folder(folder: &Path) -> Outcome {
    fs::create_dir_all(folder).map_err(failed(folder))
}

fn make_parent(path: &Path) -> Outcome {
    make_folder(path.parent().unwrap_or(path))
}

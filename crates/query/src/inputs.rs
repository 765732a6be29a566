//! What a user names: files, patterns, folders.

use std::path::{Path, PathBuf};

use traceloom_bytes::{Error, Result};

/// One thing to read.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Input {
    /// A trace, or a file that may be one.
    Trace {
        /// Where it is.
        path: PathBuf,
        /// Whether the user named it; what was only found may be something else.
        is_named: bool,
    },
}

/// Turns names into inputs: a pattern (`*`, `?`, `[…]`) gives the files that it matches, a folder the files in it.
pub fn resolve(paths: &[PathBuf]) -> Result<Vec<Input>> {
    let mut inputs = Vec::new();
    for path in paths {
        match path.to_str() {
            Some(pattern) if pattern.contains(['*', '?', '[']) && !path.exists() => inputs.extend(matching(pattern)?),
            _ if path.is_dir() => inputs.extend(inside(path)?),
            _ => inputs.push(Input::Trace { path: path.clone(), is_named: true }),
        }
    }
    Ok(inputs)
}

fn matching(pattern: &str) -> Result<Vec<Input>> {
    let wrong = |error: glob::PatternError| Error::usage(format!("`{pattern}` is no pattern: {}", error.msg));
    let mut inputs = Vec::new();
    for path in glob::glob(pattern).map_err(wrong)? {
        let path = path.map_err(|error| Error::from(error.into_error()))?;
        match path.is_dir() {
            true => inputs.extend(inside(&path)?),
            false => inputs.push(Input::Trace { path, is_named: true }),
        }
    }
    if inputs.is_empty() {
        return Err(Error::usage(format!("`{pattern}` matches no file")));
    }
    Ok(inputs)
}

/// The files of a folder, in order of their names; not those of folders in it.
fn inside(folder: &Path) -> Result<Vec<Input>> {
    let in_folder = |error: std::io::Error| Error::from(error).in_file(folder);
    let mut inputs = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(in_folder)? {
        let path = entry.map_err(in_folder)?.path();
        let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.is_file() && !is_hidden {
            inputs.push(Input::Trace { path, is_named: false });
        }
    }
    inputs.sort();
    Ok(inputs)
}

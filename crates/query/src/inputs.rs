//! Inputs given by the user: files, patterns, folders, stores.

use std::path::{Path, PathBuf};

use traceloom_core::{Error, Result};

use crate::{fleet::Fleet, location::Location, store::Store};

/// One input.
#[derive(Debug)]
pub enum Input {
    /// A fleet store.
    Fleet(Fleet),
    /// A store.
    Store(Store),
    /// A trace, or a file that may be one.
    Trace {
        /// Path or URL.
        path: PathBuf,
        /// Whether the user named it; a file that was only found may not be a trace.
        is_named: bool,
    },
}

/// Turns names into inputs: a pattern (`*`, `?`, `[…]`) becomes its matches, a folder the files in it unless it is a
/// store. Names may be URLs; the URL of a folder ends with `/`.
pub fn resolve(paths: &[PathBuf]) -> Result<Vec<Input>> {
    let mut inputs = Vec::new();
    for path in paths {
        match Location::of(path)? {
            Location::Local(path) => match path.to_str() {
                Some(pattern) if pattern.contains(['*', '?', '[']) && !path.exists() => {
                    inputs.extend(matching(pattern)?);
                }
                _ if path.is_dir() => inputs.extend(inside(&path)?),
                _ => inputs.push(Input::Trace { path, is_named: true }),
            },
            #[cfg(feature = "remote")]
            Location::Remote(url) => inputs.extend(at_url(path, &url)?),
            #[cfg(not(feature = "remote"))]
            Location::Remote(_) => inputs.push(Input::Trace { path: path.clone(), is_named: true }),
        }
    }
    Ok(inputs)
}

/// The objects that a URL matches.
#[cfg(feature = "remote")]
fn at_url(path: &Path, url: &url::Url) -> Result<Vec<Input>> {
    let found = |path| Input::Trace { path, is_named: false };
    // A query after the path, such as a signature, is no part of the name.
    let name = url[..url::Position::AfterPath].rsplit('/').next().unwrap_or_default().to_owned();
    if url.path().ends_with('/') {
        return match store(path)? {
            Some(store) => Ok(vec![store]),
            None => Ok(crate::remote::list(url)?.into_iter().map(found).collect()),
        };
    }
    if !name.contains(['*', '[']) {
        return Ok(vec![Input::Trace { path: path.to_owned(), is_named: true }]);
    }
    let wrong = |error: glob::PatternError| Error::usage(format!("invalid pattern `{name}`: {}", error.msg));
    let (pattern, folder) = (glob::Pattern::new(&name).map_err(wrong)?, url.join("./"));
    let folder = folder.map_err(|_| Error::usage("invalid URL").in_file(path))?;
    let is_match = |path: &PathBuf| path.file_name().is_some_and(|name| pattern.matches(&name.to_string_lossy()));
    let paths: Vec<_> = crate::remote::list(&folder)?.into_iter().filter(is_match).collect();
    if paths.is_empty() {
        Err(Error::usage(format!("`{}` matches no objects", path.display())))
    } else {
        Ok(paths.into_iter().map(|path| Input::Trace { path, is_named: true }).collect())
    }
}

fn matching(pattern: &str) -> Result<Vec<Input>> {
    let wrong = |error: glob::PatternError| Error::usage(format!("invalid pattern `{pattern}`: {}", error.msg));
    let mut inputs = Vec::new();
    for path in glob::glob(pattern).map_err(wrong)? {
        let path = path.map_err(|error| Error::from(std::io::Error::from(error)))?;
        if path.is_dir() {
            inputs.extend(inside(&path)?);
        } else {
            inputs.push(Input::Trace { path, is_named: true });
        }
    }
    if inputs.is_empty() {
        return Err(Error::usage(format!("`{pattern}` matches no files")));
    }
    Ok(inputs)
}

/// The store in a folder, or its files sorted by name, without subfolders.
fn inside(folder: &Path) -> Result<Vec<Input>> {
    if let Some(store) = store(folder)? {
        return Ok(vec![store]);
    }
    let in_folder = |error: std::io::Error| Error::from(error).in_file(folder);
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(in_folder)? {
        let path = entry.map_err(in_folder)?.path();
        let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.is_file() && !is_hidden {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths.into_iter().map(|path| Input::Trace { path, is_named: false }).collect())
}

/// The store in a folder.
fn store(folder: &Path) -> Result<Option<Input>> {
    if let Some(store) = Store::open(folder)? {
        return Ok(Some(Input::Store(store)));
    }
    Ok(Fleet::open(folder)?.map(Input::Fleet))
}

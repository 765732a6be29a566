//! The files from which traces were ingested: only those below folders given by the user, and only if they are
//! unchanged.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use traceloom_core::{Error, Result, Source};
use traceloom_fleet::content_hash;
use traceloom_mapping::{Options, Trace};

use super::catalog::Row;

/// Folders of traces, without links in their paths.
#[derive(Debug, Default)]
pub(super) struct Sources(Vec<PathBuf>);

impl Sources {
    pub(super) fn new(folders: &[PathBuf]) -> Result<Self> {
        let real = |folder: &PathBuf| fs::canonicalize(folder).map_err(|error| Error::from(error).in_file(folder));
        Ok(Self(folders.iter().map(real).collect::<Result<_>>()?))
    }

    /// Files that may be the source of a trace: the longest end of its path that exists below one of the folders. So a
    /// folder may have been moved, and no path leads out of it.
    pub(super) fn candidates(&self, row: &Row) -> Vec<PathBuf> {
        let parts: Vec<&std::ffi::OsStr> = Path::new(&row.path)
            .components()
            .rev()
            .map_while(|part| if let Component::Normal(name) = part { Some(name) } else { None })
            .collect();
        let mut found = Vec::new();
        for kept in (1..=parts.len()).rev() {
            let end: PathBuf = parts[..kept].iter().rev().collect();
            for folder in &self.0 {
                // A link may lead elsewhere, and anything but a plain file may never end.
                let real = fs::canonicalize(folder.join(&end)).ok().filter(|path| path.starts_with(folder));
                let file = real.filter(|path| fs::metadata(path).is_ok_and(|facts| facts.is_file()));
                found.extend(file.filter(|path| !found.contains(path)));
            }
        }
        found
    }

    /// Opens the source of a trace.
    pub(super) fn open(&self, row: &Row, options: &Options) -> Result<Trace> {
        let mut is_changed = false;
        for path in self.candidates(row) {
            // The same source is checked and loaded, so that the file cannot be swapped in between.
            let source = Source::open(&path, &options.read.limits)?;
            match Trace::new(&path, source, None, options) {
                Ok(trace) if is_content(&trace, row)? => return Ok(trace),
                _ => is_changed = true,
            }
        }
        Err(Error::unrecognized(self.refusal(row, is_changed)))
    }

    /// Why a trace cannot be opened.
    pub(super) fn refusal(&self, row: &Row, is_changed: bool) -> String {
        let path = &row.path;
        if let Some(finding) = &row.finding {
            return format!("{path} could not be read as a trace: {finding}");
        }
        if self.0.is_empty() {
            return format!(
                "this trace was ingested from {path}; to open it, run `traceloom view STORE --sources FOLDER`"
            );
        }
        let folders: Vec<String> = self.0.iter().map(|folder| folder.display().to_string()).collect();
        let folders = folders.join(" and ");
        if is_changed {
            return format!(
                "this trace was ingested from {path}; the file with that name in {folders} has changed since"
            );
        }
        format!("this trace was ingested from {path}, which is not in {folders}; add its folder with --sources")
    }
}

/// Whether the content matches the store.
fn is_content(trace: &Trace, row: &Row) -> Result<bool> {
    let source = &trace.opened.source;
    if row.hash.is_empty() {
        return Ok(trace.id == row.id);
    }
    Ok(source.len()? == row.bytes && content_hash(source)? == row.hash)
}

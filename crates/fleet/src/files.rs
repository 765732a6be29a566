//! The files to ingest.

use std::{
    fs,
    path::{Path, PathBuf},
};

use traceloom_core::{Error, Result};

use crate::{Tags, Template};

/// A file that may be a trace.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    pub(crate) tags: Tags,
}

/// Files, including those in folders at any depth, sorted by name, without hidden files and without the store's own
/// files.
pub(crate) fn find(sources: &[PathBuf], store: &Path) -> Result<Vec<(PathBuf, u64)>> {
    let store = fs::canonicalize(store).ok();
    let mut found = Vec::new();
    for source in sources {
        walk(source, store.as_deref(), &mut found)?;
    }
    Ok(found)
}

fn walk(path: &Path, store: Option<&Path>, found: &mut Vec<(PathBuf, u64)>) -> Result<()> {
    let in_path = |error: std::io::Error| Error::from(error).in_file(path);
    let facts = fs::metadata(path).map_err(in_path)?;
    if !facts.is_dir() {
        found.push((path.to_owned(), facts.len()));
        return Ok(());
    }
    if store.is_some() && fs::canonicalize(path).ok().as_deref() == store {
        return Ok(());
    }
    let mut entries = fs::read_dir(path).map_err(in_path)?.collect::<Result<Vec<_>, _>>().map_err(in_path)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        // A link may lead in a circle, and a linked file is found at its own path.
        let is_link = entry.file_type().map_err(in_path)?.is_symlink();
        if !is_link && !entry.file_name().to_string_lossy().starts_with('.') {
            walk(&entry.path(), store, found)?;
        }
    }
    Ok(())
}

/// Adds tags to each file; returns the number of files that the template does not match.
pub(crate) fn tagged(files: Vec<(PathBuf, u64)>, template: Option<&Template>, tags: &Tags) -> (Vec<Found>, usize) {
    let all = files.len();
    let tagged = files.into_iter().filter_map(|(path, bytes)| {
        let mut of_path = match template {
            Some(template) => template.tags(&path)?,
            None => Tags::new(),
        };
        of_path.extend(tags.clone());
        Some(Found { path, bytes, tags: of_path })
    });
    let tagged: Vec<_> = tagged.collect();
    let unmatched = all - tagged.len();
    (tagged, unmatched)
}

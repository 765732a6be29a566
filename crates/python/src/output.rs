//! Written files, and their losses.

use std::{
    io::{BufWriter, Write},
    path::Path,
};

use serde_json::{Value as Json, json};
use traceloom::{Error, Loss, Result};

/// Writes a file that gets its name only when it is complete.
pub(crate) fn written<T>(path: &Path, work: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
    let in_file = |error: std::io::Error| Error::from(error).in_file(path);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    // The umask applies, as for any file that a program creates.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.prefix(".traceloom-").tempfile_in(folder.unwrap_or(".".as_ref())).map_err(in_file)?;
    let mut out = BufWriter::new(file);
    let outcome = work(&mut out)?;
    let file = out.into_inner().map_err(|error| in_file(error.into_error()))?;
    file.persist(path).map_err(|error| in_file(error.error))?;
    Ok(outcome)
}

/// The losses of an output.
pub(crate) fn losses(loss: &Loss) -> Json {
    let entries = loss.entries();
    entries.map(|(what, count, example)| json!({ "what": what, "count": count, "example": example })).collect()
}

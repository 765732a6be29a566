//! Unfinished files next to their destination, whose name they get when they are complete.

use std::{io, path::Path};

use tempfile::{Builder, NamedTempFile};

/// Start of the names of unfinished files.
pub const PREFIX: &str = ".traceloom-";

/// Creates an unfinished file in a folder; it is deleted unless it is persisted.
pub fn create(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    // The umask applies, as for any file that a program creates.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.prefix(PREFIX).tempfile_in(folder)
}

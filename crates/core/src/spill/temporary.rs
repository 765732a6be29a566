//! Temporary files. They are private and have no name, so they disappear however the program ends.

use std::io::{self, Write};

use crate::{Error, Result};

#[cfg(not(target_family = "wasm"))]
pub(crate) type Temporary = std::fs::File;
/// A page in a browser has no files.
#[cfg(target_family = "wasm")]
pub(crate) type Temporary = super::memory::Memory;

/// An empty temporary file.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn create() -> Result<Temporary> {
    tempfile::tempfile().map_err(explain)
}

#[cfg(target_family = "wasm")]
pub(crate) fn create() -> Result<Temporary> {
    Ok(Temporary::default())
}

/// Appends to a temporary file whose cursor is at its end.
pub(crate) fn append(file: &mut impl Write, bytes: &[u8]) -> Result<()> {
    file.write_all(bytes).map_err(explain)
}

/// Explains that the temporary disk is full, because a bare message would be taken to mean the output's disk.
pub(crate) fn explain(error: io::Error) -> Error {
    if error.kind() != io::ErrorKind::StorageFull || cfg!(target_family = "wasm") {
        return error.into();
    }
    let folder = std::env::temp_dir();
    let message = format!("no space is left for temporary files in {}; set TMPDIR to another folder", folder.display());
    io::Error::new(io::ErrorKind::StorageFull, message).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk without free space.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_named() {
        let error = append(&mut Full, b"bytes").unwrap_err().to_string();
        assert!(error.contains("temporary files") && error.contains("TMPDIR"), "{error}");
        assert!(error.contains(&std::env::temp_dir().display().to_string()), "{error}");
    }
}

//! The folder for temporary files of sorting, grouping and joining.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

use tempfile::{Builder, TempDir};

/// The names of spill folders start with this.
const PREFIX: &str = "traceloom-spill-";
/// Locked as long as the folder is in use.
const LOCK: &str = "lock";

/// A private folder that is removed at the end of the session. If the process is killed, the next session removes it.
pub(crate) struct SpillFolder {
    folder: TempDir,
    _lock: File,
}

impl SpillFolder {
    /// Creates one in a folder for temporary files, after removing unused ones there.
    pub(crate) fn create_in(parent: &Path) -> io::Result<Self> {
        remove_unused(parent);
        let mut builder = Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder.prefix(PREFIX).tempdir_in(parent)?;
        // The lock file is locked before others can see it.
        let hidden = folder.path().join("new");
        let lock = File::create(&hidden)?;
        lock.lock()?;
        fs::rename(hidden, folder.path().join(LOCK))?;
        Ok(Self { folder, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes folders that are not locked; failures are left to the next session.
fn remove_unused(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_unused = File::open(entry.path().join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok());
        if is_folder && is_unused {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_killed_processes_are_removed_and_others_are_not() {
        let parent = tempfile::tempdir().expect("a folder");
        let used = SpillFolder::create_in(parent.path()).expect("a folder");
        // A killed process leaves the folder and its files behind, and no lock.
        let killed = parent.path().join(format!("{PREFIX}killed"));
        fs::create_dir(&killed).expect("a folder");
        fs::write(killed.join(LOCK), "").expect("a file");
        fs::write(killed.join("rows"), "of a trace").expect("a file");
        let next = SpillFolder::create_in(parent.path()).expect("a folder");
        assert!(used.path().is_dir() && next.path().is_dir() && !killed.exists());
        drop((used, next));
        assert_eq!(fs::read_dir(parent.path()).expect("a folder").count(), 0);
    }

    #[test]
    #[cfg(unix)]
    fn nobody_else_can_read_a_folder() {
        use std::os::unix::fs::PermissionsExt;
        let parent = tempfile::tempdir().expect("a folder");
        let folder = SpillFolder::create_in(parent.path()).expect("a folder");
        assert_eq!(fs::metadata(folder.path()).expect("a folder").permissions().mode() & 0o777, 0o700);
    }
}

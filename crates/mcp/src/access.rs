//! Which files may be read, and where files may be written.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use traceloom_core::{Error, Result};

/// The files and folders given by the user, resolved so that a link cannot lead out of them.
#[derive(Debug, Default)]
pub(crate) struct Access {
    /// Files, and folders whose contents may be read.
    readable: Vec<PathBuf>,
    /// Folders in which files may be written.
    writable: Vec<PathBuf>,
    /// Working folders of the client, whose contents may be read.
    roots: Mutex<Vec<PathBuf>>,
}

impl Access {
    pub(crate) fn new(files: &[PathBuf], folders: &[PathBuf]) -> Result<Self> {
        let resolve = |path: &PathBuf| fs::canonicalize(path).map_err(|error| Error::from(error).in_file(path));
        let writable: Vec<PathBuf> = folders.iter().map(resolve).collect::<Result<_>>()?;
        if let Some(file) = writable.iter().find(|path| !path.is_dir()) {
            return Err(Error::usage("not a folder; --allow accepts only folders").in_file(file));
        }
        let named: Vec<PathBuf> = files.iter().map(resolve).collect::<Result<_>>()?;
        Ok(Self { readable: named.into_iter().chain(writable.clone()).collect(), writable, roots: Mutex::default() })
    }

    /// Replaces the working folders of the client.
    pub(crate) fn set_roots(&self, roots: impl IntoIterator<Item = PathBuf>) {
        let resolved = roots.into_iter().filter_map(|root| fs::canonicalize(root).ok()).collect();
        *self.roots.lock().unwrap_or_else(PoisonError::into_inner) = resolved;
    }

    /// The files given by the user, without the folders.
    pub(crate) fn named_files(&self) -> impl Iterator<Item = &Path> {
        self.readable.iter().map(PathBuf::as_path).filter(|path| path.is_file())
    }

    /// The resolved path of a file that may be read. Files outside are refused with the same message whether they exist
    /// or not.
    pub(crate) fn readable(&self, path: &Path) -> Result<PathBuf> {
        let roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        let folders: Vec<&PathBuf> = self.readable.iter().chain(roots.iter()).collect();
        // Joining an absolute path replaces the folder.
        let places = std::iter::once(path.to_owned()).chain(folders.iter().map(|folder| folder.join(path)));
        let resolved = places.filter_map(|place| fs::canonicalize(place).ok());
        let is_below = |place: &PathBuf| folders.iter().any(|folder| place.starts_with(folder));
        let found = resolved.into_iter().find(is_below);
        let refusal = "not a file in the folders that this server may read; start `traceloom mcp` with the \
                       file or with --allow FOLDER";
        let found = found.ok_or_else(|| Error::usage(refusal).in_file(path))?;
        if !found.is_file() {
            return Err(Error::usage("not a file").in_file(path));
        }
        Ok(found)
    }

    /// The resolved path of a new file that may be written.
    pub(crate) fn writable(&self, path: &Path) -> Result<PathBuf> {
        let refuse = |reason: &str| Error::usage(reason.to_owned()).in_file(path);
        let Some(name) = path.file_name() else { return Err(refuse("the path has no file name")) };
        let folder = path.parent().unwrap_or(Path::new(""));
        let folders = self.writable.iter().map(|allowed| allowed.join(folder));
        let resolved = folders.filter_map(|place| fs::canonicalize(place).ok());
        let is_below = |place: &PathBuf| self.writable.iter().any(|allowed| place.starts_with(allowed));
        let Some(folder) = resolved.into_iter().find(is_below) else {
            return Err(refuse("not in a folder that this server may write to; start it with --allow FOLDER"));
        };
        let place = folder.join(name);
        match fs::symlink_metadata(&place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(place),
            Err(error) => Err(Error::from(error).in_file(path)),
            Ok(_) => Err(refuse("already exists; choose another name")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leads_out_of_the_allowed_folders() {
        let outside = tempfile::tempdir().unwrap();
        let inside = tempfile::tempdir().unwrap();
        let secret = outside.path().join("secret");
        fs::write(&secret, "s").unwrap();
        fs::write(inside.path().join("good"), "g").unwrap();
        let access = Access::new(&[], &[inside.path().to_owned()]).unwrap();
        assert!(access.readable(Path::new("good")).is_ok());
        assert!(access.readable(&inside.path().join("good")).is_ok());
        let up = inside.path().join("..").join(outside.path().file_name().unwrap()).join("secret");
        let absent = access.readable(&outside.path().join("absent")).unwrap_err();
        for path in [secret.as_path(), &up, Path::new("/etc/passwd"), Path::new("../secret"), Path::new("good\0")] {
            let refused = access.readable(path).unwrap_err();
            assert_eq!(refused.kind().to_string(), absent.kind().to_string(), "{}", path.display());
            assert!(access.writable(path).is_err(), "{}", path.display());
        }
        assert!(access.readable(inside.path()).is_err(), "a folder is not a file");
        assert!(access.writable(Path::new("good")).is_err(), "it exists");
        assert!(access.writable(Path::new("..")).is_err() && access.writable(Path::new("")).is_err());
        let new = access.writable(Path::new("new.json")).unwrap();
        assert!(new.starts_with(fs::canonicalize(inside.path()).unwrap()));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_resolved_first() {
        use std::os::unix::fs::symlink;
        let outside = tempfile::tempdir().unwrap();
        let inside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "s").unwrap();
        symlink(outside.path().join("secret"), inside.path().join("file")).unwrap();
        symlink(outside.path(), inside.path().join("folder")).unwrap();
        symlink(outside.path().join("new"), inside.path().join("dangling")).unwrap();
        let access = Access::new(&[], &[inside.path().to_owned()]).unwrap();
        for path in ["file", "folder/secret", "dangling"] {
            assert!(access.readable(&inside.path().join(path)).is_err(), "{path}");
        }
        for path in ["file", "folder/new", "dangling"] {
            assert!(access.writable(&inside.path().join(path)).is_err(), "{path}");
        }
    }

    #[test]
    fn a_folder_that_is_only_named_is_never_written() {
        let named = tempfile::tempdir().unwrap();
        let allowed = tempfile::tempdir().unwrap();
        fs::write(named.path().join("good"), "g").unwrap();
        let only_named = Access::new(&[named.path().to_owned()], &[]).unwrap();
        let both = Access::new(&[named.path().to_owned()], &[allowed.path().to_owned()]).unwrap();
        for access in [&only_named, &both] {
            assert!(access.readable(Path::new("good")).is_ok());
            let refused = access.writable(&named.path().join("new.json")).unwrap_err();
            assert!(refused.to_string().contains("not in a folder that this server may write to"), "{refused}");
        }
        assert!(only_named.writable(Path::new("new.json")).is_err());
        assert!(both.writable(Path::new("new.json")).unwrap().starts_with(fs::canonicalize(allowed.path()).unwrap()));
    }

    #[test]
    fn roots_of_the_client_are_read_and_never_written() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("good"), "g").unwrap();
        let access = Access::default();
        assert!(access.readable(&root.path().join("good")).is_err());
        access.set_roots([root.path().to_owned()]);
        assert!(access.readable(&root.path().join("good")).is_ok());
        assert!(access.writable(&root.path().join("new")).is_err());
    }
}

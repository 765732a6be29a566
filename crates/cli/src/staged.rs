//! A file that gets its name only when it is complete.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use tempfile::{Builder, NamedTempFile, TempDir};
use traceloom_core::staged;

/// A temporary file in the folder of its destination.
pub(crate) struct Staged {
    place: PathBuf,
    growing: Growing,
}

enum Growing {
    /// Has no name yet, so nothing is left behind if the process ends.
    #[cfg(target_os = "linux")]
    Nameless(File),
    /// For file systems without unnamed files.
    Named(NamedTempFile),
}

impl Staged {
    /// Creates a file that will become `place`, or the target of a symbolic link there.
    pub(crate) fn create(place: &Path) -> io::Result<Self> {
        let place = &followed(place);
        #[cfg(target_os = "linux")]
        let growing = match nameless::create(folder(place)) {
            Some(file) => Growing::Nameless(file),
            None => Growing::Named(staged::create(folder(place))?),
        };
        #[cfg(not(target_os = "linux"))]
        let growing = Growing::Named(staged::create(folder(place))?);
        Ok(Self { place: place.to_owned(), growing })
    }

    /// The file to write to.
    pub(crate) fn file(&self) -> &File {
        match &self.growing {
            #[cfg(target_os = "linux")]
            Growing::Nameless(file) => file,
            Growing::Named(file) => file.as_file(),
        }
    }

    /// Moves the file to its destination and replaces an existing file.
    pub(crate) fn finish(self) -> io::Result<()> {
        if let Ok(old) = std::fs::metadata(&self.place) {
            self.file().set_permissions(old.permissions())?;
        }
        match self.growing {
            #[cfg(target_os = "linux")]
            Growing::Nameless(file) => nameless::finish(&file, &self.place),
            Growing::Named(file) => file.persist(&self.place).map(drop).map_err(|error| error.error),
        }
    }
}

/// Max length of a chain of links; a longer one is a cycle.
const MAX_LINKS: usize = 40;

/// The end of a chain of symbolic links, whether or not the file exists.
fn followed(place: &Path) -> PathBuf {
    let mut place = place.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(target) = std::fs::read_link(&place) else { break };
        place = folder(&place).join(target);
    }
    place
}

/// The folder of a file.
pub(crate) fn folder(place: &Path) -> &Path {
    place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A temporary folder that nobody else can read, whatever the umask.
pub(crate) fn private_folder() -> io::Result<TempDir> {
    let mut builder = Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir()
}

#[cfg(target_os = "linux")]
mod nameless {
    use std::{
        fs::File,
        io::{self, Seek},
        os::fd::AsRawFd,
        path::Path,
    };

    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};
    use tempfile::Builder;
    use traceloom_core::staged;

    /// Paths of open files; needed to name an unnamed file.
    const OPEN_FILES: &str = "/proc/self/fd";

    pub(super) fn create(folder: &Path) -> Option<File> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = open(folder, flags, Mode::from_raw_mode(0o666)).ok()?;
        Path::new(OPEN_FILES).is_dir().then(|| file.into())
    }

    /// A link cannot replace a file, so the file first gets a name in the same folder.
    pub(super) fn finish(file: &File, place: &Path) -> io::Result<()> {
        let open_file = format!("{OPEN_FILES}/{}", file.as_raw_fd());
        let link = |name: &Path| Ok(linkat(CWD, &open_file, CWD, name, AtFlags::SYMLINK_FOLLOW)?);
        match Builder::new().prefix(staged::PREFIX).make_in(super::folder(place), link) {
            Ok(linked) => linked.persist(place).map(drop).map_err(|error| error.error),
            // Some file systems can create unnamed files but not name them.
            Err(_) => copy(file, place),
        }
    }

    pub(super) fn copy(mut file: &File, place: &Path) -> io::Result<()> {
        let mut named = staged::create(super::folder(place))?;
        file.rewind()?;
        io::copy(&mut file, &mut named)?;
        named.as_file().set_permissions(file.metadata()?.permissions())?;
        named.persist(place).map(drop).map_err(|error| error.error)
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write};

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn it_takes_its_place_when_it_is_complete() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("out");
        fs::write(&place, "old").expect("a file");
        let staged = Staged::create(&place).expect("a file");
        staged.file().write_all(b"new").expect("room for it");
        assert_eq!(fs::read(&place).expect("a file"), b"old");
        // Nothing to clean up if the process ends here.
        #[cfg(target_os = "linux")]
        assert_eq!(names(folder.path()), ["out"]);
        staged.finish().expect("its place");
        assert_eq!(fs::read(&place).expect("a file"), b"new");
        assert_eq!(names(folder.path()), ["out"]);
    }

    #[test]
    #[cfg(unix)]
    fn the_mode_is_kept_and_links_are_followed() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link, dangling) = (folder.path().join("file"), folder.path().join("link"), folder.path().join("to"));
        fs::write(&file, "old").expect("a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("a mode");
        symlink("file", &link).expect("a link");
        symlink("new", &dangling).expect("a link");
        for place in [&link, &dangling] {
            let staged = Staged::create(place).expect("a file");
            staged.file().write_all(b"new").expect("room for it");
            staged.finish().expect("its place");
            assert!(fs::symlink_metadata(place).expect("an entry").is_symlink());
            assert_eq!(fs::read(place).expect("a file"), b"new");
        }
        assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o640);
    }

    #[test]
    #[cfg(unix)]
    fn a_private_folder_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = private_folder().expect("a folder");
        assert_eq!(fs::metadata(folder.path()).expect("a folder").permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn what_is_given_up_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        drop(Staged::create(&folder.path().join("out")).expect("a file"));
        let named = Growing::Named(staged::create(folder.path()).expect("a file"));
        drop(Staged { place: folder.path().join("out"), growing: named });
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_cannot_be_named_is_copied() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("out");
        let file = nameless::create(folder.path()).expect("temporary folders take nameless files");
        (&file).write_all(b"all of it").expect("room for it");
        nameless::copy(&file, &place).expect("its place");
        assert_eq!(fs::read(&place).expect("a file"), b"all of it");
    }
}

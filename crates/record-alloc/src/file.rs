//! Files that a program does not close or overwrite by accident, with names that no other process uses.

use std::{
    ffi::OsString,
    fs::{File, OpenOptions},
    io::{self, ErrorKind, Write},
    os::fd::{AsRawFd, IntoRawFd},
    path::{Path, PathBuf},
};

/// Minimum descriptor number, so that programs that count descriptors from 0 get the numbers that they expect.
const FIRST_DESCRIPTOR: i32 = 900;

/// A file that is only appended to.
///
/// Not a `File`, which aborts the process if the program closed its descriptor.
#[derive(Debug)]
pub(crate) struct Appended {
    pub(crate) descriptor: i32,
    path: PathBuf,
}

impl Appended {
    fn new(file: File, path: &Path) -> Self {
        Self { descriptor: moved_up(file), path: path.to_owned() }
    }

    /// Marks the file as being written as long as this process lives.
    fn hold(&self) {
        // SAFETY: a call that fails changes nothing.
        unsafe { libc::flock(self.descriptor, libc::LOCK_EX | libc::LOCK_NB) };
    }

    fn write_once(&self, bytes: &[u8]) -> io::Result<usize> {
        // SAFETY: the bytes are readable.
        let written = unsafe { libc::write(self.descriptor, bytes.as_ptr().cast(), bytes.len()) };
        usize::try_from(written).map_err(|_| io::Error::last_os_error())
    }
}

impl Write for Appended {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.write_once(bytes) {
            // Daemons close every descriptor when they start.
            Err(error) if error.raw_os_error() == Some(libc::EBADF) => {
                self.descriptor = moved_up(OpenOptions::new().append(true).open(&self.path)?);
                self.write_once(bytes)
            }
            outcome => outcome,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Appended {
    fn drop(&mut self) {
        // SAFETY: the descriptor is ours, unless the program closed it; then the call fails.
        unsafe { libc::close(self.descriptor) };
    }
}

fn moved_up(file: File) -> i32 {
    // SAFETY: the descriptor is open.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR) } {
        -1 => file.into_raw_fd(),
        moved => moved,
    }
}

/// The files of one recording.
pub(crate) struct Files {
    pub(crate) path: PathBuf,
    pub(crate) events: Appended,
    pub(crate) journal: Appended,
}

impl Files {
    /// Creates the files with the requested name, or with the process id in it if the name is taken or belongs to
    /// another process.
    pub(crate) fn create(wanted: &Path, is_child: bool) -> io::Result<Self> {
        let pid = std::process::id();
        let plain = (!is_child).then(|| wanted.to_owned());
        let with_pid = std::iter::once(with_suffix(wanted, &pid.to_string()));
        let numbered = (1..1000).map(|number| with_suffix(wanted, &format!("{pid}.{number}")));
        for path in plain.into_iter().chain(with_pid).chain(numbered) {
            match OpenOptions::new().append(true).create_new(true).open(&path) {
                Ok(events) => return Self::with_journal(path, events),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    fn with_journal(path: PathBuf, events: File) -> io::Result<Self> {
        let journal_path = journal_path(&path);
        let journal = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&journal_path)?;
        let journal = Appended::new(journal, &journal_path);
        journal.hold();
        Ok(Self { events: Appended::new(events, &path), journal, path })
    }
}

/// `NAME.SUFFIX.mlyze` for `NAME.mlyze`.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(".");
    name.push(suffix);
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// The file that holds the stacks until their names are in the main file.
pub(crate) fn journal_path(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".stacks");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_never_collide() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = folder.path().join("a.b.mlyze");
        let pid = std::process::id();
        let created: Vec<PathBuf> =
            [false, false, true].into_iter().map(|is_child| Files::create(&wanted, is_child).unwrap().path).collect();
        let expected = ["a.b.mlyze".to_owned(), format!("a.b.{pid}.mlyze"), format!("a.b.{pid}.1.mlyze")];
        assert_eq!(created, expected.map(|name| folder.path().join(name)));
        assert_eq!(with_suffix(Path::new("x/plain"), "7"), Path::new("x/plain.7"));
    }

    #[test]
    fn a_closed_descriptor_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = Files::create(&folder.path().join("a.mlyze"), false).unwrap();
        files.events.write_all(b"one ").unwrap();
        assert!(files.events.descriptor >= FIRST_DESCRIPTOR);
        // SAFETY: nobody else has the descriptor.
        unsafe { libc::close(files.events.descriptor) };
        files.events.write_all(b"two").unwrap();
        assert_eq!(std::fs::read(&files.path).unwrap(), b"one two");
    }
}

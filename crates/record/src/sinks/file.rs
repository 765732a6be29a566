//! A file whose writes may fail: bytes that could not be written are kept and tried again.

use std::{
    fs::File,
    io::{self, ErrorKind, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::atomic::Ordering,
};

use crate::stats::COUNTERS;

/// Something to write to; in tests, it can be full.
pub(crate) trait Medium: Write + Seek + Send {
    fn sync(&mut self) -> io::Result<()>;
    /// Truncates to this many bytes.
    fn cut(&mut self, bytes: u64) -> io::Result<()>;
}

impl Medium for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }

    fn cut(&mut self, bytes: u64) -> io::Result<()> {
        self.set_len(bytes)
    }
}

/// Max bytes that are kept while writes fail; everything beyond is lost.
pub(crate) const MAX_KEPT: usize = 4 << 20;

/// A file and the bytes that are not written yet.
pub(crate) struct Output {
    medium: Box<dyn Medium>,
    /// The folder of the file, whose entry has to be on disk as well.
    folder: Option<PathBuf>,
    kept: Vec<u8>,
    /// Bytes written so far.
    pub(crate) bytes: u64,
    pub(crate) refuses: Option<String>,
}

impl Output {
    pub(crate) fn new(medium: Box<dyn Medium>) -> Self {
        Self { medium, folder: None, kept: Vec::new(), bytes: 0, refuses: None }
    }

    /// This output, with the path of its file.
    pub(crate) fn at(self, path: &Path) -> Self {
        Self { folder: Some(folder_of(path)), ..self }
    }

    /// Whether no more bytes can be kept.
    pub(crate) fn is_full(&self) -> bool {
        self.refuses.is_some() && self.kept.len() >= MAX_KEPT
    }

    /// Writes the kept bytes, then these; on error, no byte is lost.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.kept.is_empty() {
            let taken = self.pass_on(bytes);
            self.kept.extend_from_slice(bytes.get(taken.0..).unwrap_or_default());
            return taken.1;
        }
        self.kept.extend_from_slice(bytes);
        let kept = std::mem::take(&mut self.kept);
        let (taken, outcome) = self.pass_on(&kept);
        self.kept.extend_from_slice(kept.get(taken..).unwrap_or_default());
        outcome
    }

    /// How many bytes were written, and the error that stopped it.
    fn pass_on(&mut self, bytes: &[u8]) -> (usize, io::Result<()>) {
        let mut taken = 0;
        while let Some(left) = bytes.get(taken..).filter(|left| !left.is_empty()) {
            let error = match self.medium.write(left) {
                Ok(0) => io::Error::from(ErrorKind::WriteZero),
                Ok(count) => {
                    taken += count;
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => error,
            };
            self.count(taken);
            COUNTERS.errors.fetch_add(1, Ordering::Relaxed);
            self.refuses = Some(error.to_string());
            return (taken, Err(error));
        }
        self.count(taken);
        self.refuses = None;
        (taken, Ok(()))
    }

    fn count(&mut self, taken: usize) {
        self.bytes += taken as u64;
        COUNTERS.bytes.fetch_add(taken as u64, Ordering::Relaxed);
    }

    /// Writes all bytes or, on error, none of them.
    pub(crate) fn write_whole(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write(&[])?;
        let before = self.bytes;
        let outcome = self.write(bytes);
        if outcome.is_err() {
            self.take_back(before)?;
        }
        outcome
    }

    /// Truncates the file to this many bytes, and drops the kept ones.
    pub(crate) fn take_back(&mut self, bytes: u64) -> io::Result<()> {
        self.kept.clear();
        self.bytes = bytes;
        // Even if truncating fails, the next bytes overwrite the rest.
        let cut = self.medium.cut(bytes);
        self.medium.seek(SeekFrom::Start(bytes))?;
        cut
    }

    /// Writes other bytes over earlier ones.
    pub(crate) fn patch(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.medium.seek(SeekFrom::Start(offset))?;
        let outcome = self.medium.write_all(bytes);
        self.medium.seek(SeekFrom::Start(self.bytes))?;
        outcome
    }

    /// Writes the file and the entry of its folder to disk.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.medium.sync()?;
        self.folder.as_deref().map_or(Ok(()), sync_folder)
    }
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// After a loss of power, a new or renamed file is found only if its folder is on disk, too.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Other systems cannot open a folder, and do not need to.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, not(any(traceloom_loom, traceloom_shuttle))))]
pub(crate) mod tests {
    use std::{
        io::Read,
        sync::{Arc, Mutex},
    };

    use super::*;

    /// A disk of limited size, which can be enlarged.
    #[derive(Clone, Default)]
    pub(crate) struct Disk(pub(crate) Arc<Mutex<(Vec<u8>, usize, usize)>>);

    impl Disk {
        pub(crate) fn of(bytes: usize) -> Self {
            Self(Arc::new(Mutex::new((Vec::new(), 0, bytes))))
        }

        pub(crate) fn grow(&self, bytes: usize) {
            self.0.lock().unwrap().2 = bytes;
        }

        pub(crate) fn content(&self) -> Vec<u8> {
            self.0.lock().unwrap().0.clone()
        }
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut disk = self.0.lock().unwrap();
            let (at, room) = (disk.1, disk.2.saturating_sub(disk.1));
            let taken = bytes.len().min(room).min(1000);
            if taken == 0 && !bytes.is_empty() {
                return Err(io::Error::from(ErrorKind::StorageFull));
            }
            let end = disk.0.len().max(at + taken);
            disk.0.resize(end, 0);
            disk.0[at..at + taken].copy_from_slice(&bytes[..taken]);
            disk.1 += taken;
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for Disk {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            let SeekFrom::Start(at) = to else { return Err(ErrorKind::Unsupported.into()) };
            self.0.lock().unwrap().1 = at as usize;
            Ok(at)
        }
    }

    impl Read for Disk {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let mut disk = self.0.lock().unwrap();
            let left = disk.0.get(disk.1..).unwrap_or_default();
            let count = left.len().min(into.len());
            into[..count].copy_from_slice(&left[..count]);
            disk.1 += count;
            Ok(count)
        }
    }

    impl crate::sinks::spool::Storage for Disk {}

    impl Medium for Disk {
        fn sync(&mut self) -> io::Result<()> {
            Ok(())
        }

        fn cut(&mut self, bytes: u64) -> io::Result<()> {
            self.0.lock().unwrap().0.truncate(bytes as usize);
            Ok(())
        }
    }

    #[test]
    fn refused_bytes_come_first_when_there_is_room() {
        let disk = Disk::of(1500);
        let mut output = Output::new(Box::new(disk.clone()));
        let bytes: Vec<u8> = (0..4000).map(|at| at as u8).collect();
        assert!(output.write(&bytes[..3000]).is_err());
        assert_eq!((output.bytes, output.refuses.is_some()), (1500, true));
        assert!(output.write(&bytes[3000..3500]).is_err());
        disk.grow(1 << 20);
        output.write(&bytes[3500..]).unwrap();
        assert_eq!((disk.content(), output.refuses.is_some()), (bytes, false));
        output.patch(1, b"xy").unwrap();
        output.write(b"z").unwrap();
        assert_eq!((disk.content()[1], disk.content()[4000], disk.content().len()), (b'x', b'z', 4001));
    }

    #[test]
    fn a_dictionary_is_written_whole_or_not_at_all() {
        let disk = Disk::of(1500);
        let mut output = Output::new(Box::new(disk.clone()));
        output.write(&[1; 1000]).unwrap();
        assert!(output.write_whole(&[2; 800]).is_err());
        assert_eq!((disk.content(), output.bytes), (vec![1; 1000], 1000));
        output.write(&[3; 10]).unwrap();
        disk.grow(1 << 20);
        output.write_whole(&[2; 800]).unwrap();
        assert_eq!(disk.content(), [vec![1; 1000], vec![3; 10], vec![2; 800]].concat());
    }

    #[test]
    #[cfg(unix)]
    fn a_sync_covers_the_name_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut output = Output::new(Box::new(File::create(&path).unwrap())).at(&path);
        output.sync().unwrap();
        folder.close().unwrap();
        // The file itself could still be written, but no folder would list it.
        assert_eq!(output.sync().unwrap_err().kind(), ErrorKind::NotFound);
    }
}

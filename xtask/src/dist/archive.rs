//! The archive: the tree of a release as a reproducible tar file.

use std::path::{Path, PathBuf};

use super::{Release, VERSION};
use crate::{Outcome, files, process::gzip};

/// Size of a header, to which files are also padded.
const BLOCK: usize = 512;

pub(super) fn make(release: &Release) -> Outcome<PathBuf> {
    let name = format!("traceloom-{VERSION}-{}", release.target);
    let mut tar = Vec::new();
    for path in files::walk(&release.tree)? {
        let inside = path.strip_prefix(&release.tree).unwrap_or(&path);
        let inside = inside.to_string_lossy().replace('\\', "/");
        let entry = Entry { name: format!("{name}/{inside}"), mode: mode(&inside), epoch: release.epoch };
        entry.write(&files::read(&path)?, &mut tar)?;
    }
    tar.resize(tar.len() + 2 * BLOCK, 0);
    let file = release.file(&format!("{name}.tar.gz"));
    files::write(&file, gzip(&tar)?)?;
    Ok(file)
}

/// Programs are executable; everything is readable.
pub(super) fn mode(path: &str) -> u32 {
    let is_program = path.starts_with("bin/") || Path::new(path).extension().is_some_and(|it| it == "so");
    if is_program { 0o755 } else { 0o644 }
}

/// The `ustar` header of a file, as in POSIX.
struct Entry {
    name: String,
    mode: u32,
    epoch: u64,
}

impl Entry {
    fn write(&self, contents: &[u8], tar: &mut Vec<u8>) -> Outcome {
        if self.name.len() > 100 {
            return Err(format!("{} is too long for an archive", self.name));
        }
        let mut head = [0; BLOCK];
        let mut put = |offset: usize, bytes: &[u8]| head[offset..offset + bytes.len()].copy_from_slice(bytes);
        put(0, self.name.as_bytes());
        put(100, format!("{:07o}", self.mode).as_bytes());
        put(108, b"0000000");
        put(116, b"0000000");
        put(124, format!("{:011o}", contents.len()).as_bytes());
        put(136, format!("{:011o}", self.epoch).as_bytes());
        put(148, b"        ");
        put(156, b"0");
        put(257, b"ustar\x0000");
        let sum: u32 = head.iter().map(|byte| u32::from(*byte)).sum();
        head[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        tar.extend_from_slice(&head);
        tar.extend_from_slice(contents);
        tar.resize(tar.len().next_multiple_of(BLOCK), 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_a_head_and_padded_contents() {
        let mut tar = Vec::new();
        let entry = Entry { name: "a/b".into(), mode: 0o644, epoch: 8 };
        entry.write(b"hello", &mut tar).expect("a short name");
        assert_eq!(tar.len(), 2 * BLOCK);
        assert_eq!(&tar[..4], b"a/b\0");
        assert_eq!(&tar[124..135], b"00000000005");
        assert_eq!(&tar[136..147], b"00000000010");
        assert_eq!(&tar[BLOCK..BLOCK + 6], b"hello\0");
        assert!(Entry { name: "x".repeat(101), mode: 0, epoch: 0 }.write(b"", &mut tar).is_err());
    }
}

//! Adds the names of functions to a file whose events are complete.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    ops::Range,
    os::fd::AsRawFd,
    path::Path,
};

use traceloom_core::{Error, Limits, Options, Records, Result, Source};
use traceloom_memlyze::{
    Metadata, MetadataBuilder, Record, create_with_metadata,
    raw::{HEADER_BYTES, Packing},
};

use crate::{
    file::journal_path,
    journal::{self, Entry},
    symbols::{Address, Symbols},
    tail::recover,
};

/// Whether a recording ended without function names, because its process was killed or does not look them up.
pub fn is_unfinished(path: &Path) -> bool {
    journal_path(path).is_file()
}

/// Completes a recording: looks up the names of all functions and adds them to the file.
///
/// Fails with a usage error while the recording process is alive.
pub fn finish(path: &Path) -> Result<()> {
    let mut journal = File::open(journal_path(path))?;
    // SAFETY: the descriptor is open.
    if unsafe { libc::flock(journal.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
        return Err(Error::usage(format!("{} is still being recorded", path.display())));
    }
    let packing = recover(path, &mut journal)?;
    let metadata = metadata(&mut journal)?;
    match packing {
        Packing::Plain => put_metadata(path, &metadata)?,
        Packing::Blocks => pack(path, &metadata)?,
    }
    Ok(fs::remove_file(journal_path(path))?)
}

fn metadata(journal: &mut File) -> Result<Metadata> {
    let mut metadata = MetadataBuilder::new(&Limits::default());
    let (mut modules, mut addresses) = (Modules::default(), Vec::new());
    journal::read(journal, |entry| {
        match entry {
            // Events refer to markers by their index among the functions, so markers come first.
            Entry::Marker(name) => drop(metadata.function(name)?),
            Entry::Module { range, bias, path } => modules.load(range, bias, path),
            Entry::Stack(frames) => {
                addresses.extend(frames.iter().filter_map(|pc| modules.address(*pc)));
                if addresses.len() > DEDUPLICATE_ABOVE {
                    addresses.sort_unstable();
                    addresses.dedup();
                }
            }
        }
        Ok(())
    })?;
    let symbols = Symbols::find(&modules.paths, addresses, &mut metadata)?;
    let mut modules = Modules::default();
    journal::read(journal, |entry| {
        match entry {
            Entry::Marker(_) => {}
            Entry::Module { range, bias, path } => modules.load(range, bias, path),
            Entry::Stack(frames) => {
                let addresses = frames.iter().filter_map(|pc| modules.address(*pc));
                let named: Vec<_> = addresses.flat_map(|address| symbols.frames(address)).collect();
                // Functions of the standard library may be between those of the recorder.
                let way = named.iter().take(MAX_WAY).rposition(|named| named.is_ours).map_or(0, |last| last + 1);
                let frames: Vec<_> = named[way..].iter().map(|named| named.frame).collect();
                metadata.add_stack(&frames)?;
            }
        }
        Ok(())
    })?;
    metadata.finish()
}

/// Max number of calls between an allocation and its recording.
const MAX_WAY: usize = 12;
/// There are few different addresses.
const DEDUPLICATE_ABOVE: usize = 1 << 20;

/// The loaded modules at some time of the recording.
#[derive(Default)]
struct Modules {
    paths: Vec<Vec<u8>>,
    loaded: Vec<(Range<u64>, u64, u32)>,
}

impl Modules {
    fn load(&mut self, range: Range<u64>, bias: u64, path: &[u8]) {
        self.loaded.retain(|(other, ..)| other.end <= range.start || range.end <= other.start);
        let known = self.paths.iter().position(|known| known == path);
        let number = known.unwrap_or(self.paths.len()) as u32;
        if known.is_none() {
            self.paths.push(path.to_vec());
        }
        self.loaded.push((range, bias, number));
    }

    /// The call before a return address; an address outside all modules is an unwinding error at the end of a stack.
    fn address(&self, pc: u64) -> Option<Address> {
        let call = pc.wrapping_sub(1);
        let module = self.loaded.iter().find(|(range, ..)| range.contains(&call));
        module.map(|(_, bias, number)| (*number, call.wrapping_sub(*bias)))
    }
}

/// Writes the metadata into its reserved space, or rewrites the whole file if the space is too small.
fn put_metadata(path: &Path, metadata: &Metadata) -> Result<()> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let mut header = [0; HEADER_BYTES];
    file.read_exact(&mut header)?;
    let [.., a, b, c, d] = header[..METADATA_LENGTH_END] else { unreachable!("the header is longer") };
    let room = u64::from(u32::from_le_bytes([a, b, c, d]));
    let length = metadata.json_len();
    if length <= room {
        metadata.write_json(&mut file)?;
        io::copy(&mut io::repeat(b' ').take(room - length), &mut file)?;
        return Ok(());
    }
    let short = u32::try_from(length).map_err(|_| Error::limit("bytes of metadata", length, u32::MAX.into()))?;
    header[METADATA_LENGTH_END - 4..METADATA_LENGTH_END].copy_from_slice(&short.to_le_bytes());
    replace(path, |whole| {
        whole.write_all(&header)?;
        metadata.write_json(&mut *whole)?;
        file.seek(SeekFrom::Start(HEADER_BYTES as u64 + room))?;
        io::copy(&mut file, whole)?;
        Ok(())
    })
}

/// Rewrites the whole file with its events in LZ4 blocks.
fn pack(path: &Path, metadata: &Metadata) -> Result<()> {
    let mut reader = traceloom_memlyze::open(Source::file(File::open(path)?), &Options::default())?;
    let header = reader.header().clone().packed(Packing::Blocks);
    replace(path, |whole| {
        let mut writer = create_with_metadata(whole, &header, metadata)?;
        while let Some(located) = reader.next()? {
            if !matches!(located.record, Record::Metadata(_)) {
                writer.write(&located.record)?;
            }
        }
        writer.finish().map(drop)
    })
}

/// Replaces a file with another one when it is complete.
fn replace(path: &Path, write: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut whole = tempfile::NamedTempFile::new_in(folder)?;
    write(whole.as_file_mut())?;
    whole.as_file().set_permissions(fs::metadata(path)?.permissions())?;
    whole.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// End of the header field with the length of the metadata.
const METADATA_LENGTH_END: usize = 20;

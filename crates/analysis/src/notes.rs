//! Notes that a person made on a trace, stored next to it in `FILE.notes.json`.

use std::{
    fs::{self, File},
    io::{BufReader, ErrorKind, Read},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use traceloom_core::{Error, Result};

use crate::units::time;

/// A note on a time or a range of a trace.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Note {
    /// Timestamp in the trace.
    pub ts_ns: i64,
    /// Duration; `None` for a point in time.
    #[serde(default)]
    pub dur_ns: Option<i64>,
    /// Name of the span that the note is about.
    #[serde(default)]
    pub name: Option<String>,
    /// Text of the note.
    pub text: String,
}

impl Note {
    /// The subject besides the time: the name of a span, a duration, or both.
    pub fn about(&self) -> Option<String> {
        let dur = self.dur_ns.map(|dur_ns| time(dur_ns as f64));
        let parts: Vec<String> = self.name.clone().into_iter().chain(dur).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// The file next to a trace.
#[derive(Deserialize, Serialize)]
struct Notes {
    version: u32,
    notes: Vec<Note>,
}

const VERSION: u32 = 1;
/// Max number of notes per trace.
pub const MAX_NOTES: usize = 10_000;
/// Max number of bytes of a text.
pub const MAX_TEXT: usize = 4 << 10;
const MAX_BYTES: u64 = 64 << 20;

/// Path of the notes on a trace.
pub fn path_next_to(trace: &Path) -> PathBuf {
    let mut path = trace.as_os_str().to_owned();
    path.push(".notes.json");
    path.into()
}

/// The notes on a trace, sorted by time; empty if there are none.
pub fn read(trace: &Path) -> Result<Vec<Note>> {
    let path = path_next_to(trace);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::from(error).in_file(path)),
    };
    let read: Notes = serde_json::from_reader(BufReader::new(file.take(MAX_BYTES)))
        .map_err(|error| Error::unrecognized(format!("invalid notes: {error}")).in_file(&path))?;
    if read.version != VERSION {
        let message = format!("unsupported version {} of the notes; expected {VERSION}", read.version);
        return Err(Error::unsupported(message).in_file(path));
    }
    let mut notes = read.notes;
    notes.sort_by_key(|note| note.ts_ns);
    Ok(notes)
}

/// Replaces the notes on a trace; without any, the file is removed.
pub fn write(trace: &Path, notes: &[Note]) -> Result<()> {
    if notes.len() > MAX_NOTES {
        return Err(Error::limit("notes", notes.len() as u64, MAX_NOTES as u64));
    }
    if let Some(long) = notes.iter().map(|note| note.text.len()).find(|length| *length > MAX_TEXT) {
        return Err(Error::limit("bytes of a note", long as u64, MAX_TEXT as u64));
    }
    let path = path_next_to(trace);
    put(&path, notes).map_err(|error| error.in_file(path))
}

fn put(path: &Path, notes: &[Note]) -> Result<()> {
    if notes.is_empty() {
        return match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        };
    }
    let text = serde_json::to_string_pretty(&Notes { version: VERSION, notes: notes.to_vec() })
        .map_err(|error| Error::internal(error.to_string()))?;
    replace(path, &format!("{text}\n"))
}

/// Replaces the file atomically: a reader sees either the old notes or the new ones.
#[cfg(not(target_family = "wasm"))]
fn replace(path: &Path, text: &str) -> Result<()> {
    use std::io::Write;

    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Not available in the browser, which cannot write files.
#[cfg(target_family = "wasm")]
fn replace(path: &Path, text: &str) -> Result<()> {
    Ok(fs::write(path, text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(ts_ns: i64, text: &str) -> Note {
        Note { ts_ns, dur_ns: None, name: None, text: text.to_owned() }
    }

    #[test]
    fn notes_come_back_by_time_and_go_with_the_last() {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("game.prof");
        assert_eq!(read(&trace).unwrap(), []);
        write(&trace, &[note(20, "b"), note(-3, "a")]).unwrap();
        assert_eq!(read(&trace).unwrap(), [note(-3, "a"), note(20, "b")]);
        assert!(folder.path().join("game.prof.notes.json").is_file());
        write(&trace, &[]).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn other_files_and_too_much_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("game.prof");
        fs::write(path_next_to(&trace), "{}").unwrap();
        assert!(read(&trace).unwrap_err().to_string().contains("game.prof.notes.json"));
        fs::write(path_next_to(&trace), r#"{"version": 9, "notes": []}"#).unwrap();
        assert!(read(&trace).unwrap_err().to_string().contains("version 9"));
        assert!(write(&trace, &[note(0, &"x".repeat(MAX_TEXT + 1))]).is_err());
        assert!(write(&trace, &vec![note(0, "x"); MAX_NOTES + 1]).is_err());
    }
}

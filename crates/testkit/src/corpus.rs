//! Finds the files to test with.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    thread,
};

use serde_json::Value;

use crate::{SUBJECTS, Subject};

/// Subfolders whose files need no golden: the expected result is in code.
const WITHOUT_GOLDENS: [&str; 3] = ["document", "found", "packed"];

/// A file to test with.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name for messages: the path below the folder of all formats.
    pub name: String,
    /// The file.
    pub input: PathBuf,
    /// The output of the format's tool; empty if the expected result is in code.
    pub goldens: Vec<PathBuf>,
}

impl Case {
    /// The file's bytes.
    pub fn bytes(&self) -> io::Result<Vec<u8>> {
        fs::read(&self.input)
    }

    /// The parsed golden, if there is one. Several are combined into one object, by the last part of their names; a
    /// golden that is a list covers a whole folder, with an entry for each `name`.
    pub fn golden(&self) -> io::Result<Option<Value>> {
        let mut parts = self.goldens.iter().map(|path| self.part(path)).collect::<io::Result<Vec<_>>>()?;
        match parts.len() {
            0 | 1 => Ok(parts.pop()),
            _ => Ok(Some(self.goldens.iter().map(|path| part_name(path)).zip(parts).collect())),
        }
    }

    fn part(&self, golden: &Path) -> io::Result<Value> {
        let value: Value = serde_json::from_slice(&fs::read(golden)?)?;
        let Value::Array(mut entries) = value else { return Ok(value) };
        let name = self.input.file_stem().and_then(|name| name.to_str());
        let entry = entries.iter().position(|entry| entry["name"].as_str() == name);
        let missing = || io::Error::other(format!("{} says nothing about {}", golden.display(), self.name));
        entry.map(|at| entries.swap_remove(at)).ok_or_else(missing)
    }
}

/// The fixtures of the repository, and the folder named by `TRACELOOM_CORPUS`.
pub fn default_roots() -> Vec<PathBuf> {
    let corpus = env::var_os("TRACELOOM_CORPUS").map(PathBuf::from);
    [Some(fixtures()), corpus].into_iter().flatten().collect()
}

/// The folder of all fixtures.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// A fixture by its format and name, such as `wtf/js-mix.wtf-trace`, in any subfolder of the format.
pub fn fixture(path: impl AsRef<Path>) -> PathBuf {
    let path = fixtures().join(path);
    if path.exists() {
        return path;
    }
    let below = path.parent().and_then(|folder| files(folder).ok()).unwrap_or_default();
    below.into_iter().find(|file| file.file_name() == path.file_name()).unwrap_or(path)
}

/// The files of a format below `roots`, each of which holds one folder per format.
pub fn cases(subject: &dyn Subject, roots: &[PathBuf]) -> io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for root in roots {
        for input in own_files(subject, root)? {
            if subject.is_input(&input) {
                let mut goldens = subject.goldens(&input);
                goldens.retain(|golden| needs_golden(&input) || golden.is_file());
                let name = input.strip_prefix(root).unwrap_or(&input).display().to_string();
                cases.push(Case { name, input, goldens });
            }
        }
    }
    Ok(cases)
}

/// Runs a check over all files of all formats, on two threads.
pub fn each_case(check: impl Fn(&dyn Subject, &Case, Vec<u8>) + Sync) {
    for subject in SUBJECTS {
        let waiting = Mutex::new(cases(*subject, &default_roots()).expect("the folders can be read"));
        let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let work = || {
            while let Some(case) = next() {
                check(*subject, &case, case.bytes().expect("the file can be read"));
            }
        };
        thread::scope(|scope| {
            scope.spawn(work);
            work();
        });
    }
}

/// Files that are neither traces nor goldens, and missing goldens.
pub fn strays(subject: &dyn Subject, roots: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let cases = cases(subject, roots)?;
    let goldens: Vec<_> = cases.into_iter().flat_map(|case| case.goldens).collect();
    let mut strays: Vec<_> = goldens.iter().filter(|golden| !golden.is_file()).cloned().collect();
    for root in roots {
        let belongs = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_companion = subject.companions().iter().any(|ending| name.ends_with(ending));
            subject.is_input(path) || goldens.contains(path) || is_companion
        };
        strays.extend(own_files(subject, root)?.into_iter().filter(|path| !belongs(path)));
    }
    Ok(strays)
}

fn needs_golden(input: &Path) -> bool {
    let folder = input.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    folder.is_none_or(|folder| !WITHOUT_GOLDENS.contains(&folder))
}

/// `summary` of `NAME.summary.json`.
fn part_name(golden: &Path) -> String {
    let name = golden.file_stem().unwrap_or_default().to_string_lossy();
    name.rsplit('.').next().unwrap_or_default().to_owned()
}

/// The files of a format, without those of a dialect whose folder is inside.
fn own_files(subject: &dyn Subject, root: &Path) -> io::Result<Vec<PathBuf>> {
    let folder = root.join(subject.folder());
    let others = SUBJECTS.iter().map(|other| root.join(other.folder()));
    let within: Vec<_> = others.filter(|other| *other != folder && other.starts_with(&folder)).collect();
    let files = files(&folder)?.into_iter();
    Ok(files.filter(|path| !within.iter().any(|other| path.starts_with(other))).collect())
}

/// All files below a folder, sorted; none if the folder does not exist.
pub fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(files),
        entries => entries?,
    };
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() { files.extend(self::files(&path)?) } else { files.push(path) }
    }
    Ok(files)
}

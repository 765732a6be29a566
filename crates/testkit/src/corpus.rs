//! Finds the files to test with.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use crate::Subject;

/// Subfolders whose files have no golden: what to expect of them is said in code.
const WITHOUT_GOLDENS: [&str; 3] = ["document", "found", "packed"];

/// A file to test with.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name for messages: the path below the folder of all formats.
    pub name: String,
    /// The file.
    pub input: PathBuf,
    /// What the original makes of it.
    pub golden: Option<PathBuf>,
}

impl Case {
    /// The file's bytes.
    pub fn bytes(&self) -> io::Result<Vec<u8>> {
        fs::read(&self.input)
    }

    /// The parsed golden, where there is one.
    pub fn golden(&self) -> io::Result<Option<serde_json::Value>> {
        self.golden.as_ref().map(|path| Ok(serde_json::from_slice(&fs::read(path)?)?)).transpose()
    }
}

/// The fixtures of the repository, and the folder that `TRACELOOM_CORPUS` names.
pub fn default_roots() -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let corpus = env::var_os("TRACELOOM_CORPUS").map(PathBuf::from);
    [Some(fixtures), corpus].into_iter().flatten().collect()
}

/// The files of a format below `roots`, each of which holds one folder per format id.
pub fn cases(subject: &dyn Subject, roots: &[PathBuf]) -> io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for root in roots {
        for input in files(&root.join(subject.format().id))? {
            if subject.is_input(&input) {
                let golden = needs_golden(&input).then(|| subject.golden(&input));
                let name = input.strip_prefix(root).unwrap_or(&input).display().to_string();
                cases.push(Case { name, input, golden });
            }
        }
    }
    Ok(cases)
}

/// Files that belong to nothing, and goldens that are missing.
pub fn strays(subject: &dyn Subject, roots: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let cases = cases(subject, roots)?;
    let goldens: Vec<_> = cases.iter().filter_map(|case| case.golden.clone()).collect();
    let mut strays: Vec<_> = goldens.iter().filter(|golden| !golden.is_file()).cloned().collect();
    for root in roots {
        let belongs = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_companion = subject.companions().iter().any(|ending| name.ends_with(ending));
            subject.is_input(path) || goldens.contains(path) || is_companion
        };
        strays.extend(files(&root.join(subject.format().id))?.into_iter().filter(|path| !belongs(path)));
    }
    Ok(strays)
}

fn needs_golden(input: &Path) -> bool {
    let folder = input.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    folder.is_none_or(|folder| !WITHOUT_GOLDENS.contains(&folder))
}

/// All files below a folder, sorted; none where there is no such folder.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
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

//! Python packages that tests use, each set in a separate folder.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value as Json;
use traceloom_testkit::npm;

/// A script in `tests` with the packages that it needs.
pub(crate) struct Script {
    path: PathBuf,
    packages: PathBuf,
}

/// The script, if its packages are available; `None`, with a message, if not.
pub(crate) fn script_or_skip(path: &str, packages: &[&str]) -> Option<Script> {
    let name = path.replace(['/', '.'], "-");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("python-{name}"));
    install(packages, &folder).inspect_err(|reason| npm::skip(reason)).ok()?;
    Some(Script { path: Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(path), packages: folder })
}

fn install(packages: &[&str], folder: &Path) -> Result<(), String> {
    let _alone = npm::lock(folder)?;
    let done = folder.join(".complete");
    if fs::read_to_string(&done).is_ok_and(|known| known == packages.join("\n")) {
        return Ok(());
    }
    let _ = fs::remove_dir_all(folder);
    let place = folder.to_str().ok_or("the folder has no name")?;
    let arguments = ["-m", "pip", "install", "--quiet", "--only-binary=:all:", "--target", place];
    npm::run("python3", &[&arguments, packages].concat(), Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    fs::write(done, packages.join("\n")).map_err(|error| error.to_string())
}

impl Script {
    /// The script's output about each file: it reads file names, one per line, and answers with one line of JSON each.
    pub(crate) fn ask(&self, files: &[PathBuf]) -> Vec<Json> {
        let mut child = Command::new("python3")
            .env("PYTHONPATH", &self.packages)
            .arg(&self.path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let names: String = files.iter().map(|file| format!("{}\n", file.display())).collect();
        // If the script ends early, missing answers reveal it.
        let writer = std::thread::spawn(move || drop(stdin.write_all(names.as_bytes())));
        let out = child.wait_with_output().unwrap();
        writer.join().unwrap();
        assert!(out.status.success(), "{} failed", self.path.display());
        let text = String::from_utf8(out.stdout).unwrap();
        let answers: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(answers.len(), files.len(), "the script answers for each file");
        answers
    }
}

//! The program as a user runs it.

mod answers;
#[cfg(feature = "sql")]
mod axis;
mod capture;
mod checks;
mod damage;
mod edit;
mod figures;
#[cfg(feature = "sql")]
mod fleet;
mod growth;
mod inspect;
mod layout;
mod limits;
mod lines;
mod log;
#[cfg(target_os = "linux")]
mod memory;
mod newcomers;
#[cfg(feature = "sql")]
mod notes;
mod program;
#[cfg(feature = "sql")]
mod query;
mod ranges;
mod store;
#[cfg(target_os = "linux")]
mod terminal;
mod threads;
#[cfg(unix)]
mod view;
mod wtf;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

fn traceloom(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_traceloom")).args(arguments).output().expect("the program starts")
}

/// The program with a reader that stops at once.
fn with_closed_output(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_traceloom"));
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    drop(child.stdout.take());
    child.wait_with_output().expect("the program ends")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("output is UTF-8")
}

/// An EasyProfiler fixture.
fn fixture(name: &str) -> String {
    fixture_of("easyprofiler", name)
}

fn fixture_of(format: &str, name: &str) -> String {
    let path = traceloom_testkit::fixture(Path::new(format).join(name));
    path.to_str().expect("the path is UTF-8").to_owned()
}

/// A folder that is removed at the end of the test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().expect("the path is UTF-8").to_owned()
    }

    /// The contents of a folder inside it.
    fn names_in(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).expect("the folder is there");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("the folder is there");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }
}

/// A command that overwrites a file through a symbolic link keeps the link and the mode of the file.
#[cfg(unix)]
fn assert_overwrites(folder: &Folder, name: &str, write: impl Fn(&str) -> Output) {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (file, link) = (folder.path(name), folder.path(&format!("link-{name}")));
    fs::write(&file, "old").expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o604)).expect("a mode");
    symlink(name, &link).expect("a link");
    let output = write(&link);
    assert!(output.status.success(), "{name}: {}", stderr(&output));
    assert!(fs::symlink_metadata(&link).expect("an entry").is_symlink(), "{name}");
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o604, "{name}");
    assert_ne!(fs::read(&file).expect("a file"), b"old", "{name}");
    fs::remove_file(&file).expect("it is there");
    assert!(write(&link).status.success() && fs::exists(&file).expect("a folder"), "{name}: a link that leads nowhere");
    assert!(fs::symlink_metadata(&link).expect("an entry").is_symlink(), "{name}");
}

/// Compares with `tests/snapshots/NAME.txt`; `TRACELOOM_BLESS=1` updates it.
fn assert_snapshot(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name).with_extension("txt");
    if std::env::var_os("TRACELOOM_BLESS").is_some() {
        fs::write(&path, text).expect("the snapshot can be written");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{name} differs from its snapshot; `cargo xtask bless` renews it");
}

/// The text without the folder of the fixtures.
fn relative(text: &str) -> String {
    text.replace(&fixture(""), "")
}

//! The program as a server, and the browser in front of it.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::{Value as Json, json};
use traceloom_export::{by_id, write};
use traceloom_model::TableSource;
use traceloom_testkit::Browser;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_traceloom");

/// A compressed file whose problem shows when it is decompressed: the program refuses what it can see not to be a trace.
pub(crate) const BROKEN: &[u8] = b"\x1f\x8b\x08\0no trace at all";

/// A server of some traces, for as long as it is held.
struct Served {
    child: Child,
    url: String,
}

impl Served {
    fn new(arguments: &[PathBuf]) -> Self {
        let mut child = Command::new(PROGRAM)
            .args(["view", "--no-open", "--port", "0"])
            .args(arguments)
            .env_remove("SSH_CONNECTION")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut url = String::new();
        let stdout = child.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut url).expect("the address is text");
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It has nothing to put away, and may have ended by itself.
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// An empty folder of the test's own.
pub(crate) fn place(test: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page").join(test);
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).unwrap();
    place
}

/// Runs the program, which has to succeed.
pub(crate) fn traceloom(arguments: &[&str]) {
    let out = Command::new(PROGRAM).args(arguments).output().expect("the program starts");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}

/// A sample that the program writes.
pub(crate) fn sample(test: &str, name: &str) -> PathBuf {
    let place = place(test);
    traceloom(&["demo", place.to_str().unwrap()]);
    place.join(name)
}

/// Writes a made trace.
pub(crate) fn written(made: &dyn TableSource, target: &str, file: &Path) {
    let mut out = Vec::new();
    write(by_id(target).unwrap(), made, &Default::default(), &mut out).unwrap();
    fs::write(file, out).unwrap();
}

/// Runs a script of the page's tests on files that nothing serves.
pub(crate) fn run_alone(script: &str, files: &[PathBuf], more: Json) {
    run_at(script, "", files, more);
}

/// Serves files and runs a script of the page's tests on them; what else it has to know is in `more`.
pub(crate) fn run(script: &str, files: &[PathBuf], more: Json) {
    let served = Served::new(files);
    run_at(script, &served.url, files, more);
}

/// The same with a store, whose traces are opened from a folder.
pub(crate) fn run_store(script: &str, store: &Path, sources: &Path, more: Json) {
    let served = Served::new(&[store.to_owned(), "--sources".into(), sources.to_owned()]);
    run_at(script, &served.url, &[store.to_owned()], more);
}

fn run_at(script: &str, url: &str, files: &[PathBuf], more: Json) {
    let Some(browser) = Browser::or_skip(Path::new(env!("CARGO_TARGET_TMPDIR"))) else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../viewer/web/tests").join(script);
    browser.run(&script, &json!({"url": url, "program": PROGRAM, "files": files, "more": more}));
}

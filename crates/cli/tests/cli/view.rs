//! Exit codes of `view`: files that it could not show are reported at its end.

use std::{
    fs,
    io::{self, BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use traceloom_testkit::client::ask;

use crate::{Folder, stderr, stdout, traceloom};

/// A server that is stopped at the end of the test, even if the test fails.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn new(files: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_traceloom"));
        command.args(["view", "--no-open", "--port", "0"]).args(files).env_remove("SSH_CONNECTION");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let mut url = String::new();
        let stdout = child.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut url).expect("an address");
        Self { child, url: url.trim().to_owned() }
    }

    /// The answer to the first request of the page, once everything is loaded.
    fn state(&self) -> String {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let answer = ask(&self.url, "GET /api/state", "").expect("it listens");
            let state = io::read_to_string(answer).expect("it answers");
            if state.contains(r#""state":"ready""#) || Instant::now() > end {
                return state;
            }
        }
    }

    /// Presses Ctrl-C; returns the exit code and what was reported.
    fn interrupted(mut self) -> (Option<i32>, String) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill starts").success());
        let code = self.child.wait().expect("it ends").code();
        let said = io::read_to_string(self.child.stderr.take().expect("it is piped")).expect("it is text");
        (code, said)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }
}

fn demo() -> Folder {
    let folder = Folder::new();
    assert!(traceloom(&["demo", "--no-open", &folder.path("demo")]).status.success());
    folder
}

#[test]
fn a_missing_file_does_not_stop_the_page_of_the_others() {
    let folder = demo();
    let (game, missing, text) = (folder.path("demo/game.prof"), folder.path("missing"), folder.path("text"));
    fs::write(&text, "hello\n").expect("a file");
    let cases: [(&[&str], i32, &str); 3] = [
        (&[&missing, &game], 2, "missing: No such file"),
        (&[&game, &text], 1, "is a text file"),
        (&[&text, &game, &missing], 2, "missing: No such file"),
    ];
    for (files, code, problem) in cases {
        let server = Server::new(files);
        let state = server.state();
        assert!(state.contains("demo/game.prof") && !state.contains("missing"), "{files:?}: {state}");
        let (exited, said) = server.interrupted();
        assert_eq!(exited, Some(code), "{files:?}: {said}");
        assert!(said.contains(problem), "{files:?}: {said}");
    }
    let none = traceloom(&["view", "--no-open", &missing, &missing]);
    assert_eq!((none.status.code(), stdout(&none)), (Some(2), String::new()));
    assert_eq!(stderr(&none).matches("missing: No such file").count(), 2, "{}", stderr(&none));
}

#[test]
fn ctrl_c_is_the_usual_end() {
    let folder = demo();
    let server = Server::new(&[&folder.path("demo/game.prof")]);
    assert!(server.state().contains("demo/game.prof"));
    assert_eq!(server.interrupted(), (Some(0), String::new()));
}

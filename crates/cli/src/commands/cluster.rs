//! Queries that run on a cluster.
//!
//! The client is the program `traceloom-cluster`, because it contains an engine that most users do not need. This
//! program runs it for each query and reads the rows that it prints.

use std::{
    ffi::OsString,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread::{self, JoinHandle},
};

use traceloom_core::{Error, Result};
use traceloom_query::{Ask, ReceivedRows, Rows};

use crate::{
    Outcome,
    companion::Companion,
    output::{is_quiet, note_failure, note_missing_data, visible},
};

static CLIENT: Companion = Companion {
    file: "traceloom-cluster",
    variable: "TRACELOOM_CLUSTER_PROGRAM",
    // The folders of the profiles, and the build of the tests.
    places: &["", "../release", "../dist", "../cluster/debug"],
    built_by: "cargo install --path crates/cluster",
};

/// A cluster and the traces to query.
pub(crate) struct Cluster {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl Cluster {
    /// Queries `inputs` through the scheduler at `url`.
    pub(crate) fn new(url: &str, inputs: &[PathBuf]) -> Result<Self> {
        let mut cluster = Self { program: CLIENT.path()?, arguments: Vec::new() };
        cluster.pass("--cluster", url);
        cluster.arguments.push("--format=stream".into());
        // Everything after this is an input, even if it looks like an option.
        cluster.arguments.push("--".into());
        cluster.arguments.extend(inputs.iter().map(|input| input.clone().into_os_string()));
        Ok(cluster)
    }

    /// Passes on an option without a value.
    pub(crate) fn flag(&mut self, option: &str) {
        self.arguments.insert(0, option.into());
    }

    /// Passes on an option.
    pub(crate) fn pass(&mut self, option: &str, value: impl Into<OsString>) {
        let mut word = OsString::from(option);
        word.push("=");
        word.push(value.into());
        self.arguments.insert(0, word);
    }
}

impl Ask for Cluster {
    fn ask(&self, sql: &str) -> Result<Box<dyn Rows + '_>> {
        let mut command = Command::new(&self.program);
        command.arg("query").args(&self.arguments).arg(sql);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| Error::from(error).in_file(&self.program))?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let mut client = Client { child, messages: err.map(|err| thread::spawn(|| pass_on(BufReader::new(err)))) };
        let out = out.ok_or_else(|| Error::unsupported("the client has no output"))?;
        Ok(Box::new(ReceivedRows::new(out, move || client.failure())?))
    }
}

/// The process of the client; killed on drop.
struct Client {
    child: Child,
    messages: Option<JoinHandle<Messages>>,
}

impl Client {
    /// Waits for the client to exit; returns its error.
    fn failure(&mut self) -> Option<Error> {
        let status = self.child.wait();
        let messages = self.messages.take().and_then(|messages| messages.join().ok()).unwrap_or_default();
        let Messages { errors, has_left_out } = messages;
        match status {
            Ok(status) if status.success() => None,
            // The answer is there, without the inputs that were left out, or without some data of a trace.
            Ok(status) if errors.is_empty() && has_left_out && status.code() == Some(2) => {
                note_failure(Outcome::Incomplete);
                None
            }
            Ok(status) if errors.is_empty() && status.code() == Some(1) => {
                if has_left_out {
                    note_failure(Outcome::Findings);
                }
                note_missing_data();
                None
            }
            Ok(status) if errors.is_empty() => Some(Error::unsupported(format!("traceloom-cluster ended: {status}"))),
            // Usage and I/O errors have the same exit code.
            Ok(status) if status.code() == Some(2) => Some(Error::usage(errors.join("\n"))),
            Ok(_) => Some(Error::unsupported(errors.join("\n"))),
            Err(error) => Some(error.into()),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the client printed on standard error.
#[derive(Default)]
struct Messages {
    /// The lines of its error, which come last.
    errors: Vec<String>,
    /// Whether it left out inputs.
    has_left_out: bool,
}

/// Prints the messages of the client, except its error.
fn pass_on(lines: impl BufRead) -> Messages {
    let mut messages = Messages::default();
    for line in lines.lines().map_while(|line| line.ok()) {
        let errors = &mut messages.errors;
        if let Some(error) = line.strip_prefix("error: ") {
            errors.push(error.to_owned());
        } else if !errors.is_empty() {
            errors.push(line);
        } else if let Some(error) = line.strip_prefix("left out: ") {
            crate::report(&Error::unsupported(error));
            messages.has_left_out = true;
        } else if !is_quiet() {
            anstream::eprintln!("{}", visible(&line));
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    #[test]
    fn the_client_is_found_in_every_build() {
        for (profile, places) in [
            ("release", &["release", "dist", "cluster/debug"][..]),
            ("dist", &["dist", "release", "cluster/debug"]),
            ("debug", &["debug", "release", "dist", "cluster/debug"]),
            ("cluster/debug", &["cluster/debug"]),
        ] {
            let target = tempfile::tempdir().expect("a folder");
            let root = target.path().canonicalize().expect("it is there");
            let program = root.join(profile).join("traceloom");
            fs::create_dir_all(root.join(profile)).expect("the folder is ours");
            let found = || CLIENT.find(&program).map(|path| path.canonicalize().expect("it is there"));
            assert_eq!(found(), None, "{profile}");
            for place in places.iter().rev() {
                let client = root.join(place).join(CLIENT.file);
                fs::create_dir_all(client.parent().unwrap_or(Path::new(""))).expect("the folder is ours");
                fs::write(&client, "").expect("the folder is ours");
                assert_eq!(found(), Some(client), "{profile} {place}");
            }
        }
    }
}

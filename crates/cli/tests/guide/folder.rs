//! A folder with every file that the commands of the guide name.

use std::{
    env,
    path::Path,
    process::{Command, Output, Stdio},
};

use tempfile::TempDir;
use traceloom_testkit::preload_library;

/// Makes the files: those of `traceloom demo`, and the runs, programs and machines that pages speak of.
const FILES: &str = r#"
set -e
traceloom demo --no-open .
traceloom slice --range 0s..1.5s game.prof part.prof
for side in base new old game; do cp game.prof $side-1.prof; cp part.prof $side-2.prof; done
for copy in after before capture new today; do cp game.prof $copy.prof; done
for copy in memory service; do cp shop.mlyze $copy.mlyze; done
mkdir lib
for program in program service; do printf '#!/bin/sh\necho hello\n' > $program; chmod +x $program; done
start=0
for host in web1 web2; do
    for build in 4.1 4.2; do
        for day in 2026-11-16 2026-11-17; do
            mkdir -p traces/$host/$build/$day
            start=$((start + 1))
            traceloom slice --range 0.${start}s..1.${start}s game.prof traces/$host/$build/$day/run.prof
        done
    done
done
"#;

pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = Self(tempfile::tempdir().expect("there is room"));
        let made = folder.run(FILES);
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        folder
    }

    /// Another folder with the same files.
    pub(crate) fn copy(&self) -> Self {
        let folder = Self(tempfile::tempdir().expect("there is room"));
        let from = format!("cp -R '{}/.' .", self.0.path().display());
        assert!(folder.run(&from).status.success(), "{from}");
        folder
    }

    /// Runs a line as a shell would, with the program of this build.
    pub(crate) fn run(&self, line: &str) -> Output {
        let program = Path::new(env!("CARGO_BIN_EXE_traceloom")).parent().expect("a folder");
        let path =
            env::join_paths([program.into()].into_iter().chain(env::split_paths(&env::var_os("PATH").expect("PATH"))));
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(&self.0).env("PATH", path.expect("folders")).stdin(Stdio::null());
        if line.starts_with("traceloom memory -- ") {
            shell.env("TRACELOOM_ALLOC_LIBRARY", preload_library());
        }
        shell.output().expect("a shell")
    }

    /// Whether a command names one of the files, or a pattern of them.
    pub(crate) fn has_file_of(&self, command: &str) -> bool {
        command.split([' ', '\'', '"']).any(|word| !word.is_empty() && self.0.path().join(word).exists())
    }
}

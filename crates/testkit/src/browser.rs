//! Pages in a real browser: Chromium, driven by Node scripts.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::npm;

/// Chromium and its driver.
#[derive(Clone, Debug)]
pub struct Browser {
    chromium: &'static str,
    modules: PathBuf,
}

/// Program names of Chromium.
const PROGRAMS: [&str; 2] = ["chromium", "chromium-browser"];

/// A script that takes longer than this hangs.
const LIMIT: Duration = Duration::from_secs(180);

impl Browser {
    /// The browser, with its driver below `tmp`; `None`, with a message, if it is not available.
    pub fn or_skip(tmp: &Path) -> Option<Self> {
        Self::new(tmp).inspect_err(|reason| npm::skip(reason)).ok()
    }

    fn new(tmp: &Path) -> Result<Self, String> {
        let runs =
            |program: &&str| Command::new(program).arg("--version").output().is_ok_and(|out| out.status.success());
        let chromium = PROGRAMS.into_iter().find(runs).ok_or("chromium is not installed")?;
        let modules = tmp.join("browser-npm");
        npm::install(&Path::new(env!("CARGO_MANIFEST_DIR")).join("browser"), &modules)?;
        Ok(Self { chromium, modules })
    }

    /// Runs a script, which gets `asked` on its standard input; panics if it fails.
    pub fn run(&self, script: &Path, asked: &Value) {
        let mut child = Command::new("node")
            .arg(script)
            .env("TRACELOOM_MODULES", &self.modules)
            .env("TRACELOOM_CHROMIUM", path_of(self.chromium))
            .stdin(Stdio::piped())
            .spawn()
            .expect("node starts, as npm did");
        let mut stdin = child.stdin.take().expect("it is piped");
        // A script that ends early is detected by its exit status.
        let _ = stdin.write_all(asked.to_string().as_bytes());
        drop(stdin);
        let status = wait(&mut child);
        let name = script.file_name().unwrap_or_default().display();
        assert!(status.is_some_and(|status| status.success()), "{name} failed: {status:?}");
    }
}

/// The path of a program, which the driver requires.
fn path_of(program: &str) -> PathBuf {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file());
    found.unwrap_or_else(|| PathBuf::from(program))
}

/// The exit status of a process; `None` if it had to be killed. Its browser ends with it.
fn wait(child: &mut Child) -> Option<ExitStatus> {
    let end = Instant::now() + LIMIT;
    while Instant::now() < end {
        if let Some(status) = child.try_wait().expect("it is ours") {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.kill().and_then(|()| child.wait()).expect("it is ours");
    None
}

//! The requirements of the tests besides Rust, and how they are installed.

use std::{env, process::Command};

use crate::{
    Outcome,
    process::{run, succeeds},
};

/// A requirement of a step of `test`.
pub(crate) struct Need {
    /// Name for messages.
    pub(crate) what: &'static str,
    /// A command that succeeds if it is installed.
    probe: &'static [&'static str],
    /// The Debian package that contains it.
    package: &'static str,
    /// The steps of `test` that cannot run without it.
    needed_by: &'static [&'static str],
    /// The steps that can run without it and report what they skip.
    used_by: &'static [&'static str],
}

static NEEDS: &[Need] = &[
    Need {
        what: "a C++ compiler",
        probe: &["c++", "--version"],
        package: "g++",
        needed_by: &["fuzz-smoke"],
        used_by: &["rust-tests"],
    },
    Need { what: "perl", probe: &["perl", "-e1"], package: "perl", needed_by: &[], used_by: &["rust-tests"] },
    Need {
        what: "Devel::NYTProf",
        probe: &["perl", "-MDevel::NYTProf::Data", "-e1"],
        package: "libdevel-nytprof-perl",
        needed_by: &[],
        used_by: &["rust-tests"],
    },
    Need {
        what: "node",
        probe: &["node", "--version"],
        package: "nodejs",
        needed_by: &["page"],
        used_by: &["rust-tests"],
    },
    Need { what: "npm", probe: &["npm", "--version"], package: "npm", needed_by: &["page"], used_by: &["rust-tests"] },
    Need {
        what: "chromium",
        probe: &["chromium", "--version"],
        package: "chromium",
        needed_by: &[],
        used_by: &["page", "rust-tests"],
    },
    Need {
        what: "pip",
        probe: &["python3", "-m", "pip", "--version"],
        package: "python3-pip",
        needed_by: &[],
        used_by: &["rust-tests"],
    },
    Need {
        what: "environments of Python",
        probe: &["python3", "-c", "import ensurepip, venv"],
        package: "python3-venv",
        needed_by: &["python-package"],
        used_by: &[],
    },
    Need { what: "cmake", probe: &["cmake", "--version"], package: "cmake", needed_by: &[], used_by: &["rust-tests"] },
    Need {
        what: "pkg-config",
        probe: &["pkg-config", "--version"],
        package: "pkg-config",
        needed_by: &[],
        used_by: &["rust-tests"],
    },
    Need {
        what: "sqlite3",
        probe: &["sqlite3", "--version"],
        package: "sqlite3",
        needed_by: &[],
        used_by: &["rust-tests"],
    },
    Need { what: "jq", probe: &["jq", "--version"], package: "jq", needed_by: &[], used_by: &["rust-tests"] },
    Need {
        what: "git",
        probe: &["/usr/bin/git", "--version"],
        package: "git",
        needed_by: &[],
        used_by: &["rust-tests"],
    },
    Need {
        what: "callgrind_annotate",
        probe: &["valgrind", "--version"],
        package: "valgrind",
        needed_by: &[],
        used_by: &["rust-tests"],
    },
    Need {
        what: "go, which has pprof",
        probe: &["go", "version"],
        package: "golang-go",
        needed_by: &[],
        used_by: &["rust-tests"],
    },
];

impl Need {
    fn is_met(&self) -> bool {
        self.probe.split_first().is_some_and(|(program, arguments)| succeeds(program, arguments))
    }
}

/// Installs missing requirements of `step`, if possible; returns the mandatory ones that are still missing.
pub(crate) fn missing(step: &str) -> Outcome<Vec<&'static Need>> {
    let concerns = |need: &&Need| need.needed_by.contains(&step) || need.used_by.contains(&step);
    let unmet = || NEEDS.iter().filter(concerns).filter(|need| !need.is_met()).collect::<Vec<_>>();
    let before = unmet();
    if !before.is_empty() && may_install() {
        install(&before)?;
    }
    Ok(unmet().into_iter().filter(|need| in_ci() || need.needed_by.contains(&step)).collect())
}

fn may_install() -> bool {
    // The standard library cannot query the user id; asking the shell avoids a dependency.
    let is_root = succeeds("sh", &["-c", "test \"$(id -u)\" = 0"]);
    is_root && succeeds("apt-get", &["--version"])
}

fn install(needs: &[&Need]) -> Outcome {
    let apt_get = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
        run(&mut command)
    };
    apt_get(&["update", "--quiet"])?;
    let packages = needs.iter().map(|need| need.package);
    let arguments: Vec<&str> =
        ["install", "--yes", "--quiet", "--no-install-recommends"].into_iter().chain(packages).collect();
    apt_get(&arguments)
}

/// Instructions for installing requirements manually.
pub(crate) fn describe(missing: &[&Need]) -> String {
    let each = missing.iter().map(|need| format!("{} is missing (Debian package {})", need.what, need.package));
    each.collect::<Vec<_>>().join(", ")
}

/// Whether a skipped step is a failure.
pub(crate) fn in_ci() -> bool {
    env::var("CI").is_ok_and(|value| matches!(value.as_str(), "true" | "1"))
}

//! What the tests need of the machine besides Rust, and how it gets there.

use std::{env, process::Command};

use crate::{
    Outcome,
    process::{run, succeeds},
};

/// Something outside the workspace that a step of `test` uses.
pub(crate) struct Need {
    /// For people.
    pub(crate) what: &'static str,
    /// Succeeds if it is there.
    probe: &'static [&'static str],
    /// The Debian package that brings it.
    package: &'static str,
    /// The steps of `test` that use it.
    used_by: &'static [&'static str],
    /// Whether a step can do without: its tests say themselves what they skip.
    is_optional: bool,
}

static NEEDS: &[Need] = &[
    Need {
        what: "a C++ compiler",
        probe: &["c++", "--version"],
        package: "g++",
        used_by: &["fuzz-smoke"],
        is_optional: false,
    },
    Need { what: "perl", probe: &["perl", "-e1"], package: "perl", used_by: &["rust-tests"], is_optional: true },
    Need {
        what: "Devel::NYTProf",
        probe: &["perl", "-MDevel::NYTProf::Data", "-e1"],
        package: "libdevel-nytprof-perl",
        used_by: &["rust-tests"],
        is_optional: true,
    },
    Need {
        what: "node",
        probe: &["node", "--version"],
        package: "nodejs",
        used_by: &["rust-tests", "page-test"],
        is_optional: true,
    },
    Need {
        what: "npm",
        probe: &["npm", "--version"],
        package: "npm",
        used_by: &["rust-tests", "page-test"],
        is_optional: true,
    },
    Need {
        what: "chromium",
        probe: &["chromium", "--version"],
        package: "chromium",
        used_by: &["rust-tests", "page-test"],
        is_optional: true,
    },
    Need {
        what: "pip",
        probe: &["python3", "-m", "pip", "--version"],
        package: "python3-pip",
        used_by: &["rust-tests"],
        is_optional: true,
    },
    Need {
        what: "environments of Python",
        probe: &["python3", "-c", "import ensurepip, venv"],
        package: "python3-venv",
        used_by: &["python-package"],
        is_optional: false,
    },
    Need {
        what: "callgrind_annotate",
        probe: &["valgrind", "--version"],
        package: "valgrind",
        used_by: &["rust-tests"],
        is_optional: true,
    },
    Need {
        what: "go, which has pprof",
        probe: &["go", "version"],
        package: "golang-go",
        used_by: &["rust-tests"],
        is_optional: true,
    },
];

impl Need {
    fn is_met(&self) -> bool {
        self.probe.split_first().is_some_and(|(program, arguments)| succeeds(program, arguments))
    }
}

/// Installs what `step` lacks, if possible; gives the needs that are still missing and that it cannot do without.
pub(crate) fn missing(step: &str) -> Outcome<Vec<&'static Need>> {
    let unmet = || NEEDS.iter().filter(|need| need.used_by.contains(&step) && !need.is_met()).collect::<Vec<_>>();
    let before = unmet();
    if !before.is_empty() && may_install() {
        install(&before)?;
    }
    Ok(unmet().into_iter().filter(|need| !need.is_optional || in_ci()).collect())
}

fn may_install() -> bool {
    // The standard library does not know the user; asking the shell saves a dependency.
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

/// For people who have to install something by hand.
pub(crate) fn describe(missing: &[&Need]) -> String {
    let each = missing.iter().map(|need| format!("{} is missing (Debian package {})", need.what, need.package));
    each.collect::<Vec<_>>().join(", ")
}

/// Whether a skipped step is a failure.
pub(crate) fn in_ci() -> bool {
    env::var("CI").is_ok_and(|value| matches!(value.as_str(), "true" | "1"))
}

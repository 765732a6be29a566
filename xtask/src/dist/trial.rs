//! Tests the files of a release in isolation: no environment variables, no libraries, no other folders of this machine.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{PROGRAM, Release};
use crate::{
    Outcome,
    files::{self, failed},
    process::{output_of, root, run, succeeds},
};

/// Unpacks the archive, runs the program, and links a C program against the libraries.
pub(super) fn archive(release: &Release, archive: &Path, base: Option<&Path>) -> Outcome {
    let place = TrialRoot::new(release, base)?;
    let prefix = place.make("opt")?;
    run(Command::new("tar").args(["-xzf"]).arg(archive).arg("-C").arg(&prefix).arg("--strip-components=1"))?;
    place.demo(&format!("opt/bin/{PROGRAM}"))?;
    place.reports(&prefix.join("bin").join(PROGRAM))?;
    if prefix.join("lib/pkgconfig").is_dir() && succeeds("pkg-config", &["--version"]) {
        links(&prefix, &place.root)?;
    }
    place.leave(archive)
}

/// Installs the package and runs the program.
pub(super) fn deb(release: &Release, package: &Path, base: Option<&Path>) -> Outcome {
    let place = TrialRoot::new(release, base)?;
    if base.is_some() {
        files::copy(package, &place.root.join("package.deb"))?;
        run(place.command("usr/bin/dpkg").env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").args(["-i", "/package.deb"]))?;
    } else {
        for file in ["status", "available"] {
            files::write(&place.root.join("var/lib/dpkg").join(file), "")?;
        }
        place.make("var/lib/dpkg/updates")?;
        place.make("var/lib/dpkg/info")?;
        place.make("var/log")?;
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "dpkg", "--force-depends", "--log=/dev/null", "--root"]).arg(&place.root);
        run(command.arg("--install").arg(package))?;
    }
    place.demo("usr/bin/traceloom")?;
    let missing: Vec<_> = INSTALLED.iter().filter(|name| !place.root.join("usr").join(name).is_file()).collect();
    if !missing.is_empty() {
        return Err(format!("{} does not install {missing:?}", package.display()));
    }
    place.leave(package)
}

/// Files of the Debian package that no command of the trial needs.
const INSTALLED: &[&str] = &[
    "lib/libtraceloom_record_c.so",
    "lib/traceloom/libtraceloom_alloc.so",
    "share/bash-completion/completions/traceloom",
    "share/doc/traceloom/copyright",
    "share/fish/vendor_completions.d/traceloom.fish",
    "share/man/man1/traceloom.1.gz",
    "share/man/man1/traceloom-query.1.gz",
    "share/traceloom/traceloom-page.html",
    "share/zsh/vendor-completions/_traceloom",
];

/// A folder that is used as a root file system.
struct TrialRoot {
    root: PathBuf,
}

impl TrialRoot {
    fn new(release: &Release, base: Option<&Path>) -> Outcome<Self> {
        let place = Self { root: release.folder.join("trial") };
        files::remove_folder(&place.root)?;
        if let Some(base) = base {
            run(Command::new("cp").args(["--archive", "--reflink=auto"]).arg(base).arg(&place.root))?;
        }
        place.make("tmp")?;
        place.make("trial")?;
        Ok(place)
    }

    fn make(&self, folder: &str) -> Outcome<PathBuf> {
        let path = self.root.join(folder);
        fs::create_dir_all(&path).map_err(failed(&path))?;
        Ok(path)
    }

    /// A command with this folder as its root, if the system allows it, and without environment variables of this
    /// machine.
    fn command(&self, program: &str) -> Command {
        if succeeds("unshare", &["--map-root-user", "true"]) {
            let mut command = Command::new("unshare");
            command.arg("--map-root-user").arg(format!("--root={}", self.root.display())).arg("--wd=/trial");
            command.arg(format!("/{program}")).env_clear();
            return command;
        }
        let mut command = Command::new(self.root.join(program));
        command.current_dir(self.root.join("trial")).env_clear();
        // Windows cannot start programs without the first variable, and uses the second for temporary files.
        command.envs(env::var_os("SystemRoot").map(|folder| ("SystemRoot", folder)));
        command.env("TMP", self.root.join("tmp"));
        command
    }

    /// Writes the samples with the program, then checks and queries them.
    fn demo(&self, program: &str) -> Outcome {
        self.add_libraries(&self.root.join(program))?;
        println!("{}", output_of(self.command(program).args(["demo", "--no-open", "."]))?);
        let samples = files::list(&self.root.join("trial"))?;
        let samples: Vec<_> = samples.iter().filter_map(|sample| sample.file_name()).collect();
        if samples.len() < 5 {
            return Err(format!("the demo wrote only {} samples", samples.len()));
        }
        run(self.command(program).arg("check").args(&samples))?;
        let sql = "select count(*) as spans from spans";
        println!("{}", output_of(self.command(program).arg("query").args(&samples).arg(sql))?);
        self.opens_urls(program)
    }

    /// Writes an interactive report, for which the program has to find the page.
    ///
    /// Not with this folder as its root: the program finds its own folder through `/proc`.
    fn reports(&self, program: &Path) -> Outcome {
        let folder = self.root.join("trial");
        let mut command = Command::new(program);
        command.args(["report", "--interactive", "game.prof", "-o", "game.html"]).current_dir(folder);
        run(command.env_remove("TRACELOOM_PAGE"))
    }

    /// Fails if the program was built without the feature `remote`; nobody listens at the URL.
    fn opens_urls(&self, program: &str) -> Outcome {
        let (url, mut command) = ("http://127.0.0.1:9/a.prof", self.command(program));
        let output = command.args(["info", url]).output().map_err(|error| format!("{program}: {error}"))?;
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        if message.contains(url) && !message.contains("--features remote") {
            Ok(())
        } else {
            Err(format!("the program does not open URLs: {message}"))
        }
    }

    /// Copies the C library if the program needs it and the root file system lacks it.
    fn add_libraries(&self, program: &Path) -> Outcome {
        if !cfg!(target_os = "linux") || super::tree::is_static(program)? {
            return Ok(());
        }
        let listed = output_of(Command::new("ldd").arg(program))?;
        for library in libraries(&listed) {
            let place = self.root.join(library.trim_start_matches('/'));
            if !place.exists() {
                files::copy(Path::new(library), &place)?;
            }
        }
        Ok(())
    }

    fn leave(self, tried: &Path) -> Outcome {
        eprintln!("xtask: {} works", tried.display());
        files::remove_folder(&self.root)
    }
}

/// The paths in the output of ldd.
fn libraries(listed: &str) -> impl Iterator<Item = &str> {
    listed.split_whitespace().filter(|word| word.starts_with('/'))
}

/// Builds a C program with the flags of pkg-config, and checks that it records itself.
fn links(prefix: &Path, folder: &Path) -> Outcome {
    let mut flags = Command::new("pkg-config");
    flags.args(["--cflags", "--libs", "traceloom-record"]).env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    let flags = output_of(&mut flags)?;
    let program = folder.join("editor");
    let mut compiler = Command::new("cc");
    compiler.arg(root().join("crates/record-c/examples/editor.c")).arg("-o").arg(&program);
    run(compiler.args(flags.split_whitespace()))?;
    run(Command::new(&program).arg(folder).env("LD_LIBRARY_PATH", prefix.join("lib")))?;
    let written = folder.join("editor.prof");
    if written.is_file() {
        Ok(())
    } else {
        Err(format!("{} is missing: the C program recorded nothing", written.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_are_the_paths_that_ldd_lists() {
        let listed = "\tlinux-vdso.so.1 (0x7f)\n\tlibc.so.6 => /lib/libc.so.6 (0x7f)\n\t/lib64/ld-linux.so.2 (0x7f)\n";
        assert_eq!(libraries(listed).collect::<Vec<_>>(), ["/lib/libc.so.6", "/lib64/ld-linux.so.2"]);
    }
}

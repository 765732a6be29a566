//! `dist`: builds the files of a release.

mod archive;
mod crates;
mod deb;
mod sbom;
mod sums;
mod tree;
mod trial;

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use crate::{
    Outcome, Subcommand, files,
    process::{cargo, output_of, remaps, root, run as run_command, seconds, target_folder},
    wheel,
};

pub(crate) static SUBCOMMAND: Subcommand = Subcommand {
    name: "dist",
    arguments: "[--program PATH] [--target TRIPLE] [--root FOLDER] [--same] [PART…]",
    help: "\
Builds the files of a release in target/artifacts, tests the archive, the package and the wheel, and
builds the small crates from their packages.

PART is archive, deb, crates, sbom or wheel (default: all). SHA256SUMS lists the files. The program is
built with the profile dist, statically with musl if that target is installed (`rustup target add
x86_64-unknown-linux-musl`, Debian package musl-tools), otherwise for this machine; that takes about an
hour of CPU time. Archive and package include the page of `cargo xtask page`, which needs node and npm.

--program uses an already built program. --target selects the target. Archive and package are tested in
a folder that contains nothing else except, if the program needs it, the C library; with --root, in a
copy of that system, such as one created by `mmdebstrap --variant=essential bookworm FOLDER`.

Except for the wheel, the files are reproducible: times are the time of the commit, paths are relative to
the workspace, and entries are sorted. --same fails if a file other than the wheel differs from the
previous one.",
    run,
};

/// The target for Linux programs that do not depend on the C library of the machine.
const STATIC: &str = "x86_64-unknown-linux-musl";
const PARTS: &[&str] = &["archive", "deb", "crates", "sbom", "wheel"];

/// Options of the command.
#[derive(Default)]
struct Options {
    program: Option<PathBuf>,
    target: Option<String>,
    root: Option<PathBuf>,
    is_same: bool,
    parts: Vec<String>,
}

/// Data shared by the files of a release.
struct Release {
    /// The target triple of the program.
    target: String,
    /// The time of the commit, in seconds since 1970.
    epoch: u64,
    /// The output folder.
    folder: PathBuf,
    /// A prefix such as `/usr/local` with the installed files.
    tree: PathBuf,
}

/// The file name of the program.
const PROGRAM: &str = if cfg!(windows) { "traceloom.exe" } else { "traceloom" };
const VERSION: &str = env!("CARGO_PKG_VERSION");

fn run(arguments: &[String]) -> Outcome {
    let options = parse(arguments)?;
    let started = Instant::now();
    let has = |part: &str| options.parts.is_empty() || options.parts.iter().any(|wanted| wanted == part);
    let release = Release::new(&options)?;
    let before = sums::read(&release.folder);
    let program = if has("archive") || has("deb") {
        let program = release.program(&options)?;
        tree::fill(&release, &program)?;
        Some(program)
    } else {
        options.program.clone()
    };
    if has("archive") {
        let made = archive::make(&release)?;
        trial::archive(&release, &made, options.root.as_deref())?;
    }
    if has("deb") {
        let made = deb::make(&release)?;
        trial::deb(&release, &made, options.root.as_deref())?;
    }
    if has("crates") {
        crates::make(&release)?;
    }
    if has("sbom") {
        sbom::make(&release)?;
    }
    if has("wheel") {
        // With the same program: building it again would take most of an hour.
        let made = wheel::release(program)?;
        files::copy(&made, &release.folder.join(made.file_name().unwrap_or_default()))?;
    }
    sums::write(&release.folder)?;
    if options.is_same {
        sums::same(&before, &sums::read(&release.folder))?;
    }
    eprintln!("xtask: the release is in {}, {}", release.folder.display(), seconds(started));
    Ok(())
}

fn parse(arguments: &[String]) -> Outcome<Options> {
    let mut options = Options::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--program" => options.program = Some(value()?.into()),
            "--target" => options.target = Some(value()?.clone()),
            "--root" => options.root = Some(value()?.into()),
            "--same" => options.is_same = true,
            part if PARTS.contains(&part) => options.parts.push(part.to_owned()),
            other => return Err(format!("unknown part `{other}`; expected one of {}", PARTS.join(", "))),
        }
    }
    Ok(options)
}

impl Release {
    fn new(options: &Options) -> Outcome<Self> {
        let folder = target_folder().join("artifacts");
        let target = match (&options.target, &options.program) {
            (Some(target), _) => target.clone(),
            (None, None) if has_target(STATIC)? => STATIC.to_owned(),
            (None, Some(program)) if tree::is_static(program)? => STATIC.to_owned(),
            (None, _) => host()?,
        };
        Ok(Self { target, epoch: epoch()?, tree: folder.join("tree"), folder })
    }

    /// The program, built unless one is given.
    fn program(&self, options: &Options) -> Outcome<PathBuf> {
        if let Some(program) = &options.program {
            return Ok(program.clone());
        }
        // Programs that are shipped open URLs, too; a build from source leaves out the TLS stack that this needs.
        let arguments =
            ["build", "--locked", "--profile", "dist", "--package", "traceloom-cli", "--features", "remote"];
        run_command(self.reproducible(cargo(&arguments).args(["--target", &self.target])))?;
        Ok(target_folder().join(&self.target).join("dist").join(PROGRAM))
    }

    /// Removes paths of this machine from the output of the command.
    fn reproducible<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let [workspace, registry] = remaps();
        let rust = format!("--remap-path-prefix\x1f{workspace}\x1f--remap-path-prefix\x1f{registry}");
        let c = format!("-ffile-prefix-map={workspace} -ffile-prefix-map={registry}");
        command.env("CARGO_ENCODED_RUSTFLAGS", rust).env("CFLAGS", c);
        command.env("SOURCE_DATE_EPOCH", self.epoch.to_string()).env("CARGO_INCREMENTAL", "0")
    }

    /// The path of a file of the release.
    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// The time of the commit, which is the same for everybody who builds it.
fn epoch() -> Outcome<u64> {
    let text = match env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text,
        Err(_) => output_of(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root()))?,
    };
    text.trim().parse().map_err(|_| format!("invalid time `{}`; expected seconds since 1970", text.trim()))
}

/// The target triple of this machine.
fn host() -> Outcome<String> {
    let text = output_of(Command::new("rustc").arg("-vV"))?;
    let found = text.lines().find_map(|line| line.strip_prefix("host: "));
    found.map(str::to_owned).ok_or_else(|| "rustc -vV names no host".into())
}

/// Whether the standard library for a target is installed, and for musl the C compiler.
fn has_target(target: &str) -> Outcome<bool> {
    let folder = output_of(Command::new("rustc").args(["--print", "target-libdir", "--target", target]))?;
    let has_compiler = !target.ends_with("musl") || crate::process::succeeds("musl-gcc", &["--version"]);
    Ok(has_compiler && Path::new(folder.trim()).is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_options_are_told_from_mistakes() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let options = parse(&words("--program a/b deb sbom --same")).expect("fine");
        assert_eq!(options.program, Some("a/b".into()));
        assert_eq!(options.parts, ["deb", "sbom"]);
        assert!(options.is_same);
        assert!(parse(&words("rpm")).is_err());
        assert!(parse(&words("--program")).is_err());
    }
}

//! `builds`: checks every package and feature set that may be built separately.

use std::{process::Command, time::Instant};

use crate::{
    Outcome, Subcommand, files,
    process::{cargo, output_of, root, run as run_command, seconds, show, workspace},
};

pub(crate) static SUBCOMMAND: Subcommand = Subcommand {
    name: "builds",
    arguments: "[--measure] [WORD…]",
    help: "\
Checks with clippy every package and feature that may be built separately, and the docs.

These are: the workspace, each format crate, the recorder (also compiled out and for C), the allocation
tracer, the library with each single feature, the program without SQL, the Python package, and all docs;
warnings are errors. The library must not depend on packages for a command line or a server, the
program without the feature remote not on a TLS stack.
With WORD, checks only builds whose command contains one of the words.

With --measure, the format crates, the library, and the program as the README installs it are instead
built from scratch, in a folder that is deleted afterwards, and their build times are printed next to
their limits.",
    run,
};

fn run(arguments: &[String]) -> Outcome {
    let (flags, words): (Vec<_>, Vec<_>) = arguments.iter().partition(|argument| argument.starts_with('-'));
    match flags.as_slice() {
        [] => check(&words),
        [flag] if *flag == "--measure" => measure(),
        _ => Err("builds accepts --measure or words of the builds to check".into()),
    }
}

/// Packages that the library must not depend on, because only the program and its server need them.
const NOT_IN_LIBRARY: &[&str] =
    &["axum", "clap", "indicatif", "rustyline", "traceloom-viewer", "traceloom-viewer-server"];
/// Packages of TLS stacks.
const TLS: &[&str] = &["native-tls", "openssl", "rustls"];
/// Max build time of a format crate on two processors, in seconds.
const FORMAT_SECONDS: u64 = 15;
/// Max build time of the library with all formats and tables on two processors, in seconds.
const LIBRARY_SECONDS: u64 = 90;
/// Max build times of the program with and without SQL on two processors, in seconds; README.md states them in minutes.
const PROGRAM_SECONDS: [u64; 2] = [600, 180];

/// All builds: the workspace, then the others, fastest first.
fn builds() -> Outcome<Vec<Command>> {
    let mut lints = cargo(&["clippy", "--quiet", "--locked", "--all-targets"]);
    lints.args(workspace()).args(["--", "-D", "warnings"]);
    let mut builds = vec![lints];
    for package in format_packages()? {
        builds.push(check_of(&package, &[]));
        builds.push(check_of(&package, &["--no-default-features"]));
    }
    builds.push(check_of("traceloom-record", &[]));
    builds.push(check_of("traceloom-record", &["--features", "off"]));
    builds.push(check_of("traceloom-record-alloc", &[]));
    builds.push(check_of("traceloom-record-alloc-preload", &[]));
    builds.push(check_of("traceloom-record-c", &[]));
    builds.push(check_of("traceloom", &["--no-default-features"]));
    for feature in library_features()? {
        builds.push(check_of("traceloom", &["--no-default-features", "--features", &feature]));
    }
    builds.push(check_of("traceloom-cli", &["--no-default-features"]));
    builds.push(check_of_python());
    let mut docs = cargo(&["doc", "--quiet", "--locked", "--no-deps"]);
    docs.args(workspace()).env("RUSTDOCFLAGS", "-D warnings");
    builds.push(docs);
    Ok(builds)
}

/// Clippy includes the checks of the compiler, and can deny warnings without rebuilding the dependencies.
fn check_of(package: &str, arguments: &[&str]) -> Command {
    let mut command = cargo(&["clippy", "--quiet", "--locked", "--package", package]);
    command.args(arguments).args(["--", "-D", "warnings"]);
    command
}

/// The Python package, compiled as by maturin but without Python.
fn check_of_python() -> Command {
    let mut command = check_of("traceloom-python", &[]);
    command.env("PYO3_NO_PYTHON", "1").env("PYO3_BUILD_EXTENSION_MODULE", "1");
    command
}

fn check(words: &[&String]) -> Outcome {
    let started = Instant::now();
    let is_wanted = |command: &Command| words.is_empty() || words.iter().any(|word| show(command).contains(*word));
    for mut command in builds()?.into_iter().filter(is_wanted) {
        run_command(&mut command)?;
    }
    library_is_small()?;
    program_has_no_tls()?;
    eprintln!("xtask: all builds passed in {}", seconds(started));
    Ok(())
}

/// Fails if the library depends on a package that only the program needs.
fn library_is_small() -> Outcome {
    let mut command = cargo(&["tree", "--locked", "--package", "traceloom", "--all-features", "--edges", "normal"]);
    let tree = output_of(command.args(["--prefix", "none", "--format", "{p}"]))?;
    match found(&tree, NOT_IN_LIBRARY) {
        Some(package) => Err(format!("the library depends on {package}, which only the program may need")),
        None => Ok(()),
    }
}

/// Fails if the program as the README builds it depends on a TLS stack, which only the feature `remote` may bring.
fn program_has_no_tls() -> Outcome {
    let tree = |features: &[&str]| {
        let mut command = cargo(&["tree", "--locked", "--package", "traceloom-cli", "--edges", "normal"]);
        output_of(command.args(features).args(["--prefix", "none", "--format", "{p}"]))
    };
    if let Some(package) = found(&tree(&[])?, TLS) {
        return Err(format!("the program depends on {package} without the feature remote"));
    }
    match found(&tree(&["--features", "remote"])?, TLS) {
        Some(_) => Ok(()),
        None => Err(format!("with the feature remote, the program depends on none of {}", TLS.join(", "))),
    }
}

/// The first package of a tree that is in the list.
fn found<'t>(tree: &'t str, list: &[&str]) -> Option<&'t str> {
    tree.lines().filter_map(|line| line.split(' ').next()).find(|package| list.contains(package))
}

/// Builds from scratch and compares the build times with their limits.
fn measure() -> Outcome {
    let folder = root().join("target/measure");
    let build = |package: &str, arguments: &[&str], limit: u64| -> Outcome {
        files::remove_folder(&folder)?;
        let mut command = cargo(&["build", "--quiet", "--locked", "--package", package]);
        command.args(arguments);
        let started = Instant::now();
        run_command(command.arg("--target-dir").arg(&folder))?;
        let built = [&[package], arguments].concat().join(" ");
        eprintln!("xtask: {built} from scratch: {}, should be {limit} s at most", seconds(started));
        Ok(())
    };
    for package in format_packages()? {
        build(&package, &[], FORMAT_SECONDS)?;
    }
    build("traceloom", &[], LIBRARY_SECONDS)?;
    build("traceloom-cli", &["--release"], PROGRAM_SECONDS[0])?;
    build("traceloom-cli", &["--release", "--no-default-features"], PROGRAM_SECONDS[1])?;
    files::remove_folder(&folder)
}

/// The packages of the format crates; each folder is one, so that new ones are found automatically.
fn format_packages() -> Outcome<Vec<String>> {
    let folder = root().join("crates/formats");
    let crates = files::list(&folder)?.into_iter().filter(|path| path.join("Cargo.toml").is_file());
    Ok(crates.filter_map(|path| Some(format!("traceloom-{}", path.file_name()?.to_string_lossy()))).collect())
}

/// The features of the library, as its manifest lists them.
fn library_features() -> Outcome<Vec<String>> {
    Ok(features(&files::read_text(&root().join("crates/traceloom/Cargo.toml"))?))
}

fn features(manifest: &str) -> Vec<String> {
    let section = manifest.lines().skip_while(|line| *line != "[features]").skip(1);
    let lines = section.take_while(|line| !line.starts_with('['));
    let entries = lines.filter(|line| !line.starts_with('#'));
    entries.filter_map(|line| Some(line.split_once(" = ")?.0.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_those_of_the_manifest() {
        let manifest = concat!(
            "[package]\nname = \"x\"\n\n[features]\ndefault = [\"a\"]\n# About a = b.\na = []\n",
            "b = [\n    \"a\",\n]\n\n[dependencies]\nc = \"1\"\n"
        );
        assert_eq!(features(manifest), ["default", "a", "b"]);
    }

    #[test]
    fn the_builds_are_found() {
        let commands: Vec<String> = builds().expect("the workspace is there").iter().map(show).collect();
        for part in ["traceloom-easyprofiler", "--features sql", "traceloom-cli --no-default-features", "cargo doc"] {
            assert!(commands.iter().any(|command| command.contains(part)), "{part} is missing in {commands:#?}");
        }
    }

    #[test]
    fn what_the_library_must_not_need_is_noticed() {
        assert_eq!(found("traceloom v0.1.0 (/x)\nclap_lex v1.0.0\nserde v1.0.0\n", NOT_IN_LIBRARY), None);
        assert_eq!(found("traceloom v0.1.0 (/x)\nclap v4.6.0\n", NOT_IN_LIBRARY), Some("clap"));
    }
}

//! `native`: builds the libraries that programs load or link.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use crate::{
    Outcome, Subcommand, files,
    process::{cargo, root, run as run_command, seconds, target_folder},
};

pub(crate) static SUBCOMMAND: Subcommand = Subcommand {
    name: "native",
    arguments: "",
    help: "\
Builds the native libraries, such as the one that `traceloom memory -- PROGRAM` preloads.

They are optimized and written to target/native, and copied next to each built traceloom program, which
finds them there. target/native/prefix contains the libraries, the headers, and the files for pkg-config
and CMake: copy it to /usr/local, or set PKG_CONFIG_PATH to its lib/pkgconfig.",
    run,
};

/// A library for `LD_PRELOAD`.
const PRELOADED: &str = "libtraceloom_alloc.so";
/// Libraries that C and C++ programs link.
const LINKED: &[&str] = &["libtraceloom_record_c.a", "libtraceloom_record_c.so"];
const PACKAGES: &[&str] = &["traceloom-record-alloc-preload", "traceloom-record-c"];

fn run(arguments: &[String]) -> Outcome {
    if let Some(argument) = arguments.first() {
        return Err(format!("native accepts no arguments, but got {argument}"));
    }
    let started = Instant::now();
    run_command(&mut build())?;
    let target = target_folder();
    let native = target.join("native");
    let built = target.join("release");
    let programs = ["debug", "release", "dist"].map(|profile| target.join(profile));
    let programs = programs.into_iter().filter(|folder| folder.join("traceloom").is_file());
    let folders: Vec<_> = std::iter::once(native.clone()).chain(programs).collect();
    for file in LINKED.iter().chain([&PRELOADED]) {
        for folder in &folders {
            files::copy(&built.join(file), &folder.join(file))?;
        }
    }
    lay_out(&built, &native.join("prefix"))?;
    eprintln!("xtask: the native libraries are in {}, {}", native.display(), seconds(started));
    Ok(())
}

/// The command that builds the libraries.
pub(crate) fn build() -> Command {
    let mut build = cargo(&["build", "--locked", "--release"]);
    for package in PACKAGES {
        build.args(["--package", package]);
    }
    build
}

/// Copies libraries, headers, and the files for pkg-config and CMake to a prefix such as `/usr/local`.
pub(crate) fn lay_out(built: &Path, prefix: &Path) -> Outcome {
    let package = root().join("crates/record-c");
    let lib = prefix.join("lib");
    files::copy(&built.join(PRELOADED), &lib.join("traceloom").join(PRELOADED))?;
    for library in LINKED {
        files::copy(&built.join(library), &lib.join(library))?;
    }
    files::copy_folder(&package.join("include"), &prefix.join("include"))?;
    let cmake = "traceloom-config.cmake";
    files::copy(&package.join("cmake").join(cmake), &lib.join("cmake/traceloom").join(cmake))?;
    for template in templates()? {
        let name = template.file_stem().unwrap_or_default();
        files::write(&lib.join("pkgconfig").join(name), fill(&files::read_text(&template)?))?;
    }
    Ok(())
}

fn templates() -> Outcome<Vec<PathBuf>> {
    let files = files::list(&root().join("crates/record-c/cmake"))?;
    Ok(files.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "in")).collect())
}

/// The prefix is relative to the file, so that the folder may be moved.
fn fill(template: &str) -> String {
    template.replace("@PREFIX@", "${pcfiledir}/../..").replace("@VERSION@", env!("CARGO_PKG_VERSION"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_is_filled() {
        let templates = templates().expect("the templates are there");
        assert_eq!(templates.len(), 3);
        for template in templates {
            let text = fill(&files::read_text(&template).expect("a template is text"));
            assert!(!text.contains('@'), "{}: {text}", template.display());
            assert!(text.contains(concat!("Version: ", env!("CARGO_PKG_VERSION"))), "{text}");
        }
    }
}

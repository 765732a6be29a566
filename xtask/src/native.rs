//! `native`: the libraries that programs load or link.

use std::{fs, path::Path, time::Instant};

use crate::{
    Outcome, Subcommand,
    process::{cargo, run as run_command, seconds, target_folder},
};

pub(crate) static SUBCOMMAND: Subcommand = Subcommand {
    name: "native",
    arguments: "",
    help: "\
Builds the native libraries, such as the one that `traceloom memory -- PROGRAM` preloads.

They are optimized and go to target/native, and from there next to each traceloom program that is
built, where the program finds them.",
    run,
};

/// A package, and the libraries that it builds.
struct Library {
    package: &'static str,
    files: &'static [&'static str],
}

static LIBRARIES: &[Library] = &[
    Library { package: "traceloom-record-alloc-preload", files: &["libtraceloom_alloc.so"] },
    Library { package: "traceloom-record-c", files: &["libtraceloom_record_c.a", "libtraceloom_record_c.so"] },
];

fn run(arguments: &[String]) -> Outcome {
    if let Some(argument) = arguments.first() {
        return Err(format!("native takes no arguments, not {argument}"));
    }
    let started = Instant::now();
    let mut build = cargo(&["build", "--release"]);
    for library in LIBRARIES {
        build.args(["--package", library.package]);
    }
    run_command(&mut build)?;
    let target = target_folder();
    let programs = ["debug", "release", "dist"].map(|profile| target.join(profile));
    let programs = programs.into_iter().filter(|folder| folder.join("traceloom").is_file());
    let folders: Vec<_> = std::iter::once(target.join("native")).chain(programs).collect();
    for file in LIBRARIES.iter().flat_map(|library| library.files) {
        for folder in &folders {
            copy(&target.join("release").join(file), &folder.join(file))?;
        }
    }
    eprintln!("xtask: the native libraries are in {}, {}", target.join("native").display(), seconds(started));
    Ok(())
}

/// Replaces the file instead of writing into it: a program that runs may have it mapped.
fn copy(from: &Path, to: &Path) -> Outcome {
    if from == to {
        return Ok(());
    }
    let failed = |error| format!("{}: {error}", to.display());
    fs::create_dir_all(to.parent().unwrap_or(to)).map_err(failed)?;
    let staged = to.with_extension("new");
    fs::copy(from, &staged).map_err(failed)?;
    fs::rename(&staged, to).map_err(failed)
}

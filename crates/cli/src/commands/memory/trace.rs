//! Runs a program and records its allocations.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs::{self, Permissions},
    io,
    os::{fd::AsFd, unix::process::ExitStatusExt},
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
};

use traceloom_core::{Error, Result};
use traceloom_record_alloc::{environment, finish, is_unfinished};

use crate::{
    Outcome,
    args::answers::Memory as Arguments,
    companion::Companion,
    output::{note, say_written},
};

static LIBRARY: Companion = Companion {
    file: "libtraceloom_alloc.so",
    variable: "TRACELOOM_ALLOC_LIBRARY",
    places: &["", "../lib/traceloom", "../lib", "../native"],
    built_by: "cargo xtask native",
};

/// Runs the program; returns the file with its allocations and the exit status.
pub(super) fn trace(arguments: &Arguments) -> Result<(PathBuf, Outcome)> {
    let [program, rest @ ..] = arguments.program.as_slice() else { return Err(Error::usage("no program given")) };
    let library = LIBRARY.path()?;
    let output = std::path::absolute(arguments.output.clone().unwrap_or_else(|| default_output(program)))?;
    let (output, mode) = make_way(output)?;
    let mut command = Command::new(program);
    command.args(rest).env("LD_PRELOAD", preload(&library)).env(environment::OUTPUT, &output);
    command.env(environment::FINISH, "later");
    if let Some(bytes) = arguments.sample {
        command.env(environment::SAMPLE, bytes.to_string());
    }
    if arguments.lz4 {
        command.env(environment::PACKING, "lz4");
    }
    if arguments.answer.json {
        // Standard output is reserved for the result.
        command.stdout(Stdio::from(io::stderr().as_fd().try_clone_to_owned()?));
    }
    // An interrupt ends the program, not us: the result is still printed.
    let _ = ctrlc::set_handler(|| {});
    let status = command.status().map_err(|error| Error::from(error).in_file(Path::new(program)))?;
    complete(&output)?;
    if !output.is_file() {
        return Err(Error::unsupported(format!(
            "no allocations of {} were recorded; statically linked programs cannot be recorded",
            Path::new(program).display()
        )));
    }
    mode.map_or(Ok(()), |mode| fs::set_permissions(&output, mode))
        .map_err(|error| Error::from(error).in_file(&output))?;
    Ok((output, outcome(program, status)))
}

/// The library, before any others in LD_PRELOAD.
fn preload(library: &Path) -> OsString {
    let mut libraries = library.as_os_str().to_owned();
    if let Some(others) = env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        libraries.push(":");
        libraries.push(others);
    }
    libraries
}

fn default_output(program: &OsStr) -> PathBuf {
    let mut name = Path::new(program).file_name().unwrap_or(program).to_owned();
    name.push(format!(".{}.mlyze", std::process::id()));
    name.into()
}

/// Removes an older file, because the library never overwrites one. Returns the file to write, which may be the target of
/// a symbolic link, and the mode of the older file.
fn make_way(output: PathBuf) -> Result<(PathBuf, Option<Permissions>)> {
    let old = fs::metadata(&output).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return Err(Error::usage("is not a regular file").in_file(&output));
    }
    if old.is_none() && !output.is_symlink() {
        return Ok((output, None));
    }
    let removed = || {
        if old.is_none() {
            // Only the target of a link that exists can be found.
            fs::File::create(&output)?;
        }
        let target = fs::canonicalize(&output)?;
        fs::remove_file(&target)?;
        Ok(target)
    };
    let target = removed().map_err(|error: io::Error| Error::from(error).in_file(&output))?;
    Ok((target, old.map(|old| old.permissions())))
}

/// Completes the file of the program and the files of its child processes.
fn complete(output: &Path) -> Result<()> {
    let folder = output.parent().unwrap_or(Path::new("/"));
    let stem = output.file_stem().unwrap_or_default().as_encoded_bytes();
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        path.extension() == output.extension() && name.starts_with(stem) && is_unfinished(path)
    };
    let entries = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(is_ours).collect();
    files.sort();
    for file in &files {
        match finish(file) {
            Ok(()) => say_written(&file.display().to_string()),
            Err(error) => note(&error.to_string()),
        }
    }
    Ok(())
}

/// Passes on the exit code of the program; after a signal, the code is 128 plus its number, as in shells.
fn outcome(program: &OsStr, status: ExitStatus) -> Outcome {
    if status.success() {
        return Outcome::Fine;
    }
    note(&format!("{} ended with {status}", Path::new(program).display()));
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    Outcome::Exited(u8::try_from(code).unwrap_or(1))
}

//! Runs other programs, and reports the command, its duration and failures.

use std::{
    env,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Instant,
};

use crate::Outcome;

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    // Queried at run time first, because a cached build may come from another checkout.
    let manifest = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    manifest.parent().map_or_else(|| manifest.clone(), Path::to_path_buf)
}

/// The target folder.
pub(crate) fn target_folder() -> PathBuf {
    root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// Paths of this machine that must not be in files that are shipped, as the arguments of `--remap-path-prefix`.
pub(crate) fn remaps() -> [String; 2] {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")));
    let remap = |from: &Path, to: &str| format!("{}={to}", from.display());
    [remap(&root(), "."), remap(&home.unwrap_or_default(), "/cargo")]
}

/// The cargo that runs this, in the root of the workspace.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    // Variables that describe the package xtask must not be inherited.
    for (name, _) in env::vars_os() {
        let described =
            name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR");
        if described {
            command.env_remove(name);
        }
    }
    command
}

/// Crates with a separate build and tests, such as `cargo xtask wheel`; nothing else builds them.
const SEPARATE: &[&str] = &["traceloom-cluster", "traceloom-python"];

/// The arguments for all crates except the separate ones.
pub(crate) fn workspace() -> Vec<&'static str> {
    let excluded = SEPARATE.iter().flat_map(|package| ["--exclude", package]);
    std::iter::once("--workspace").chain(excluded).collect()
}

/// Runs a command in the foreground.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let shown = show(command);
    eprintln!("xtask: running {shown}");
    let started = Instant::now();
    let status = command.status().map_err(|error| format!("{shown} does not start: {error}"))?;
    if !status.success() {
        return Err(format!("{shown} failed after {}: {status}", seconds(started)));
    }
    eprintln!("xtask: {shown} took {}", seconds(started));
    Ok(())
}

/// Whether a command can be started and succeeds; it sees no input and shows no output.
pub(crate) fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The time since `started`, as text.
pub(crate) fn seconds(started: Instant) -> String {
    format!("{:.1} s", started.elapsed().as_secs_f64())
}

/// The command as typed in a shell.
pub(crate) fn show(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let program = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy();
    let arguments = command.get_args().map(|argument| argument.to_string_lossy());
    std::iter::once(program).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// The output of a command; if it fails, the message contains its errors.
pub(crate) fn output_of(command: &mut Command) -> Outcome<String> {
    let output = command.output().map_err(|error| format!("{} does not start: {error}", show(command)))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if !output.status.success() {
        return Err(format!("{} failed, {}: {}", show(command), output.status, text(&output.stderr).trim_end()));
    }
    Ok(text(&output.stdout))
}

/// Compresses without the name and the time that gzip would add.
pub(crate) fn gzip(bytes: &[u8]) -> Outcome<Vec<u8>> {
    let failed = |error| format!("gzip: {error}");
    let mut command = Command::new("gzip");
    let mut child = command.args(["-9n"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
    let input = child.stdin.take();
    let output = thread::scope(|scope| {
        scope.spawn(move || input.map(|mut input| input.write_all(bytes)));
        child.wait_with_output()
    });
    let output = output.map_err(failed)?;
    if output.status.success() { Ok(output.stdout) } else { Err(format!("gzip failed: {}", output.status)) }
}

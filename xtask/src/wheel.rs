//! `wheel`: the Python package, and its tests on every Python of this machine.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Outcome, Subcommand,
    process::{cargo, root, run as run_command, succeeds, target_folder},
};

pub(crate) static SUBCOMMAND: Subcommand = Subcommand {
    name: "wheel",
    arguments: "[--release] [PYTEST-ARGUMENT…]",
    help: "\
Builds the Python package as a wheel and runs its tests on every CPython from 3.11 on.

The wheel carries the program. Both are built quickly and without SQL; with --release as they are
shipped, which takes long. Pythons are those on the path and those of pyenv. Each gets an environment
in target/python, with what python/requirements-test.txt lists. The wheel is left in
target/python/wheels. Further arguments go to pytest.",
    run,
};

/// The Pythons that the package supports, as their programs are called.
const PYTHONS: &[&str] = &["3.11", "3.12", "3.13"];
/// Builds the wheel.
const MATURIN: &str = "maturin>=1.16,<2";

fn run(arguments: &[String]) -> Outcome {
    let is_release = arguments.first().is_some_and(|argument| argument == "--release");
    let pytest = if is_release { &arguments[1..] } else { arguments };
    let pythons: Vec<(&str, PathBuf)> = PYTHONS.iter().filter_map(|version| Some((*version, find(version)?))).collect();
    let Some((_, first)) = pythons.first() else {
        return Err(format!("there is no CPython of {}", PYTHONS.join(", ")));
    };
    let tools = environment("tools", first, MATURIN, &[MATURIN])?;
    let program = program(is_release)?;
    let wheel = build(&tools, &program, is_release)?;
    for (version, python) in &pythons {
        test(version, python, &wheel, pytest)?;
    }
    eprintln!(
        "xtask: {} passed on {}",
        wheel.display(),
        pythons.iter().map(|(v, _)| *v).collect::<Vec<_>>().join(", ")
    );
    Ok(())
}

/// The folder of everything that belongs to the package.
fn folder() -> PathBuf {
    target_folder().join("python")
}

fn find(version: &str) -> Option<PathBuf> {
    let plain = format!("python{version}");
    if succeeds(&plain, &["-c", "import venv"]) {
        return Some(plain.into());
    }
    let pyenv = env::var_os("PYENV_ROOT").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".pyenv")))?;
    let versions = fs::read_dir(pyenv.join("versions")).ok()?.flatten();
    let mut found: Vec<PathBuf> = versions
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&format!("{version}.")))
        .map(|entry| entry.path().join("bin/python"))
        .filter(|python| python.is_file())
        .collect();
    found.sort();
    found.pop()
}

/// An environment with packages; it is kept, and filled again when `wanted` changes.
fn environment(name: &str, python: &Path, wanted: &str, packages: &[&str]) -> Outcome<PathBuf> {
    let place = folder().join(name);
    let (filled, bin) = (place.join("filled-with"), place.join("bin"));
    if fs::read_to_string(&filled).is_ok_and(|before| before == wanted) {
        return Ok(bin);
    }
    run_command(Command::new(python).args(["-m", "venv"]).arg(&place))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run_command(Command::new(bin.join("python")).args(pip).args(packages).current_dir(root()))?;
    fs::write(&filled, wanted).map_err(|error| format!("{}: {error}", filled.display()))?;
    Ok(bin)
}

/// The names of the profiles of cargo: for the tests, and for shipping.
fn profile(is_release: bool) -> &'static str {
    if is_release { "dist" } else { "wheel" }
}

/// Builds the program and puts it where maturin finds the scripts of a package.
fn program(is_release: bool) -> Outcome<PathBuf> {
    let profile = profile(is_release);
    let mut command = cargo(&["build", "--locked", "--package", "traceloom-cli", "--profile", profile]);
    if !is_release {
        command.arg("--no-default-features");
    }
    run_command(command.arg("--target-dir").arg(folder()))?;
    let scripts = root().join("python/traceloom.data/scripts");
    let place = scripts.join("traceloom");
    let copied = fs::create_dir_all(&scripts)
        .and_then(|()| fs::copy(folder().join(profile).join("traceloom"), &place).map(drop));
    copied.map_err(|error| format!("{}: {error}", place.display()))?;
    Ok(place)
}

fn build(tools: &Path, program: &Path, is_release: bool) -> Outcome<PathBuf> {
    let wheels = folder().join("wheels");
    if wheels.exists() {
        fs::remove_dir_all(&wheels).map_err(|error| format!("{}: {error}", wheels.display()))?;
    }
    let mut command = Command::new(tools.join("maturin"));
    command.args(["build", "--locked", "--profile", profile(is_release), "--interpreter"]).arg(tools.join("python"));
    command.arg("--out").arg(&wheels).current_dir(root().join("python")).env("CARGO_TARGET_DIR", folder());
    // The cargo that runs this; maturin looks for one on the path otherwise.
    command.env("CARGO", env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    if is_release {
        command.args(["--features", "sql"]);
    }
    run_command(&mut command)?;
    fs::remove_file(program).map_err(|error| format!("{}: {error}", program.display()))?;
    let built = fs::read_dir(&wheels).map_err(|error| format!("{}: {error}", wheels.display()))?;
    built.flatten().map(|entry| entry.path()).next().ok_or_else(|| "maturin built no wheel".into())
}

fn test(version: &str, python: &Path, wheel: &Path, arguments: &[String]) -> Outcome {
    let list = root().join("python/requirements-test.txt");
    let wanted = fs::read_to_string(&list).map_err(|error| format!("{}: {error}", list.display()))?;
    let bin = environment(&format!("venv-{version}"), python, &wanted, &["-r", "python/requirements-test.txt"])?;
    let python = bin.join("python");
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--force-reinstall"];
    run_command(Command::new(&python).args(pip).arg(wheel))?;
    let mut command = Command::new(&python);
    command.args(["-m", "pytest", "--quiet"]).args(arguments).current_dir(root().join("python/tests"));
    command.env("TRACELOOM_PROGRAM", bin.join("traceloom"));
    run_command(&mut command)
}

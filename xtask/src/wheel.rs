//! `wheel`: builds the Python package and tests it on every Python of this machine.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Outcome, Subcommand, files, page,
    process::{cargo, root, run as run_command, succeeds, target_folder},
};

pub(crate) static SUBCOMMAND: Subcommand = Subcommand {
    name: "wheel",
    arguments: "[--release | --sql] [--program PATH] [PYTEST-ARGUMENT…]",
    help: "\
Builds the Python package as a wheel and runs its tests on every CPython from 3.11 on.

The wheel contains the program and the library that records allocations. They are built quickly and
without SQL; with --sql, the module includes SQL, and with --release, they are built as for a release,
with the page for `traceloom report --interactive`, which takes long. --program uses a program that is
already built. Pythons are searched on the path and in pyenv. Each gets an environment in target/python,
with the packages of python/requirements-test.txt. The wheel is written to target/python/wheels. Further
arguments are passed to pytest.",
    run,
};

/// The program names of the supported Pythons.
const PYTHONS: &[&str] = &["3.11", "3.12", "3.13"];
/// The library that records the allocations of a program.
const LIBRARY: &str = "libtraceloom_alloc.so";
/// Builds the wheel.
const MATURIN: &str = "maturin>=1.16,<2";

/// Options of the command.
#[derive(Default)]
struct Options {
    is_release: bool,
    has_sql: bool,
    program: Option<PathBuf>,
    pytest: Vec<String>,
}

impl Options {
    fn parse(arguments: &[String]) -> Outcome<Self> {
        let (mut options, mut arguments) = (Self::default(), arguments.iter());
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--release" => (options.is_release, options.has_sql) = (true, true),
                "--sql" => options.has_sql = true,
                "--program" => options.program = Some(arguments.next().ok_or("--program needs a path")?.into()),
                _ => options.pytest.push(argument.clone()),
            }
        }
        Ok(options)
    }

    /// The cargo profile: for the tests, or for a release.
    fn profile(&self) -> &'static str {
        if self.is_release { "dist" } else { "wheel" }
    }
}

fn run(arguments: &[String]) -> Outcome {
    make(&Options::parse(arguments)?).map(drop)
}

/// Builds and tests the package, quickly.
pub(crate) fn check() -> Outcome {
    make(&Options::default()).map(drop)
}

/// Builds and tests the package for a release, with an already built program if there is one; returns the wheel.
pub(crate) fn release(program: Option<PathBuf>) -> Outcome<PathBuf> {
    make(&Options { is_release: true, has_sql: true, program, ..Options::default() })
}

fn make(options: &Options) -> Outcome<PathBuf> {
    let pythons: Vec<(&str, PathBuf)> = PYTHONS.iter().filter_map(|version| Some((*version, find(version)?))).collect();
    let Some((_, first)) = pythons.first() else {
        return Err(format!("no CPython found; expected one of {}", PYTHONS.join(", ")));
    };
    let tools = environment("tools", first, MATURIN, &[MATURIN])?;
    carry(options)?;
    let wheel = build(&tools, options)?;
    for (version, python) in &pythons {
        test(version, python, &wheel, options)?;
    }
    let versions: Vec<&str> = pythons.iter().map(|(version, _)| *version).collect();
    eprintln!("xtask: {} passed on {}", wheel.display(), versions.join(", "));
    Ok(wheel)
}

/// The build folder of the package.
fn folder() -> PathBuf {
    target_folder().join("python")
}

fn find(version: &str) -> Option<PathBuf> {
    let plain = format!("python{version}");
    if succeeds(&plain, &["-c", "import ensurepip, venv"]) {
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

/// An environment with packages, which is cached and rebuilt when `wanted` changes.
fn environment(name: &str, python: &Path, wanted: &str, packages: &[&str]) -> Outcome<PathBuf> {
    let place = folder().join(name);
    let (filled, bin) = (place.join("filled-with"), place.join("bin"));
    if fs::read_to_string(&filled).is_ok_and(|before| before == wanted) {
        return Ok(bin);
    }
    run_command(Command::new(python).args(["-m", "venv"]).arg(&place))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run_command(Command::new(bin.join("python")).args(pip).args(packages).current_dir(root()))?;
    files::write(&filled, wanted)?;
    Ok(bin)
}

/// Builds the program and its library, and copies them to where maturin looks for data files.
fn carry(options: &Options) -> Outcome {
    let mut command = cargo(&["build", "--locked", "--profile", options.profile()]);
    command.args(["--package", "traceloom-record-alloc-preload"]);
    if options.program.is_none() {
        command.args(["--package", "traceloom-cli"]);
    }
    match (options.is_release, &options.program) {
        (false, _) => drop(command.arg("--no-default-features")),
        // As in the other files of a release.
        (true, None) => drop(command.args(["--features", "traceloom-cli/remote"])),
        (true, Some(_)) => {}
    }
    run_command(command.arg("--target-dir").arg(folder()))?;
    let built = folder().join(options.profile());
    let program = options.program.clone().unwrap_or_else(|| built.join("traceloom"));
    files::remove_folder(&data())?;
    files::copy(&program, &data().join("scripts/traceloom"))?;
    // The program finds the library and the page there.
    if options.is_release {
        files::copy(&page::release()?, &data().join("data/share/traceloom").join(page::WHOLE))?;
    }
    files::copy(&built.join(LIBRARY), &data().join("data/lib/traceloom").join(LIBRARY))
}

/// The folder from which maturin takes files; it exists only during a build.
fn data() -> PathBuf {
    root().join("python/traceloom.data")
}

fn build(tools: &Path, options: &Options) -> Outcome<PathBuf> {
    let wheels = folder().join("wheels");
    files::remove_folder(&wheels)?;
    let mut command = Command::new(tools.join("maturin"));
    command.args(["build", "--locked", "--profile", options.profile(), "--interpreter"]).arg(tools.join("python"));
    command.arg("--out").arg(&wheels).current_dir(root().join("python")).env("CARGO_TARGET_DIR", folder());
    // The cargo that runs this; maturin looks for one on the path otherwise.
    command.env("CARGO", env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    if options.has_sql {
        command.args(["--features", "sql"]);
    }
    run_command(&mut command)?;
    files::remove_folder(&data())?;
    files::list(&wheels)?.pop().ok_or_else(|| "maturin built no wheel".into())
}

fn test(version: &str, python: &Path, wheel: &Path, options: &Options) -> Outcome {
    let list = root().join("python/requirements-test.txt");
    let wanted = files::read_text(&list)?;
    let bin = environment(&format!("venv-{version}"), python, &wanted, &["-r", "python/requirements-test.txt"])?;
    let python = bin.join("python");
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--force-reinstall"];
    run_command(Command::new(&python).args(pip).arg(wheel))?;
    let mut command = Command::new(&python);
    command.args(["-m", "pytest", "--quiet"]).args(&options.pytest).current_dir(root().join("python/tests"));
    command.env("TRACELOOM_PROGRAM", bin.join("traceloom"));
    command.env("TRACELOOM_SQL", if options.has_sql { "1" } else { "0" });
    run_command(&mut command)
}

//! Node packages that tests use, each set in a separate folder.

use std::{
    fs::{self, File},
    path::Path,
    process::Command,
};

/// The files that list what to install.
const LISTS: [&str; 2] = ["package.json", "package-lock.json"];

/// Installs the packages of the lock file in `package` into `place`; does nothing if they are already there.
///
/// Test programs that need the same packages at the same time wait for each other.
pub fn install(package: &Path, place: &Path) -> Result<(), String> {
    fs::create_dir_all(place).map_err(|error| format!("{}: {error}", place.display()))?;
    let _alone = lock(place)?;
    let done = place.join("node_modules/.complete");
    let is_same = |list: &&str| fs::read(package.join(list)).ok() == fs::read(place.join(list)).ok();
    if done.is_file() && LISTS.iter().all(is_same) {
        return Ok(());
    }
    let copied = LISTS.iter().try_for_each(|list| fs::copy(package.join(list), place.join(list)).map(drop));
    copied.map_err(|error| error.to_string())?;
    run("npm", &["ci", "--loglevel=error", "--ignore-scripts", "--no-audit", "--no-fund"], place)?;
    fs::write(done, "").map_err(|error| error.to_string())
}

/// Locks a folder for one test program until the lock is dropped.
pub fn lock(place: &Path) -> Result<File, String> {
    let file = File::create(place.with_extension("lock")).map_err(|error| error.to_string())?;
    file.lock().map_err(|error| error.to_string())?;
    Ok(file)
}

/// Runs a program in a folder; its output is part of the error if it fails.
pub fn run(program: &str, arguments: &[&str], folder: &Path) -> Result<(), String> {
    let out = Command::new(program).args(arguments).current_dir(folder).output();
    let out = out.map_err(|error| format!("{program} cannot be run: {error}"))?;
    if out.status.success() {
        return Ok(());
    }
    let said = [out.stdout, out.stderr].concat();
    Err(format!("{program} {} failed:\n{}", arguments.join(" "), String::from_utf8_lossy(&said)))
}

/// Prints why a test is skipped; fails if `CI` is `true`.
pub fn skip(reason: &str) {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{reason}");
    eprintln!("skipped: {reason}");
}

//! Programs from crates.io that a subcommand runs, at a version that is known to work.

use std::path::PathBuf;

use crate::{
    Outcome,
    process::{cargo, run, target_folder},
};

/// A package with a program of the same name.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    /// Features instead of the default ones.
    pub(crate) features: Option<&'static str>,
}

impl Tool {
    /// The path of the program, which is built if this version is not installed yet.
    pub(crate) fn path(&self) -> Outcome<PathBuf> {
        let folder = target_folder().join("tools");
        let place = folder.join(format!("{}-{}", self.name, self.version));
        let program = place.join("bin").join(format!("{}{}", self.name, std::env::consts::EXE_SUFFIX));
        if program.is_file() {
            return Ok(program);
        }
        let mut command = cargo(&["install", "--locked", "--quiet", "--version", self.version, self.name]);
        if let Some(features) = self.features {
            command.args(["--no-default-features", "--features", features]);
        }
        run(command.arg("--root").arg(&place).arg("--target-dir").arg(folder.join("build")))?;
        Ok(program)
    }
}

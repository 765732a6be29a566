//! Files that come with the program and that it looks for when it needs them.

use std::{
    env,
    path::{Path, PathBuf},
};

use traceloom_core::{Error, Result};

/// A file that a command needs besides the program.
pub(crate) struct Companion {
    /// Its name.
    pub(crate) file: &'static str,
    /// The variable that names it if the program would not find it.
    pub(crate) variable: &'static str,
    /// Where it may be, from the folder of the program.
    pub(crate) places: &'static [&'static str],
    /// The command that builds it.
    pub(crate) built_by: &'static str,
}

impl Companion {
    /// The file: as the variable says, next to the program, where packages put it, or where it is built.
    pub(crate) fn path(&self) -> Result<PathBuf> {
        let Self { file, variable, places, built_by } = self;
        if let Some(path) = env::var_os(variable).map(PathBuf::from) {
            return path.canonicalize().map_err(|error| Error::from(error).in_file(&path));
        }
        let program = env::current_exe()?.canonicalize()?;
        let folder = program.parent().unwrap_or(Path::new("/"));
        let mut paths = places.iter().map(|place| folder.join(place).join(file));
        paths.find(|path| path.is_file()).ok_or_else(|| {
            Error::unsupported(format!(
                "{file} was not found: build it with `{built_by}`, or set {variable} to its path"
            ))
        })
    }
}

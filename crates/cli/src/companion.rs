//! Files that are installed with the program and looked up when needed.

use std::{
    env,
    path::{Path, PathBuf},
};

use traceloom_core::{Error, Result};

/// A file that a command needs in addition to the program.
pub(crate) struct Companion {
    /// File name.
    pub(crate) file: &'static str,
    /// Environment variable that overrides its path.
    pub(crate) variable: &'static str,
    /// Folders to search, relative to the folder of the program.
    pub(crate) places: &'static [&'static str],
    /// The command that builds it.
    pub(crate) built_by: &'static str,
}

impl Companion {
    /// The path of the file: from the variable, next to the program, where packages install it, or where it is built.
    pub(crate) fn path(&self) -> Result<PathBuf> {
        let Self { file, variable, built_by, .. } = self;
        if let Some(path) = env::var_os(variable).map(PathBuf::from) {
            return path.canonicalize().map_err(|error| Error::from(error).in_file(&path));
        }
        self.find(&env::current_exe()?.canonicalize()?).ok_or_else(|| {
            Error::unsupported(format!("cannot find {file}; build it with `{built_by}`, or set {variable} to its path"))
        })
    }

    /// The file in the first of the places that has it.
    pub(crate) fn find(&self, program: &Path) -> Option<PathBuf> {
        let folder = program.parent().unwrap_or(Path::new("/"));
        self.places.iter().map(|place| folder.join(place).join(self.file)).find(|path| path.is_file())
    }
}

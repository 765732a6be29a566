//! The reader of the Web Tracing Framework, for tests of our output.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value as Json;

use crate::npm;

/// The Web Tracing Framework, installed in a folder.
#[derive(Debug)]
pub struct OriginalWtf {
    folder: PathBuf,
}

impl OriginalWtf {
    /// Installs it below `place`, unless it is already there; prints why a test is skipped if that is not possible.
    pub fn install(place: &Path) -> Option<Self> {
        let folder = place.join("wtf-npm");
        install(&folder).inspect_err(|reason| npm::skip(reason)).ok()?;
        Some(Self { folder })
    }

    /// The result of loading files, by path.
    pub fn load(&self, files: &[PathBuf]) -> BTreeMap<PathBuf, Json> {
        let out = Command::new("node").arg(scripts().join("load.js")).arg(&self.folder).args(files).output().unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        let answers = text.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
        answers.map(|answer| (PathBuf::from(answer["file"].as_str().unwrap()), answer)).collect()
    }
}

fn install(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let _alone = npm::lock(folder)?;
    npm::run("node", &["--version"], folder)?;
    if folder.join("node_modules/tracing-framework/build-out").is_dir() {
        return Ok(());
    }
    fs::copy(scripts().join("package.json"), folder.join("package.json")).map_err(|error| error.to_string())?;
    npm::run("npm", &["install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"], folder)
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/npm")
}

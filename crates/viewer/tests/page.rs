//! The page passes its linter, formatter and tests, and the built page in the program is up to date.

use std::{
    collections::BTreeMap,
    fs,
    fs::File,
    path::{Path, PathBuf},
};

use traceloom_testkit::npm;

/// All inputs of builds, tests and checks, except the package lists.
const SOURCES: [&str; 12] = [
    ".prettierignore",
    ".prettierrc.json",
    "eslint.config.js",
    "index.html",
    "page.mjs",
    "src",
    "tests",
    "tsconfig.json",
    "vite.config.ts",
    "vite.page.config.ts",
    "vitest.config.ts",
    "package.json",
];

/// The source of the page next to its packages, locked until dropped.
struct Page {
    place: PathBuf,
    _alone: File,
}

impl Page {
    /// Installs once for all tests; `None`, with a message, if that fails.
    fn or_skip() -> Option<Self> {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page-build");
        npm::install(&web(), &place).inspect_err(|reason| npm::skip(reason)).ok()?;
        let alone = npm::lock(&place).unwrap();
        SOURCES.iter().for_each(|source| renew(&web().join(source), &place.join(source)));
        Some(Self { place, _alone: alone })
    }

    fn run(&self, script: &str) {
        npm::run("npm", &["run", "--silent", script], &self.place).unwrap();
    }
}

fn web() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("web")
}

#[test]
fn the_linter_finds_nothing() {
    let Some(page) = Page::or_skip() else { return };
    page.run("lint");
}

#[test]
fn the_source_is_formatted() {
    let Some(page) = Page::or_skip() else { return };
    page.run("format:check");
}

#[test]
fn the_unit_tests_pass() {
    let Some(page) = Page::or_skip() else { return };
    page.run("test");
}

#[test]
fn the_committed_page_equals_a_fresh_build() {
    let Some(page) = Page::or_skip() else { return };
    page.run("build");
    let (committed, fresh) = (files(&web().join("dist")), files(&page.place.join("dist")));
    let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&committed), names(&fresh), "{REBUILD}");
    for (name, bytes) in fresh {
        assert!(committed[&name] == bytes, "{} is not what its source makes; {REBUILD}", name.display());
    }
}

const REBUILD: &str = "run `npm ci && npm run build` in crates/viewer/web and commit its dist";

/// Copies a file or folder, and replaces an older copy.
fn renew(from: &Path, to: &Path) {
    if from.is_file() {
        fs::copy(from, to).unwrap();
        return;
    }
    let _ = fs::remove_dir_all(to);
    for (name, bytes) in files(from) {
        let path = to.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// All files below a folder, by their path in it.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let relative = |path: &Path| path.strip_prefix(folder).unwrap().to_owned();
    let files = traceloom_testkit::files(folder).unwrap();
    files.iter().map(|path| (relative(path), fs::read(path).unwrap())).collect()
}

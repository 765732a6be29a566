//! The page that is built into the program is the one that its source makes.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use traceloom_testkit::npm;

/// What a build reads, besides the lists of packages.
const SOURCES: [&str; 4] = ["index.html", "src", "tsconfig.json", "vite.config.ts"];

#[test]
fn the_committed_page_equals_a_fresh_build() {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page-build");
    if let Err(reason) = npm::install(&web, &place) {
        return npm::skip(&reason);
    }
    let _alone = npm::lock(&place).unwrap();
    for source in SOURCES {
        renew(&web.join(source), &place.join(source));
    }
    npm::run("npm", &["run", "--silent", "build"], &place).unwrap();
    let (committed, fresh) = (files(&web.join("dist")), files(&place.join("dist")));
    let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&committed), names(&fresh), "{REBUILD}");
    for (name, bytes) in fresh {
        assert!(committed[&name] == bytes, "{} is not what its source makes; {REBUILD}", name.display());
    }
}

const REBUILD: &str = "run `npm install && npm run build` in crates/viewer/web and commit its dist";

/// Copies a file or a folder; nothing of an older copy stays.
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
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

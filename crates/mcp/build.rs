//! Lists the pages of the guide that assistants read, so that the sources name no format.

use std::{
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

/// Pages besides those on the formats.
const PAGES: &[&str] = &["tables", "sql", "assistants"];

fn main() {
    let manifest = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    // `docs` is a link, which cargo packs as a copy; systems without links take the folder itself.
    let mut folders = ["docs", "../../docs"].into_iter().map(|folder| manifest.join(folder));
    let docs = folders.find(|folder| folder.join("formats").is_dir()).expect("the guide is there");
    println!("cargo::rerun-if-changed={}", docs.display());
    let mut list = String::from("&[\n");
    for id in PAGES {
        add(&mut list, id, &docs.join(id).with_extension("md"));
    }
    let formats = fs::read_dir(docs.join("formats")).expect("a folder of the guide");
    let mut formats: Vec<_> = formats.filter_map(|entry| Some(entry.ok()?.path())).collect();
    formats.retain(|path| {
        path.extension().is_some_and(|it| it == "md") && path.file_stem().is_some_and(|it| it != "README")
    });
    formats.sort();
    for page in formats {
        add(&mut list, &format!("formats/{}", page.file_stem().unwrap_or_default().to_string_lossy()), &page);
    }
    list.push_str("]\n");
    let out = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("pages.rs");
    fs::write(out, list).expect("cargo's folder can be written");
}

fn add(list: &mut String, id: &str, page: &Path) {
    writeln!(list, "    ({id:?}, include_str!({:?})),", page.display().to_string()).expect("memory takes it");
}

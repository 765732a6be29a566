//! Lists the pages on the formats, so that the sources name no format.

use std::{env, fmt::Write, fs, path::Path};

fn main() {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../docs/formats");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut pages: Vec<_> = fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .filter(|path| path.file_stem().is_some_and(|stem| stem != "README"))
        .collect();
    pages.sort();
    let mut list = String::from("&[\n");
    for page in pages {
        let id = page.file_stem().unwrap_or_default().to_string_lossy();
        writeln!(list, "    ({id:?}, include_str!({:?})),", page.display().to_string()).expect("memory takes it");
    }
    list.push_str("]\n");
    let out = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("pages.rs");
    fs::write(out, list).expect("cargo's folder can be written");
}

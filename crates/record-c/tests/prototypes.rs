//! The C prototypes match the source.

use std::{fs, path::Path};

#[test]
fn the_prototypes_are_fresh() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("the settings can be read");
    let builder = cbindgen::Builder::new().with_config(config).with_src(folder.join("src/lib.rs"));
    let mut made = Vec::new();
    builder.generate().expect("the source can be read").write(&mut made);
    let path = folder.join("include/traceloom_api.h");
    if std::env::var_os("TRACELOOM_BLESS").is_some() {
        fs::write(&path, &made).unwrap();
    }
    let stored = fs::read(&path).unwrap_or_default();
    assert!(stored == made, "{} is stale: run `cargo xtask bless -p traceloom-record-c`", path.display());
}

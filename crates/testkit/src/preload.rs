//! The library that records the allocations of any program.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// Builds `libtraceloom_alloc.so`, which no test may link, and returns its path.
pub fn preload_library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        if let Some(path) = env::var_os("TRACELOOM_ALLOC_LIBRARY") {
            return path.into();
        }
        let cargo = env::var_os("CARGO").unwrap_or("cargo".into());
        let mut build = Command::new(cargo);
        build.args(["build", "--package", "traceloom-record-alloc-preload", "--message-format", "json"]);
        let output = build.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let messages = String::from_utf8(output.stdout).expect("JSON");
        let name = messages.split('"').find(|text| text.ends_with("/libtraceloom_alloc.so"));
        name.expect("the library is built").into()
    })
}

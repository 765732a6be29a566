//! Programs that find the library by CMake and by pkg-config, static and shared. Skipped without these tools.
#![cfg(unix)]

mod common;

use std::{
    env, fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use common::{Trial, lines, profile, succeed};
use traceloom_testkit::npm::skip;

const LIBRARIES: [&str; 2] = ["libtraceloom_record_c.a", "libtraceloom_record_c.so"];

/// A prefix as created by `cargo xtask native`, made of links.
fn install(trial: &Trial) -> PathBuf {
    let (prefix, package) = (trial.path("prefix"), Path::new(env!("CARGO_MANIFEST_DIR")));
    for folder in ["lib/cmake/traceloom", "lib/pkgconfig"] {
        fs::create_dir_all(prefix.join(folder)).unwrap();
    }
    symlink(package.join("include"), prefix.join("include")).unwrap();
    let built = env::current_exe().unwrap();
    for library in LIBRARIES {
        symlink(built.with_file_name(library), prefix.join("lib").join(library)).unwrap();
    }
    for entry in fs::read_dir(package.join("cmake")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap().replace("@PREFIX@", prefix.to_str().unwrap());
        let folder = if path.extension().unwrap() == "in" { "lib/pkgconfig" } else { "lib/cmake/traceloom" };
        let name = path.file_name().unwrap().to_str().unwrap().trim_end_matches(".in");
        fs::write(prefix.join(folder).join(name), text.replace("@VERSION@", "1.2.3")).unwrap();
    }
    prefix
}

fn is_installed(tool: &str) -> bool {
    let is_installed = Command::new(tool).arg("--version").output().is_ok();
    if !is_installed {
        skip(&format!("{tool} is not installed"));
    }
    is_installed
}

#[test]
fn cmake_finds_each_header_with_its_library() {
    if !is_installed("cmake") {
        return;
    }
    let trial = Trial::new();
    let prefix = install(&trial);
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for shared in ["OFF", "ON"] {
        let build = trial.path(&format!("build-{shared}"));
        let mut configure = Command::new("cmake");
        configure.arg("-S").arg(&examples).arg("-B").arg(&build).arg(format!("-DTRACELOOM_SHARED={shared}"));
        succeed(configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display())));
        succeed(Command::new("cmake").arg("--build").arg(&build));
        let loaded = succeed(Command::new("ldd").arg(build.join("service"))).stdout;
        assert_eq!(String::from_utf8_lossy(&loaded).contains("libtraceloom_record_c.so"), shared == "ON");
        trial.run(&build.join("service"), &["service.clog"]);
        trial.run(&build.join("game"), &["game.prof"]);
        trial.run(&build.join("editor"), &["."]);
        assert_eq!(lines(&trial.path("service.clog"))[0], "INFO service starting");
        assert!(profile(&trial.path("game.prof")).contains(&"block frame".to_owned()));
        assert_eq!(lines(&trial.path("editor.clog")).len(), 7);
    }
}

#[test]
fn pkg_config_names_each_header_and_its_library() {
    if !is_installed("pkg-config") {
        return;
    }
    let trial = Trial::new();
    let prefix = install(&trial);
    let examples = [
        ("traceloom-cnanolog", "cc", "service.c", "service.clog"),
        ("traceloom-easy-profiler", "c++", "game.cpp", "game.prof"),
        ("traceloom-record", "cc", "editor.c", "."),
    ];
    for (package, compiler, source, argument) in examples {
        let mut ask = Command::new("pkg-config");
        ask.args(["--cflags", "--libs", package]).env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
        let flags = String::from_utf8(succeed(&mut ask).stdout).unwrap();
        let program = trial.path(package);
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(source);
        succeed(Command::new(compiler).arg(source).arg("-o").arg(&program).args(flags.split_whitespace()));
        let mut command = Command::new(&program);
        command.arg(argument).current_dir(trial.path("")).env("LD_LIBRARY_PATH", prefix.join("lib"));
        succeed(&mut command);
    }
    assert_eq!(lines(&trial.path("service.clog"))[0], "INFO service starting");
    assert!(profile(&trial.path("game.prof")).contains(&"block frame".to_owned()));
    assert_eq!(lines(&trial.path("editor.clog")).len(), 7);
}

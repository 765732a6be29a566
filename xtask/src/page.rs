//! `page`: builds the viewer without a server.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use crate::{
    Outcome, Subcommand, files,
    process::{cargo, output_of, remaps, root, run as run_command, seconds, succeeds, target_folder},
};

pub(crate) static SUBCOMMAND: Subcommand = Subcommand {
    name: "page",
    arguments: "",
    help: "\
Builds the viewer as a page that needs no server, for any static host or to open as a file.

It is written to target/page. traceloom-page.html is the whole page in one file, into which `traceloom
report --interactive` embeds a trace; it is also copied next to each built traceloom program. Needs node
and npm. If rustc lacks the target wasm32-unknown-unknown, Debian packages are unpacked into
target/page-build to build it with the standard library. A page of more than 2 MB in gzip is an error.",
    run,
};

const TARGET: &str = "wasm32-unknown-unknown";
/// The single-file page, which the program looks for.
pub(crate) const WHOLE: &str = "traceloom-page.html";

fn run(arguments: &[String]) -> Outcome {
    if let Some(argument) = arguments.first() {
        return Err(format!("page accepts no arguments, but got {argument}"));
    }
    build()
}

/// Builds everything for a release; returns the single-file page.
pub(crate) fn release() -> Outcome<PathBuf> {
    build()?;
    Ok(target_folder().join("page").join(WHOLE))
}

/// Builds everything.
pub(crate) fn build() -> Outcome {
    let started = Instant::now();
    let (work, page) = (target_folder().join("page-build"), target_folder().join("page"));
    files::make_folder(&work)?;
    let router = router(&work)?;
    let bound = bind(&work, &router)?;
    files::remove_folder(&page)?;
    files::make_folder(&page)?;
    pack(&bound, &page)?;
    for profile in ["debug", "release", "dist"] {
        let folder = target_folder().join(profile);
        if folder.join("traceloom").is_file() {
            files::copy(&page.join(WHOLE), &folder.join(WHOLE))?;
        }
    }
    eprintln!("xtask: the page is in {}, {}", page.display(), seconds(started));
    Ok(())
}

/// Builds the router; returns the WebAssembly.
fn router(work: &Path) -> Outcome<PathBuf> {
    let mut build = cargo(&["build", "--locked", "--package", "traceloom-viewer-wasm", "--profile", "page"]);
    build.args(["--target", TARGET, "--target-dir"]).arg(work);
    // A stack for deep call trees, 1 GiB of memory in total, and only instructions that every browser supports.
    let flags = ["-Clink-arg=-zstack-size=4194304", "-Clink-arg=--max-memory=1073741824", "-Ctarget-feature=+simd128"];
    // Messages of panics name source files; the page is shipped without the paths of this machine.
    let remaps = remaps().map(|remap| format!("--remap-path-prefix={remap}"));
    let flags: Vec<&str> = flags.into_iter().chain(remaps.iter().map(String::as_str)).collect();
    build.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    if !has_target() {
        let tools = Tools::unpacked(&work.join("toolchain"))?;
        // Without backtraces.
        build.args(["-Zbuild-std=std,panic_abort", "-Zbuild-std-features="]).env("RUSTC_BOOTSTRAP", "1");
        build.env("RUSTC", &tools.rustc).env("LD_LIBRARY_PATH", &tools.libraries);
        build.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", &tools.linker);
    }
    run_command(&mut build)?;
    Ok(work.join(TARGET).join("page/traceloom_viewer_wasm.wasm"))
}

fn has_target() -> bool {
    let folder = output_of(Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]));
    folder.is_ok_and(|folder| Path::new(folder.trim()).is_dir())
}

/// A Debian compiler that supports the target, and the source of its standard library.
struct Tools {
    rustc: PathBuf,
    linker: PathBuf,
    libraries: std::ffi::OsString,
}

impl Tools {
    /// Unpacks the packages, once; nothing is installed.
    fn unpacked(folder: &Path) -> Outcome<Self> {
        let (tree, done) = (folder.join("root"), folder.join("complete"));
        if !done.is_file() {
            if !succeeds("apt-get", &["--version"]) {
                return Err(format!("rustc lacks the target; run `rustup target add {TARGET}`"));
            }
            files::remove_folder(folder)?;
            files::make_folder(&tree)?;
            let library = needed_by("libstd-rust-web-dev", "libstd-rust-web-")?;
            let llvm = needed_by(&library, "libllvm")?;
            let linker = llvm.replace("libllvm", "lld-");
            let packages = ["rustc-web", "rust-web-src", "libstd-rust-web-dev", &library, &llvm, &linker];
            run_command(Command::new("apt-get").args(["download", "--quiet"]).args(packages).current_dir(folder))?;
            for package in files::list(folder)?.iter().filter(|file| file.extension().is_some_and(|end| end == "deb")) {
                run_command(Command::new("dpkg-deb").arg("-x").arg(package).arg(&tree))?;
                fs::remove_file(package).map_err(files::failed(package))?;
            }
            files::write(&done, linker)?;
        }
        let linker = files::read_text(&done)?;
        let llvm = tree.join("usr/lib").join(linker.replace("lld-", "llvm-"));
        let libraries = std::env::join_paths([tree.join("usr/lib/x86_64-linux-gnu"), llvm.join("lib")]);
        Ok(Self {
            rustc: tree.join("usr/bin/rustc"),
            linker: llvm.join("bin/wasm-ld"),
            libraries: libraries.map_err(|error| error.to_string())?,
        })
    }
}

/// The dependency of a package whose name has this prefix.
fn needed_by(package: &str, prefix: &str) -> Outcome<String> {
    let listed = output_of(Command::new("apt-cache").args(["depends", package]))?;
    let mut names = listed.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
    let found = names.find(|name| name.starts_with(prefix) && *name != package);
    found.map(str::to_owned).ok_or_else(|| format!("{package} is not known to apt-get; run `apt-get update`"))
}

/// Generates the JavaScript bindings; returns their folder.
fn bind(work: &Path, router: &Path) -> Outcome<PathBuf> {
    let (tools, bound) = (work.join("tools"), work.join("bound"));
    let version = locked("wasm-bindgen")?;
    let program = tools.join("bin/wasm-bindgen");
    let present = output_of(Command::new(&program).arg("--version")).unwrap_or_default();
    if !present.trim().ends_with(&version) {
        let mut install = cargo(&["install", "--quiet", "wasm-bindgen-cli", "--no-default-features"]);
        install.args(["--version", &version, "--bin", "wasm-bindgen", "--root"]).arg(&tools);
        let built = work.join("tools-build");
        run_command(install.arg("--target-dir").arg(&built))?;
        files::remove_folder(&built)?;
    }
    let mut bind = Command::new(&program);
    bind.args(["--target", "no-modules", "--no-typescript", "--remove-name-section"]);
    run_command(bind.args(["--out-name", "engine", "--out-dir"]).arg(&bound).arg(router))?;
    Ok(bound)
}

/// The version of a package in the lock file.
fn locked(package: &str) -> Outcome<String> {
    let list = files::read_text(&root().join("Cargo.lock"))?;
    let after = list.split_once(&format!("name = \"{package}\"\nversion = \"")).map(|(_, after)| after);
    let version = after.and_then(|after| after.split('"').next());
    version.map(str::to_owned).ok_or_else(|| format!("Cargo.lock does not name {package}"))
}

/// Builds the page around the router.
fn pack(bound: &Path, page: &Path) -> Outcome {
    let web = root().join("crates/viewer/web");
    if !web.join("node_modules/vite").is_dir() {
        let install = ["ci", "--loglevel=error", "--ignore-scripts", "--no-audit", "--no-fund"];
        // Windows starts only programs by this name, not scripts.
        let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
        run_command(Command::new(npm).args(install).current_dir(&web))?;
    }
    let mut node = Command::new("node");
    node.arg("page.mjs").arg(bound.join("engine.js")).arg(bound.join("engine_bg.wasm")).arg(page);
    run_command(node.current_dir(&web))
}

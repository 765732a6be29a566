//! `msrv`: checks the workspace with the oldest Rust that is supported.

use std::process::Command;

use crate::{
    Outcome, Subcommand, files,
    process::{output_of, root, run as run_command, workspace},
};

pub(crate) static SUBCOMMAND: Subcommand = Subcommand {
    name: "msrv",
    arguments: "",
    help: "\
Checks the workspace with the minimum supported Rust version, the rust-version of Cargo.toml.

rustup installs that toolchain if it is missing. If the current toolchain is that version, there is
nothing to do: `builds` and `test` have used it.",
    run,
};

fn run(arguments: &[String]) -> Outcome {
    if let Some(argument) = arguments.first() {
        return Err(format!("msrv accepts no arguments, but got {argument}"));
    }
    let oldest = rust_version(&files::read_text(&root().join("Cargo.toml"))?)?;
    let current = output_of(Command::new("rustc").arg("--version").current_dir(root()))?;
    if is_version(&current, &oldest) {
        eprintln!("xtask: this is Rust {oldest}, the oldest that is supported: {}", current.trim());
        return Ok(());
    }
    // Not the cargo that runs this, which belongs to its own toolchain.
    let mut check = Command::new("rustup");
    check.args(["run", "--install", &format!("{oldest}.0"), "cargo", "check", "--locked"]).args(workspace());
    run_command(check.current_dir(root()))
}

/// The version that the workspace promises to build with, such as `1.95`.
fn rust_version(manifest: &str) -> Outcome<String> {
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \"")?.strip_suffix('"'));
    version.map(str::to_owned).ok_or_else(|| "Cargo.toml states no rust-version".into())
}

/// Whether `rustc --version` names this version, in any patch release.
fn is_version(current: &str, version: &str) -> bool {
    let current = current.trim_start_matches("rustc ");
    current.strip_prefix(version).is_some_and(|rest| rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_version_is_told_from_newer_ones() {
        let version = rust_version("[workspace.package]\nrust-version = \"1.95\"\n").expect("it is there");
        assert!(is_version("rustc 1.95.2 (59807616e 2026-04-14)\n", &version));
        assert!(!is_version("rustc 1.96.0 (0123 2026-05-28)\n", &version));
        assert!(!is_version("rustc 1.950.0\n", &version));
        assert!(rust_version("[package]\n").is_err());
    }

    /// Pages and workflows name the version in other words than Cargo.toml does.
    #[test]
    fn every_page_and_workflow_names_the_same_version() {
        let read = |name: &str| files::read_text(&root().join(name)).expect("a file of the repository");
        let version = rust_version(&read("Cargo.toml")).expect("it is there");
        for (name, text) in [
            ("README.md", format!("Rust {version} or later")),
            ("RELEASING.md", format!("`RUSTUP_TOOLCHAIN={version}.0 cargo xtask dist`")),
            ("docs/faq.md", format!("\n{version} or later.")),
            (".github/workflows/release.yml", format!("RUSTUP_TOOLCHAIN: \"{version}.0\"")),
            (".github/workflows/release.yml", format!("\"rust:{version}-bookworm\"")),
        ] {
            assert!(read(name).contains(&text), "{name} does not say `{text}`");
        }
    }
}

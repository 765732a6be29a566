//! The installed files under a prefix: program, manual pages, completions, the page, libraries, headers.

use std::{path::Path, process::Command};

use super::{PROGRAM, Release};
use crate::{
    Outcome, files, native, page,
    process::{gzip, output_of, root, run},
};

/// Completion scripts: shell, and path.
const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "share/bash-completion/completions/traceloom"),
    ("zsh", "share/zsh/site-functions/_traceloom"),
    ("fish", "share/fish/vendor_completions.d/traceloom.fish"),
];
const TEXTS: &[&str] = &["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Fills the tree of a release from scratch.
pub(super) fn fill(release: &Release, program: &Path) -> Outcome {
    let tree = &release.tree;
    files::remove_folder(tree)?;
    let ask = |arguments: &[&str]| output_of(Command::new(program).args(arguments));
    files::copy(program, &tree.join("bin").join(PROGRAM))?;
    for (shell, place) in COMPLETIONS {
        files::write(&tree.join(place), ask(&["completions", shell])?)?;
    }
    let manual = |name: &str, page: String| -> Outcome {
        files::write(&tree.join(format!("share/man/man1/{name}.1.gz")), gzip(page.as_bytes())?)
    };
    manual("traceloom", ask(&["man"])?)?;
    for verb in verbs(&ask(&["--help"])?) {
        manual(&format!("traceloom-{verb}"), ask(&["man", &verb])?)?;
    }
    files::copy(&page::release()?, &tree.join("share/traceloom").join(page::WHOLE))?;
    for text in TEXTS {
        files::copy(&root().join(text), &tree.join("share/doc/traceloom").join(text))?;
    }
    if release.target.contains("linux") {
        // The libraries are loaded by dynamically linked programs, so they use the C library of the machine.
        let build = release.folder.join("build");
        run(release.reproducible(native::build().arg("--target-dir").arg(&build)))?;
        native::lay_out(&build.join("release"), tree)?;
    }
    Ok(())
}

/// The verbs listed in the help of the program.
fn verbs(help: &str) -> Vec<String> {
    let section = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = section.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").map(str::to_owned).collect()
}

/// Whether a program is statically linked, which means that it names no interpreter.
pub(super) fn is_static(program: &Path) -> Outcome<bool> {
    let bytes = files::read(program)?;
    let head = bytes.get(..4096).unwrap_or(&bytes);
    Ok(bytes.starts_with(b"\x7fELF") && !head.windows(4).any(|window| window == b"/ld-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verbs_are_those_of_the_help() {
        let help = "About\n\nCommands:\n  view   Show\n  advise Find\n               and evidence\n  help   Print\n\nOptions:\n";
        assert_eq!(verbs(help), ["view", "advise"]);
    }
}

//! `book`: builds the guide as a site.

use std::{path::Path, process::Command};

use crate::{
    Outcome, Subcommand, files, pages,
    process::{root, run as run_command, target_folder},
    tools::Tool,
};

pub(crate) static SUBCOMMAND: Subcommand = Subcommand {
    name: "book",
    arguments: "[--open]",
    help: "\
Builds the guide in docs/ as a site in target/book/html.

mdBook is built the first time, which takes a few minutes. Links to files outside docs/ point to
the repository. With --open, the site is opened in the browser. The tests check links and commands.",
    run,
};

static MDBOOK: Tool = Tool { name: "mdbook", version: "0.5.4", features: Some("search") };

fn run(arguments: &[String]) -> Outcome {
    let is_open = match arguments {
        [] => false,
        [flag] if flag == "--open" => true,
        _ => return Err("book accepts only --open".into()),
    };
    let mdbook = MDBOOK.path()?;
    let folder = target_folder().join("book");
    files::remove_folder(&folder)?;
    let docs = root().join("docs");
    for path in files::walk(&docs)? {
        let name = path.strip_prefix(&docs).unwrap_or(&path);
        let place = if name == Path::new("book.toml") { folder.join(name) } else { folder.join("src").join(name) };
        if path.extension().is_some_and(|extension| extension == "md") {
            files::write(&place, outward(&files::read_text(&path)?, name))?;
        } else {
            files::copy(&path, &place)?;
        }
    }
    let mut command = Command::new(mdbook);
    command.arg("build").arg(&folder);
    if is_open {
        command.arg("--open");
    }
    run_command(&mut command)?;
    eprintln!("xtask: the guide is {}", folder.join("html/index.html").display());
    Ok(())
}

/// The URL of the repository for readers of the site.
const REPOSITORY: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/");

/// Turns links to files outside `docs` into links to the repository.
fn outward(page: &str, name: &Path) -> String {
    let depth = name.components().count();
    let mut out = page.to_owned();
    for link in pages::links(page) {
        let ups = link.split('/').take_while(|part| *part == "..").count();
        if ups >= depth {
            let rest = link.trim_start_matches("../");
            out = out.replace(&format!("]({link})"), &format!("]({REPOSITORY}{rest})"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_out_of_the_guide_lead_to_the_repository() {
        let page = "[a](../README.md) [b](tables.md) [c](../crates/x)";
        let expected = format!("[a]({REPOSITORY}README.md) [b](tables.md) [c]({REPOSITORY}crates/x)");
        assert_eq!(outward(page, Path::new("sql.md")), expected);
        assert_eq!(outward("[a](../sql.md)", Path::new("start/prof.md")), "[a](../sql.md)");
    }
}

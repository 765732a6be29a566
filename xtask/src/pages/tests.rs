//! Links are valid, the guide lists all of its pages, and the reference matches the program.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
};

use super::{links, prose};
use crate::{files, find, process::root};

/// All pages of the repository that people read.
pub(super) fn pages() -> Vec<PathBuf> {
    let root = root();
    let mut pages: Vec<PathBuf> = files::list(&root).expect("the root is there");
    for folder in ["docs", "xtask", "benches", "fixtures", "python", ".github"] {
        pages.extend(files::walk(&root.join(folder)).expect("a folder of the repository"));
    }
    for folder in ["crates", "crates/formats"] {
        let crates = files::list(&root.join(folder)).expect("a folder of the repository");
        pages.extend(crates.into_iter().map(|path| path.join("README.md")).filter(|path| path.is_file()));
    }
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages
}

fn read(path: &Path) -> String {
    files::read_text(path).expect("a page is text")
}

/// The anchors that Markdown viewers generate from the headings.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut is_code = false;
    let mut anchors = BTreeSet::new();
    for line in page.lines() {
        is_code ^= line.starts_with("```");
        let Some(heading) = line.strip_prefix('#').filter(|_| !is_code) else { continue };
        let kept = heading.trim_start_matches('#').trim().chars();
        let kept: String = kept.filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter)).collect();
        anchors.insert(kept.to_lowercase().replace(' ', "-"));
    }
    anchors
}

#[test]
fn every_link_leads_somewhere() {
    let mut dead = Vec::new();
    for page in pages() {
        let text = read(&page);
        for link in links(&text).iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { page.clone() } else { page.with_file_name(path) };
            let is_dead = !target.exists()
                || (!anchor.is_empty() && !anchors(&fs::read_to_string(&target).unwrap_or_default()).contains(anchor));
            if is_dead {
                dead.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(dead.is_empty(), "these links lead nowhere:\n{}", dead.join("\n"));
}

#[test]
fn the_guide_lists_every_page_once() {
    let docs = root().join("docs");
    let mut listed = links(&read(&docs.join("SUMMARY.md")));
    listed.sort();
    let pages = pages().into_iter().filter_map(|page| Some(page.strip_prefix(&docs).ok()?.to_owned()));
    let pages = pages.map(|page| page.to_string_lossy().replace('\\', "/"));
    let mut expected: Vec<String> = pages.filter(|page| page != "SUMMARY.md" && page != "images/README.md").collect();
    expected.sort();
    assert_eq!(listed, expected);
}

#[test]
fn the_reference_of_the_verbs_is_what_the_program_prints() {
    let help = read(&root().join("crates/cli/tests/snapshots/help.txt"));
    let mut page = String::from(
        "# Verbs\n\nWhat `traceloom --help` and `traceloom VERB --help` print. This page is generated: `cargo xtask bless -p xtask`.\n",
    );
    for (number, section) in help.split("\n---- ").enumerate() {
        let (title, text) = match number {
            0 => ("traceloom", section),
            _ => section.split_once('\n').expect("a name and its help"),
        };
        let text: Vec<&str> = text.trim_end().lines().map(str::trim_end).collect();
        page.push_str(&format!("\n## {title}\n\n```text\n{}\n```\n", text.join("\n")));
    }
    let place = root().join("docs/reference/verbs.md");
    if env::var_os("TRACELOOM_BLESS").is_some() {
        files::write(&place, &page).expect("the page is written");
    }
    assert!(read(&place) == page, "docs/reference/verbs.md is not fresh: cargo xtask bless -p xtask");
}

/// The words after each occurrence of a command, to the end of its line or code.
fn arguments<'t>(text: &'t str, command: &str) -> Vec<Vec<&'t str>> {
    let rests = text.match_indices(command).map(|(at, _)| &text[at + command.len()..]);
    let lines = rests.filter_map(|rest| rest.split(['`', '\n', '#', ',', ';', '"']).next());
    lines.map(|line| line.split_whitespace().collect()).collect()
}

#[test]
fn commands_of_cargo_exist() {
    let mut paths = pages();
    paths.extend(files::walk(&root().join(".github")).expect("a folder of the repository"));
    paths.push(root().join(".ci/run"));
    let packages = read(&root().join("Cargo.lock"));
    let (mut wrong, mut count) = (Vec::new(), 0);
    for path in paths {
        let text = read(&path);
        for words in arguments(&text, "cargo xtask ") {
            let Some((name, rest)) = words.split_first() else { continue };
            // `bless` and `wheel` pass other options on.
            let is_known = find(name).is_ok_and(|it| {
                let help = format!("{} {}", it.arguments, it.help);
                matches!(*name, "bless" | "wheel")
                    || rest.iter().all(|word| !word.starts_with("--") || help.contains(word))
            });
            wrong.extend((!is_known).then(|| format!("{}: cargo xtask {}", path.display(), words.join(" "))));
            count += 1;
        }
        for words in [arguments(&text, " -p "), arguments(&text, " --package ")].concat() {
            let Some(package) = words.first().filter(|word| word.starts_with("traceloom")) else { continue };
            let is_known = packages.contains(&format!("name = \"{package}\"\n"));
            wrong.extend((!is_known).then(|| format!("{}: package {package}", path.display())));
            count += 1;
        }
    }
    assert!(wrong.is_empty(), "these commands do not exist:\n{}", wrong.join("\n"));
    assert!(count > 60, "{count}");
}

#[test]
fn code_is_not_prose() {
    let page = "see [a](b.md) and `[x](y)`\n```\n[c](d)\n```\n[e](f.md#g)\n";
    assert_eq!(links(page), ["b.md", "f.md#g"]);
    assert_eq!(prose(page).lines().count(), 5);
}

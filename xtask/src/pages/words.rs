//! One word per concept: pages and messages avoid the words that were replaced.

use std::path::PathBuf;

use super::{prose, tests::pages};
use crate::{files, process::root};

/// Phrases that read as if translated, and their replacements. A phrase is delimited by spaces or punctuation.
const REPLACED: &[(&str, &str)] = &[
    ("all alike", "the same"),
    ("anew", "again, from scratch"),
    ("as it stands", "unchanged"),
    ("beside", "next to, besides"),
    ("by way of", "through"),
    ("dies of", "dies at, crashes on"),
    ("go on", "continue"),
    ("goes on", "continues"),
    ("hands over", "passes"),
    ("in consequence", "therefore"),
    ("in turns", "alternating"),
    ("inside of", "inside"),
    ("is no file", "is not a file"),
    ("is no json", "is not JSON"),
    ("is no multiple", "is not a multiple"),
    ("is no number", "is not a number"),
    ("is no object", "is not an object"),
    ("is no trace", "is not a trace"),
    ("its begin", "its start"),
    ("looked for", "searched for, expected"),
    ("mostly", "usually"),
    ("of its own", "its own, separate"),
    ("of their own", "their own, separate"),
    ("passed over", "skipped, ignored"),
    ("save for", "except"),
    ("sticks out", "exceeds, extends beyond"),
    ("stretch", "range"),
    ("stretches", "ranges"),
    ("taken for", "read as, mistaken for"),
    ("takes for", "reads as, mistakes for"),
    ("tell apart", "distinguish"),
    ("tells apart", "distinguishes"),
    ("the begin", "the start"),
    ("the original", "the name of the tool"),
    ("to the byte", "byte for byte"),
    ("told", "reported, listed, distinguished"),
    ("what is missing", "the missing fields, the losses"),
    ("what is there", "the existing records"),
    ("what is wrong with it", "problems"),
    ("what survives what", "what survives a crash"),
    ("who asks", "if you query"),
    ("whoever", "if somebody"),
];
/// Phrases that messages must not contain.
const IN_MESSAGES: &[&str] = &[
    "anew",
    "are no",
    "are told",
    "beside",
    "inside of",
    "is no",
    "is told",
    "of its own",
    "of their own",
    "stretch",
    "tells apart",
    "the original",
    "there is no",
    "told apart",
    "whoever",
];

/// Parts of words in British spelling.
const BRITISH: &[&str] = &[
    "analyse",
    "behaviour",
    "colour",
    "favour",
    "initialis",
    "licences",
    "neighbour",
    "normalis",
    "optimis",
    "recognis",
    "serialis",
    "summaris",
    "travelled",
    "visualis",
];

fn contains(text: &str, phrase: &str) -> bool {
    let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    text.match_indices(phrase).any(|(at, _)| {
        !is_letter(text[..at].chars().next_back()) && !is_letter(text[at + phrase.len()..].chars().next())
    })
}

#[test]
fn pages_use_the_words_of_the_project() {
    let mut found = Vec::new();
    for page in pages() {
        let text = prose(&files::read_text(&page).expect("a page is text")).to_lowercase();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (number, line) in lines.iter().enumerate() {
            // A phrase may continue on the next line.
            let next = lines.get(number + 1).copied().unwrap_or_default();
            let both = format!("{line} {next}");
            let starts_here = |phrase: &str| contains(&both, phrase) && !contains(next, phrase);
            for (phrase, instead) in REPLACED.iter().filter(|(phrase, _)| contains(line, phrase) || starts_here(phrase))
            {
                found.push(format!("{}:{}: `{phrase}`; write {instead}", page.display(), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{} phrases:\n{}", found.len(), found.join("\n"));
}

#[test]
fn messages_use_the_words_of_the_project() {
    let mut found = Vec::new();
    for path in files::walk(&root().join("crates")).expect("the crates are there") {
        let is_in = |folder: &str| path.components().any(|part| part.as_os_str() == folder);
        let is_source = path.extension().is_some_and(|extension| extension == "rs");
        if !is_source || !is_in("src") || is_in("testkit") {
            continue;
        }
        let text = files::read_text(&path).expect("source is text");
        // Messages of tests are only for developers.
        let messages = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for (number, line) in messages.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            // Every second part is between quotation marks; strings that span lines are not checked.
            let strings = line.split('"').skip(1).step_by(2).collect::<Vec<_>>().join(" ").to_lowercase();
            for phrase in IN_MESSAGES.iter().filter(|phrase| contains(&strings, phrase)) {
                found.push(format!("{}:{}: `{phrase}`", path.display(), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{} phrases:\n{}", found.len(), found.join("\n"));
}

/// All texts written by people: sources, pages and scripts.
fn texts() -> Vec<PathBuf> {
    let mut texts = files::list(&root()).expect("the root is there");
    for folder in ["benches", "crates", "docs", "fuzz/fuzz_targets", "fuzz/src", "python", "xtask"] {
        texts.extend(files::walk(&root().join(folder)).expect("a folder of the repository"));
    }
    let is_text = |path: &PathBuf| {
        path.extension().is_some_and(|found| {
            ["c", "css", "h", "md", "mjs", "py", "rs", "toml", "ts"].iter().any(|one| found == *one)
        })
    };
    let is_ours = |path: &PathBuf| {
        let others = ["node_modules", "dist", "target", "traceloom.data"];
        !path.ends_with(file!()) && !path.components().any(|part| others.iter().any(|other| part.as_os_str() == *other))
    };
    texts.into_iter().filter(|path| is_text(path) && is_ours(path)).collect()
}

#[test]
fn spelling_is_american() {
    let mut found = Vec::new();
    for path in texts() {
        let text = files::read_text(&path).expect("a source is text").to_lowercase();
        for (number, line) in text.lines().enumerate() {
            for part in BRITISH.iter().filter(|part| line.contains(**part)) {
                found.push(format!("{}:{}: `{part}`", path.display(), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{} words:\n{}", found.len(), found.join("\n"));
}

#[test]
fn a_phrase_is_a_whole_word() {
    assert!(contains("it stands beside the lane", "beside"));
    assert!(!contains("besides, it works", "beside"));
}

//! One word per concept: pages, help, messages and comments avoid the words that were replaced.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use super::{prose, tests::pages};
use crate::{files, process::root};

/// Phrases that read as if translated, and their replacements. A phrase is delimited by spaces or punctuation.
const REPLACED: &[(&str, &str)] = &[
    ("all alike", "the same"),
    ("anew", "again, from scratch"),
    ("announced", "declared, planned"),
    ("announces", "declares, plans"),
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
    ("the fact that", "that, because"),
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
    "announces",
    "are no",
    "are told",
    "as own",
    "beside",
    "cannot be right",
    "inside of",
    "is called",
    "is no",
    "is told",
    "makes sense",
    "of its own",
    "of the unknown",
    "of their own",
    "own time",
    "stretch",
    "tells apart",
    "the fact that",
    "the original",
    "there is no",
    "told apart",
    "whoever",
];

/// Phrases that comments must not contain, and their replacements. Shorter than [`REPLACED`], because comments also name
/// identifiers and speak of code.
const IN_COMMENTS: &[(&str, &str)] = &[
    ("all alike", "the same"),
    ("anew", "again, from scratch"),
    ("announces", "declares, plans"),
    ("any more", "anymore, no longer"),
    ("as it stands", "unchanged"),
    ("as well as it can", "as far as possible"),
    ("at one stroke", "at once, atomically"),
    ("belong into", "belong in"),
    ("beside", "next to, besides"),
    ("by way of", "through"),
    ("come along", "are included"),
    ("comes along", "is included"),
    ("dies of", "dies at, crashes on"),
    ("for ever", "forever"),
    ("given up", "closed, canceled, dropped"),
    ("gives how", "returns the number of"),
    ("go on", "continue"),
    ("goes on", "continues"),
    ("handed over", "passed"),
    ("hands over", "passes"),
    ("has to say", "reports"),
    ("in consequence", "therefore"),
    ("inside of", "inside"),
    ("is what it is", "the reason"),
    ("its begin", "its start"),
    ("looked for", "searched for, expected"),
    ("of one's own", "separate, custom"),
    ("of our own", "separate"),
    ("of their own", "their own, separate"),
    ("of your own", "custom"),
    ("outside of", "outside"),
    ("passed over", "skipped, ignored"),
    ("save for", "except"),
    ("stands for", "means, represents"),
    ("sticks out", "exceeds, extends beyond"),
    ("stretch", "range"),
    ("stretches", "ranges"),
    ("taken for", "read as, mistaken for"),
    ("takes part", "is included"),
    ("tell apart", "distinguish"),
    ("tells apart", "distinguishes"),
    ("the begin", "the start"),
    ("the slow way", "the slow path"),
    ("the thread that asked", "the calling thread"),
    ("told apart", "distinguished"),
    ("told otherwise", "default:"),
    ("what became of", "the outcome of"),
    ("what comes next", "the next records"),
    ("what is asked for", "the request"),
    ("what is known of", "details, facts, state"),
    ("what is there", "the existing records"),
    ("what is wrong with it", "problems"),
    ("what lies", "the contents of"),
    ("where nothing", "if nothing"),
    ("where there is", "if there is"),
    ("who asks", "if you query"),
    ("whoever", "if somebody"),
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

/// Numbered lines.
type Lines = Vec<(usize, String)>;

/// Every use of a phrase, with its position and replacement; a phrase may continue on the next line.
fn uses(path: &Path, lines: &[(usize, String)], phrases: &[(&str, &str)]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, (number, line)) in lines.iter().enumerate() {
        let next = lines.get(at + 1).filter(|(next, _)| *next == number + 1).map_or("", |(_, text)| text.as_str());
        let both = format!("{line} {next}");
        let starts_here = |phrase: &str| contains(line, phrase) || (contains(&both, phrase) && !contains(next, phrase));
        for (phrase, instead) in phrases.iter().filter(|(phrase, _)| starts_here(phrase)) {
            found.push(format!("{}:{number}: `{phrase}`; write {instead}", path.display()));
        }
    }
    found
}

/// All lines in lowercase.
fn lines(text: &str) -> Lines {
    text.lines().enumerate().map(|(number, line)| (number + 1, line.trim().to_lowercase())).collect()
}

/// Comments in lowercase, without code between backticks.
fn comments(text: &str, extension: &str) -> Lines {
    let marks: &[&str] = match extension {
        "py" | "toml" => &["#"],
        "rs" => &["//"],
        _ => &["//", "/*", "* "],
    };
    let is_comment = |line: &str| marks.iter().any(|mark| line.starts_with(mark));
    let prose = |line: &str| {
        let text = line.trim_start_matches(['/', '!', '*', '#', ' ']);
        // Every second part is between backticks.
        text.split('`').step_by(2).collect::<Vec<_>>().join(" ").to_lowercase()
    };
    let numbered = text.lines().map(str::trim).enumerate().filter(|(_, line)| is_comment(line));
    numbered.map(|(number, line)| (number + 1, prose(line))).collect()
}

/// The strings of Rust or TypeScript in lowercase, each with the line on which it starts.
fn strings(text: &str, extension: &str) -> Lines {
    if extension == "rs" { strings_of_rust(text) } else { strings_of_typescript(text) }
}

/// All strings of a line are one; strings that span lines are left out.
fn strings_of_typescript(text: &str) -> Lines {
    let is_comment = |line: &str| ["//", "/*", "* "].iter().any(|mark| line.trim_start().starts_with(mark));
    let numbered = text.lines().enumerate().filter(|(_, line)| !is_comment(line));
    // Every second part is between quotation marks.
    let strings = |line: &str| line.replace('`', "\"").split('"').skip(1).step_by(2).collect::<Vec<_>>().join(" ");
    numbered.map(|(number, line)| (number + 1, strings(line).to_lowercase())).collect()
}

/// A string that spans lines is joined.
fn strings_of_rust(text: &str) -> Lines {
    let (mut found, mut rest, mut number) = (Vec::new(), text, 1);
    while let Some(letter) = rest.chars().next() {
        let (string, length) = match letter {
            '/' if rest.starts_with("//") => (None, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => (None, rest.find("*/").map_or(rest.len(), |end| end + 2)),
            '"' => quoted(rest),
            '\'' => (None, letter_len(rest)),
            'r' => raw(rest).unwrap_or((None, 1)),
            _ => (None, letter.len_utf8()),
        };
        found.extend(string.map(|string| (number, joined(string).to_lowercase())));
        number += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    found
}

/// The string that starts here, and its length with quotation marks.
fn quoted(rest: &str) -> (Option<&str>, usize) {
    let mut is_escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        match letter {
            '"' if !is_escaped => return (Some(&rest[1..at]), at + 1),
            _ => is_escaped = letter == '\\' && !is_escaped,
        }
    }
    (None, rest.len())
}

/// The same for a raw string.
fn raw(rest: &str) -> Option<(Option<&str>, usize)> {
    let hashes: String = rest[1..].chars().take_while(|letter| *letter == '#').collect();
    let start = 2 + hashes.len();
    rest.get(start - 1..start).filter(|mark| *mark == "\"")?;
    let end = start + rest[start..].find(&format!("\"{hashes}"))?;
    Some((Some(&rest[start..end]), end + 1 + hashes.len()))
}

/// The length of a quoted character, or of the mark of a lifetime.
fn letter_len(rest: &str) -> usize {
    let mut letters = rest.char_indices().skip(1);
    match (letters.next(), letters.next()) {
        (Some((_, '\\')), Some((at, escaped))) => {
            let from = at + escaped.len_utf8();
            rest[from..].find('\'').map_or(rest.len(), |end| from + end + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

/// The lines of a string as one line.
fn joined(string: &str) -> String {
    let mut lines = string.split('\n');
    let mut joined = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        match joined.strip_suffix('\\') {
            Some(continued) => joined.truncate(continued.len()),
            None => joined.push(' '),
        }
        joined.push_str(line.trim_start());
    }
    joined
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(OsStr::to_str).unwrap_or_default()
}

fn read(path: &Path) -> String {
    files::read_text(path).expect("a source is text")
}

fn assert_none(found: &[String]) {
    assert!(found.is_empty(), "{} phrases:\n{}", found.len(), found.join("\n"));
}

#[test]
fn pages_use_the_words_of_the_project() {
    let found = pages().into_iter().flat_map(|page| uses(&page, &lines(&prose(&read(&page))), REPLACED));
    assert_none(&found.collect::<Vec<_>>());
}

#[test]
fn help_uses_the_words_of_the_project() {
    let sources = root().join("crates/cli/src");
    let arguments = files::walk(&sources.join("args")).expect("the arguments are there");
    let in_messages: Vec<(&str, &str)> = IN_MESSAGES.iter().map(|phrase| (*phrase, "something else")).collect();
    let found = arguments.iter().flat_map(|path| {
        let lines = lines(&read(path));
        [uses(path, &lines, REPLACED), uses(path, &lines, &in_messages)].concat()
    });
    assert_none(&found.collect::<Vec<_>>());
}

#[test]
fn messages_use_the_words_of_the_project() {
    let mut found = Vec::new();
    for path in files::walk(&root().join("crates")).expect("the crates are there") {
        let is_in = |folder: &str| path.components().any(|part| part.as_os_str() == folder);
        let extension = extension(&path);
        let is_message = ["rs", "ts"].contains(&extension) && !path.to_string_lossy().ends_with(".test.ts");
        if !is_message || !is_in("src") || is_in("testkit") || is_in("node_modules") {
            continue;
        }
        let text = read(&path);
        // Messages of tests are only for developers.
        let messages = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for (number, mut string) in strings(messages, extension) {
            if extension == "ts" {
                string = string.replace("there are no ", "");
            }
            for phrase in IN_MESSAGES.iter().filter(|phrase| contains(&string, phrase)) {
                found.push(format!("{}:{number}: `{phrase}`", path.display()));
            }
        }
    }
    assert_none(&found);
}

#[test]
fn comments_use_the_words_of_the_project() {
    let sources = texts().into_iter().filter(|path| extension(path) != "md");
    let found = sources.flat_map(|path| uses(&path, &comments(&read(&path), extension(&path)), IN_COMMENTS));
    assert_none(&found.collect::<Vec<_>>());
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
        let text = read(&path).to_lowercase();
        for (number, line) in text.lines().enumerate() {
            for part in BRITISH.iter().filter(|part| line.contains(**part)) {
                found.push(format!("{}:{}: `{part}`", path.display(), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{} words:\n{}", found.len(), found.join("\n"));
}

#[test]
fn phrases_are_found_in_comments_and_strings() {
    let source = "/// Writes what\n/// is there; `anew` is code.\nlet message = \"anew\";\n// Goes on.\n";
    let found = uses(Path::new("a.rs"), &comments(source, "rs"), IN_COMMENTS);
    let expected = ["a.rs:1: `what is there`; write the existing records", "a.rs:4: `goes on`; write continues"];
    assert_eq!(found, expected);
    assert_eq!(comments("/** A */\n * b\n*c = 1;", "ts"), [(1, "a */".to_owned()), (2, "b".to_owned())]);
    assert_eq!(strings("note(`It is no ${name}`, \"Anew\")", "ts"), [(1, "it is no ${name} anew".to_owned())]);
}

#[test]
fn strings_that_span_lines_are_found() {
    let source = r##"
        // "A comment" isn't one, nor is '"', '\"' or the lifetime in &'a str.
        note("It \"is \
              no\" trace", b"Anew");
        let (mark, escaped) = ('"', '\'');
        note(r#"a "raw"
            one"#);
    "##;
    let expected = [(3, r#"it \"is no\" trace"#), (4, "anew"), (6, r#"a "raw" one"#)];
    let found = strings(source, "rs");
    assert_eq!(found, expected.map(|(number, string)| (number, string.to_owned())));
}

#[test]
fn a_phrase_is_a_whole_word() {
    assert!(contains("it stands beside the lane", "beside"));
    assert!(!contains("besides, it works", "beside"));
}

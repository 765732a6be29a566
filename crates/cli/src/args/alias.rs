//! Aliases of verbs, and the verb to use if only a file is given.

use std::{ffi::OsString, path::Path};

use traceloom_core::{Error, Result};

use super::command;

/// Aliases of verbs, with arguments that the user may override.
static ALIASES: &[(&str, &[&str])] = &[
    ("grep", &["log", "--grep"]),
    ("open", &["view"]),
    ("serve", &["view", "--no-open"]),
    ("tail", &["log", "--tail", "20"]),
    ("version", &["--version"]),
];

/// Words that users may try, and the verb that each of them means.
static MEANT: &[(&str, &str)] = &[
    ("cat", "log"),
    ("compare", "diff"),
    ("cut", "slice"),
    ("export", "convert"),
    ("fix", "repair"),
    ("gui", "view"),
    ("join", "merge"),
    ("leaks", "memory"),
    ("list", "info"),
    ("print", "dump"),
    ("show", "view"),
    ("sql", "query"),
    ("ui", "view"),
    ("validate", "check"),
    ("verify", "check"),
];

/// Replaces aliases of verbs. `traceloom FILE` becomes `traceloom VERB FILE`, with the given default verb.
pub(crate) fn with_verb(arguments: impl Iterator<Item = OsString>, verb: &str) -> Result<Vec<OsString>> {
    let mut arguments: Vec<OsString> = arguments.collect();
    let Some(first) = arguments.get(1).map(|first| first.to_string_lossy().into_owned()) else { return Ok(arguments) };
    if let Some((_, words)) = ALIASES.iter().find(|(alias, _)| *alias == first) {
        let option = words.get(1).copied().unwrap_or_default();
        let is_given = arguments.iter().any(|argument| argument.to_string_lossy().starts_with(option));
        let words = if option.starts_with("--") && is_given { words.get(..1).unwrap_or_default() } else { *words };
        arguments.splice(1..2, words.iter().map(OsString::from));
        return Ok(arguments);
    }
    let is_verb = first == "help" || command().get_subcommands().any(|verb| first == verb.get_name());
    if is_verb || first.starts_with('-') && first != "-" {
        return Ok(arguments);
    }
    if first.contains(['.', '/', '\\']) || first == "-" || Path::new(&first).exists() {
        arguments.insert(1, verb.into());
    } else if let Some((_, meant)) = MEANT.iter().find(|(word, _)| *word == first) {
        return Err(Error::usage(format!("unknown verb `{first}`; did you mean `traceloom {meant}`?")));
    }
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_alone_is_shown() {
        let words = |words: &[&str]| with_verb(words.iter().map(OsString::from), "view").expect("a verb");
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert_eq!(words(&["traceloom", file]), ["traceloom", "view", file]);
        assert_eq!(words(&["traceloom", file, file]), ["traceloom", "view", file, file]);
        assert_eq!(words(&["traceloom", "check", file]), ["traceloom", "check", file]);
        assert_eq!(words(&["traceloom", "--help"]), ["traceloom", "--help"]);
        assert_eq!(words(&["traceloom", "missing.prof"]), ["traceloom", "view", "missing.prof"]);
        assert_eq!(words(&["traceloom", "src"]), ["traceloom", "view", "src"]);
        assert_eq!(words(&["traceloom", "frobnicate"]), ["traceloom", "frobnicate"]);
    }

    #[test]
    fn other_names_stand_for_verbs() {
        let words =
            |line: &str| with_verb(line.split(' ').map(OsString::from), "view").map(|words| words.join(" ".as_ref()));
        let is = |line: &str, meant: &str| assert_eq!(words(line).expect("a verb"), meant);
        is("traceloom tail a", "traceloom log --tail 20 a");
        is("traceloom tail --tail 5 a", "traceloom log --tail 5 a");
        is("traceloom grep x a", "traceloom log --grep x a");
        is("traceloom open a", "traceloom view a");
        is("traceloom serve a", "traceloom view --no-open a");
        is("traceloom version", "traceloom --version");
        assert!(words("traceloom list a").is_err_and(|error| error.to_string().contains("traceloom info")));
        for (word, meant) in MEANT {
            assert!(command().find_subcommand(meant).is_some() && command().find_subcommand(word).is_none(), "{word}");
        }
    }
}

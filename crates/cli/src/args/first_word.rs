//! The verb to use if only a file is given, and the verbs that other words mean.

use std::{ffi::OsString, path::Path};

use traceloom_core::{Error, Result};

use super::command;

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

/// `traceloom FILE` becomes `traceloom VERB FILE`, with the given default verb; a word that means a verb is refused with
/// its name.
pub(crate) fn with_verb(arguments: impl Iterator<Item = OsString>, verb: &str) -> Result<Vec<OsString>> {
    let mut arguments: Vec<OsString> = arguments.collect();
    let program = command();
    let Some(index) = first_word(&program, &arguments) else { return Ok(arguments) };
    let first = arguments[index].to_string_lossy().into_owned();
    if first == "help" || program.find_subcommand(&first).is_some() {
        return Ok(arguments);
    }
    if first.contains(['.', '/', '\\']) || first == "-" || Path::new(&first).exists() {
        arguments.insert(index, verb.into());
    } else if let Some((_, meant)) = MEANT.iter().find(|(word, _)| *word == first) {
        return Err(Error::usage(format!("unknown verb `{first}`; did you mean `traceloom {meant}`?")));
    }
    Ok(arguments)
}

/// The index of the first argument that is neither an option nor the value of a global option.
fn first_word(program: &clap::Command, arguments: &[OsString]) -> Option<usize> {
    let has_value = |option: &str| {
        let long = option.strip_prefix("--");
        let known = program.get_arguments().find(|known| known.get_long().is_some_and(|name| Some(name) == long));
        known.is_some_and(|known| known.get_action().takes_values())
    };
    let mut index = 1;
    loop {
        let argument = arguments.get(index)?.to_string_lossy();
        match argument.as_ref() {
            "--" => return None,
            option if option != "-" && option.starts_with('-') => index += if has_value(option) { 2 } else { 1 },
            _ => return Some(index),
        }
    }
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
    fn options_may_precede_the_file() {
        let words =
            |line: &str| with_verb(line.split(' ').map(OsString::from), "view").map(|words| words.join(" ".as_ref()));
        let is = |line: &str, meant: &str| assert_eq!(words(line).expect("a verb"), meant);
        is("traceloom -q a.prof", "traceloom -q view a.prof");
        is("traceloom --color never --threads=2 a.prof", "traceloom --color never --threads=2 view a.prof");
        is("traceloom --color always -", "traceloom --color always view -");
        is("traceloom --threads 2 check a.prof", "traceloom --threads 2 check a.prof");
        is("traceloom -- a.prof", "traceloom -- a.prof");
        is("traceloom --color", "traceloom --color");
        for line in ["traceloom list a", "traceloom -q list a"] {
            assert!(words(line).is_err_and(|error| error.to_string().contains("traceloom info")), "{line}");
        }
    }

    #[test]
    fn the_meant_verbs_are_verbs() {
        for (word, meant) in MEANT {
            assert!(command().find_subcommand(meant).is_some() && command().find_subcommand(word).is_none(), "{word}");
        }
    }
}

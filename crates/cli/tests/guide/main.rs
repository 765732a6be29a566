//! Every command of the guide and the README works, and prints the output shown on the page.

mod folder;
mod pages;

use std::{collections::BTreeMap, env, fs};

use folder::Folder;
use pages::{in_blocks, in_text, pages};

/// Commands that cannot run here: a part of them that no other command has, and the reason. Their options are checked.
const NOT_RUN: &[(&str, &str)] = &[
    ("cargo build", "takes a quarter of an hour"),
    ("cargo install", "takes ten minutes"),
    ("python -m traceloom", "the tests of the Python package run it"),
    ("nytprofhtml", "a tool of Devel::NYTProf"),
    ("traceloom capture", "needs a running program that uses EasyProfiler"),
    ("traceloom top 127.0.0.1", "needs a running program"),
    ("traceloom view", "serves a page until it is interrupted"),
    ("traceloom mcp", "serves a client until it leaves"),
    ("traceloom-cluster", "runs until it is interrupted"),
    (" --cluster ", "needs a cluster"),
    (" --interactive ", "needs the page without a server; the step `page` of the tests builds and runs it"),
    ("*.parquet'", "a query for DuckDB; a test of the Python package runs it on a store"),
];

/// Why a command is not run, if it is not.
fn not_run(command: &str) -> Option<&'static str> {
    NOT_RUN.iter().map(|(part, _)| *part).find(|part| command.contains(part))
}

#[test]
fn every_command_of_the_guide_prints_what_the_page_shows() {
    let samples = Folder::new();
    let mut stale = Vec::<String>::new();
    for (path, page) in pages().into_iter().filter(|(_, page)| page.contains("```console\n")) {
        let folder = samples.copy();
        let fresh =
            with_outputs(&page, |line| String::from_utf8(folder.run(&format!("{line} 2>&1")).stdout).expect("UTF-8"));
        if env::var_os("TRACELOOM_BLESS").is_some() {
            fs::write(&path, &fresh).expect("the page is written");
        }
        let changed = page.lines().zip(fresh.lines()).find(|(old, new)| old != new);
        stale.extend((page != fresh).then(|| format!("{}: {changed:?}", path.display())));
    }
    assert!(stale.is_empty(), "pages whose output changed:\n{}", stale.join("\n"));
}

/// The page with the current output of each command in its `console` blocks. A last line `…` represents the rest of an
/// output.
fn with_outputs(page: &str, run: impl Fn(&str) -> String) -> String {
    let mut lines = page.lines().peekable();
    let mut out = Vec::new();
    let mut is_console = false;
    while let Some(line) = lines.next() {
        out.push(line.to_owned());
        is_console = (is_console || line == "```console") && line != "```";
        let Some(command) = line.strip_prefix("$ ").filter(|_| is_console) else { continue };
        let mut shown = Vec::new();
        while let Some(next) = lines.next_if(|next| !next.starts_with("$ ") && *next != "```") {
            shown.push(next);
        }
        if not_run(command).is_some() {
            out.extend(shown.into_iter().map(str::to_owned));
            continue;
        }
        let printed = run(command);
        let printed = printed.trim_end().lines().map(str::trim_end);
        let is_cut = shown.last() == Some(&"…");
        let count = if is_cut { shown.len() - 1 } else { usize::MAX };
        out.extend(printed.take(count).map(str::to_owned));
        if is_cut {
            out.push("…".into());
        }
    }
    out.push(String::new());
    out.join("\n")
}

#[test]
fn every_command_in_a_block_of_the_guide_runs() {
    let (samples, mut helps) = (Folder::new(), Helps::default());
    let (mut failed, mut count) = (Vec::new(), 0);
    for (path, page) in pages() {
        // A test of `query` runs the examples of that page.
        let commands = if path.ends_with("docs/sql.md") { Vec::new() } else { in_blocks(&page) };
        let folder = if commands.is_empty() { continue } else { samples.copy() };
        for command in commands {
            let problem = match not_run(&command) {
                Some(_) => helps.problem(&folder, &command),
                // The test above compares the output of `console`; these commands may report a damaged file.
                None if page.contains(&format!("\n$ {command}\n")) => {
                    folder.run(&command);
                    None
                }
                None => problem_of(&folder, &command),
            };
            failed.extend(problem.map(|problem| format!("{}: {command}: {problem}", path.display())));
            count += 1;
        }
    }
    assert!(failed.is_empty(), "commands that fail:\n{}", failed.join("\n"));
    assert!(count > 80, "{count}");
}

#[test]
fn commands_that_are_not_run_are_on_some_page() {
    let of_page = |(_, page): (_, String)| [in_blocks(&page), in_text(&page)].concat();
    let commands: Vec<String> = pages().into_iter().flat_map(of_page).collect();
    let unused = NOT_RUN.iter().filter(|(part, _)| !commands.iter().any(|command| command.contains(part)));
    assert_eq!(unused.collect::<Vec<_>>(), Vec::<&(&str, &str)>::new());
}

/// What a command that does not succeed prints.
fn problem_of(folder: &Folder, command: &str) -> Option<String> {
    let output = folder.run(command);
    (!output.status.success()).then(|| format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn every_command_in_a_sentence_or_table_of_the_guide_runs() {
    let (samples, mut helps) = (Folder::new(), Helps::default());
    let (mut failed, mut run, mut mentioned) = (Vec::new(), 0, 0);
    for (path, page) in pages() {
        let commands: Vec<String> = in_text(&page).into_iter().filter(|code| is_command(code)).collect();
        let folder = if commands.is_empty() { continue } else { samples.copy() };
        for command in commands {
            let problem = if is_complete(&folder, &command) {
                run += 1;
                problem_of(&folder, &command)
            } else {
                mentioned += 1;
                helps.problem(&folder, &command)
            };
            failed.extend(problem.map(|problem| format!("{}: {command}: {problem}", path.display())));
        }
    }
    assert!(failed.is_empty(), "commands that fail:\n{}", failed.join("\n"));
    assert!(run > 20 && mentioned > 60, "{run} commands, {mentioned} mentioned");
}

/// Whether code in a sentence is a command: one of the program, or a verb with an option, such as `info --more`.
fn is_command(code: &str) -> bool {
    let mut words = code.split(' ');
    let first = words.next().unwrap_or_default();
    let is_verb = !first.is_empty() && first.chars().all(|letter| letter.is_ascii_lowercase());
    code.starts_with("traceloom ") || (is_verb && words.next().is_some_and(|word| word.starts_with("--")))
}

/// Whether a command can be run as it is: it has a verb, names files that are there, and no placeholders.
fn is_complete(folder: &Folder, command: &str) -> bool {
    let Some(arguments) = command.strip_prefix("traceloom ") else { return false };
    // A file instead of a verb opens the browser.
    let has_verb = arguments.split(' ').next().is_some_and(|word| !word.contains('.'));
    has_verb && !command.contains('…') && not_run(command).is_none() && folder.has_file_of(command)
}

/// Options that every verb accepts, and that only the help of the program lists.
const EVERY_VERB: &[&str] = &["--color", "--threads"];

/// The help of each verb.
#[derive(Default)]
struct Helps(BTreeMap<String, Option<String>>);

impl Helps {
    /// Says if the program does not know the verb of a command, or one of its options.
    fn problem(&mut self, folder: &Folder, command: &str) -> Option<String> {
        let (is_program, arguments) =
            command.strip_prefix("traceloom ").map_or((false, command), |arguments| (true, arguments));
        let mut words = arguments.split([' ', '=']).take_while(|word| *word != "--" && *word != "#");
        let verb = words.next().filter(|word| word.chars().all(|letter| letter.is_ascii_lowercase()))?;
        let help = self.0.entry(verb.to_owned()).or_insert_with(|| {
            let output = folder.run(&format!("traceloom {verb} --help"));
            output.status.success().then(|| String::from_utf8(output.stdout).expect("UTF-8"))
        });
        // Without the name of the program, it may be a command of another one.
        let Some(help) = help else { return is_program.then(|| format!("there is no verb {verb}")) };
        let is_end = |letter: char| !letter.is_alphanumeric() && letter != '-';
        let is_known = |option: &str| EVERY_VERB.contains(&option) || help.split(is_end).any(|word| word == option);
        let mut options = words.filter(|word| word.len() > 1 && word.starts_with('-'));
        options.find(|option| !is_known(option)).map(|option| format!("{verb} has no option {option}"))
    }
}

#[test]
fn options_that_do_not_exist_are_noticed() {
    let (folder, mut helps) = (Folder::new(), Helps::default());
    assert_eq!(helps.problem(&folder, "traceloom info --more FILE"), None);
    assert_eq!(helps.problem(&folder, "info --mor"), Some("info has no option --mor".into()));
    assert_eq!(helps.problem(&folder, "traceloom inform x"), Some("there is no verb inform".into()));
    assert_eq!(helps.problem(&folder, "pytest --verbose"), None);
    assert_eq!(helps.problem(&folder, "traceloom FILE…"), None);
}

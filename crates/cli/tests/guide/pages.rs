//! The pages of the guide, and the commands on them.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// README.md and every page of `docs` that a person writes.
pub(crate) fn pages() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = vec![root.join("README.md")];
    walk(&root.join("docs"), &mut paths);
    // The help of the program, which a test of xtask compares.
    paths.retain(|path| path.extension().is_some_and(|end| end == "md") && !path.ends_with("reference/verbs.md"));
    assert!(paths.len() > 50, "{}", paths.len());
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).expect("a page is text"))).collect()
}

fn walk(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the guide") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { walk(&path, paths) } else { paths.push(path) }
    }
}

/// The commands in the blocks of a page, in order. A command in a block whose language does not say so fails the test.
pub(crate) fn in_blocks(page: &str) -> Vec<String> {
    let mut commands = Vec::new();
    for (language, lines) in blocks(page) {
        match language {
            "console" => commands.extend(lines.iter().filter_map(|line| line.strip_prefix("$ ")).map(str::to_owned)),
            "sh" => commands.extend(lines.iter().filter(|line| !line.is_empty()).map(|line| (*line).to_owned())),
            "yaml" => commands.extend(lines.iter().filter_map(|line| step(line)).map(str::to_owned)),
            "sql" => commands.extend(statements(&lines).map(|sql| format!("traceloom query fleet/ \"{sql}\""))),
            _ => {
                let command = lines.iter().find(|line| line.starts_with("traceloom ") || line.starts_with("$ "));
                assert!(command.is_none(), "a command in a block of `{language}`: {command:?}");
            }
        }
    }
    commands
}

/// The language and the lines of each block.
fn blocks(page: &str) -> Vec<(&str, Vec<&str>)> {
    let (mut blocks, mut lines) = (Vec::new(), page.lines());
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            blocks.push((language, lines.by_ref().take_while(|line| *line != "```").collect()));
        }
    }
    blocks
}

/// The command of a line of a workflow, if it is one of the program.
fn step(line: &str) -> Option<&str> {
    let line = line.trim_start().trim_start_matches("- ");
    Some(line.strip_prefix("run: ").unwrap_or(line)).filter(|line| line.starts_with("traceloom "))
}

/// The statements of a block of SQL, each in one line.
fn statements(lines: &[&str]) -> impl Iterator<Item = String> {
    let text: Vec<&str> = lines.iter().filter(|line| !line.starts_with("--")).copied().collect();
    let statements: Vec<String> = text.join(" ").split(';').map(|sql| sql.trim().to_owned()).collect();
    statements.into_iter().filter(|sql| !sql.is_empty())
}

/// The code in the sentences and tables of a page.
pub(crate) fn in_text(page: &str) -> Vec<String> {
    let mut is_code = false;
    let mut paragraphs = vec![String::new()];
    for line in page.lines() {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        match paragraphs.last_mut() {
            // A row or a paragraph with an odd number of backticks must not shift those after it.
            Some(last) if !is_code && !is_fence && !line.is_empty() && !line.starts_with('|') => {
                last.push_str(line.trim_start());
                last.push(' ');
            }
            _ if line.starts_with('|') && !is_code => paragraphs.extend([line.replace("\\|", "|"), String::new()]),
            _ => paragraphs.push(String::new()),
        }
    }
    let codes = paragraphs.iter().flat_map(|text| text.split('`').skip(1).step_by(2));
    codes.map(str::to_owned).collect()
}

#[test]
fn commands_are_found_in_every_kind_of_block() {
    let page = "`traceloom a`,\nand `b\nc`\n```console\n$ one\nits output\n```\n| `x \\| y` |\n```sh\ntwo # why\n```\n\
                ```yaml\n  - run: traceloom three\n  - run: make\n```\n```sql\n-- four\nselect 1;\nselect\n2\n```\n";
    let queries = ["traceloom query fleet/ \"select 1\"", "traceloom query fleet/ \"select 2\""];
    assert_eq!(in_blocks(page), [&["one", "two # why", "traceloom three"][..], &queries].concat());
    assert_eq!(in_text(page), ["traceloom a", "b c", "x | y"]);
    assert!(std::panic::catch_unwind(|| in_blocks("```\ntraceloom info\n```\n")).is_err());
}

//! Every command on the page of `traceloom skill` works, and the tables on it exist.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::{Command, Output},
};

fn run(folder: &Path, arguments: &str) -> Output {
    let command = format!("{} {arguments}", env!("CARGO_BIN_EXE_traceloom"));
    Command::new("sh").args(["-c", &command]).current_dir(folder).output().expect("a shell")
}

fn page(folder: &Path) -> String {
    String::from_utf8(run(folder, "skill").stdout).expect("UTF-8")
}

/// The words between backticks, outside blocks of commands.
fn inline_code(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2);
    prose.flat_map(|prose| prose.split('`').skip(1).step_by(2)).collect()
}

#[test]
fn every_command_of_the_skill_runs() {
    let folder = tempfile::tempdir().expect("there is room");
    let page = page(folder.path());
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let commands: Vec<&str> = blocks.flat_map(str::lines).collect();
    assert!(commands.len() > 15, "{}", commands.len());
    for line in commands {
        let arguments = line.strip_prefix("traceloom ").unwrap_or_else(|| panic!("not a command: {line}"));
        let out = run(folder.path(), arguments);
        assert!(out.status.success(), "{line}: {}", String::from_utf8_lossy(&out.stderr));
        let is_json = arguments.contains("--json") || arguments.contains("--format json");
        let text = String::from_utf8(out.stdout).expect("UTF-8");
        assert!(
            !is_json || (!text.is_empty() && text.lines().all(|line| line.starts_with('{'))),
            "{line}: {text:.200}"
        );
    }
}

#[test]
fn every_command_in_a_sentence_of_the_skill_exists() {
    let folder = tempfile::tempdir().expect("there is room");
    let page = page(folder.path());
    let code = inline_code(&page);
    let commands: Vec<&str> = code.iter().filter_map(|code| code.strip_prefix("traceloom ")).collect();
    assert!(commands.iter().any(|arguments| arguments.starts_with("mcp --allow ")), "{commands:?}");
    for arguments in commands {
        // Help is printed once the arguments before it are understood.
        let out = run(folder.path(), &format!("{arguments} --help"));
        assert!(out.status.success(), "{arguments}: {}", String::from_utf8_lossy(&out.stderr));
        let verb = arguments.split(' ').next().unwrap_or_default();
        let help = String::from_utf8(out.stdout).expect("UTF-8");
        assert!(help.contains(&format!("traceloom {verb}")), "{arguments}: {help:.200}");
    }
}

#[test]
fn every_table_and_column_of_the_skill_exists() {
    let folder = tempfile::tempdir().expect("there is room");
    let page = page(folder.path());
    assert!(run(folder.path(), "demo --no-open .").status.success());
    let query = "select table_name, column_name from information_schema.columns";
    let out = run(folder.path(), &format!("query game.prof \"{query}\" --format csv"));
    let rows = String::from_utf8(out.stdout).expect("UTF-8");
    let mut tables: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (table, column) in rows.lines().skip(1).filter_map(|row| row.split_once(',')) {
        tables.entry(table).or_default().insert(column);
    }
    let section = page.split("\n## Tables\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a section");
    let (listed, in_each) = section.split_once("Each table has ").expect("a sentence about all tables");
    let names = inline_code(listed);
    assert!(names.len() > 10 && tables.len() > 10, "{names:?}");
    for name in names {
        let columns = tables.get(name).unwrap_or_else(|| panic!("no table or view {name}"));
        let after = listed.split_once(&format!("`{name}` (")).and_then(|(_, after)| after.split_once(')'));
        let words: Vec<&str> = after.map_or(Vec::new(), |(list, _)| list.split(',').map(str::trim).collect());
        // Other brackets have a sentence.
        for word in words.into_iter().filter(|word| !word.contains(' ')) {
            // The values of an argument are in a column for each type.
            let is_value = word == "values" && columns.iter().any(|column| column.ends_with("_value"));
            assert!(columns.contains(word) || is_value, "no column {word} in {name}: {columns:?}");
        }
    }
    for column in inline_code(in_each) {
        let without: Vec<&str> =
            tables.iter().filter(|(_, columns)| !columns.contains(column)).map(|(name, _)| *name).collect();
        assert!(without.is_empty(), "no {column} in {without:?}");
    }
}

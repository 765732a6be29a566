//! The layout of `info` for a sample of every format: titles, blank lines, and columns.

use serde_json::Value as Json;

use crate::{stdout, traceloom};

#[test]
fn info_is_laid_out_in_columns_for_every_sample() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path().to_str().expect("UTF-8");
    stdout(&traceloom(&["demo", "--no-open", folder]));
    let mut formats = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the samples") {
        let path = entry.expect("a sample").path();
        let path = path.to_str().expect("UTF-8");
        let json: Json = serde_json::from_str(&stdout(&traceloom(&["info", "--json", path]))).expect("JSON");
        formats.push(json["format"].as_str().expect("a format").to_owned());
        let text = stdout(&traceloom(&["info", path]));
        check(&text, &json).unwrap_or_else(|problem| panic!("{path}: {problem}\n{text}"));
    }
    formats.sort();
    formats.dedup();
    assert_eq!(formats, ["cnanolog", "easyprofiler", "memlyze", "nytprof", "pynytprof", "wtf"]);
}

/// What is wrong with the text of `info`.
fn check(text: &str, json: &Json) -> Result<(), String> {
    if let Some(line) = text.lines().find(|line| line.ends_with(char::is_whitespace)) {
        return Err(format!("trailing blanks: {line:?}"));
    }
    let blocks: Vec<Vec<&str>> = text.split("\n\n").map(|block| block.lines().collect()).collect();
    let [first, tables @ .., problems] = blocks.as_slice() else { return Err("no blank lines".to_owned()) };
    check_facts(first, json)?;
    tables.iter().try_for_each(|table| check_table(table))?;
    match problems.as_slice() {
        ["no problems found"] => Ok(()),
        [.., last] if last.ends_with(']') => Ok(()),
        _ => Err(format!("no problems at the end: {problems:?}")),
    }
}

/// The facts follow the line with the file; their values start in one column, after the longest label.
fn check_facts(lines: &[&str], json: &Json) -> Result<(), String> {
    let facts = json["facts"].as_object().ok_or("no facts")?;
    let labels: Vec<String> = facts.keys().map(|name| name.replace('_', " ")).collect();
    let width = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let [title, rows @ ..] = lines else { return Err("no title".to_owned()) };
    if title.starts_with(' ') || rows.len() != labels.len() {
        return Err(format!("{} facts in {} lines", labels.len(), rows.len()));
    }
    for (label, row) in labels.iter().zip(rows) {
        let value = row.strip_prefix(&format!("  {label:<width$}  ")).unwrap_or_default();
        if value.is_empty() || value.starts_with(' ') {
            return Err(format!("the value of {label:?} is in another column: {row:?}"));
        }
    }
    Ok(())
}

/// A table has a title, a head, and rows; in each column, all cells start or all cells end where its head does.
fn check_table(lines: &[&str]) -> Result<(), String> {
    let [title, head, rows @ ..] = lines else { return Err(format!("not a table: {lines:?}")) };
    if title.starts_with(' ') || rows.is_empty() || lines[1..].iter().any(|line| !line.starts_with("  ")) {
        return Err(format!("the table {title:?} is broken"));
    }
    if let Some(name) = [title, head].into_iter().find(|name| name.contains('_')) {
        return Err(format!("names are spelled as in JSON: {name:?}"));
    }
    let rows: Vec<Vec<char>> = rows.iter().map(|row| row.chars().collect()).collect();
    let is_blank = |row: &[char], at: usize| row.get(at).is_none_or(|cell| *cell == ' ');
    for (number, (start, end)) in columns(head).into_iter().enumerate() {
        // A cell may be empty, but before the first column is nothing else.
        let from = if number == 0 { 0 } else { start };
        let filled = || rows.iter().filter(|row| (from..end).any(|at| !is_blank(row, at)));
        let starts = filled().all(|row| !is_blank(row, start) && is_blank(row, start - 1) && is_blank(row, start - 2));
        let ends = filled().all(|row| !is_blank(row, end - 1) && is_blank(row, end) && is_blank(row, end + 1));
        if !starts && !ends {
            return Err(format!("a column of {title:?} is broken: {:?}", &head.trim()));
        }
    }
    Ok(())
}

/// The start and the end of each head, which are two blanks apart.
fn columns(head: &str) -> Vec<(usize, usize)> {
    let head: Vec<char> = head.chars().collect();
    let mut columns: Vec<(usize, usize)> = Vec::new();
    for (at, _) in head.iter().enumerate().filter(|(_, cell)| **cell != ' ') {
        match columns.last_mut() {
            Some((_, end)) if at <= *end + 1 => *end = at + 1,
            _ => columns.push((at, at + 1)),
        }
    }
    columns
}

#[test]
fn broken_layouts_are_noticed() {
    let json = serde_json::json!({ "facts": { "threads": 2, "context_switches": 75 } });
    let good = "a.prof: EasyProfiler 2.1.0, 1 kB\n  threads           2\n  context switches  75\n\nthreads\n    id  name\n     1  Main\n  4243  Loader\n\nno problems found\n";
    assert_eq!(check(good, &json), Ok(()));
    for (from, to) in [
        ("threads           2", "threads  2"),
        ("  4243  Loader", "  4243 Loader"),
        ("     1  Main", "  1     Main"),
        ("  Loader\n", "  Loader \n"),
        ("\n\nthreads\n", "\nthreads\n"),
        ("\n\nno problems", "\nno problems"),
        ("\n\nthreads\n", "\n\nlive_threads\n"),
        ("    id  name", "  t_id  name"),
    ] {
        assert!(check(&good.replace(from, to), &json).is_err(), "{from:?} became {to:?}");
    }
}

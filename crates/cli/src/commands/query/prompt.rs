//! The interactive prompt, with history and completion.

use std::{
    env, fs,
    io::{self, Write},
    path::PathBuf,
    time::Instant,
};

use rustyline::{
    CompletionType, Config, Context, Editor, Helper,
    completion::Completer,
    error::ReadlineError,
    highlight::Highlighter,
    hint::Hinter,
    history::FileHistory,
    validate::{ValidationContext, ValidationResult, Validator},
};
use traceloom_core::{Error, Result};
use traceloom_query::{Relation, Session};

use super::rows;
use crate::{
    output::{self, Styles},
    progress::Progress,
    units::Nanoseconds,
};

const HELP: &str = "\
A query ends with `;` and may take several lines. Tab completes names.
  .tables            tables and views
  .columns TABLE     columns of a table
  .functions         names of functions
  .explain QUERY     the query plan
  .quit              exit (also Ctrl-D)
";

/// Runs queries until the input ends.
pub(crate) fn run(session: &Session, progress: &Progress) -> Result<()> {
    let names = Names { relations: session.relations(), functions: session.functions() };
    let config = Config::builder().completion_type(CompletionType::List).auto_add_history(true).build();
    let mut editor: Editor<Names, FileHistory> = Editor::with_config(config).map_err(failed)?;
    editor.set_helper(Some(names));
    let history = history_file();
    if let Some(path) = &history {
        // There is no history the first time.
        let _ = editor.load_history(path);
    }
    anstream::eprintln!("Enter SQL queries, each followed by `;`. `.help` lists other commands.");
    loop {
        match editor.readline("sql> ") {
            Ok(line) if line.trim() == ".quit" => break,
            Ok(line) => {
                if let Some(names) = editor.helper()
                    && let Err(error) = respond(session, names, line.trim(), progress)
                {
                    crate::report(&error);
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(failed(error)),
        }
    }
    match history {
        Some(path) => editor.save_history(&path).map_err(failed),
        None => Ok(()),
    }
}

fn failed(error: ReadlineError) -> Error {
    match error {
        ReadlineError::Io(error) => error.into(),
        error => io::Error::other(error).into(),
    }
}

/// The file that stores the history.
fn history_file() -> Option<PathBuf> {
    let state = env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let folder = state.or_else(|| Some(env::home_dir()?.join(".local/state")))?.join("traceloom");
    fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}

fn respond(session: &Session, names: &Names, line: &str, progress: &Progress) -> Result<()> {
    let mut out = output::stdout();
    match line.split_once(char::is_whitespace).unwrap_or((line, "")) {
        ("", _) => {}
        (".help", _) => write!(out, "{HELP}")?,
        (".tables", _) => names.relations.iter().try_for_each(|relation| writeln!(out, "  {}", relation.name))?,
        (".functions", _) => writeln!(out, "  {}", names.functions.join(" "))?,
        (".columns", table) => {
            let columns = names.columns(table.trim()).ok_or_else(|| Error::usage(format!("no table '{table}'")))?;
            columns.iter().try_for_each(|column| writeln!(out, "  {column}"))?;
        }
        (".explain", sql) => write!(out, "{}", session.explain(sql)?)?,
        (word, _) if word.starts_with('.') => {
            return Err(Error::usage(format!("unknown command {word}; `.help` lists all commands")));
        }
        _ => {
            let begin = Instant::now();
            progress.restart();
            let rows = session
                .ask(line)
                .map_err(Error::from)
                .and_then(|mut answer| rows::write(&mut answer, progress, &mut out));
            progress.clear();
            let rows = rows?;
            out.flush()?;
            let dim = Styles::DIM;
            let taken = Nanoseconds(begin.elapsed().as_millis() as u64 * 1_000_000);
            let noun = if rows == 1 { "row" } else { "rows" };
            anstream::eprintln!("{dim}  {rows} {noun}, {taken}{dim:#}");
        }
    }
    Ok(out.flush()?)
}

/// The names that completion offers.
struct Names {
    relations: Vec<Relation>,
    functions: Vec<String>,
}

static KEYWORDS: &[&str] = &[
    "and",
    "as",
    "asc",
    "between",
    "by",
    "case",
    "count(",
    "cross join",
    "desc",
    "distinct",
    "else",
    "end",
    "exists",
    "explain",
    "from",
    "group by",
    "having",
    "in",
    "is not null",
    "is null",
    "join",
    "left join",
    "like",
    "limit",
    "not",
    "null",
    "on",
    "or",
    "order by",
    "over",
    "partition by",
    "select",
    "then",
    "union all",
    "using",
    "when",
    "where",
    "with",
];

impl Names {
    fn columns(&self, table: &str) -> Option<&[String]> {
        self.relations.iter().find(|relation| relation.name == table).map(|relation| relation.columns.as_slice())
    }

    /// Completions of a word: columns after `table.`, otherwise everything, with tables first after `from` and `join`.
    fn candidates(&self, before: &str, word: &str) -> Vec<String> {
        if let Some((table, column)) = word.rsplit_once('.') {
            let columns = self.columns(table).unwrap_or_default().iter();
            return columns.filter(|name| name.starts_with(column)).map(|name| format!("{table}.{name}")).collect();
        }
        let last = before.split_whitespace().next_back().unwrap_or_default().to_lowercase();
        let tables = self.relations.iter().map(|relation| relation.name.clone());
        let mut names: Vec<String> = match last.as_str() {
            "from" | "join" | ".columns" => tables.collect(),
            _ => {
                let columns = self.relations.iter().flat_map(|relation| relation.columns.iter().cloned());
                let words = KEYWORDS.iter().map(|word| (*word).to_owned());
                tables.chain(columns).chain(words).chain(self.functions.iter().map(|name| format!("{name}("))).collect()
            }
        };
        let word = word.to_lowercase();
        names.retain(|name| name.starts_with(&word));
        names.sort();
        names.dedup();
        names
    }
}

impl Completer for Names {
    type Candidate = String;

    fn complete(&self, line: &str, position: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let line = line.get(..position).unwrap_or_default();
        let begin = line
            .rfind(|c: char| !c.is_alphanumeric() && c != '_' && c != '.')
            .map_or(0, |at| at + line.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8));
        let (before, word) = line.split_at_checked(begin).unwrap_or(("", line));
        Ok((begin, self.candidates(before, word)))
    }
}

impl Validator for Names {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let line = context.input().trim();
        let is_whole = line.is_empty() || line.starts_with('.') || line.ends_with(';');
        Ok(if is_whole { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

impl Hinter for Names {
    type Hint = String;
}

impl Highlighter for Names {}

impl Helper for Names {}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let relation = |name: &str, columns: &[&str]| Relation {
            name: name.to_owned(),
            columns: columns.iter().map(|column| (*column).to_owned()).collect(),
        };
        let relations = vec![relation("spans", &["ts_ns", "dur_ns"]), relation("stacks", &["depth"])];
        Names { relations, functions: vec!["sum".to_owned()] }
    }

    #[test]
    fn completion_knows_where_it_is() {
        let names = names();
        assert_eq!(names.candidates("select 1 from ", "s"), ["spans", "stacks"]);
        assert_eq!(names.candidates("select ", "su"), ["sum("]);
        assert_eq!(names.candidates("select ", "spans.d"), ["spans.dur_ns"]);
        assert_eq!(names.candidates("", "SEL"), ["select"]);
    }
}

//! Turns an engine error into a message with a place in the query and a suggested name.

use std::fmt;

use datafusion::{
    common::{Column, DataFusionError, SchemaError, Span},
    sql::sqlparser::{
        dialect::GenericDialect,
        tokenizer::{Token, Tokenizer},
    },
};
use traceloom_core::{Error, nearest};

use crate::objects::{MISSING, UNREADABLE, Unreadable};

/// Why a query failed.
#[derive(Debug)]
pub enum Failure {
    /// The query is invalid.
    Query(Box<Problem>),
    /// A trace cannot be read.
    Trace(Error),
}

/// The problem with a query.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Problem {
    /// The query.
    pub sql: String,
    /// The message.
    pub message: String,
    /// The place in the query, if known.
    pub place: Option<SqlRange>,
    /// Suggestions.
    pub help: Vec<String>,
}

/// A range within one line of a query; counted from 1, with an exclusive end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SqlRange {
    /// The line.
    pub line: usize,
    /// The first character.
    pub column: usize,
    /// One past the last character.
    pub end_column: usize,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Query(problem) => problem.fmt(f),
            Self::Trace(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Failure {}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Trace(error)
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Query(problem) => Self::usage(problem.to_string()),
            Failure::Trace(error) => error,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(SqlRange { line, column, end_column }) = self.place
            && let Some(text) = self.sql.lines().nth(line.wrapping_sub(1))
        {
            let number = line.to_string();
            let (margin, text) = (" ".repeat(number.len()), text.replace('\t', " "));
            let marks = "^".repeat(end_column.saturating_sub(column).max(1));
            write!(f, "\n{margin} |\n{number} | {text}\n{margin} | {}{marks}", " ".repeat(column.saturating_sub(1)))?;
        }
        self.help.iter().try_for_each(|help| write!(f, "\nhelp: {help}"))
    }
}

/// Names that a query may use.
pub(crate) struct KnownNames {
    pub(crate) tables: Vec<String>,
    pub(crate) functions: Vec<String>,
    /// The memory limit.
    pub(crate) memory_bytes: u64,
}

/// Explains an error of the engine.
pub(crate) fn explain(sql: &str, error: DataFusionError, known: &KnownNames) -> Failure {
    match trace_error(error) {
        Ok(error) => Failure::Trace(error),
        Err(error) => Failure::Query(Box::new(Explanation::of(sql, &error).finish(&error, known))),
    }
}

/// The error of a trace or an object that was passed through the engine.
fn trace_error(error: DataFusionError) -> Result<Error, DataFusionError> {
    if let Some(unreadable) = causes(&error).find_map(|cause| cause.downcast_ref::<Unreadable>()) {
        return Ok(unreadable.error());
    }
    match error {
        DataFusionError::External(inner) => match inner.downcast::<Error>() {
            Ok(error) => Ok(*error),
            Err(inner) => match inner.downcast::<DataFusionError>() {
                Ok(error) => trace_error(*error),
                Err(inner) => Err(DataFusionError::External(inner)),
            },
        },
        DataFusionError::Context(text, inner) => trace_error(*inner).map_err(|inner| inner.context(text)),
        DataFusionError::Shared(inner) => match std::sync::Arc::try_unwrap(inner) {
            Ok(error) => trace_error(error),
            Err(inner) => match inner.find_root() {
                DataFusionError::External(root) if root.is::<Error>() => Ok(Error::unrecognized(root.to_string())),
                _ => Err(DataFusionError::Shared(inner)),
            },
        },
        error => Err(error),
    }
}

/// An error and its sources, outermost first.
fn causes<'e>(error: &'e DataFusionError) -> impl Iterator<Item = &'e (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error as &(dyn std::error::Error + 'static)), |error| error.source())
}

/// The reason why a Parquet file cannot be decoded; the engine does not say which file it is.
pub(crate) fn parquet_error(error: &DataFusionError) -> Option<String> {
    // Errors of other processes are one text or the other. An object that cannot be read has a separate sentence.
    let (debug, text) = (format!("{error:?}"), error.strip_backtrace());
    if debug.contains(UNREADABLE) {
        return None;
    }
    let quoted = |text: &str| Some(unescaped(text.rsplit_once("ParquetError(")?.1.split_once('"')?.1));
    let plain = text.rsplit_once("Parquet error: ").map(|(_, reason)| reason.to_owned());
    let reason = plain.or_else(|| quoted(&text)).or_else(|| quoted(&debug))?;
    Some(reason.lines().next().unwrap_or_default().to_owned())
}

/// Whether a file that the engine expects does not exist.
pub(crate) fn is_about_missing_file(error: &DataFusionError) -> bool {
    // Errors of other processes are one text or the other.
    let texts = [error.to_string(), format!("{error:?}")];
    texts.iter().any(|text| text.contains(UNREADABLE) && text.contains(MISSING))
}

/// The error of a trace that another process reads. It has this kind because engines retry other errors several times.
pub(crate) fn departing_error(error: &Error) -> DataFusionError {
    DataFusionError::Execution(format!("{UNREADABLE}{error}"))
}

/// Extracts the message of another process from the text that engines added on the way.
#[cfg(feature = "codec")]
pub(crate) fn arrived_error(error: DataFusionError) -> DataFusionError {
    let text = error.to_string();
    if let Some(sentence) = unreadable(&text) {
        return DataFusionError::External(Box::new(Error::unrecognized(sentence)));
    }
    let quoted = |kind: &str| text.rsplit_once(&format!("{kind}(\"")).map(|(_, rest)| unescaped(rest));
    if let Some(text) = quoted("Execution") {
        return DataFusionError::Execution(text);
    }
    match quoted("ResourcesExhausted") {
        Some(text) => DataFusionError::ResourcesExhausted(text),
        None => error,
    }
}

/// The sentence about an input in a text that was quoted any number of times on the way, each time with more backslashes.
#[cfg(feature = "codec")]
fn unreadable(text: &str) -> Option<String> {
    let (before, rest) = text.split_once(UNREADABLE)?;
    let Some(before) = before.strip_suffix('"') else { return Some(rest.lines().next()?.to_owned()) };
    let slashes = before.len() - before.trim_end_matches('\\').len();
    let quote = format!("{}\"", "\\".repeat(slashes));
    let is_end = |end: &usize| !rest.get(..*end).is_some_and(|sentence| sentence.ends_with('\\'));
    let end = rest.match_indices(&quote).map(|(end, _)| end).find(is_end).unwrap_or(rest.len());
    let sentence = rest.get(..end)?.to_owned();
    // One quoting leaves no backslash before the quote, two leave one, three leave three.
    Some((0..=(slashes + 1).ilog2()).fold(sentence, |sentence, _| unescaped(&sentence)))
}

/// The text up to its closing quote, as written by `{:?}`.
fn unescaped(quoted: &str) -> String {
    let (mut text, mut rest) = (String::new(), quoted.chars());
    while let Some(letter) = rest.next() {
        match letter {
            '"' => break,
            '\\' => match rest.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('u') => {
                    let digits: String = rest.by_ref().skip(1).take_while(|digit| *digit != '}').collect();
                    text.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
                }
                Some(other) => text.push(other),
                None => {}
            },
            other => text.push(other),
        }
    }
    text
}

struct Explanation<'q> {
    sql: &'q str,
    message: String,
    place: Option<SqlRange>,
    help: Vec<String>,
}

impl<'q> Explanation<'q> {
    /// Takes the message of the engine.
    fn of(sql: &'q str, error: &DataFusionError) -> Self {
        let Some(diagnostic) = error.diagnostic() else {
            return Self { sql, message: error.strip_backtrace(), place: None, help: Vec::new() };
        };
        let notes =
            diagnostic.notes.iter().map(|note| &note.message).chain(diagnostic.helps.iter().map(|help| &help.message));
        let notes: Vec<String> = notes.map(|note| types(note)).collect();
        let kinds: Vec<&str> = notes.iter().filter_map(|note| note.strip_prefix("has type ")).collect();
        let message = if kinds.is_empty() {
            diagnostic.message.clone()
        } else {
            format!("{}: {}", diagnostic.message, kinds.join(" and "))
        };
        // We suggest similar names ourselves.
        let is_help = |note: &&String| !note.to_lowercase().starts_with("possible ") && !note.starts_with("has type ");
        let help = notes.iter().filter(is_help).cloned().collect();
        Self { sql, message, place: diagnostic.span.and_then(place), help }
    }

    fn finish(mut self, error: &DataFusionError, known: &KnownNames) -> Problem {
        if let DataFusionError::SchemaError(schema, _) = error.find_root()
            && let SchemaError::FieldNotFound { field, valid_fields } = schema.as_ref()
        {
            self.message = format!("no column '{}'", field.name);
            // GROUP BY and ORDER BY have no place.
            self.place = self.place.or_else(|| word(self.sql, &field.name));
            let is_near = |column: &&Column| field.relation.is_none() || column.relation == field.relation;
            let columns: Vec<&str> = valid_fields.iter().filter(is_near).map(|column| column.name.as_str()).collect();
            self.suggest(&field.name, columns.iter().copied());
            if let (Some(table), true, false) = (&field.relation, self.help.is_empty(), columns.is_empty()) {
                self.help.push(format!("the columns of `{table}` are {}", columns.join(", ")));
            }
        } else if let Some(name) = between(&self.message, "table '", "' not found") {
            let name = name.rsplit('.').next().unwrap_or_default().to_owned();
            self.message = format!("no table '{name}'");
            self.suggest(&name, known.tables.iter().map(String::as_str));
        } else if let Some(name) =
            between(&self.message, "nvalid function '", "'").or(between(&self.message, "able function '", "'"))
        {
            let name = name.to_owned();
            self.message = format!("no function '{name}'");
            self.place = self.place.or_else(|| word(self.sql, &name));
            self.suggest(&name, known.functions.iter().map(String::as_str));
        } else {
            self.reword(error, known);
        }
        if self.place.is_none() {
            self.place = written_place(&self.message);
        }
        if let Some((message, _)) = self.message.rsplit_once(" at Line: ") {
            self.message = message.to_owned();
        }
        Problem { sql: self.sql.to_owned(), message: self.message, place: self.place, help: self.help }
    }

    fn suggest<'a>(&mut self, name: &str, all: impl Iterator<Item = &'a str>) {
        if let Some(nearest) = nearest(name, all) {
            self.help.push(format!("did you mean `{nearest}`?"));
        }
    }

    /// Rewrites messages of the engine in terms of this program.
    fn reword(&mut self, error: &DataFusionError, known: &KnownNames) {
        let message = std::mem::take(&mut self.message);
        if let Some(call) = between(&message, "name and argument types '", "'. You might") {
            let name = call.split('(').next().unwrap_or_default();
            self.message = format!("'{name}' does not accept these arguments: {}", types(call));
            self.place = self.place.or_else(|| word(self.sql, name));
        } else if let DataFusionError::ResourcesExhausted(_) = error.find_root() {
            self.message = format!("the query exceeds its memory limit of {} MB", known.memory_bytes >> 20);
            self.help.push("raise the limit with --memory, or select fewer rows and columns".to_owned());
        } else if message.contains("No space left on device") {
            self.message = format!("no space left for temporary files in {}", std::env::temp_dir().display());
            self.help.push("set TMPDIR to a folder with more space, or raise the limit with --memory".to_owned());
        } else if let Some(what) = ["DDL", "DML", "Statement"]
            .iter()
            .find_map(|kind| between(&message, &format!("{kind} not supported: "), ""))
        {
            self.message = format!("only queries are allowed, not {what}");
        } else {
            self.message = types(plain(&message));
        }
    }
}

/// Removes prefixes that say where in the engine the error occurred.
fn plain(message: &str) -> &str {
    static PREFIXES: &[&str] = &[
        "Error during planning: ",
        "Schema error: ",
        "SQL error: ",
        "Execution error: ",
        "Arrow error: ",
        "External error: ",
        "Internal error: ",
        "Optimizer rule ",
        "type_coercion\ncaused by\n",
        "ParserError(\"",
        "TokenizerError(\"",
    ];
    let message = message.split("\nThis issue was likely caused by a bug").next().unwrap_or_default();
    let message = message.rsplit("caused by\n").next().unwrap_or_default();
    match PREFIXES.iter().find_map(|prefix| message.strip_prefix(prefix)) {
        Some(rest) => plain(rest),
        None => message.trim_end_matches("\")").trim_end(),
    }
}

/// Type names as in the table reference.
fn types(text: &str) -> String {
    static WORDS: &[(&str, &str)] = &[
        ("Dictionary(Int32, Utf8)", "name"),
        ("Utf8View", "text"),
        ("LargeUtf8", "text"),
        ("Utf8", "text"),
        ("UInt64", "unsigned"),
        ("UInt32", "unsigned"),
        ("Int64", "integer"),
        ("Float64", "float"),
    ];
    WORDS.iter().fold(text.to_owned(), |text, (theirs, ours)| text.replace(theirs, ours))
}

fn place(span: Span) -> Option<SqlRange> {
    let line = usize::try_from(span.start.line).ok().filter(|line| *line > 0)?;
    let column = usize::try_from(span.start.column).ok().filter(|column| *column > 0)?;
    let end = usize::try_from(span.end.column).ok().filter(|_| span.end.line == span.start.line);
    Some(SqlRange { line, column, end_column: end.unwrap_or(column + 1).max(column + 1) })
}

/// The first word of a query that is this name.
fn word(sql: &str, name: &str) -> Option<SqlRange> {
    let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize_with_location().ok()?;
    tokens.iter().find_map(|token| match &token.token {
        Token::Word(word) if word.value.eq_ignore_ascii_case(name) => place(Span::try_from_sqlparser_span(token.span)?),
        _ => None,
    })
}

/// The parser only writes the place into the text.
fn written_place(message: &str) -> Option<SqlRange> {
    let (_, rest) = message.rsplit_once("at Line: ")?;
    let (line, rest) = rest.split_once(", Column: ")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let column = rest.get(..digits)?.parse().ok()?;
    Some(SqlRange { line: line.parse().ok()?, column, end_column: column + 1 })
}

/// The text between two others; to the end if the second is empty.
fn between<'t>(text: &'t str, before: &str, behind: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(before)?;
    if behind.is_empty() { Some(rest) } else { rest.split_once(behind).map(|(found, _)| found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "codec")]
    #[test]
    fn a_sentence_survives_any_number_of_quotes() {
        let sentence = "s3://bucket/\"a\\b\".parquet: denied";
        assert_eq!(unreadable(&format!("Job 7 failed: {UNREADABLE}{sentence}\nmore")).as_deref(), Some(sentence));
        let mut text = format!("Unreadable({:?})", format!("{UNREADABLE}{sentence}"));
        for _ in 0..3 {
            assert_eq!(unreadable(&format!("Job 7 failed: {text}, \"more\"")).as_deref(), Some(sentence), "{text}");
            text = format!("Failed({:?})", format!("task: {text}"));
        }
        assert_eq!(unreadable("Execution error: something else"), None);
    }

    #[test]
    fn the_place_is_marked() {
        let place = Some(SqlRange { line: 2, column: 6, end_column: 10 });
        let problem =
            Problem { sql: "select 1\nfrom span".into(), message: "no".into(), place, help: vec!["so".into()] };
        assert_eq!(problem.to_string(), "no\n  |\n2 | from span\n  |      ^^^^\nhelp: so");
    }

    #[test]
    fn a_full_disk_is_named() {
        let full = DataFusionError::IoError(std::io::Error::from_raw_os_error(28));
        let known = KnownNames { tables: Vec::new(), functions: Vec::new(), memory_bytes: 0 };
        let failure = explain("select 1", full.context("spilling"), &known).to_string();
        assert!(failure.starts_with("no space left for temporary files in"), "{failure}");
    }
}

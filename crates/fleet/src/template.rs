//! Takes values of partition columns from the path of a trace.

use std::{collections::BTreeMap, path::Path};

use regex::{Captures, Regex};
use traceloom_core::{Error, Result};
use traceloom_query::fleet::FleetTable;

/// Values of partition columns.
pub type Tags = BTreeMap<String, String>;

/// A pattern of paths, such as `{host}/{build}/{day}/*.prof`: `{COLUMN}` is a value, `*` anything but `/`.
#[derive(Clone, Debug)]
pub struct Template {
    pattern: Regex,
    columns: Vec<String>,
}

impl Template {
    /// Parses a template, which matches the end of a path from the start of a path component on.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |why: &str| Error::usage(format!("invalid template `{text}`: {why}"));
        let (mut pattern, mut columns, mut rest) = ("(?:^|/)".to_owned(), Vec::new(), text);
        while let Some(start) = rest.find(['{', '*']) {
            let (plain, special) = rest.split_at(start);
            pattern.push_str(&regex::escape(plain));
            if let Some(after) = special.strip_prefix('*') {
                pattern.push_str("[^/]*");
                rest = after;
                continue;
            }
            let (column, after) =
                special.trim_start_matches('{').split_once('}').ok_or_else(|| wrong("`{` is not closed"))?;
            check_column(column)?;
            if columns.iter().any(|known| known == column) {
                return Err(wrong(&format!("{{{column}}} occurs twice")));
            }
            pattern.push_str(&format!("(?P<{column}>[^/]+?)"));
            columns.push(column.to_owned());
            rest = after;
        }
        pattern.push_str(&regex::escape(rest));
        pattern.push('$');
        let pattern = Regex::new(&pattern).map_err(|_| wrong("expected something like `{host}/{build}/*.prof`"))?;
        Ok(Self { pattern, columns })
    }

    /// The columns in the template.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(String::as_str)
    }

    /// The values in a path; none if it does not match.
    pub fn tags(&self, path: &Path) -> Option<Tags> {
        let path = path.to_string_lossy().replace('\\', "/");
        let found = self.pattern.captures(&path)?;
        Some(self.columns.iter().filter_map(|column| value(&found, column)).collect())
    }
}

fn value(found: &Captures<'_>, column: &str) -> Option<(String, String)> {
    let text = found.name(column)?.as_str();
    let text = if column == "day" { day(text) } else { text.to_owned() };
    Some((column.to_owned(), text))
}

/// `20261116` is written as `2026-11-16`, so that days are in order.
pub(crate) fn day(text: &str) -> String {
    let is_short = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_short { format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..]) } else { text.to_owned() }
}

/// Checks the name of a partition column: a plain name that is not a column of any table.
pub(crate) fn check_column(name: &str) -> Result<()> {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if !is_plain || !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        return Err(Error::usage(format!("invalid column name `{name}`; use lowercase letters, digits and `_`")));
    }
    match FleetTable::all().find(|table| table.schema().index_of(name).is_ok()) {
        Some(table) => Err(Error::usage(format!("the table {} already has a column `{name}`", table.name()))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(template: &str, path: &str) -> Option<Vec<String>> {
        let template = Template::parse(template).expect("a template");
        template.tags(Path::new(path)).map(|tags| tags.iter().map(|(key, value)| format!("{key}={value}")).collect())
    }

    #[test]
    fn values_come_from_the_end_of_the_path() {
        let found = tags("{host}/{build}/{day}/*.prof", "/var/traces/web-1/4.2+a/20261116/x.prof");
        assert_eq!(found.expect("a match"), ["build=4.2+a", "day=2026-11-16", "host=web-1"]);
        assert_eq!(tags("{host}-{build}.prof", "t/a-b-c.prof").expect("a match"), ["build=b-c", "host=a"]);
        assert_eq!(tags("{host}/*.prof", "a/x.clog"), None);
        assert_eq!(tags("{host}/{build}/*.prof", "x.prof"), None);
    }

    #[test]
    fn mistakes_are_usage_errors() {
        for wrong in ["{host", "{}", "{Host}", "{name}", "{ts_ns}", "{host}/{host}"] {
            assert!(Template::parse(wrong).is_err(), "{wrong}");
        }
    }
}

//! `info`: summarizes a trace.

use std::{io::Write, path::Path};

use traceloom::Info;
use traceloom_core::{Amount, Listing, Result};

use super::summary;
use crate::{
    Outcome,
    args::{self, figures::SUMMARY_ROWS},
    each,
    input::shown_name,
    output::{Styles, clean, note_damage, stdout, write_findings},
    table::{TextTable, exact},
    units::Bytes,
};

/// Runs the verb.
pub(crate) fn run(arguments: &args::files::Info) -> Result<Outcome> {
    each(&arguments.each.files, |path| one(path, arguments))
}

fn one(path: &Path, arguments: &args::files::Info) -> Result<Outcome> {
    #[cfg(feature = "sql")]
    if super::store::is_folder(path)
        && let Some(about) = super::store::about(path)?
    {
        let mut out = stdout();
        if arguments.each.json {
            writeln!(out, "{}", about.json)?;
        } else {
            writeln!(out, "{}", clean(&about.text))?;
        }
        return Ok(out.flush().map(|()| Outcome::Fine)?);
    }
    let trace = arguments.each.reading.open(path)?;
    let info = trace.info()?;
    if arguments.each.json {
        let mut out = stdout();
        writeln!(out, "{}", info.to_json(path))?;
        out.flush()?;
    } else {
        print(path, &info)?;
    }
    if arguments.more {
        let mut out = stdout();
        writeln!(out)?;
        summary::print(&mut out, path, &trace, SUMMARY_ROWS)?;
        out.flush()?;
    }
    note_damage(&info.findings);
    Ok(Outcome::Fine)
}

fn print(path: &Path, info: &Info) -> Result<()> {
    let mut out = stdout();
    let (file, name, dim) = (shown_name(path), Styles::NAME, Styles::DIM);
    let (format, version, bytes) = (info.format.name, clean(&info.contents.version), Bytes(info.bytes));
    writeln!(out, "{name}{file}{name:#}: {format} {version}, {bytes}{}", layers(path, info))?;
    let width = info.contents.facts.iter().map(|fact| fact.name.chars().count()).max().unwrap_or(0);
    for fact in &info.contents.facts {
        let label = fact.name.replace('_', " ");
        writeln!(out, "  {dim}{label:<width$}{dim:#}  {}", text(fact.name, &fact.amount))?;
    }
    for table in info.contents.tables.iter().filter(|table| !table.rows.is_empty()) {
        writeln!(out, "\n{name}{}{name:#}", table.name.replace('_', " "))?;
        text_table(table).write(&mut out)?;
    }
    writeln!(out)?;
    if info.findings.kept().is_empty() {
        let good = Styles::GOOD;
        writeln!(out, "{good}no problems found{good:#}")?;
    }
    write_findings(&mut out, &file, &info.findings)?;
    Ok(out.flush()?)
}

/// The compressions, innermost first, and the size of the file.
fn layers(path: &Path, info: &Info) -> String {
    if info.layers.is_empty() {
        return String::new();
    }
    let mut notes: Vec<String> = info.layers.iter().rev().map(ToString::to_string).collect();
    notes.extend(std::fs::metadata(path).ok().map(|file| format!("{} on disk", Bytes(file.len()))));
    format!(" ({})", notes.join(", "))
}

fn text_table(listing: &Listing) -> TextTable {
    let is_text = |column: usize| listing.rows.iter().any(|row| matches!(row.get(column), Some(Amount::Text(_))));
    let mut table = TextTable::new().fit(&[]);
    for (column, head) in listing.columns.iter().enumerate() {
        let head = head.replace('_', " ");
        table = if is_text(column) { table.text(&head) } else { table.numbers(&[&head]) };
    }
    for row in &listing.rows {
        table.row(listing.columns.iter().zip(row).map(|(head, cell)| text(head, cell)).collect());
    }
    table
}

fn text(name: &str, amount: &Amount) -> String {
    match amount {
        Amount::Count(bytes) if name.ends_with("bytes") => Bytes(*bytes).to_string(),
        Amount::Count(count) => count.to_string(),
        Amount::Nanoseconds(ns) => exact(*ns),
        Amount::Text(text) => clean(text),
    }
}

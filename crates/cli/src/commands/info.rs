//! `info`: what a trace is.

use std::{io::Write, path::Path};

use serde_json::{Map, Value as Json, json};
use traceloom::Info;
use traceloom_core::{Amount, Listing, Result};

use crate::{
    Outcome, args, each,
    input::display_name,
    output::{Styles, finding_json, stdout, write_findings},
    units::{Bytes, Nanoseconds},
};

/// Runs the verb.
pub(crate) fn run(arguments: &args::Info) -> Result<Outcome> {
    each(&arguments.files, |path| one(path, arguments))
}

fn one(path: &Path, arguments: &args::Info) -> Result<Outcome> {
    let info = arguments.reading.open(path)?.info()?;
    if arguments.json {
        print_json(path, &info)?;
    } else {
        print(path, &info)?;
    }
    Ok(Outcome::of(&info.findings))
}

fn print(path: &Path, info: &Info) -> Result<()> {
    let mut out = stdout();
    let (file, name, dim) = (display_name(path), Styles::NAME, Styles::DIM);
    let (format, version, bytes) = (info.format.name, &info.contents.version, Bytes(info.bytes));
    write!(out, "{name}{file}{name:#}: {format} {version}, {bytes}")?;
    for layer in info.layers.iter().rev() {
        write!(out, " out of {layer}")?;
    }
    writeln!(out)?;
    for fact in &info.contents.facts {
        writeln!(out, "  {dim}{:<16}{dim:#} {}", fact.name.replace('_', " "), text(&fact.amount))?;
    }
    for table in info.contents.tables.iter().filter(|table| !table.rows.is_empty()) {
        write_table(&mut out, table)?;
    }
    if info.findings.kept().is_empty() {
        let good = Styles::GOOD;
        writeln!(out, "  {good}nothing is wrong with it{good:#}")?;
    }
    write_findings(&mut out, &file, &info.findings)?;
    Ok(out.flush()?)
}

fn print_json(path: &Path, info: &Info) -> Result<()> {
    let facts = info.contents.facts.iter().map(|fact| (fact.name.to_owned(), json_amount(&fact.amount)));
    let mut object = json!({
        "file": path.to_string_lossy(),
        "format": info.format.id,
        "version": info.contents.version,
        "bytes": info.bytes,
        "compression": info.layers.iter().map(|layer| layer.as_str()).collect::<Vec<_>>(),
        "facts": facts.collect::<Map<String, Json>>(),
    });
    for table in &info.contents.tables {
        let rows = table.rows.iter().map(|row| {
            let cells = table.columns.iter().zip(row);
            cells.map(|(column, cell)| ((*column).to_owned(), json_amount(cell))).collect::<Map<_, _>>()
        });
        object[table.name] = rows.collect::<Vec<_>>().into();
    }
    object["findings"] = info.findings.kept().iter().map(finding_json).collect::<Vec<_>>().into();
    object["finding_counts"] = json!(info.findings.counts());
    let mut out = stdout();
    writeln!(out, "{object}")?;
    Ok(out.flush()?)
}

/// Columns as wide as their widest cell, numbers to the right.
fn write_table(out: &mut dyn Write, table: &Listing) -> Result<()> {
    let head = table.columns.iter().map(|column| (*column).to_owned()).collect();
    let rows: Vec<Vec<String>> =
        std::iter::once(head).chain(table.rows.iter().map(|row| row.iter().map(text).collect())).collect();
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..table.columns.len()).map(|column| width(column).unwrap_or(0)).collect();
    let is_text = |column: usize| table.rows.iter().any(|row| matches!(row.get(column), Some(Amount::Text(_))));
    for (index, row) in rows.iter().enumerate() {
        let style = if index == 0 { Styles::DIM } else { Default::default() };
        write!(out, "  {style}")?;
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if is_text(column) {
                write!(out, "{cell:<width$}  ")?;
            } else {
                write!(out, "{cell:>width$}  ")?;
            }
        }
        writeln!(out, "{style:#}")?;
    }
    Ok(())
}

fn text(amount: &Amount) -> String {
    match amount {
        Amount::Count(count) => count.to_string(),
        Amount::Nanoseconds(ns) => Nanoseconds(*ns).to_string(),
        Amount::Text(text) => text.clone(),
    }
}

fn json_amount(amount: &Amount) -> Json {
    match amount {
        Amount::Count(count) => (*count).into(),
        Amount::Nanoseconds(ns) => json!({ "ns": ns }),
        Amount::Text(text) => text.as_str().into(),
    }
}

//! `info`: what a trace is.

use std::{io::Write, path::Path};

use serde_json::{Map, Value as Json, json};
use traceloom_core::{Amount, Compression, Findings, Info, Listing, Options, Result, Severity};

use crate::{
    Outcome, args, each,
    input::{display_name, open_trace},
    output::{self, Styles, finding_json, stdout, write_findings},
    units::{Bytes, Nanoseconds},
};

/// Runs the verb.
pub(crate) fn run(arguments: &args::Info) -> Result<Outcome> {
    each(&arguments.files, |path| one(path, arguments))
}

fn one(path: &Path, arguments: &args::Info) -> Result<Outcome> {
    let options = Options::default();
    let opened = open_trace(path, &arguments.reading, &options)?;
    let (info, found) = opened.format.info(&opened.source, &options).map_err(|error| error.in_file(path))?;
    let bytes = opened.source.len()?;
    let mut findings = opened.findings;
    findings.absorb(found);
    let descriptor = opened.format.descriptor();
    let shown = Shown {
        path,
        format: (descriptor.id, descriptor.name),
        layers: &opened.layers,
        bytes,
        info: &info,
        findings: &findings,
    };
    if arguments.json {
        shown.print_json()?;
    } else {
        shown.print()?;
    }
    Ok(if findings.worst() == Some(Severity::Error) { Outcome::Findings } else { Outcome::Fine })
}

struct Shown<'a> {
    path: &'a Path,
    format: (&'static str, &'static str),
    layers: &'a [Compression],
    bytes: u64,
    info: &'a Info,
    findings: &'a Findings,
}

impl Shown<'_> {
    fn print(&self) -> Result<()> {
        let mut out = stdout();
        let (name, dim) = (Styles::NAME, Styles::DIM);
        write!(
            out,
            "{name}{}{name:#}: {} {}, {}",
            display_name(self.path),
            self.format.1,
            self.info.version,
            Bytes(self.bytes)
        )?;
        for layer in self.layers.iter().rev() {
            write!(out, " out of {layer}")?;
        }
        writeln!(out)?;
        for fact in &self.info.facts {
            writeln!(out, "  {dim}{:<16}{dim:#} {}", fact.name.replace('_', " "), text(&fact.amount))?;
        }
        for table in self.info.tables.iter().filter(|table| !table.rows.is_empty()) {
            write_table(&mut out, table)?;
        }
        if self.findings.kept().is_empty() {
            let good = Styles::GOOD;
            writeln!(out, "  {good}nothing is wrong with it{good:#}")?;
        }
        write_findings(&mut out, &display_name(self.path), self.findings)?;
        out.flush()?;
        Ok(())
    }

    fn print_json(&self) -> Result<()> {
        let facts: Map<String, Json> =
            self.info.facts.iter().map(|fact| (fact.name.to_owned(), json_amount(&fact.amount))).collect();
        let mut object = json!({
            "file": self.path.to_string_lossy(),
            "format": self.format.0,
            "version": self.info.version,
            "bytes": self.bytes,
            "compression": self.layers.iter().map(|layer| layer.as_str()).collect::<Vec<_>>(),
            "facts": facts,
        });
        for table in &self.info.tables {
            let rows = table.rows.iter().map(|row| {
                let cells = table.columns.iter().zip(row);
                cells.map(|(column, cell)| ((*column).to_owned(), json_amount(cell))).collect::<Map<_, _>>()
            });
            object[table.name] = rows.collect::<Vec<_>>().into();
        }
        object["findings"] = self.findings.kept().iter().map(finding_json).collect::<Vec<_>>().into();
        object["finding_counts"] = json!(self.findings.counts());
        let mut out = output::stdout();
        writeln!(out, "{object}")?;
        out.flush()?;
        Ok(())
    }
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
            match is_text(column) {
                true => write!(out, "{cell:<width$}  ")?,
                false => write!(out, "{cell:>width$}  ")?,
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

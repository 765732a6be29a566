//! What a target is, and what it tells about itself.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};
pub use traceloom_core::Variant;
use traceloom_core::{Error, Limits, Loss, Result, Slice};
use traceloom_model::{Columns, Table, TableSource, Wanted};

/// A format that leaves the program.
pub trait Target: Sync {
    /// The target as data.
    fn descriptor(&self) -> &'static Descriptor;

    /// Writes the tables; gives what the output does not hold.
    ///
    /// The source may be poured several times. Rows that `options` leave out are no loss.
    fn write(&self, source: &dyn TableSource, options: &Options, out: &mut dyn Write) -> Result<Loss>;
}

/// A target as plain data.
#[derive(Debug)]
pub struct Descriptor {
    /// One lower-case word: what `--to` takes.
    pub id: &'static str,
    /// Name for people.
    pub name: &'static str,
    /// One line: who opens it.
    pub about: &'static str,
    /// File name endings, without the dot; the one to suggest comes first.
    pub extensions: &'static [&'static str],
    /// What can be written after `ID:`, the default first; none where there is no choice.
    pub variants: &'static [Variant],
    /// The tables that it shows. Rows of all others are lost, and counted.
    pub needs: &'static [Need],
    /// Whether the output is text that may go to a terminal.
    pub is_text: bool,
}

impl Descriptor {
    /// Everything that it needs.
    pub fn wanted(&self) -> Wanted {
        self.needs.iter().fold(Wanted::nothing(), |wanted, need| wanted.and(need.table, need.columns()))
    }

    /// Whether it shows rows of this table.
    pub fn shows(&self, table: Table) -> bool {
        self.needs.iter().any(|need| need.table == table)
    }

    /// The variant that the options name, the default where they name none.
    pub fn variant(&self, options: &Options) -> Result<&'static str> {
        let default = self.variants.first().map_or("", |variant| variant.id);
        let Some(wanted) = options.variant.as_deref() else { return Ok(default) };
        let known = self.variants.iter().find(|variant| variant.id == wanted);
        known.map(|variant| variant.id).ok_or_else(|| {
            let all: Vec<_> = self.variants.iter().map(|variant| variant.id).collect();
            Error::usage(format!("{} has no variant {wanted:?}; it has: {}", self.id, all.join(", ")))
        })
    }
}

/// A table that a target shows.
#[derive(Debug)]
pub struct Need {
    /// The table.
    pub table: Table,
    /// The columns, `trace_id` and `id` apart, which always come; all where empty.
    pub columns: &'static [&'static str],
    /// The order in which it has to have the rows.
    pub order: Rows,
}

impl Need {
    /// A table in the order of the file.
    pub const fn of(table: Table, columns: &'static [&'static str]) -> Self {
        Self { table, columns, order: Rows::AsFiled }
    }

    /// A table in the order of begins.
    pub const fn by_begin(table: Table, columns: &'static [&'static str]) -> Self {
        Self { table, columns, order: Rows::ByBegin }
    }

    /// The columns as a set.
    pub fn columns(&self) -> Columns {
        if self.columns.is_empty() {
            return Columns::ALL;
        }
        let names: Vec<&str> = ["trace_id", "id"].iter().chain(self.columns).copied().collect();
        Columns::named(self.table, &names)
    }
}

/// The order of rows that a target needs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Rows {
    /// Any: they come in the order of the file.
    AsFiled,
    /// Thread by thread, by begin, parents before children.
    ByBegin,
}

/// How to write a target.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What stands after the colon of `ID:VARIANT`.
    pub variant: Option<String>,
    /// The part of the trace to write. A span that reaches into it is written whole.
    pub slice: Slice,
    /// How much of the machine to use: above `tree_bytes`, what has to be put in order goes to a temporary file.
    pub limits: Limits,
    /// Whether to compress the output as a whole; see [`write`].
    pub gzip: bool,
}

/// Writes a target, compressed where the options say so.
pub fn write(target: &dyn Target, source: &dyn TableSource, options: &Options, out: &mut dyn Write) -> Result<Loss> {
    if !options.gzip {
        return target.write(source, options, out);
    }
    let mut encoder = GzEncoder::new(out, Compression::new(6));
    let loss = target.write(source, options, &mut encoder)?;
    encoder.finish()?;
    Ok(loss)
}

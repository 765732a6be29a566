//! What a target is, and what it tells about itself.

use std::{io::Write, path::Path};

use flate2::{Compression, write::GzEncoder};
pub use traceloom_core::Variant;
use traceloom_core::{Error, Limits, Loss, Result, Slice};
use traceloom_model::{Columns, Selection, Table, TableSource, Wanted};

/// A format that leaves the program. [`write()`] is the way to call it.
pub trait Target: Sync {
    /// The target as data.
    fn descriptor(&self) -> &'static Descriptor;

    /// Writes the tables; gives what the output does not hold.
    ///
    /// The source may be poured several times. Rows that the options leave out are not a loss.
    fn write(&self, request: &Request<'_>, out: &mut dyn Write) -> Result<Loss>;
}

/// What a target is asked to write; only [`write()`] makes one, so that its variant is always one that the target has.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The tables.
    pub source: &'a dyn TableSource,
    /// How to write them.
    pub options: &'a Options,
    /// One of [`Descriptor::variants`]; empty if the target has none.
    pub variant: &'static str,
}

/// A target as plain data.
#[derive(Debug)]
pub struct Descriptor {
    /// One lower-case word: what `--to` takes.
    pub id: &'static str,
    /// Name for people.
    pub name: &'static str,
    /// One line: the tools that open it.
    pub about: &'static str,
    /// File name extensions, without the dot; the one to suggest comes first.
    pub extensions: &'static [&'static str],
    /// What can be written after `ID:`, the default first; none if there is no choice.
    pub variants: &'static [Variant],
    /// Extensions that stand for a variant because the tools go by them; if there are any, files with the other
    /// extensions can only be read.
    pub extension_variants: &'static [(&'static str, &'static str)],
    /// The tables that it shows. Rows of all others are lost, and counted.
    pub needs: &'static [Need],
    /// Whether the output is text that may go to a terminal.
    pub is_text: bool,
}

impl Descriptor {
    /// Nothing, for a descriptor to fill in.
    pub const EMPTY: Self = Self {
        id: "",
        name: "",
        about: "",
        extensions: &[],
        variants: &[],
        extension_variants: &[],
        needs: &[],
        is_text: false,
    };

    /// One of our own formats as a target: its id, name, extensions and variants are the format's.
    pub const fn of_format(
        format: &'static traceloom_core::Descriptor,
        about: &'static str,
        needs: &'static [Need],
    ) -> Self {
        let traceloom_core::Descriptor { id, name, extensions, variants, .. } = *format;
        Self { id, name, about, extensions, variants, needs, ..Self::EMPTY }
    }

    /// Everything that it needs.
    pub fn wanted(&self) -> Wanted {
        self.needs.iter().fold(Wanted::nothing(), |wanted, need| wanted.and(need.table, need.columns))
    }

    /// Whether it shows rows of this table.
    pub fn shows(&self, table: Table) -> bool {
        self.needs.iter().any(|need| need.table == table)
    }

    /// The extensions that files of it may be written with, the one to suggest first.
    pub fn written_extensions(&self) -> impl Iterator<Item = &'static str> {
        let is_written = |extension: &&&str| {
            self.extension_variants.is_empty() || self.extension_variants.iter().any(|(own, _)| own == *extension)
        };
        self.extensions.iter().filter(is_written).copied()
    }

    /// The variant that the extension of a file stands for.
    pub fn variant_of(&self, path: &Path) -> Option<&'static str> {
        let extension = path.extension()?;
        self.extension_variants.iter().find(|(own, _)| extension == *own).map(|(_, variant)| *variant)
    }

    /// The variant of this name, the default if none is named; one that it does not have is refused.
    pub fn variant(&self, named: Option<&str>) -> Result<&'static str> {
        let Some(named) = named else { return Ok(self.variants.first().map_or("", |variant| variant.id)) };
        if let Some(known) = self.variants.iter().find(|variant| variant.id == named) {
            return Ok(known.id);
        }
        let all: Vec<_> = self.variants.iter().map(|variant| variant.id).collect();
        let has = if all.is_empty() { "has no variants".to_owned() } else { format!("has: {}", all.join(", ")) };
        Err(Error::usage(format!("{} has no variant {named:?}; it {has}", self.id)))
    }
}

/// A table that a target shows, and the columns that it reads of it.
#[derive(Debug)]
pub struct Need {
    /// The table.
    pub table: Table,
    /// The columns.
    pub columns: Columns,
}

impl Need {
    /// The columns that a type of [`traceloom_model::select!`] reads.
    pub const fn of<S: Selection>() -> Self {
        Self { table: S::TABLE, columns: S::COLUMNS }
    }

    /// A table that the target shows without reading it: [`crate::Roster`] does, or other tables say the same.
    pub const fn shown(table: Table) -> Self {
        Self { table, columns: Columns::NONE }
    }
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
    /// Whether to compress the output as a whole; see [`write()`].
    pub gzip: bool,
}

/// Writes a target, compressed if the options say so; a variant that it does not have is refused before anything is
/// written.
pub fn write(target: &dyn Target, source: &dyn TableSource, options: &Options, out: &mut dyn Write) -> Result<Loss> {
    let variant = target.descriptor().variant(options.variant.as_deref())?;
    let request = Request { source, options, variant };
    if !options.gzip {
        return target.write(&request, out);
    }
    let mut encoder = GzEncoder::new(out, Compression::new(6));
    let loss = target.write(&request, &mut encoder)?;
    encoder.finish()?;
    Ok(loss)
}

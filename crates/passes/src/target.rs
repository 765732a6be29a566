//! The description of a target.

use std::{io::Write, path::Path};

use flate2::{Compression, write::GzEncoder};
pub use traceloom_core::Variant;
use traceloom_core::{Descriptor, Limits, Loss, Result, Slice};
use traceloom_model::{Table, TableSource, Wanted};

use crate::{Need, Pass};

/// A request to write a target; only [`write()`] creates one, so its variant is always one that the target has.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The tables.
    pub source: &'a dyn TableSource,
    /// How to write them.
    pub options: &'a Options,
    /// One of [`Target::variants`]; empty if the target has none.
    pub variant: &'static str,
}

/// An output format, as plain data. Call it with [`write()`].
#[derive(Debug)]
pub struct Target {
    /// One lower-case word: the value of `--to`.
    pub id: &'static str,
    /// Name for people.
    pub name: &'static str,
    /// One line: the tools that open the output.
    pub about: &'static str,
    /// File name extensions, without the dot; the one to suggest comes first.
    pub extensions: &'static [&'static str],
    /// Variants that can be written after `ID:`, the default first; empty if there is no choice.
    pub variants: &'static [Variant],
    /// Extensions that select a variant, because tools go by the extension; if there are any, files with the other
    /// extensions can only be read.
    pub extension_variants: &'static [(&'static str, &'static str)],
    /// The tables that the target shows, in groups; empty if that depends on the variant and the trace. Rows of all
    /// other tables are counted as lost.
    pub needs: &'static [&'static [Need]],
    /// Whether the output is text that may be written to a terminal.
    pub is_text: bool,
    /// The function that writes the output.
    pub writer: Writer,
}

/// How a target is written. The source may be read several times.
#[derive(Clone, Copy, Debug)]
pub enum Writer {
    /// Works in a [`Pass`], which collects the losses.
    Pass(fn(&mut Pass<'_>, &mut dyn Write) -> Result<()>),
    /// Works on the tables directly; returns what the output does not hold. Rows that the options leave out are not a
    /// loss.
    Tables(fn(&Request<'_>, &mut dyn Write) -> Result<Loss>),
}

impl Target {
    /// An empty target, to be filled in.
    pub const EMPTY: Self = Self {
        id: "",
        name: "",
        about: "",
        extensions: &[],
        variants: &[],
        extension_variants: &[],
        needs: &[],
        is_text: false,
        writer: Writer::Pass(|_, _| Ok(())),
    };

    /// One of Traceloom's formats as a target: id, name, extensions and variants are the format's.
    pub const fn of_format(format: &'static Descriptor) -> Self {
        let Descriptor { id, name, extensions, variants, .. } = *format;
        Self { id, name, extensions, variants, ..Self::EMPTY }
    }

    /// All columns that the target needs.
    pub fn wanted(&self) -> Wanted {
        self.all_needs().fold(Wanted::nothing(), |wanted, need| wanted.and(need.table, need.columns))
    }

    /// Whether the target shows rows of this table.
    pub fn shows(&self, table: Table) -> bool {
        self.all_needs().any(|need| need.table == table)
    }

    pub(crate) fn all_needs(&self) -> impl Iterator<Item = &'static Need> {
        self.needs.iter().copied().flatten()
    }

    /// The extensions that files may be written with, the suggested one first.
    pub fn written_extensions(&self) -> impl Iterator<Item = &'static str> {
        let is_written = |extension: &&&str| {
            self.extension_variants.is_empty() || self.extension_variants.iter().any(|(own, _)| own == *extension)
        };
        self.extensions.iter().filter(is_written).copied()
    }

    /// The variant that the extension of a file selects.
    pub fn variant_of(&self, path: &Path) -> Option<&'static str> {
        let extension = path.extension()?;
        self.extension_variants.iter().find(|(own, _)| extension == *own).map(|(_, variant)| *variant)
    }

    /// The variant with this name, or the default if there is no name; an unknown name is an error.
    pub fn variant(&self, named: Option<&str>) -> Result<&'static str> {
        let Some(named) = named else { return Ok(self.variants.first().map_or("", |variant| variant.id)) };
        let known = self.variants.iter().find(|variant| variant.id == named).map(|variant| variant.id);
        known.ok_or_else(|| Variant::unknown(self.id, self.variants, named))
    }
}

/// How to write a target.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The text after the colon of `ID:VARIANT`.
    pub variant: Option<String>,
    /// The part of the trace to write. A span that overlaps it is written whole.
    pub slice: Slice,
    /// How much of the machine to use: data to be sorted goes to a temporary file above `tree_bytes`.
    pub limits: Limits,
    /// Whether to compress the whole output; see [`write()`].
    pub gzip: bool,
}

/// Writes a target, compressed if the options say so; fails before writing anything if the target does not have the
/// variant.
pub fn write(target: &Target, source: &dyn TableSource, options: &Options, out: &mut dyn Write) -> Result<Loss> {
    let variant = target.variant(options.variant.as_deref())?;
    let request = Request { source, options, variant };
    if !options.gzip {
        return write_plain(target, &request, out);
    }
    let mut encoder = GzEncoder::new(out, Compression::new(6));
    let loss = write_plain(target, &request, &mut encoder)?;
    encoder.finish()?;
    Ok(loss)
}

fn write_plain(target: &Target, request: &Request<'_>, out: &mut dyn Write) -> Result<Loss> {
    match target.writer {
        Writer::Pass(write) => {
            let mut pass = Pass::new(request, target)?;
            write(&mut pass, out)?;
            Ok(pass.loss)
        }
        Writer::Tables(write) => write(request, out),
    }
}

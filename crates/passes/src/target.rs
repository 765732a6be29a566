//! What a target is, and what it tells about itself.

use std::{io::Write, path::Path};

use flate2::{Compression, write::GzEncoder};
pub use traceloom_core::Variant;
use traceloom_core::{Descriptor, Error, Limits, Loss, Result, Slice};
use traceloom_model::{Table, TableSource, Wanted};

use crate::{Need, Pass};

/// What a target is asked to write; only [`write()`] makes one, so that its variant is always one that the target has.
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

/// A format that leaves the program, as plain data. [`write()`] is the way to call it.
#[derive(Debug)]
pub struct Target {
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
    /// The tables that it shows, in groups; empty if that depends on the variant and the trace. Rows of all others are
    /// lost, and counted.
    pub needs: &'static [&'static [Need]],
    /// Whether the output is text that may go to a terminal.
    pub is_text: bool,
    /// The function that writes it.
    pub writer: Writer,
}

/// How a target is written. The source may be poured several times.
#[derive(Clone, Copy, Debug)]
pub enum Writer {
    /// In a [`Pass`], which holds what the output does not.
    Pass(fn(&mut Pass<'_>, &mut dyn Write) -> Result<()>),
    /// From the tables as they are; gives what the output does not hold. Rows that the options leave out are not a loss.
    Tables(fn(&Request<'_>, &mut dyn Write) -> Result<Loss>),
}

impl Target {
    /// Nothing, for a target to fill in.
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

    /// One of our own formats as a target: its id, name, extensions and variants are the format's.
    pub const fn of_format(format: &'static Descriptor) -> Self {
        let Descriptor { id, name, extensions, variants, .. } = *format;
        Self { id, name, extensions, variants, ..Self::EMPTY }
    }

    /// Everything that it needs.
    pub fn wanted(&self) -> Wanted {
        self.all_needs().fold(Wanted::nothing(), |wanted, need| wanted.and(need.table, need.columns))
    }

    /// Whether it shows rows of this table.
    pub fn shows(&self, table: Table) -> bool {
        self.all_needs().any(|need| need.table == table)
    }

    pub(crate) fn all_needs(&self) -> impl Iterator<Item = &'static Need> {
        self.needs.iter().copied().flatten()
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

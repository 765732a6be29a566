//! Edits of whole files of the dialect; all of them write the document's layout.

use std::io::Write;

use traceloom_core::{Edited, Error, Findings, Options, Result, Slice, Source};

use super::figures::Figures;
use crate::edit::level_of;

/// Writes `source` as the document says, compressed as `variant` says or as it was.
pub fn canonical<W: Write>(source: &Source, out: W, variant: Option<&str>, options: &Options) -> Result<Edited> {
    let (mut figures, findings) = Figures::load(source, options)?;
    let level = match variant {
        Some(variant) => level_of(variant)?,
        None => figures.level,
    };
    figures.write(out, level)?;
    Ok(Edited { findings, loss: figures.loss })
}

/// Writes what can be read of `source` as the document says.
pub fn repair<W: Write>(source: &Source, out: W, options: &Options) -> Result<Edited> {
    canonical(source, out, None, options)
}

/// Fails unless everything is asked for: the dialect holds sums only, which cannot be divided.
pub fn slice<W: Write>(source: &Source, out: W, slice: &Slice, options: &Options) -> Result<Edited> {
    if *slice != Slice::default() {
        return Err(Error::usage("a file of Pynytprof holds sums without times; no part of them can be cut out"));
    }
    canonical(source, out, None, options)
}

/// Adds the figures of all files up.
pub fn merge<W: Write>(sources: &[Source], out: W, options: &Options) -> Result<Edited> {
    if sources.is_empty() {
        return Err(Error::usage("there is nothing to merge"));
    }
    let mut findings = Findings::new(options.mode, &options.limits);
    let total = sources.iter().try_fold(0u64, |total, source| Ok::<_, Error>(total.saturating_add(source.len()?)))?;
    let mut sum = Figures::new(total);
    for source in sources {
        let (figures, found) = Figures::load(source, options)?;
        findings.absorb(found);
        sum.absorb(figures)?;
    }
    sum.write(out, None)?;
    Ok(Edited { findings, loss: sum.loss })
}

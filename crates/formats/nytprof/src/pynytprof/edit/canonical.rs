//! Writes a file in the documented layout.

use std::io::Write;

use traceloom_core::{Edited, Options, Result, Source};

use super::level_of;
use crate::pynytprof::figures::Figures;

/// Writes `source` in the documented layout, compressed as in `variant` or as it was.
pub fn canonical<W: Write>(source: &Source, out: W, variant: Option<&str>, options: &Options) -> Result<Edited> {
    let (mut figures, findings) = Figures::load(source, options)?;
    let level = match variant {
        Some(variant) => level_of(variant)?,
        None => figures.level,
    };
    figures.write(out, level)?;
    Ok(Edited { findings, loss: figures.loss })
}

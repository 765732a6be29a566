//! Merges files by summing them.

use std::io::Write;

use traceloom_core::{Edited, Error, Findings, Options, Result, Source};

use crate::pynytprof::figures::Figures;

/// Sums the figures of all files.
pub fn merge<W: Write>(sources: &[Source], out: W, options: &Options) -> Result<Edited> {
    if sources.is_empty() {
        return Err(Error::usage("nothing to merge"));
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

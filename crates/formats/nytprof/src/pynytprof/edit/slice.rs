//! Keeps all figures, or none.

use std::io::Write;

use traceloom_core::{Edited, Error, Options, Result, Slice, Source};

use crate::pynytprof::figures::Figures;

/// Writes the part of `source` that `slice` describes, which is all of its figures or none.
///
/// The dialect holds sums without times, so a range is refused unless it is all of time or empty. The only thread is
/// the process.
pub fn slice<W: Write>(source: &Source, out: W, slice: &Slice, options: &Options) -> Result<Edited> {
    if !slice.range.is_all() && !slice.range.is_empty() {
        let message = "a Pynytprof file holds sums without times, so it cannot be sliced";
        return Err(Error::unsupported(message));
    }
    let (mut figures, findings) = Figures::load(source, options)?;
    let pid = figures.process.map_or(0, |process| process.pid);
    if slice.range.is_empty() || !slice.keeps_thread(pid.into(), b"") {
        figures.clear();
    }
    let level = figures.level;
    figures.write(out, level)?;
    Ok(Edited { findings, loss: figures.loss })
}

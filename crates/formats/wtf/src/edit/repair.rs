//! Writes a file that WTF loads.

use std::io::Write;

use traceloom_core::{Edited, Options, Records, Result, Source};

use super::{compose, loadable_form};

/// Writes a file that WTF loads, with everything that can be recovered.
pub fn repair<W: Write>(source: &Source, out: W, options: &Options) -> Result<Edited> {
    let reader = crate::open(source.clone(), options)?;
    let form = loadable_form(reader.header().container);
    compose(reader, out, form, None)
}

//! Makes a file that keeps the document's rules.

use std::io::Write;

use traceloom_core::{Edited, Options, Result, Source};

use super::canonical;

/// Writes what can be read of `source` as the document says.
pub fn repair<W: Write>(source: &Source, out: W, options: &Options) -> Result<Edited> {
    canonical(source, out, None, options)
}

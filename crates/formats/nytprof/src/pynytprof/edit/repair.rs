//! Makes a file that follows the documented rules.

use std::io::Write;

use traceloom_core::{Edited, Options, Result, Source};

use super::canonical;

/// Writes the readable parts of `source` in the documented layout.
pub fn repair<W: Write>(source: &Source, out: W, options: &Options) -> Result<Edited> {
    canonical(source, out, None, options)
}

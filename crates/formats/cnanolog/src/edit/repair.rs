//! Makes a file that CNanoLog's decompressor opens from one that it refuses.

use std::io::Write;

use traceloom_core::{ByteOrder, Edited, Options, Result, Source};

use super::{
    plan::Dialect,
    relay::{Layout, relay},
};
use crate::Extra;

/// Writes a file that CNanoLog's decompressor opens, with everything that can be read.
///
/// Entries that cannot be decoded become entries of a site that shows their bytes.
pub fn repair<W: Write>(source: &Source, out: W, options: &Options) -> Result<Edited> {
    repair_with(source, out, &Extra::default(), options)
}

/// The same with facts that the caller knows, such as the dictionary of another log of the same program.
pub fn repair_with<W: Write>(source: &Source, out: W, extra: &Extra, options: &Options) -> Result<Edited> {
    relay(source, out, Layout { dialect: Dialect::Library, order: ByteOrder::Little }, extra, options)
}

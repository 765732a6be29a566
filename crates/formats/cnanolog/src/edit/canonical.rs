//! Writes the same contents as a clean writer lays them out, optionally in another dialect.

use std::io::Write;

use traceloom_core::{ByteOrder, Edited, Options, Records, Result, Source};

use super::{
    plan::Dialect,
    relay::{Layout, relay},
};
use crate::{Extra, open};

/// Writes the same contents with dense ids and exact sizes and counts. Without a variant, and in the documented layout,
/// the byte order is kept; an explicit `1.0.7` is little-endian, like every file of the library.
pub fn canonical<W: Write>(source: &Source, out: W, variant: Option<&str>, options: &Options) -> Result<Edited> {
    let dialect = Dialect::parse(variant)?;
    let order = match (dialect, variant) {
        (Dialect::Library, Some(_)) => ByteOrder::Little,
        _ => open(source.clone(), options)?.header().order,
    };
    relay(source, out, Layout { dialect, order }, &Extra::default(), options)
}

/// The same in a byte order that the caller chooses.
pub fn canonical_in<W: Write>(
    source: &Source,
    out: W,
    variant: Option<&str>,
    order: ByteOrder,
    options: &Options,
) -> Result<Edited> {
    let layout = Layout { dialect: Dialect::parse(variant)?, order };
    relay(source, out, layout, &Extra::default(), options)
}

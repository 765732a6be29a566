//! Writes the same contents as a clean writer lays them out.

use std::io::Write;

use traceloom_core::{Edited, Options, Records, Result, Source};

use super::{clean_header, copy_events};
use crate::{FORMAT, create_with_metadata, raw::Packing};

/// Writes a file as a clean writer would: version 1, shortest varints, no unexplained bytes.
///
/// Ids and times are kept. The variant is one of [`FORMAT`]'s, and plain by default.
pub fn canonical<W: Write>(source: &Source, out: W, variant: Option<&str>, options: &Options) -> Result<Edited> {
    let packing = packing_of(variant)?;
    let reader = crate::open(source.clone(), options)?;
    let header = clean_header(reader.header()).packed(packing);
    let writer = create_with_metadata(out, &header, reader.metadata())?;
    copy_events(reader, writer)
}

fn packing_of(variant: Option<&str>) -> Result<Packing> {
    match variant {
        None | Some("1") => Ok(Packing::Plain),
        Some("lz4") => Ok(Packing::Blocks),
        Some(other) => Err(FORMAT.unknown_variant(other)),
    }
}

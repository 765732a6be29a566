//! Writes a file that follows the rules.

use std::io::Write;

use traceloom_core::{Edited, Error, Limits, Loss, Options, Records, Result, Source};

use super::{clean_header, copy_events};
use crate::{Metadata, create_with_metadata, metadata::IdSet, raw::Dialect};

/// Writes a file that follows the documented rules: whatever breaks them is left out, and dangling ids get an empty
/// stack or the name `unknown`.
///
/// Traces of the upstream tracer keep their empty metadata: with names, they would be read as another dialect.
pub fn repair<W: Write>(source: &Source, out: W, options: &Options) -> Result<Edited> {
    let mut reader = crate::open(source.clone(), options)?;
    reader.walk(|_| Ok::<_, Error>(()))?;
    let header = clean_header(reader.header()).packed(reader.header().packing());
    let mut loss = Loss::default();
    let metadata = if header.dialect == Dialect::Growth {
        reader.metadata
    } else {
        let (stacks, markers) = (reader.missing.stacks, reader.missing.markers);
        complete(reader.metadata, &stacks, markers, &options.limits, &mut loss)?
    };
    let writer = create_with_metadata(out, &header, &metadata)?;
    drop(metadata);
    let edited = copy_events(crate::open(source.clone(), options)?, writer)?;
    loss.absorb(&edited.loss);
    Ok(Edited { findings: edited.findings, loss })
}

/// Adds an entry for every id that is used but missing.
pub(super) fn complete(
    mut metadata: Metadata,
    stacks: &IdSet,
    mut functions: IdSet,
    limits: &Limits,
    loss: &mut Loss,
) -> Result<Metadata> {
    const NAME: &[u8] = b"unknown";
    let mut files = IdSet::default();
    for frame in metadata.stacks.frames() {
        if let Some(id) = frame.file.filter(|id| metadata.file(*id).is_none()) {
            files.insert(id)?;
        }
        if let Some(id) = frame.function.filter(|id| metadata.function(*id).is_none()) {
            functions.insert(id)?;
        }
    }
    for id in stacks.iter() {
        metadata.stacks.push(id, limits)?;
        loss.lose("stacks that are not in the metadata", || format!("stack {id} gets no frames"));
    }
    for id in files.iter() {
        metadata.files.push(id, NAME, limits)?;
        loss.lose("files that are not in the metadata", || format!("file {id} is now named `unknown`"));
    }
    for id in functions.iter() {
        metadata.functions.push(id, NAME, limits)?;
        loss.lose("functions that are not in the metadata", || format!("function {id} is now named `unknown`"));
    }
    metadata.finish()?;
    Ok(metadata)
}

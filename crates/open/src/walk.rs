//! What every format does in the same way, once it has a reader.

use traceloom_core::{Describe, Findings, Records, Result};

use crate::Dump;

/// Reads to the end for the sake of the findings.
pub(crate) fn check<R: Records>(mut reader: R) -> Result<Findings> {
    while reader.next()?.is_some() {}
    Ok(reader.into_findings())
}

/// Hands over the header, which takes the first `header_bytes`, and every record.
pub(crate) fn dump<R: Records>(
    mut reader: R,
    header: &dyn Describe,
    header_bytes: u64,
    visit: &mut Dump<'_>,
) -> Result<Findings> {
    let mut more = visit(0, header_bytes, header)?;
    while more && let Some(located) = reader.next()? {
        more = visit(located.offset, located.len, &located.record)?;
    }
    Ok(reader.into_findings())
}

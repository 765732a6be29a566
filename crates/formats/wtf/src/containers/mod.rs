//! Traces that are not a plain sequence of chunks: JSON, event lists, the packed format, calls.

mod base64;
mod calls;
mod document;
mod json_chunk;
mod legacy;
mod script;

use traceloom_core::Findings;

pub(crate) use self::{
    base64::put_base64,
    calls::{Calls, header as calls_header, looks_like_calls},
    document::Document,
    legacy::header as legacy_header,
};
use crate::{EventTypes, StringTable};

/// What a container needs from its reader.
pub(crate) struct Context<'r> {
    pub(crate) findings: &'r mut Findings,
    pub(crate) types: &'r EventTypes,
}

/// A range of text, and the chunk decoded from it.
#[derive(Debug, Default)]
pub(crate) struct Image {
    /// End of the text.
    pub(crate) text_end: u64,
    /// Offset of the chunk in the text.
    pub(crate) place: u64,
    /// The chunk as bytes.
    pub(crate) chunk: Option<Vec<u8>>,
    /// Its strings, if bytes cannot hold them.
    pub(crate) strings: Option<StringTable>,
    /// Whether its events were made here, so that their wire ids may exceed 16 bits.
    pub(crate) is_wide: bool,
}

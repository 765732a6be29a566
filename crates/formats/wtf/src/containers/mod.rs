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

/// What a container needs of its reader.
pub(crate) struct Context<'r> {
    pub(crate) findings: &'r mut Findings,
    pub(crate) types: &'r EventTypes,
}

/// Text, and the chunk that was decoded from it.
#[derive(Debug, Default)]
pub(crate) struct Image {
    /// The text reaches to here.
    pub(crate) text_end: u64,
    /// Where the chunk stands in the text.
    pub(crate) place: u64,
    /// The chunk as bytes.
    pub(crate) chunk: Option<Vec<u8>>,
    /// Its strings, where bytes cannot hold them.
    pub(crate) strings: Option<StringTable>,
    /// Its events were made here, and their definitions may count beyond 16 bits.
    pub(crate) is_wide: bool,
}

//! The Web Tracing Framework for the targets.

use traceloom_core::{Options, Result, Source};
use traceloom_testkit::Subject;
use traceloom_wtf::{
    Reader,
    raw::{FORMAT_VERSION, LEGACY_VERSION, MAGIC},
};

use crate::Format;

/// `.wtf-trace`, `.wtf-json` and `.wtf-calls` files.
#[derive(Debug)]
pub enum Wtf {}

impl Format for Wtf {
    type Reader = Reader;

    const SUBJECT: &'static dyn Subject = &traceloom_testkit::Wtf;

    /// A chunk in text, or with parts that overlap, is lent as it stands and then decoded; parts may be empty.
    const RECORDS_WITHOUT_BYTES: bool = true;

    fn open(source: Source, options: &Options) -> Result<Reader> {
        traceloom_wtf::open(source, options)
    }

    fn body_offset(reader: &Reader) -> u64 {
        (reader.header().stored_bytes + reader.header().head.len()) as u64
    }

    fn restore_magic(bytes: &mut [u8], seed: u32) {
        // Text has no magic, with or without a length before it: what begins like it is left alone.
        if [0, 4].iter().any(|at| matches!(bytes.get(*at), Some(b'{' | b'['))) {
            return;
        }
        let little = [MAGIC.to_le_bytes(), FORMAT_VERSION.to_le_bytes()];
        let big = [MAGIC.to_be_bytes(), LEGACY_VERSION.to_be_bytes()];
        let is_big = bytes.starts_with(&big[0]) || (!bytes.starts_with(&little[0]) && seed.is_multiple_of(8));
        let [magic, version] = if is_big { big } else { little };
        let Some(head) = bytes.first_chunk_mut::<12>() else { return };
        head[..4].copy_from_slice(&magic);
        head[8..].copy_from_slice(&version);
    }
}

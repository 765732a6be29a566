//! EasyProfiler for the targets.

use traceloom_bytes::{Descriptor, Edited, Options, Records, Result, Slice, Source};
use traceloom_easyprofiler::{
    Reader, create, edit,
    raw::{EASY_PROFILER_SIGNATURE, Version},
};

use crate::Format;

/// `.prof` files.
#[derive(Debug)]
pub enum EasyProfiler {}

impl Format for EasyProfiler {
    type Reader = Reader;

    const FORMAT: &'static Descriptor = &traceloom_easyprofiler::FORMAT;

    fn open(source: Source, options: &Options) -> Result<Reader> {
        traceloom_easyprofiler::open(source, options)
    }

    fn body_offset(reader: &Reader) -> u64 {
        reader.header().stored_bytes as u64
    }

    fn rewrite(mut reader: Reader) -> Result<Vec<u8>> {
        let mut writer = create(Vec::new(), reader.header())?;
        while let Some(located) = reader.next()? {
            writer.write(&located.record)?;
        }
        Ok(writer.finish()?.0)
    }

    fn repair(source: &Source, out: &mut Vec<u8>, options: &Options) -> Result<Edited> {
        edit::repair(source, out, options)
    }

    fn slice(source: &Source, out: &mut Vec<u8>, slice: &Slice, options: &Options) -> Result<Edited> {
        edit::slice(source, out, slice, options)
    }

    fn merge(sources: &[Source], out: &mut Vec<u8>, options: &Options) -> Result<Edited> {
        edit::merge(sources, out, options)
    }

    fn canonical(source: &Source, out: &mut Vec<u8>, variant: Option<&str>, options: &Options) -> Result<Edited> {
        edit::canonical(source, out, variant, options)
    }

    fn restore_magic(bytes: &mut [u8], seed: u32) {
        let Some(head) = bytes.first_chunk_mut::<8>() else { return };
        let [s0, s1, s2, s3, v0, v1, v2, v3] = *head;
        // Both spellings occur: the second one in big-endian files and in the document's.
        let signatures = [EASY_PROFILER_SIGNATURE.to_le_bytes(), EASY_PROFILER_SIGNATURE.to_be_bytes()];
        let stamps = VERSIONS.as_flattened();
        let [s0, s1, s2, s3] = restored([s0, s1, s2, s3], &signatures, seed);
        let [v0, v1, v2, v3] = restored([v0, v1, v2, v3], stamps, seed / 2);
        *head = [s0, s1, s2, s3, v0, v1, v2, v3];
    }
}

/// `found` where it is one of `known`, else one of them.
fn restored(found: [u8; 4], known: &[[u8; 4]], seed: u32) -> [u8; 4] {
    if known.contains(&found) { found } else { known[seed as usize % known.len()] }
}

/// Stamps on both sides of every change of layout, in both byte orders.
const VERSIONS: [[[u8; 4]; 2]; 7] = {
    const fn both(version: Version) -> [[u8; 4]; 2] {
        [version.0.to_le_bytes(), version.0.to_be_bytes()]
    }
    [
        both(Version::V0_1_0),
        both(Version::V1_0_0),
        both(Version::new(1, 0, 1)),
        both(Version::new(1, 2, 0)),
        both(Version::V1_3_0),
        both(Version::V2_0_0),
        both(Version::V2_1_0),
    ]
};

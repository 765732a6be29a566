//! EasyProfiler: its signature and its version stamps.

use traceloom_easyprofiler::raw::{EASY_PROFILER_SIGNATURE, Version};

pub(super) fn restore_magic(bytes: &mut [u8], seed: u32) {
    let Some(head) = bytes.first_chunk_mut::<8>() else { return };
    let [s0, s1, s2, s3, v0, v1, v2, v3] = *head;
    // Both spellings occur: the second one in big-endian files and in the format's documentation.
    let signatures = [EASY_PROFILER_SIGNATURE.to_le_bytes(), EASY_PROFILER_SIGNATURE.to_be_bytes()];
    let stamps = VERSIONS.as_flattened();
    let [s0, s1, s2, s3] = restored([s0, s1, s2, s3], &signatures, seed);
    let [v0, v1, v2, v3] = restored([v0, v1, v2, v3], stamps, seed / 2);
    *head = [s0, s1, s2, s3, v0, v1, v2, v3];
}

/// `found` if it is one of `known`, otherwise one of `known`.
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

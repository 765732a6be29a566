//! The Web Tracing Framework: the magics of its binary files.

use traceloom_wtf::raw::{FORMAT_VERSION, LEGACY_VERSION, MAGIC};

pub(super) fn restore_magic(bytes: &mut [u8], seed: u32) {
    // Text has no magic, with or without a length before it, so anything that starts like text is left alone.
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

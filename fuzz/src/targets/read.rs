//! Reading: no panic, no hang, no memory beyond the limits, and the same records through any window.

use traceloom_core::{Codec, Mode, Source};
use traceloom_testkit::sources::short_reads;

use super::walk::{Walked, assert_expected, walk};
use crate::{Choices, WIDE_WINDOW, options};

/// Reads `bytes` leniently through a wide and a narrow window, and strictly.
pub fn read<C: Codec>(bytes: &[u8]) {
    let narrow = 1 + Choices::of(bytes).below(64);
    let trickle = || short_reads(bytes.to_vec(), narrow);
    let wide = walk_all::<C>(Source::bytes(bytes), Mode::Lenient, WIDE_WINDOW);
    assert_eq!(walk_all::<C>(trickle(), Mode::Lenient, narrow), wide, "a window of {narrow} bytes reads differently");
    if let Some(end) = wide.filter(|walked| walked.error.is_none()).and_then(|walked| walked.end) {
        assert_eq!(end, bytes.len() as u64, "the records do not add up to the file");
    }
    walk_all::<C>(trickle(), Mode::Strict, narrow);
}

fn walk_all<C: Codec>(source: Source, mode: Mode, window_bytes: usize) -> Option<Walked> {
    match C::open(source, &options(mode, window_bytes).thorough()) {
        Ok(reader) => Some(walk::<C>(reader, mode)),
        Err(error) => {
            assert_expected(&error, mode);
            None
        }
    }
}

//! What the fuzz targets of all formats share.
//!
//! A direction is a function that is generic over the codec; a target is a file in `fuzz_targets` with a single line of
//! [`target!`]. Facts about a format that its codec does not provide are a row in [`shapes`].

#![forbid(unsafe_code)]

mod shapes;
mod targets;

use std::path::Path;

use traceloom_core::{Limits, Mode, Options};

pub use crate::targets::{
    analysis::analysis, edit::edit, export::export, live::live, read::read, rewrite::rewrite, scene::scene,
    stream::stream, tables::tables,
};

/// Defines a target: `target!(direction, codec)`, or `target!(direction)` for a direction that accepts files of any
/// format or none.
#[macro_export]
macro_rules! target {
    ($direction:ident, $codec:ty) => {
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $crate::$direction::<$codec>(bytes));

        libfuzzer_sys::fuzz_mutator!(|bytes: &mut [u8], size: usize, max_size: usize, seed: u32| {
            let size = libfuzzer_sys::fuzzer_mutate(bytes, size, max_size);
            if let Some(mutated) = bytes.get_mut(..size) {
                $crate::restore_most(<$codec as traceloom_core::Codec>::FORMAT.id, mutated, seed);
            }
            size
        });

        $crate::target!(@same_each_time);
    };
    ($direction:ident) => {
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $crate::$direction(bytes));

        libfuzzer_sys::fuzz_mutator!(|bytes: &mut [u8], size: usize, max_size: usize, seed: u32| {
            let format = bytes.get(..size).and_then($crate::format_of);
            let size = libfuzzer_sys::fuzzer_mutate(bytes, size, max_size);
            if let Some((format, mutated)) = format.zip(bytes.get_mut(..size)) {
                $crate::restore_most(format, mutated, seed);
            }
            size
        });

        $crate::target!(@same_each_time);
    };
    (@same_each_time) => {
        /// Replaces the C library's function, from which hash maps get their keys: their order is then always the same,
        /// and a run depends only on its inputs.
        #[unsafe(no_mangle)]
        extern "C" fn getrandom(buffer: *mut u8, len: usize, _flags: u32) -> isize {
            // SAFETY: the caller provides `len` bytes.
            unsafe { buffer.write_bytes(0x5a, len) };
            len as isize
        }
    };
}

/// Restores the magic of a format, but leaves one mutation in 16 unchanged, so that refusing is tested, too.
pub fn restore_most(format: &str, bytes: &mut [u8], seed: u32) {
    if !seed.is_multiple_of(16) {
        (shapes::of(format).restore_magic)(bytes, seed / 16);
    }
}

/// The format that these bytes are detected as.
pub fn format_of(bytes: &[u8]) -> Option<&'static str> {
    traceloom_open::detect(bytes, Path::new("")).ok().map(|format| format.descriptor().id)
}

/// Limits so tight that a target that runs out of memory must have ignored them.
fn options(mode: Mode, window_bytes: usize) -> Options {
    let limits = Limits::with(|limits| {
        limits.window_bytes = window_bytes;
        limits.record_bytes = 128 << 10;
        limits.spool_bytes = 1 << 20;
        limits.ratio = 16;
        limits.entries = 4096;
        limits.tree_bytes = 4096;
        limits.findings = MAX_FINDINGS;
    });
    Options::default().with_mode(mode).with_limits(limits)
}

const MAX_FINDINGS: usize = 8;

/// Most records fit in a window of this size.
const WIDE_WINDOW: usize = 8 << 10;

/// Numbers derived from every byte with FNV-1a: all choices of a run come from its input, so the reproducer is
/// complete.
struct Choices(u64);

impl Choices {
    fn of(bytes: &[u8]) -> Self {
        let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        Self(bytes.iter().fold(0xcbf2_9ce4_8422_2325, add))
    }

    /// A number below `choices`, independent of the previous ones.
    fn below(&mut self, choices: usize) -> usize {
        let choices = choices.max(1) as u64;
        let choice = self.0 % choices;
        self.0 /= choices;
        choice as usize
    }
}

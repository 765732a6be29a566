//! What the fuzz targets of all formats share.
//!
//! A format implements [`Format`] in a module of its own and has one file per direction in
//! `fuzz_targets`, each a single line of [`target!`].

#![forbid(unsafe_code)]

mod cnanolog;
mod easyprofiler;
mod edit;
mod memlyze;
mod nytprof;
mod read;
mod rewrite;
mod walk;
mod wtf;

use traceloom_core::{Limits, Mode, Options, Records, Result, Source};
use traceloom_testkit::Subject;

pub use crate::{
    cnanolog::CNanoLog,
    easyprofiler::EasyProfiler,
    edit::edit,
    memlyze::Memlyze,
    nytprof::{Nytprof, Pynytprof},
    read::read,
    rewrite::rewrite,
    wtf::Wtf,
};

/// A format as the targets see it.
pub trait Format {
    /// Its reader.
    type Reader: Records;

    /// The format as the conformance suite knows it.
    const SUBJECT: &'static dyn Subject;

    /// Whether a record may have no bytes of its own: it is empty, or it tells what those of an earlier one mean.
    const RECORDS_WITHOUT_BYTES: bool = false;

    /// Kinds of records that lie in a block once there is one: their offsets are those of the unpacked file.
    const KINDS_IN_BLOCKS: &'static [&'static str] = &[];

    /// Opens a file.
    fn open(source: Source, options: &Options) -> Result<Self::Reader>;

    /// Where the first record begins; records follow each other from there to the end of the file.
    fn body_offset(reader: &Self::Reader) -> u64;

    /// Shows every record in each way that this format alone has.
    fn show(_source: &Source, _options: &Options) {}

    /// Writes the file in a sibling dialect and checks the result, where there is one.
    fn convert(_source: &Source, _options: &Options) {}

    /// Whether a sibling dialect claims the file.
    fn is_sibling(_bytes: &[u8]) -> bool {
        false
    }

    /// Puts back what every file begins with, so that mutations get past the first check.
    fn restore_magic(bytes: &mut [u8], seed: u32);
}

/// Defines a target: `target!(direction, format)`.
#[macro_export]
macro_rules! target {
    ($direction:ident, $format:ty) => {
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $crate::$direction::<$format>(bytes));

        libfuzzer_sys::fuzz_mutator!(|bytes: &mut [u8], size: usize, max_size: usize, seed: u32| {
            let size = libfuzzer_sys::fuzzer_mutate(bytes, size, max_size);
            if let Some(mutated) = bytes.get_mut(..size) {
                $crate::restore_most::<$format>(mutated, seed);
            }
            size
        });

        /// Takes the place of the C library's, with which hash maps get their keys: their order is then the same
        /// each time, and a run depends on nothing but its inputs.
        #[unsafe(no_mangle)]
        extern "C" fn getrandom(buffer: *mut u8, len: usize, _flags: u32) -> isize {
            // SAFETY: who calls this lends `len` bytes.
            unsafe { buffer.write_bytes(0x5a, len) };
            len as isize
        }
    };
}

/// Restores the magic, but leaves one mutation in 16 as it is: refusing is to be tested as well.
pub fn restore_most<F: Format>(bytes: &mut [u8], seed: u32) {
    if !seed.is_multiple_of(16) {
        F::restore_magic(bytes, seed / 16);
    }
}

/// Limits so tight that a target which outgrows the process's memory has ignored them.
fn options(mode: Mode, window_bytes: usize) -> Options {
    let limits = Limits::with(|limits| {
        limits.window_bytes = window_bytes;
        limits.record_bytes = 128 << 10;
        limits.spool_bytes = 1 << 20;
        limits.ratio = 16;
        limits.entries = 4096;
        limits.tree_bytes = 4096;
        limits.findings = MOST_FINDINGS;
    });
    Options::default().with_mode(mode).with_limits(limits)
}

const MOST_FINDINGS: usize = 8;

/// Most records lie whole in a window of this size.
const WIDE_WINDOW: usize = 8 << 10;

/// A number that depends on every byte, by FNV-1a: whatever else a run needs comes from the input alone, so that
/// the reproducer is all it takes.
fn choice(bytes: &[u8], choices: usize) -> usize {
    let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    (bytes.iter().fold(0xcbf2_9ce4_8422_2325, add) % choices.max(1) as u64) as usize
}

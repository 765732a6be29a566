//! NYTProf for the targets: the real stream, and the dialect of Pynytprof.

use traceloom_core::{Limits, Options, Result, Source};
use traceloom_nytprof::{Dialect, Reader, dialect, edit, pynytprof};
use traceloom_testkit::Subject;

use crate::{Format, edit::converted};

/// Profiles of Devel::NYTProf.
#[derive(Debug)]
pub enum Nytprof {}

impl Format for Nytprof {
    type Reader = Reader;

    const SUBJECT: &'static dyn Subject = &traceloom_testkit::Nytprof;

    fn open(source: Source, options: &Options) -> Result<Reader> {
        traceloom_nytprof::open(source, options)
    }

    fn body_offset(reader: &Reader) -> u64 {
        reader.header().line().len() as u64
    }

    fn convert(source: &Source, options: &Options) {
        converted::<Pynytprof>(|out| edit::to_pynytprof(source, out, None, options));
    }

    fn is_sibling(bytes: &[u8]) -> bool {
        is_pynytprof(bytes)
    }

    fn restore_magic(bytes: &mut [u8], _seed: u32) {
        restore(bytes, b"NYTProf 5 0\n");
    }
}

/// Profiles of Pynytprof.
#[derive(Debug)]
pub enum Pynytprof {}

impl Format for Pynytprof {
    type Reader = pynytprof::Reader;

    const SUBJECT: &'static dyn Subject = &traceloom_testkit::Pynytprof;

    fn open(source: Source, options: &Options) -> Result<Self::Reader> {
        pynytprof::open(source, options)
    }

    fn body_offset(reader: &Self::Reader) -> u64 {
        reader.header().head.len() as u64
    }

    fn convert(source: &Source, options: &Options) {
        converted::<Nytprof>(|out| edit::from_pynytprof(source, out, None, options));
    }

    fn is_sibling(bytes: &[u8]) -> bool {
        !is_pynytprof(bytes)
    }

    fn restore_magic(bytes: &mut [u8], seed: u32) {
        // The ancestor is short; one input in eight keeps it alive.
        let magic: &[u8] = if seed.is_multiple_of(8) { b"NYTPROF\0" } else { b"NYTProf 5 0\n" };
        restore(bytes, magic);
    }
}

fn is_pynytprof(bytes: &[u8]) -> bool {
    dialect(&Source::bytes(bytes), &Limits::default()).is_ok_and(Dialect::is_pynytprof)
}

fn restore(bytes: &mut [u8], magic: &[u8]) {
    if let Some(head) = bytes.get_mut(..magic.len()) {
        head.copy_from_slice(magic);
    }
}

//! NYTProf for the targets: the real stream, and the dialect of Pynytprof.

use std::borrow::Cow;

use traceloom_bytes::{Descriptor, Edited, Limits, Options, Records, Result, Slice, Source};
use traceloom_nytprof::{Dialect, Reader, create, dialect, edit, pynytprof};

use crate::{Format, edit::converted, zlib};

/// Profiles of Devel::NYTProf.
#[derive(Debug)]
pub enum Nytprof {}

impl Format for Nytprof {
    type Reader = Reader;

    const FORMAT: &'static Descriptor = &traceloom_nytprof::FORMAT;

    fn open(source: Source, options: &Options) -> Result<Reader> {
        traceloom_nytprof::open(source, options)
    }

    fn body_offset(reader: &Reader) -> u64 {
        reader.header().line().len() as u64
    }

    fn rewrite(mut reader: Reader) -> Result<Vec<u8>> {
        let mut writer = create(Vec::new(), reader.header())?;
        while let Some(located) = reader.next()? {
            writer.write(&located.record)?;
        }
        writer.finish()
    }

    fn kept(bytes: &[u8]) -> Cow<'_, [u8]> {
        zlib::unpacked::<Self>(bytes)
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

    const FORMAT: &'static Descriptor = &pynytprof::FORMAT;

    fn open(source: Source, options: &Options) -> Result<Self::Reader> {
        pynytprof::open(source, options)
    }

    fn body_offset(reader: &Self::Reader) -> u64 {
        reader.header().head.len() as u64
    }

    fn rewrite(mut reader: Self::Reader) -> Result<Vec<u8>> {
        let mut writer = pynytprof::create(Vec::new(), reader.header())?;
        while let Some(located) = reader.next()? {
            writer.write(&located.record)?;
        }
        writer.finish()
    }

    fn kept(bytes: &[u8]) -> Cow<'_, [u8]> {
        zlib::unpacked::<Self>(bytes)
    }

    /// No file of the dialect is one that the original loads, so a repaired one keeps the document's rules.
    fn repair(source: &Source, out: &mut Vec<u8>, options: &Options) -> Result<Edited> {
        pynytprof::edit::repair(source, out, options)
    }

    fn slice(source: &Source, out: &mut Vec<u8>, slice: &Slice, options: &Options) -> Result<Edited> {
        pynytprof::edit::slice(source, out, slice, options)
    }

    fn merge(sources: &[Source], out: &mut Vec<u8>, options: &Options) -> Result<Edited> {
        pynytprof::edit::merge(sources, out, options)
    }

    fn canonical(source: &Source, out: &mut Vec<u8>, variant: Option<&str>, options: &Options) -> Result<Edited> {
        pynytprof::edit::canonical(source, out, variant, options)
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

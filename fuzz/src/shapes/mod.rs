//! A table of facts about the formats that their codecs do not provide.

mod cnanolog;
mod easyprofiler;
mod memlyze;
mod nytprof;
mod wtf;

use traceloom_core::{Codec, Mode, Options, Source};

use crate::targets::edit::assert_walks;

/// What a target needs to know about a format besides its codec.
pub(crate) struct Shape {
    id: &'static str,
    /// Restores the start of a file, so that mutations get past the first check.
    pub(crate) restore_magic: fn(&mut [u8], seed: u32),
    /// Reads a file to its end in this mode; panics with the name of the edit if it cannot.
    pub(crate) assert_walks: fn(&[u8], Mode, &str),
    /// Whether a record may have no bytes: it is empty, or it explains the bytes of an earlier record.
    pub(crate) has_records_without_bytes: bool,
    /// Kinds of records that are inside blocks once there is one: their offsets are those in the unpacked file.
    pub(crate) kinds_in_blocks: &'static [&'static str],
    /// Shows every record in each way that only this format has.
    pub(crate) show: fn(&Source, &Options),
}

impl Shape {
    const fn of<C: Codec>(restore_magic: fn(&mut [u8], seed: u32)) -> Self {
        Self {
            id: C::FORMAT.id,
            restore_magic,
            assert_walks: assert_walks::<C>,
            has_records_without_bytes: false,
            kinds_in_blocks: &[],
            show: |_, _| {},
        }
    }
}

static SHAPES: &[Shape] = &[
    Shape {
        kinds_in_blocks: &["entry", "levels", "level", "dictionary", "site", "residue"],
        show: cnanolog::show,
        ..Shape::of::<traceloom_cnanolog::CNanoLog>(cnanolog::restore_magic)
    },
    // A missing descriptor still has an index in the list.
    Shape {
        has_records_without_bytes: true,
        ..Shape::of::<traceloom_easyprofiler::EasyProfiler>(easyprofiler::restore_magic)
    },
    Shape {
        kinds_in_blocks: &["alloc", "free", "gc", "marker"],
        ..Shape::of::<traceloom_memlyze::Memlyze>(memlyze::restore_magic)
    },
    Shape::of::<traceloom_nytprof::Nytprof>(nytprof::restore_magic),
    // The first writers wrote no tag before a chunk, so the record for the tag has no bytes.
    Shape {
        has_records_without_bytes: true,
        ..Shape::of::<traceloom_nytprof::pynytprof::Pynytprof>(nytprof::restore_pynytprof_magic)
    },
    // A chunk of text, or one with overlapping parts, is returned as stored and then decoded; parts may be empty.
    Shape { has_records_without_bytes: true, ..Shape::of::<traceloom_wtf::Wtf>(wtf::restore_magic) },
];

/// The shape of a format; every format with targets has one.
pub(crate) fn of(id: &str) -> &'static Shape {
    SHAPES.iter().find(|shape| shape.id == id).unwrap_or_else(|| panic!("{id} has no shape"))
}

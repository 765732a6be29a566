//! Compression around a format and inside it shares one bound: the layers do not multiply.

use std::{io::Write, path::Path};

use flate2::{
    Compression,
    write::{GzEncoder, ZlibEncoder},
};
use traceloom_cnanolog::CNanoLog;
use traceloom_core::{ByteOrder, Codec, Error, Findings, Limits, Options, Records, Source};
use traceloom_memlyze::{Alloc, Memlyze, MetadataBuilder, Padding, raw::Packing};
use traceloom_nytprof::Nytprof;

/// A little more than any file may unpack to.
const UNPACKED_BYTES: usize = Limits::RATIO_FREE_BYTES as usize + (8 << 20);

#[test]
fn zlib_in_gzip_is_bounded_by_the_gzip() {
    let mut packed = b"NYTProf 5 0\n:nv_size=8\nz".to_vec();
    // One byte per record. The fastest level keeps the part within the ratio that a profile may have.
    let mut encoder = ZlibEncoder::new(&mut packed, Compression::fast());
    encoder.write_all(&vec![b'-'; UNPACKED_BYTES]).unwrap();
    encoder.finish().unwrap();
    is_bounded::<Nytprof>(packed, "nytprof.zlib-damaged", UNPACKED_BYTES as u64);
}

#[test]
fn lz4_blocks_of_a_log_in_gzip_are_bounded_by_the_gzip() {
    const ARGUMENTS: usize = 60_000;
    let mut header = traceloom_cnanolog::Header::new(ByteOrder::Little);
    header.set_compressed();
    let mut writer = traceloom_cnanolog::create(Vec::new(), &header).unwrap();
    let count = (UNPACKED_BYTES / ARGUMENTS) as u64;
    for number in 1..=count {
        let entry = traceloom_cnanolog::Entry::new(0, Some(number), &[7; ARGUMENTS]);
        writer.write(&traceloom_cnanolog::Record::Entry(entry)).unwrap();
        writer.flush().unwrap();
    }
    // A block is a record as well.
    is_bounded::<CNanoLog>(writer.finish().unwrap(), "cnanolog.block-lost", 2 * count);
}

#[test]
fn lz4_blocks_of_a_trace_in_gzip_are_bounded_by_the_gzip() {
    let metadata = MetadataBuilder::new(&Limits::default()).finish().unwrap();
    let header = traceloom_memlyze::Header::new(7).packed(Packing::Blocks);
    let mut writer = traceloom_memlyze::create_with_metadata(Vec::new(), &header, &metadata).unwrap();
    let padding = Padding::default();
    let alloc = Alloc { delta_us: 0, time_us: 0, address: 16, size_bytes: 1, stack: 0, thread: 0, padding };
    let count = (UNPACKED_BYTES / 13) as u64;
    for _ in 0..count {
        writer.write(&traceloom_memlyze::Record::Alloc(alloc)).unwrap();
    }
    is_bounded::<Memlyze>(writer.finish().unwrap(), "memlyze.block-lost", count);
}

/// A file with at least so many records is read completely, and up to the bound if it is also in gzip.
fn is_bounded<C: Codec>(bytes: Vec<u8>, code: &str, least: u64) {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&bytes).unwrap();
    let gzip = gzip.finish().unwrap();
    assert!((gzip.len() as u64) * Limits::default().ratio < Limits::RATIO_FREE_BYTES, "{} bytes", gzip.len());
    let (all, found) = read::<C>(bytes);
    assert!(all >= least && !found.counts().contains_key(code), "{all} of {least}: {:?}", found.counts());
    let (kept, found) = read::<C>(gzip);
    assert_eq!(found.counts().get(code), Some(&1), "{:?}", found.counts());
    assert!(kept < all && kept > all / 5 * 4, "{kept} of {all}");
    let bound = found.kept().iter().find(|finding| finding.rule.code == code).unwrap();
    assert!(bound.message().contains(Limits::UNPACKS_TOO_MUCH) && bound.position.offset > 0, "{bound:?}");
}

/// Number of records, and the problems found by reading them.
fn read<C: Codec>(bytes: Vec<u8>) -> (u64, Findings) {
    let options = Options::default();
    let opened = traceloom_open::open(Source::bytes(bytes), Path::new("trace"), None, &options).unwrap();
    assert_eq!(opened.format.descriptor().id, C::FORMAT.id);
    let mut reader = C::open(opened.source, &options).unwrap();
    let mut records = 0;
    reader
        .walk(|_| {
            records += 1;
            Ok::<_, Error>(())
        })
        .unwrap();
    (records, reader.into_findings())
}

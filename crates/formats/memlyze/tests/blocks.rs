//! Packed events, their index, and how little a seek reads.

mod support;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use support::{contents, events, walk};
use traceloom_core::{Limits, Options, Records, Source};
use traceloom_memlyze::{
    Alloc, Free, Gc, Header, Index, MetadataBuilder, Padding, Record, build_index, create_with_metadata, edit,
    raw::Packing,
};

/// A source, and the number of bytes read from it.
fn counting(bytes: &[u8]) -> (Source, Arc<AtomicU64>) {
    let read = Arc::new(AtomicU64::new(0));
    (Source::bytes(bytes.to_vec()).counted(&read), read)
}

/// A long trace; in the growth dialect, snapshots of many events repeat one delta.
fn long(packing: Packing, growth: bool) -> Vec<u8> {
    let mut metadata = MetadataBuilder::new(&Limits::default());
    if !growth {
        metadata.stack(&[]).unwrap();
    }
    let metadata = metadata.finish().unwrap();
    let dialect = if growth { traceloom_memlyze::raw::Dialect::Growth } else { Default::default() };
    let header = Header { dialect, ..Header::new(7) }.packed(packing);
    let mut writer = create_with_metadata(Vec::new(), &header, &metadata).unwrap();
    let padding = Padding::default();
    for number in 0..300_000u64 {
        let delta_us = if growth { 1000 + number / 7000 } else { number % 3 };
        let address = if growth { 0 } else { 0x1000 + 16 * (number / 2) };
        let event = match number % 50 {
            49 => Record::Gc(Gc { delta_us: 1, time_us: 0, objects: number, size_bytes: 0, padding }),
            even if even % 2 == 0 => {
                let size_bytes = number.wrapping_mul(0x9e37_79b9) % 5000;
                Record::Alloc(Alloc { delta_us, time_us: 0, address, size_bytes, stack: 0, thread: 0, padding })
            }
            _ => Record::Free(Free { delta_us, time_us: 0, address, padding }),
        };
        writer.write(&event).unwrap();
    }
    writer.finish().unwrap()
}

#[test]
fn packing_and_unpacking_change_no_event() {
    let files = contents().chain([("long".to_owned(), long(Packing::Plain, false))]);
    for (name, bytes) in files {
        let (mut packed, mut plain) = (Vec::new(), Vec::new());
        edit::canonical(&Source::bytes(bytes.clone()), &mut packed, Some("lz4"), &Options::default()).unwrap();
        edit::canonical(&Source::bytes(packed.clone()), &mut plain, None, &Options::default()).unwrap();
        assert!(events(&bytes) == events(&packed), "{name}");
        assert!(events(&bytes) == events(&plain), "{name}");
        let walked = walk(&packed, &Options::default()).unwrap();
        assert!(walked.rewritten == packed, "{name}");
        assert!(!walked.codes.contains(&"memlyze.block-time"), "{name}");
    }
}

#[cfg(feature = "lz4")]
#[test]
fn packed_files_are_smaller() {
    let (plain, packed) = (long(Packing::Plain, false), long(Packing::Blocks, false));
    assert!(packed.len() * 3 < plain.len() * 2, "{} of {}", packed.len(), plain.len());
}

/// The event that a reader returns after a seek, and how many follow it.
fn after_jump(source: Source, time_us: u64, index: Option<&Index>) -> (Option<(u64, u64)>, u64) {
    let limits = Limits::with(|limits| limits.window_bytes = 16 << 10);
    let mut reader = traceloom_memlyze::open(source, &Options::default().with_limits(limits)).unwrap();
    reader.seek(time_us, index).unwrap();
    let (mut first, mut count) = (None, 0);
    while let Some(located) = reader.next().unwrap() {
        if let Some(time_us) = located.record.time_us() {
            first.get_or_insert((located.offset, time_us));
            count += 1;
        }
    }
    assert!(reader.findings().kept().iter().all(|finding| !finding.rule.code.contains("index")));
    (first, count)
}

#[test]
fn a_jump_lands_where_reading_on_would() {
    for (packing, growth) in
        [(Packing::Plain, false), (Packing::Blocks, false), (Packing::Plain, true), (Packing::Blocks, true)]
    {
        let bytes = long(packing, growth);
        let mut all = Vec::new();
        let mut reader = traceloom_memlyze::open(Source::bytes(bytes.clone()), &Options::default()).unwrap();
        while let Some(located) = reader.next().unwrap() {
            all.extend(located.record.time_us().map(|time_us| (located.offset, time_us)));
        }
        let mut stored = Vec::new();
        assert!(build_index(&Source::bytes(bytes.clone()), &mut stored, &Options::default()).unwrap() > 30);
        let index = Index::open(Source::bytes(stored), &Limits::default()).unwrap();
        let last = all.last().unwrap().1;
        for time_us in [0, 1, 2, 1000, last / 3, last / 2, last - 1, last, last + 1, u64::MAX] {
            let expected = all.iter().position(|(_, time)| *time >= time_us);
            let expected_count = expected.map_or(0, |first| all.len() - first) as u64;
            let expected = (expected.map(|first| all[first]), expected_count);
            for index in [None, Some(&index)] {
                assert_eq!(after_jump(Source::bytes(bytes.clone()), time_us, index), expected, "{packing:?} {time_us}");
            }
        }
    }
}

#[test]
fn a_jump_reads_little() {
    for packing in [Packing::Plain, Packing::Blocks] {
        let bytes = long(packing, false);
        let mut stored = Vec::new();
        build_index(&Source::bytes(bytes.clone()), &mut stored, &Options::default()).unwrap();
        let (index_source, index_read) = counting(&stored);
        let limits = Limits::with(|limits| limits.window_bytes = 4 << 10);
        let index = Index::open(index_source, &limits).unwrap();
        for (index, name) in [(Some(&index), "index"), (None, "heads")] {
            if packing == Packing::Plain && index.is_none() {
                continue;
            }
            let (source, read) = counting(&bytes);
            let options = Options::default().with_limits(limits.clone());
            let mut reader = traceloom_memlyze::open(source, &options).unwrap();
            reader.seek(150_000, index).unwrap();
            let time_us = reader.next().unwrap().and_then(|located| located.record.time_us());
            assert_eq!(time_us, Some(150_000));
            let total = read.load(Ordering::Relaxed) + index_read.load(Ordering::Relaxed);
            // One block, the header, and what the index needs, out of more than three megabytes.
            assert!(total < 110 << 10, "{packing:?} by {name}: {total} of {}", bytes.len());
        }
    }
}

#[test]
fn an_index_of_another_file_or_a_damaged_one_is_not_used() {
    let bytes = long(Packing::Plain, false);
    let mut stored = Vec::new();
    build_index(&Source::bytes(bytes.clone()), &mut stored, &Options::default()).unwrap();
    let mut other = bytes.clone();
    other[8] ^= 1;
    let mut damaged = stored.clone();
    damaged[40] ^= 1;
    let cases = [
        (other, stored.clone()),
        (bytes[..bytes.len() - 10].to_vec(), stored.clone()),
        (bytes.clone(), damaged),
        (bytes.clone(), stored[..stored.len() - 32].to_vec()),
        (bytes.clone(), Vec::new()),
    ];
    for (trace, index) in cases {
        let index = Index::open(Source::bytes(index), &Limits::default()).unwrap();
        let mut reader = traceloom_memlyze::open(Source::bytes(trace), &Options::default()).unwrap();
        reader.seek(150_000, Some(&index)).unwrap();
        let time_us = reader.next().unwrap().and_then(|located| located.record.time_us());
        assert_eq!(time_us, Some(150_000));
        assert!(reader.findings().counts().contains_key("memlyze.index-unusable"));
    }
}

#[test]
fn a_damaged_block_costs_its_own_events_only() {
    let bytes = long(Packing::Blocks, false);
    let whole = events(&bytes);
    let mut reader = traceloom_memlyze::open(Source::bytes(bytes.clone()), &Options::default()).unwrap();
    let mut blocks = Vec::new();
    while let Some(located) = reader.next().unwrap() {
        if let Record::Block(_) = located.record {
            blocks.push((located.offset as usize, located.len as usize));
        }
    }
    let (offset, len) = blocks[blocks.len() / 2];
    for place in [offset + 13, offset + 16, offset + 40, offset + len - 1] {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x55;
        let walked = walk(&damaged, &Options::default()).unwrap();
        assert_eq!(walked.codes, ["memlyze.block-damaged"]);
        assert!(walked.rewritten == damaged);
        let left = events(&damaged);
        assert!(left.len() > whole.len() - 10_000 && left.len() < whole.len());
        assert_eq!(left.last(), whole.last());
        assert!(walk(&damaged, &Options::strict()).is_err());
    }
    let mut lost = bytes.clone();
    lost[offset] = b'X';
    let walked = walk(&lost, &Options::default()).unwrap();
    assert_eq!(walked.codes, ["memlyze.block-lost"]);
    assert!(walked.rewritten == lost);
    assert_eq!(events(&lost).last(), whole.last());
    let cut = walk(&bytes[..offset + len / 2], &Options::default()).unwrap();
    assert_eq!(cut.codes, ["memlyze.block-lost"]);
    assert!(cut.rewritten == bytes[..offset + len / 2]);
}

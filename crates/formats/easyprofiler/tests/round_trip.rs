//! Every file is written back unchanged: fixtures, arbitrary records, both byte orders, extreme sizes.

mod support;

use proptest::{collection::vec, prelude::*};
use support::{Made, accepted, arbitrary, codes, fixtures, is_accepted, rewritten, show, shown, write};
use traceloom_core::{ByteOrder, Codec, Limits, Options, Records, Source};
use traceloom_easyprofiler::{
    Block, Bookmark, Descriptor, EasyProfiler, Header, Name, Record, Tally, Thread, Value, create, findings, open,
    raw::{BlockType, EASY_PROFILER_SIGNATURE, Layout, SizeRule, Status, Version},
    sample,
};

proptest! {
    #![proptest_config(ProptestConfig { cases: 768, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_records_come_back(file in arbitrary::file()) {
        let records = file.records();
        let header = file.header(&records);
        let bytes = write(&header, &records);
        let mut reader = open(Source::bytes(bytes.clone()), &Options::default()).unwrap();
        prop_assert_eq!(reader.header(), &header);
        for record in &records {
            let found = reader.next().unwrap().map(|located| located.record);
            prop_assert_eq!(found, Some(*record));
        }
        prop_assert_eq!(reader.next().unwrap(), None);
        prop_assert_eq!(rewritten(&bytes).unwrap(), bytes);
    }

    #[test]
    fn arbitrary_bytes_behind_a_header_come_back(
        file in arbitrary::file(),
        tail in vec(any::<u8>(), 0..400),
        keep in 0..200usize,
    ) {
        let records = file.records();
        let mut bytes = write(&file.header(&records), &records);
        bytes.truncate(keep + 40);
        bytes.extend(tail);
        let _ = is_accepted(&bytes);
        prop_assert_eq!(rewritten(&bytes).unwrap(), bytes);
    }
}

#[test]
fn every_fixture_comes_back() {
    let mut files = 0;
    for (name, bytes) in fixtures() {
        // Only the first bytes can make a file unreadable.
        match rewritten(&bytes) {
            Ok(again) => assert!(again == bytes, "{name}"),
            Err(error) => assert!(error.position().is_some_and(|at| at.offset < 8), "{name}: {error}"),
        }
        files += 1;
    }
    assert!(files > 90, "{files}");
}

#[test]
fn a_walk_gives_what_next_gives() {
    let files = fixtures().into_iter().chain([("sample".to_owned(), sample::sample().unwrap().bytes)]);
    for (name, bytes) in files {
        for window_bytes in [1, 64, 4 << 10, 256 << 10] {
            let options = Options::default().with_limits(Limits::with(|limits| limits.window_bytes = window_bytes));
            let Ok(mut reader) = open(Source::bytes(bytes.clone()), &options) else { continue };
            let mut one_by_one = Vec::new();
            while let Some(located) = reader.next().unwrap() {
                one_by_one.push(show(&located));
            }
            assert!(one_by_one == shown(&bytes, &options).unwrap(), "{name}, {window_bytes}");
        }
    }
}

#[test]
fn the_sample_is_sound() {
    let bytes = sample::sample().unwrap().bytes;
    assert!(is_accepted(&bytes) && codes(&bytes).is_empty());
    assert!(bytes == sample::write(Vec::new(), 120).unwrap());
    let mut again = Vec::new();
    let edited = EasyProfiler::canonical(&Source::bytes(bytes.clone()), &mut again, None, &Options::default()).unwrap();
    assert!(edited.loss.is_empty() && again == bytes, "the sample is what a clean writer makes");
    assert!(is_accepted(&sample::write(Vec::new(), 7).unwrap()));
}

#[test]
fn big_endian_files_hold_the_same() {
    for (name, bytes) in accepted() {
        let mut expected = codes(&bytes);
        if expected.contains(findings::RESYNCED.code) {
            // Skipped bytes belong to no record, so they are not turned.
            continue;
        }
        let turned = turn_around(&bytes);
        let found = codes(&turned);
        expected.insert("easyprofiler.big-endian");
        assert_eq!(found, expected, "{name}");
        // Elements of values carry their byte order.
        let [little, big] = [&bytes, &turned].map(|bytes| dumped(bytes));
        assert_eq!(little, big, "{name}");
        assert_eq!(rewritten(&turned).unwrap(), turned);
    }
}

/// Kinds, offsets and elements of all records.
fn dumped(bytes: &[u8]) -> Vec<String> {
    let mut reader = open(Source::bytes(bytes), &Options::default()).unwrap();
    let mut records = Vec::new();
    while let Some(located) = reader.next().unwrap() {
        records.push(match located.record {
            Record::Value(value) => {
                let elements: Option<Vec<_>> = value.elements().map(Iterator::collect);
                format!("{} {} {} {elements:?}", located.offset, value.begin, value.descriptor)
            }
            _ => show(&located),
        });
    }
    records
}

/// The same file as written by a big-endian machine.
fn turn_around(bytes: &[u8]) -> Vec<u8> {
    let mut reader = open(Source::bytes(bytes), &Options::default()).unwrap();
    let layout = Layout { order: ByteOrder::Big, ..reader.header().layout };
    let mut writer = create(Vec::new(), &Header { layout, ..reader.header().clone() }).unwrap();
    while let Some(located) = reader.next().unwrap() {
        let Record::Value(value) = located.record else {
            writer.write(&located.record).unwrap();
            continue;
        };
        let width = value.data_type.width().unwrap_or(1);
        let data: Vec<u8> = value.data.chunks(width).flat_map(|element| element.iter().rev()).copied().collect();
        writer.write(&Record::Value(Value { data: &data, order: ByteOrder::Big, ..value })).unwrap();
    }
    writer.finish().unwrap()
}

#[test]
fn an_unknown_descriptor_type_is_not_a_hole() {
    for unknown in [3, 254, 255] {
        let mut made = Made::new(10);
        let Record::Descriptor(descriptor) = &mut made.records[0] else { panic!("a descriptor") };
        descriptor.block_type = BlockType(unknown);
        made.thread(1, &[], &[(20, 30)]);
        assert!(is_accepted(&made.bytes()), "{unknown}");
    }
}

#[test]
fn the_longest_records_come_back_and_longer_ones_are_refused() {
    let long = vec![b'n'; usize::from(u16::MAX)];
    let text = |len: usize| Name::new(&long[..len - 1]);
    let block = |len| Block { name: text(len), ..Block::new(0, 1, 2) };
    let thread = |len| Thread { id: 1, name: text(len), switches: 0 };
    let version = Version::V2_1_0;
    let write_both = |thread_len, block_len| {
        let layout = Layout::real(version, ByteOrder::Little);
        let header = Header { threads_count: Some(1), blocks_count: 1, ..Header::new(layout, version) };
        let mut writer = create(Vec::new(), &header)?;
        writer.write(&Record::Thread(thread(thread_len)))?;
        writer.write(&Record::Blocks(1))?;
        writer.write(&Record::Block(block(block_len)))?;
        writer.write(&Record::Mark(EASY_PROFILER_SIGNATURE))?;
        writer.finish()
    };
    let most = usize::from(u16::MAX);
    let bytes = write_both(most, most - 20).unwrap();
    let mut reader = open(Source::bytes(bytes), &Options::default()).unwrap();
    assert_eq!(reader.next().unwrap().map(|it| it.record), Some(Record::Thread(thread(most))));
    assert_eq!(reader.next().unwrap().map(|it| it.record), Some(Record::Blocks(1)));
    assert_eq!(reader.next().unwrap().map(|it| it.record), Some(Record::Block(block(most - 20))));
    assert!(write_both(most + 1, 1).is_err());
    assert!(write_both(1, most - 19).is_err());
}

#[test]
fn odd_sizes_behind_the_probe_come_out_as_they_were() {
    for size in [SizeRule::Payload, SizeRule::WithPrefix, SizeRule::Unreliable] {
        for odd in [0u16, 1, 2, 3, 15, 21, 22, 23, 24, 700, u16::MAX] {
            let bytes = long_file(size, odd);
            let reader = open(Source::bytes(bytes.clone()), &Options::default()).unwrap();
            assert_eq!(reader.header().layout.size, size);
            assert!(rewritten(&bytes).unwrap() == bytes, "{size:?} with SIZE {odd}");
        }
    }
}

/// More blocks than are examined to find the layout; the SIZE of one of the last ones is replaced.
fn long_file(size: SizeRule, odd: u16) -> Vec<u8> {
    const COUNT: u32 = 60_000;
    let name = Name::new(b"");
    let layout = Layout { size, ..Layout::real(Version::V2_1_0, ByteOrder::Little) };
    let mut header = Header::new(layout, Version::V2_1_0);
    (header.threads_count, header.blocks_count, header.memory_size) = (Some(1), COUNT, u64::MAX);
    (header.descriptors_count, header.descriptors_memory_size) = (1, u64::MAX);
    let mut writer = create(Vec::new(), &header).unwrap();
    writer.write(&Record::Descriptor(Descriptor::new(0, BlockType::BLOCK, b""))).unwrap();
    writer.write(&Record::Thread(Thread { id: 1, name, switches: 0 })).unwrap();
    writer.write(&Record::Blocks(COUNT)).unwrap();
    for index in 0..COUNT {
        let usual = (size == SizeRule::Unreliable).then_some(28);
        let odd_size = if index == COUNT - 50 { Some(odd) } else { usual };
        let block = Block::new(0, index.into(), u64::from(index) + 1);
        writer.write(&Record::Block(Block { odd_size, ..block })).unwrap();
    }
    writer.write(&Record::Mark(EASY_PROFILER_SIGNATURE)).unwrap();
    writer.finish().unwrap()
}

/// Zeros could also be the head of a thread.
#[test]
fn a_last_descriptor_of_zeros_comes_back_before_a_bookmark() {
    let version = Version::parse("2.1.0").unwrap();
    let layout = Layout::real(version, ByteOrder::Little);
    let descriptor = Descriptor { name: Name { text: b"", tail: b"\0" }, ..Descriptor::new(0, BlockType(0), b"") };
    let descriptor = Descriptor { color: 0, status: Status(0), file: Name::default(), ..descriptor };
    let text = Name { text: &[1; 7], tail: b"\0more\0" };
    let bookmark = Bookmark { position_ns: 131_072, color: 0, text, odd_size: None };
    let mark = Record::Mark(EASY_PROFILER_SIGNATURE);
    let first = Record::Descriptor(Descriptor::new(0, BlockType::BLOCK, b"name"));
    let records = [first, Record::Descriptor(descriptor), mark, Record::Bookmark(bookmark), mark];
    let (mut header, mut tally) = (Header::new(layout, version), Tally::default());
    records.iter().for_each(|record| tally.count(record, &layout));
    tally.fill(&mut header);
    let mut reader = open(Source::bytes(write(&header, &records)), &Options::default()).unwrap();
    for record in records {
        assert_eq!(reader.next().unwrap().map(|located| located.record), Some(record));
    }
}

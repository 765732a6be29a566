//! One broken file per rule, and the result of strict reading for each.

mod support;

use std::collections::BTreeSet;

use support::{BLOCK, EVENT, Made, VALUE, codes, file, is_accepted, write};
use traceloom_core::{ByteOrder, Codec, Options, Records, Severity, Source};
use traceloom_easyprofiler::{
    Block, Bookmark, Descriptor, EasyProfiler, Header, Name, Record, Switch, Thread, Value, create,
    findings::RULES,
    open,
    raw::{
        BlockType, DOCUMENT_BOOKMARKS_MARK, DataType, EASY_PROFILER_SIGNATURE, Layout, SizeRule, SwitchOrder, Version,
        Width,
    },
};

const MARK: Record<'static> = Record::Mark(EASY_PROFILER_SIGNATURE);
const V1_2_0: Version = Version::new(1, 2, 0);
/// Where the records of [`plain`] start.
const BEGIN: u64 = 1_000;

fn real(version: Version) -> Layout {
    Layout::real(version, ByteOrder::Little)
}

/// A thread with two switches and six blocks, in a layout.
fn laid_out(layout: Layout, version: Version) -> Made {
    let mut made = Made::of(layout, version, BEGIN);
    let blocks = [(1_010, 1_020), (1_030, 1_040), (1_005, 1_050), (1_060, 1_070), (1_080, 1_090), (1_000, 1_100)];
    made.thread(3, &[(1_001, 1_004, 9), (1_052, 1_055, 9)], &blocks);
    made
}

fn plain() -> Made {
    laid_out(real(Version::V2_1_0), Version::V2_1_0)
}

/// The same with another last block.
fn ending_with(record: Record<'static>) -> Vec<u8> {
    let mut made = plain();
    *made.records.last_mut().unwrap() = record;
    made.bytes()
}

/// The same with one more descriptor, which is too short for its fields.
fn short_descriptor() -> Vec<u8> {
    let mut made = plain();
    made.records.insert(3, Record::Malformed(&[1, 2, 3]));
    let mut bytes = made.bytes();
    // The writer does not know what it was.
    assert_eq!(bytes[60..64], [3, 0, 0, 0]);
    bytes[60] = 4;
    bytes
}

/// The same with one more context switch.
fn odd_switch(record: Record<'static>) -> Vec<u8> {
    let mut made = plain();
    made.records.insert(4, record);
    let Record::Thread(thread) = &mut made.records[3] else { panic!("a thread") };
    thread.switches += 1;
    made.bytes()
}

/// The same with a changed header.
fn with_header(change: impl FnOnce(&mut Header)) -> Vec<u8> {
    let made = plain();
    let reader = open(made.source(), &Options::default()).unwrap();
    let mut header = reader.header().clone();
    change(&mut header);
    write(&header, &made.all())
}

/// The same with these records after the threads.
fn ending(bookmarks: u16, records: &[Record<'static>]) -> Vec<u8> {
    let mut made = plain();
    made.records.extend(records);
    let mut bytes = file(made.header, &made.records);
    bytes[68..70].copy_from_slice(&bookmarks.to_le_bytes());
    bytes
}

fn value(data_type: DataType) -> Value<'static> {
    Value::new(VALUE, 1_095, data_type, &[1, 0, 0, 0])
}

fn named(name: Name<'static>) -> Record<'static> {
    Record::Block(Block { name, ..Block::new(BLOCK, 1_000, 1_100) })
}

fn cut(bytes_left_out: usize) -> Vec<u8> {
    let mut bytes = plain().bytes();
    bytes.truncate(bytes.len() - bytes_left_out);
    bytes
}

fn descriptor(change: impl FnOnce(&mut Descriptor<'static>)) -> Vec<u8> {
    let mut made = plain();
    let Record::Descriptor(descriptor) = &mut made.records[1] else { panic!("a descriptor") };
    change(descriptor);
    made.bytes()
}

/// Sizes as in the documentation's examples: most are wrong.
fn unreliable() -> Vec<u8> {
    let layout = Layout { size: SizeRule::Unreliable, ..real(Version::V2_1_0) };
    let mut made = laid_out(layout, Version::V2_1_0);
    for record in &mut made.records {
        match record {
            Record::Descriptor(descriptor) => descriptor.odd_size = Some(60),
            Record::Switch(switch) => switch.odd_size = Some(60),
            Record::Block(block) => block.odd_size = Some(60),
            _ => {}
        }
    }
    made.bytes()
}

fn deep(levels: u64) -> Vec<u8> {
    let mut made = Made::new(BEGIN);
    let blocks: Vec<_> = (0..levels).rev().map(|level| (BEGIN + level, BEGIN + 2 * levels - level)).collect();
    made.thread(3, &[], &blocks);
    made.bytes()
}

/// A hole after the descriptors, and a block that refers to it.
fn used_hole() -> Vec<u8> {
    let mut made = plain();
    made.records.insert(3, Record::Hole);
    *made.records.last_mut().unwrap() = Record::Block(Block::new(3, 1_000, 1_100));
    made.bytes()
}

/// Garbage between two blocks.
fn garbage() -> Vec<u8> {
    let mut made = plain();
    made.records.insert(8, Record::Residue(&[0x5a; 30]));
    made.bytes()
}

/// Every rule with a file that breaks it.
fn broken() -> Vec<(&'static str, Vec<u8>)> {
    let v2 = Version::V2_1_0;
    let of = |change: fn(&mut Layout), version: Version| {
        let mut layout = real(version);
        change(&mut layout);
        laid_out(layout, version).bytes()
    };
    let bookmark = Record::Bookmark(Bookmark::new(1_050, b"here"));
    let open_bookmark = Record::Bookmark(Bookmark { text: Name { text: b"here", tail: b"" }, ..Bookmark::new(0, b"") });
    let two_threads = |header: &mut Header| header.threads_count = Some(2);
    let mut with_bookmark = plain();
    // Read as the head of a thread, its name would be longer than the file.
    with_bookmark.bookmark(0x0505_0000);
    let mut threads_mark_early = with_bookmark.bytes();
    threads_mark_early[64..68].copy_from_slice(&2u32.to_le_bytes());
    let mut old_with_mark = laid_out(real(Version::V1_3_0), Version::V1_3_0);
    old_with_mark.records.push(MARK);
    let mut without_descriptors = plain();
    without_descriptors.records.drain(..3);
    vec![
        ("big-endian", laid_out(Layout::real(v2, ByteOrder::Big), v2).bytes()),
        ("document-signature", of(|layout| layout.swapped_signature = true, v2)),
        ("document-pid", of(|layout| layout.pid = Width::U32, Version::V1_0_0)),
        ("document-thread-id", of(|layout| layout.thread_id = Width::U64, V1_2_0)),
        ("document-switch", of(|layout| layout.switch = SwitchOrder::TargetFirst, v2)),
        ("document-size", of(|layout| layout.size = SizeRule::WithPrefix, v2)),
        ("size-disagrees", unreliable()),
        ("header-cut", plain().bytes()[..40].to_vec()),
        ("empty-profile", Made::new(BEGIN).bytes()),
        ("no-descriptors", without_descriptors.bytes()),
        ("no-threads", Made::new(BEGIN).bytes()),
        ("padding", with_header(|header| header.padding = Some(1))),
        ("descriptor-short", short_descriptor()),
        ("descriptor-name", descriptor(|it| it.odd_name_size = Some(4))),
        ("descriptor-id", descriptor(|it| it.id = 7)),
        ("descriptor-type", descriptor(|it| it.block_type = BlockType(9))),
        ("descriptors-memory", with_header(|header| header.descriptors_memory_size = 1)),
        ("missing-nul", ending_with(named(Name { text: b"name", tail: b"" }))),
        ("surplus", ending_with(named(Name { text: b"name", tail: b"\0more" }))),
        ("switch-size-zero", odd_switch(Record::Malformed(&[]))),
        ("switch-short", odd_switch(Record::Malformed(&[1, 2, 3]))),
        ("block-size-zero", ending_with(Record::Malformed(&[]))),
        ("block-short", ending_with(Record::Malformed(&[1, 2, 3]))),
        ("resynced", garbage()),
        ("no-name", ending_with(named(Name::default()))),
        ("descriptor-missing", ending_with(Record::Block(Block::new(99, 1_000, 1_100)))),
        ("descriptor-hole", used_hole()),
        ("value-short", ending_with(Record::Block(Block::new(VALUE, 1_095, 1_095)))),
        ("value-size", ending_with(Record::Value(Value { odd_data_size: Some(9), ..value(DataType::UINT32) }))),
        ("value-type", ending_with(Record::Value(value(DataType(99))))),
        ("value-width", ending_with(Record::Value(value(DataType::UINT64)))),
        ("value-text", ending_with(Record::Value(Value { data: b"caf\xe9\0", ..value(DataType::STRING) }))),
        ("negative-duration", ending_with(Record::Block(Block::new(BLOCK, 1_100, 1_050)))),
        ("before-capture", ending_with(Record::Block(Block::new(BLOCK, 10, 20)))),
        ("memory-size", with_header(|header| header.memory_size = 100)),
        ("truncated", cut(4 + 10)),
        ("records-missing", cut(4 + 23)),
        ("threads-missing", with_header(two_threads)),
        ("threads-mark-early", threads_mark_early),
        ("count-mismatch", with_header(|header| header.blocks_count = 99)),
        ("too-deep", deep(256)),
        ("threads-mark", ending(0, &[Record::Mark(5)])),
        ("document-mark-version", old_with_mark.bytes()),
        ("document-mark-u64", ending(0, &[MARK, Record::Residue(&[0; 4])])),
        ("document-mark-u64-bookmarks", ending(1, &[MARK, Record::Residue(&[0; 4]), bookmark, MARK])),
        ("document-second-mark", ending(0, &[MARK, MARK])),
        ("bookmark-short", ending(1, &[MARK, Record::Malformed(&[1, 2, 3]), MARK])),
        ("bookmark-nul", ending(1, &[MARK, open_bookmark, MARK])),
        ("document-mark-typo", ending(1, &[MARK, bookmark, Record::Mark(DOCUMENT_BOOKMARKS_MARK)])),
        ("bookmarks-mark", ending(1, &[MARK, bookmark, Record::Mark(5)])),
        ("trailing", ending(0, &[MARK, Record::Residue(b"more")])),
    ]
}

#[test]
fn every_rule_is_reported() {
    let mut seen = BTreeSet::new();
    for (code, bytes) in broken() {
        let code = format!("easyprofiler.{code}");
        let found = codes(&bytes);
        assert!(found.contains(code.as_str()), "{code} is not among {found:?}");
        seen.insert(code);
    }
    assert_eq!(seen, RULES.iter().map(|rule| rule.code.to_owned()).collect());
}

#[test]
fn strict_refuses_exactly_what_has_an_error() {
    for (code, bytes) in broken() {
        assert_eq!(!is_accepted(&bytes), has_error(&bytes), "{code}");
    }
}

fn has_error(bytes: &[u8]) -> bool {
    let findings = EasyProfiler::check(&Source::bytes(bytes), &Options::default()).unwrap();
    findings.worst() == Some(Severity::Error)
}

/// A short block that easy_profiler takes for a whole one, among others. It reads the missing bytes as zeros.
fn short_among_others() -> Vec<u8> {
    let mut made = laid_out(real(Version::V2_1_0), Version::V2_1_0);
    made.header.begin_time = 0;
    made.records.insert(8, Record::Malformed(&[1, 2, 3]));
    let Record::Blocks(count) = &mut made.records[6] else { panic!("the number of blocks") };
    *count += 1;
    let mut bytes = made.bytes();
    // The writer does not count it.
    (bytes[40], bytes[56]) = (bytes[40] + 3, bytes[56] + 1);
    bytes
}

#[test]
fn what_easy_profiler_accepts_is_no_error() {
    let typo = ending(0, &[MARK, Record::Mark(DOCUMENT_BOOKMARKS_MARK)]);
    let examples = support::fixtures().into_iter().filter(|(name, _)| name.contains("literal_examples"));
    let mut files = vec![("document-mark-typo", typo), ("resynced", short_among_others())];
    files.extend(examples.map(|(_, bytes)| ("size-disagrees", bytes)));
    assert_eq!(files.len(), 4);
    for (code, bytes) in files {
        assert!(is_accepted(&bytes), "{code}");
        assert!(codes(&bytes).contains(format!("easyprofiler.{code}").as_str()), "{code}: {:?}", codes(&bytes));
        assert!(!has_error(&bytes), "{code}: {:?}", codes(&bytes));
    }
}

#[test]
fn broken_files_come_out_as_they_were() {
    for (code, bytes) in broken() {
        assert!(support::rewritten(&bytes).unwrap() == bytes, "{code}");
    }
}

#[test]
fn good_files_have_nothing_to_report() {
    for version in ["0.1.0", "1.0.0", "1.2.0", "1.3.0", "2.0.0", "2.1.0"] {
        let version = Version::parse(version).unwrap();
        let mut made = laid_out(real(version), version);
        made.bookmark(1_050);
        let bytes = made.bytes();
        assert_eq!(codes(&bytes), BTreeSet::new(), "{version}");
        assert!(is_accepted(&bytes), "{version}");
    }
    assert_eq!(codes(&deep(255)), BTreeSet::new());
}

#[test]
fn sizes_and_offsets_are_those_of_the_page() {
    let sizes = ["0.1.0", "1.0.0", "1.2.0", "1.3.0", "2.0.0", "2.1.0"]
        .map(|version| real(Version::parse(version).unwrap()).header_bytes());
    assert_eq!(sizes, [56, 56, 60, 64, 64, 72]);
    let layout = real(Version::V2_1_0);
    let mut header = Header::new(layout, Version::V2_1_0);
    header.pid = Some(0x0102_0304_0506_0708);
    (header.cpu_frequency, header.begin_time, header.end_time) = (-2, 3, 4);
    (header.memory_size, header.descriptors_memory_size) = (5, 6);
    (header.blocks_count, header.descriptors_count) = (7, 8);
    (header.threads_count, header.bookmarks_count, header.padding) = (Some(9), Some(10), Some(11));
    let records = [
        Record::Descriptor(Descriptor { line: -1, color: 0x0102_0304, ..Descriptor::new(1, BlockType::EVENT, b"n") }),
        Record::Thread(Thread { id: 2, name: Name::new(b"t"), switches: 1 }),
        Record::Switch(Switch::new(3, 4, 5)),
        Record::Blocks(2),
        Record::Block(Block::new(EVENT, 6, 7)),
        Record::Value(Value { value_id: 8, ..Value::new(VALUE, 9, DataType::UINT16, &[10, 11]) }),
        MARK,
    ];
    let bytes = write(&header, &records);
    let expected: [&[u8]; 8] = [
        b"ysaE\0\0\x01\x02\x08\x07\x06\x05\x04\x03\x02\x01\xfe\xff\xff\xff\xff\xff\xff\xff\x03\0\0\0\0\0\0\0\
          \x04\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0\x06\0\0\0\0\0\0\0\x07\0\0\0\x08\0\0\0\x09\0\0\0\x0a\0\x0b\0",
        b"\x13\0\x01\0\0\0\xff\xff\xff\xff\x04\x03\x02\x01\x00\x01\x02\0n\0\0",
        b"\x02\0\0\0\0\0\0\0\x02\0t\0\x01\0\0\0",
        b"\x19\0\x03\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0\0",
        b"\x02\0\0\0",
        b"\x15\0\x06\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0\x01\0\0\0\0",
        b"\x24\0\x09\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\0\x02\0\0\0\0\0\x02\0\x05\0\x08\0\0\0\0\0\0\0\x0a\x0b",
        b"ysaE",
    ];
    assert_eq!(bytes, expected.concat());
}

#[test]
fn the_writer_refuses_what_does_not_fit() {
    let long = vec![b'n'; 65_536];
    let mut writer = create(Vec::new(), &plain().header).unwrap();
    let mut refuse = |record| writer.write(&record).unwrap_err().to_string();
    let name = Name::new(&long);
    assert!(refuse(Record::Block(Block { name, ..Block::new(0, 1, 2) })).contains("16 bits"));
    assert!(refuse(Record::Thread(Thread { id: 0, name, switches: 0 })).contains("thread's name of 65537 bytes"));
    assert!(refuse(Record::Value(Value::new(VALUE, 1, DataType::STRING, &long))).contains("16 bits"));
    let mut writer = create(Vec::new(), &laid_out(real(V1_2_0), V1_2_0).header).unwrap();
    let wide = Record::Thread(Thread { id: 1 << 40, name: Name::new(b"t"), switches: 0 });
    assert!(writer.write(&wide).unwrap_err().to_string().contains("needs 8 bytes"));
}
